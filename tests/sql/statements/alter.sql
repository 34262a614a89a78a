-- ALTER TABLE in all its forms.

-- # adding columns

CREATE TABLE s.t (id INT, p STRUCT<x: INT>) USING delta;

INSERT INTO s.t VALUES (1, named_struct('x', 1));

ALTER TABLE s.t ADD COLUMN name STRING;

ALTER TABLE s.t ADD COLUMNS (a INT COMMENT 'an a' FIRST, b DOUBLE AFTER id);

ALTER TABLE s.t ADD COLUMN p.y STRING;

ALTER TABLE s.t ADD COLUMN p.z INT FIRST;

SELECT * FROM s.t;

DESCRIBE TABLE s.t;

ALTER TABLE s.t ADD COLUMN name STRING;

ALTER TABLE s.t ADD COLUMN IF NOT EXISTS name STRING;

ALTER TABLE s.t ADD COLUMN NAME STRING;

ALTER TABLE s.t ADD COLUMN c INT AFTER nothing;

ALTER TABLE s.t ADD COLUMN c INT NOT NULL;

ALTER TABLE s.t ADD COLUMN c INT DEFAULT 5;

ALTER TABLE s.nothing ADD COLUMN c INT;

ALTER TABLE s.t ADD COLUMN c NOTHING;

ALTER TABLE s.t ADD;

-- # changing columns

CREATE TABLE s.t (id INT, name STRING NOT NULL, n INT) USING delta;

INSERT INTO s.t VALUES (1, 'a', 5);

ALTER TABLE s.t ALTER COLUMN name COMMENT 'what it is called';

ALTER TABLE s.t CHANGE COLUMN n n INT COMMENT 'a number';

ALTER TABLE s.t ALTER COLUMN name DROP NOT NULL;

ALTER TABLE s.t ALTER COLUMN n FIRST;

ALTER TABLE s.t ALTER COLUMN n AFTER name;

ALTER TABLE s.t CHANGE COLUMN id id INT AFTER name;

DESCRIBE TABLE s.t;

INSERT INTO s.t VALUES (NULL, 2, 6);

SELECT * FROM s.t ORDER BY id;

ALTER TABLE s.t ALTER COLUMN n TYPE BIGINT;

ALTER TABLE s.t ALTER COLUMN n TYPE STRING;

ALTER TABLE s.t ALTER COLUMN n SET NOT NULL;

ALTER TABLE s.t ALTER COLUMN nothing COMMENT 'x';

ALTER TABLE s.t ALTER COLUMN n AFTER nothing;

ALTER TABLE s.t CHANGE COLUMN n m INT;

-- # wider types

CREATE TABLE s.t (a SMALLINT, b INT, c FLOAT, d DECIMAL(5, 2), e DATE) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true');

INSERT INTO s.t VALUES (1, 2, 1.5, 3.25, DATE'2026-01-01');

ALTER TABLE s.t ALTER COLUMN a TYPE INT;

ALTER TABLE s.t CHANGE COLUMN b TYPE BIGINT;

ALTER TABLE s.t ALTER COLUMN c TYPE DOUBLE;

ALTER TABLE s.t ALTER COLUMN d TYPE DECIMAL(10, 2);

ALTER TABLE s.t ALTER COLUMN e TYPE TIMESTAMP_NTZ;

INSERT INTO s.t VALUES (100000, 3000000000, 2.5, 12345678.25, TIMESTAMP_NTZ'2026-01-01 10:00:00');

SELECT * FROM s.t ORDER BY a;

ALTER TABLE s.t ALTER COLUMN a TYPE SMALLINT;

ALTER TABLE s.t ALTER COLUMN d TYPE DECIMAL(9, 3);

-- # renamed and dropped columns

CREATE TABLE s.t (id INT, name STRING, n INT) USING delta;

INSERT INTO s.t VALUES (1, 'a', 5);

ALTER TABLE s.t RENAME COLUMN name TO title;

ALTER TABLE s.t DROP COLUMN n;

ALTER TABLE s.t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5');

ALTER TABLE s.t RENAME COLUMN name TO title;

ALTER TABLE s.t DROP COLUMN n;

SELECT * FROM s.t;

ALTER TABLE s.t ADD COLUMN n STRING;

INSERT INTO s.t VALUES (2, 'b', 'text');

SELECT * FROM s.t ORDER BY id;

ALTER TABLE s.t RENAME COLUMN nothing TO x;

ALTER TABLE s.t RENAME COLUMN title TO id;

ALTER TABLE s.t DROP COLUMN nothing;

ALTER TABLE s.t DROP COLUMN IF EXISTS nothing;

ALTER TABLE s.t DROP COLUMNS (title, n);

SELECT * FROM s.t ORDER BY id;

ALTER TABLE s.t REPLACE COLUMNS (id INT, fresh STRING);

SELECT * FROM s.t ORDER BY id;

ALTER TABLE s.t DROP COLUMN fresh;

ALTER TABLE s.t DROP COLUMN id;

-- # properties and comments

CREATE TABLE s.t (id INT) USING delta;

