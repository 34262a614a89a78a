-- CREATE, REPLACE and CREATE TABLE AS SELECT.

-- # plain tables

CREATE TABLE s.t (id INT NOT NULL COMMENT 'the key', name STRING) USING delta COMMENT 'a table';

DESCRIBE TABLE s.t;

CREATE TABLE s.t (id INT) USING delta;

CREATE TABLE IF NOT EXISTS s.t (other STRING) USING delta;

DESCRIBE TABLE s.t;

CREATE TABLE s.u (id INT, name STRING);

INSERT INTO s.u VALUES (1, 'a');

SELECT * FROM s.u;

CREATE TABLE s.p (id INT, day DATE, region STRING) USING delta PARTITIONED BY (day, region);

DESCRIBE TABLE s.p;

CREATE TABLE s.c (id INT, day DATE) USING delta CLUSTER BY (day);

DESCRIBE TABLE s.c;

CREATE TABLE s.props (id INT) USING delta TBLPROPERTIES ('delta.appendOnly' = 'true', 'team' = 'sales');

SHOW TBLPROPERTIES s.props ('delta.appendOnly');

SHOW TBLPROPERTIES s.props ('team');

CREATE TABLE s.widths (a CHAR(3), b VARCHAR(3), c DECIMAL(5, 2)) USING delta;

INSERT INTO s.widths VALUES ('a', 'bcd', 1.5);

SELECT * FROM s.widths;

INSERT INTO s.widths VALUES ('abcd', 'b', 1.5);

INSERT INTO s.widths VALUES ('a', 'bcde', 1.5);

-- # what cannot be created

CREATE TABLE s.t (id INT, id STRING) USING delta;

CREATE TABLE s.t (id INT, ID STRING) USING delta;

CREATE TABLE s.t (id INT) USING delta PARTITIONED BY (nothing);

CREATE TABLE s.t (id INT) USING delta PARTITIONED BY (id);

CREATE TABLE s.t (id INT) USING delta CLUSTER BY (nothing);

CREATE TABLE s.t (id INT, day DATE) USING delta PARTITIONED BY (day) CLUSTER BY (id);

CREATE TABLE nowhere.t (id INT) USING delta;

CREATE TABLE s.t (id NOTHING) USING delta;

CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.appendOnly' = 'maybe');

CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.nothing' = '1');

CREATE TABLE s.t (`a b` INT) USING delta;

CREATE TABLE s.t (`a b` INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name');

SELECT `a b` FROM s.t;

CREATE TABLE s.t2 (id INT USING delta;

CREATE TABLE s.t3 (id INT) USING nothing;

CREATE TABLE s.t4 USING delta;

-- # as a query gives it

CREATE TABLE s.q USING delta AS SELECT 1 AS id, 'a' AS name UNION ALL SELECT 2, 'b';

SELECT * FROM s.q ORDER BY id;

CREATE TABLE s.r USING delta PARTITIONED BY (name) AS SELECT * FROM s.q WHERE id = 1;

DESCRIBE TABLE s.r;

CREATE TABLE s.r AS SELECT 1 AS id;

CREATE TABLE IF NOT EXISTS s.r USING delta AS SELECT 5 AS other;

SELECT * FROM s.r;

CREATE TABLE s.w USING delta TBLPROPERTIES ('team' = 'x') COMMENT 'made by a query' AS WITH z AS (SELECT max(id) AS most FROM s.q) SELECT * FROM z;

SELECT * FROM s.w;

CREATE TABLE s.x USING delta CLUSTER BY (id) AS SELECT * FROM s.q;

SELECT count(*) AS n FROM s.x;

CREATE TABLE s.y (id INT) USING delta AS SELECT 1 AS id;

CREATE TABLE s.y USING delta AS SELECT 1 AS a, 2 AS a;

CREATE TABLE s.y USING delta AS SELECT * FROM s.nothing;

CREATE TABLE s.y USING delta AS SELECT NULL AS nothing;

-- @shown version, operation, isBlindAppend
DESCRIBE HISTORY s.q;

-- # replaced tables

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1);

CREATE OR REPLACE TABLE s.t (name STRING, n INT) USING delta;

SELECT * FROM s.t;

INSERT INTO s.t VALUES ('a', 1);

REPLACE TABLE s.t USING delta AS SELECT 5 AS five;

SELECT * FROM s.t;

CREATE OR REPLACE TABLE s.t USING delta AS SELECT five + 1 AS six FROM s.t;

SELECT * FROM s.t;

SELECT * FROM s.t VERSION AS OF 1;

CREATE OR REPLACE TABLE s.t USING delta PARTITIONED BY (b) AS SELECT 1 AS a, 2 AS b;

SELECT * FROM s.t;

-- @shown version, operation
DESCRIBE HISTORY s.t;

REPLACE TABLE s.nothing (id INT) USING delta;

REPLACE TABLE s.t (x INT, y INT) USING delta;

SELECT * FROM s.t;

CREATE OR REPLACE TABLE s.fresh (id INT) USING delta;

-- # defaults

CREATE TABLE s.t (id INT, n INT DEFAULT 7, name STRING DEFAULT 'none') USING delta;

CREATE TABLE s.t (id INT, n INT DEFAULT 7, name STRING DEFAULT 'none') USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported');

INSERT INTO s.t (id) VALUES (1);

INSERT INTO s.t VALUES (2, DEFAULT, DEFAULT);

INSERT INTO s.t VALUES (3, 8, 'c');

INSERT INTO s.t (name, id) SELECT 'd', 4;

SELECT * FROM s.t ORDER BY id;

UPDATE s.t SET n = DEFAULT WHERE id = 3;

MERGE INTO s.t USING (SELECT 5 AS id) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, n) VALUES (q.id, DEFAULT);