ALTER TABLE s.t SET TBLPROPERTIES ('team' = 'sales', 'delta.logRetentionDuration' = 'interval 60 days');

SHOW TBLPROPERTIES s.t ('team');

SHOW TBLPROPERTIES s.t ('delta.logRetentionDuration');

ALTER TABLE s.t UNSET TBLPROPERTIES ('team');

SHOW TBLPROPERTIES s.t ('team');

ALTER TABLE s.t UNSET TBLPROPERTIES ('team');

ALTER TABLE s.t UNSET TBLPROPERTIES IF EXISTS ('team');

ALTER TABLE s.t SET TBLPROPERTIES ('delta.nothing' = '1');

ALTER TABLE s.t SET TBLPROPERTIES ('delta.logRetentionDuration' = 'forever');

ALTER TABLE s.t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'nothing');

COMMENT ON TABLE s.t IS 'what it is';

COMMENT ON TABLE s.nothing IS 'x';

COMMENT ON SCHEMA s IS 'a schema';

ALTER TABLE s.nothing SET TBLPROPERTIES ('a' = 'b');

-- @shown description
DESCRIBE DETAIL s.t;

COMMENT ON TABLE s.t IS NULL;

-- # constraints

CREATE TABLE s.t (id INT, n INT, name STRING) USING delta;

INSERT INTO s.t VALUES (1, 5, 'a');

ALTER TABLE s.t ADD CONSTRAINT positive CHECK (n > 0);

INSERT INTO s.t VALUES (2, -5, 'b');

INSERT INTO s.t VALUES (2, NULL, 'b');

INSERT INTO s.t VALUES (2, 7, 'b'), (3, NULL, 'c');

UPDATE s.t SET n = -1 WHERE id = 1;

MERGE INTO s.t USING (SELECT 1 AS id, -9 AS n, 'x' AS name) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET *;

SELECT * FROM s.t ORDER BY id;

ALTER TABLE s.t ADD CONSTRAINT positive CHECK (n > 1);

ALTER TABLE s.t ADD CONSTRAINT POSITIVE CHECK (n > 1);

ALTER TABLE s.t ADD CONSTRAINT small CHECK (n < 6);

ALTER TABLE s.t ADD CONSTRAINT unknown CHECK (nothing > 1);

ALTER TABLE s.t ADD CONSTRAINT number CHECK (id + 1);

ALTER TABLE s.t ADD CONSTRAINT random CHECK (rand() < 2);

ALTER TABLE s.t ADD CONSTRAINT empty CHECK ();

SHOW TBLPROPERTIES s.t ('delta.constraints.positive');

ALTER TABLE s.t DROP CONSTRAINT nothing;

ALTER TABLE s.t DROP CONSTRAINT IF EXISTS nothing;

ALTER TABLE s.t DROP CONSTRAINT positive;

INSERT INTO s.t VALUES (4, -5, 'd');

SELECT * FROM s.t ORDER BY id;

-- # columns that are never null

CREATE TABLE s.t (id INT NOT NULL, name STRING) USING delta;

INSERT INTO s.t VALUES (NULL, 'a');

INSERT INTO s.t (name) VALUES ('a');

INSERT INTO s.t VALUES (1, NULL);

UPDATE s.t SET id = NULL;

SELECT * FROM s.t;

CREATE TABLE s.u (id INT, CHECK (id > 0)) USING delta;

CREATE TABLE s.v (id INT, CONSTRAINT positive CHECK (id > 0)) USING delta;

CREATE TABLE s.w (id INT PRIMARY KEY) USING delta;

-- # clustering

CREATE TABLE s.t (id INT, day DATE) USING delta CLUSTER BY (id);

INSERT INTO s.t VALUES (1, DATE'2026-01-01');

-- @shown partitionColumns, clusteringColumns
DESCRIBE DETAIL s.t;

ALTER TABLE s.t CLUSTER BY (day, id);

-- @shown partitionColumns, clusteringColumns
DESCRIBE DETAIL s.t;

ALTER TABLE s.t CLUSTER BY (nothing);

ALTER TABLE s.t CLUSTER BY NONE;

-- @shown partitionColumns, clusteringColumns
DESCRIBE DETAIL s.t;

CREATE TABLE s.p (id INT, day DATE) USING delta PARTITIONED BY (day);

ALTER TABLE s.p CLUSTER BY (id);

-- # features

CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');

INSERT INTO s.t VALUES (1), (2);

ALTER TABLE s.t SET TBLPROPERTIES ('delta.feature.rowTracking' = 'supported');

ALTER TABLE s.t SET TBLPROPERTIES ('delta.feature.nothing' = 'supported');

ALTER TABLE s.t DROP FEATURE nothing;

ALTER TABLE s.t DROP FEATURE columnMapping;

ALTER TABLE s.t DROP FEATURE appendOnly;

SELECT * FROM s.t ORDER BY id;

-- # renamed tables

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1);

ALTER TABLE s.t RENAME TO s.u;

SELECT * FROM s.u;

SELECT * FROM s.t;

CREATE TABLE s.t (id INT) USING delta;

ALTER TABLE s.t RENAME TO s.u;

ALTER TABLE s.nothing RENAME TO s.x;