SELECT * FROM s.t ORDER BY id;

ALTER TABLE s.t ALTER COLUMN n SET DEFAULT 9;

INSERT INTO s.t (id) VALUES (6);

ALTER TABLE s.t ALTER COLUMN n DROP DEFAULT;

INSERT INTO s.t (id) VALUES (7);

SELECT id, n FROM s.t WHERE id > 5 ORDER BY id;

ALTER TABLE s.t ALTER COLUMN n SET DEFAULT 'x';

ALTER TABLE s.t ALTER COLUMN n SET DEFAULT nothing + 1;

-- # generated columns

CREATE TABLE s.t (id INT, at TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(at AS DATE))) USING delta PARTITIONED BY (day);

INSERT INTO s.t (id, at) VALUES (1, TIMESTAMP'2026-01-01 10:00:00');

INSERT INTO s.t VALUES (2, TIMESTAMP'2026-01-02 10:00:00', DATE'2026-01-02');

INSERT INTO s.t VALUES (3, TIMESTAMP'2026-01-02 10:00:00', DATE'2026-01-09');

INSERT INTO s.t (id, at, day) VALUES (3, TIMESTAMP'2026-01-03 10:00:00', DEFAULT);

SELECT * FROM s.t ORDER BY id;

UPDATE s.t SET at = TIMESTAMP'2026-03-01 00:00:00' WHERE id = 1;

UPDATE s.t SET day = DATE'2026-03-02' WHERE id = 1;

SELECT * FROM s.t ORDER BY id;

CREATE TABLE s.bad (id INT, twice INT GENERATED ALWAYS AS (nothing * 2)) USING delta;

CREATE TABLE s.bad (id INT, some DOUBLE GENERATED ALWAYS AS (rand())) USING delta;

CREATE TABLE s.bad (id INT, twice STRING GENERATED ALWAYS AS (id * 2)) USING delta;

CREATE TABLE s.bad (id INT, total BIGINT GENERATED ALWAYS AS (sum(id))) USING delta;

CREATE TABLE s.bad (a INT GENERATED ALWAYS AS (b), b INT GENERATED ALWAYS AS (a)) USING delta;

-- # identity columns

CREATE TABLE s.t (id BIGINT GENERATED ALWAYS AS IDENTITY, name STRING) USING delta;

INSERT INTO s.t (name) VALUES ('a');

INSERT INTO s.t (name) VALUES ('b');

SELECT count(DISTINCT id) AS ids, min(id) AS least FROM s.t;

INSERT INTO s.t VALUES (9, 'x');

INSERT INTO s.t (id, name) VALUES (DEFAULT, 'x');

UPDATE s.t SET id = 5;

CREATE TABLE s.u (id BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 100 INCREMENT BY 10), name STRING) USING delta;

INSERT INTO s.u (name) VALUES ('a');

INSERT INTO s.u VALUES (5, 'own');

INSERT INTO s.u (name) VALUES ('b');

SELECT count(DISTINCT id) AS ids, min(id) AS least FROM s.u WHERE id <> 5;

ALTER TABLE s.u ALTER COLUMN id SYNC IDENTITY;

ALTER TABLE s.u ALTER COLUMN name SYNC IDENTITY;

CREATE TABLE s.bad (id INT GENERATED ALWAYS AS IDENTITY) USING delta;

CREATE TABLE s.bad (id BIGINT GENERATED ALWAYS AS IDENTITY (INCREMENT BY 0)) USING delta;

CREATE TABLE s.bad (id BIGINT GENERATED ALWAYS AS IDENTITY, day DATE) USING delta PARTITIONED BY (id);

-- # schemas

CREATE SCHEMA s2;

CREATE SCHEMA s2;

CREATE SCHEMA IF NOT EXISTS s2 COMMENT 'another';

CREATE TABLE s2.t (id INT) USING delta;

INSERT INTO s2.t VALUES (1);

CREATE TABLE s.t USING delta AS SELECT * FROM s2.t;

SELECT a.id FROM s.t AS a JOIN s2.t AS b ON a.id = b.id;

DROP SCHEMA s2;

DROP SCHEMA s2 CASCADE;

DROP SCHEMA s2;

DROP SCHEMA IF EXISTS s2;

CREATE DATABASE s2;

DROP DATABASE s2;
