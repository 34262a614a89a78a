-- DROP, SHOW, DESCRIBE and EXPLAIN.

-- # dropped tables

CREATE TABLE s.t (id INT) USING delta;

DROP TABLE s.t;

SELECT * FROM s.t;

DROP TABLE s.t;

DROP TABLE IF EXISTS s.t;

CREATE TABLE s.t (name STRING) USING delta;

INSERT INTO s.t VALUES ('a');

SELECT * FROM s.t;

DROP TABLE IF EXISTS s.t;

DROP TABLE nowhere.t;

-- # what there is

CREATE TABLE s.alpha (id INT, day DATE) USING delta PARTITIONED BY (day);

CREATE TABLE s.beta (id INT, name STRING COMMENT 'called') USING delta;

SHOW TABLES IN s;

SHOW TABLES FROM s LIKE 'al*';

SHOW COLUMNS IN s.beta;

SHOW COLUMNS FROM beta IN s;

SHOW COLUMNS IN s.nothing;

SHOW TABLES IN nowhere;

INSERT INTO s.alpha VALUES (1, DATE'2026-01-01'), (2, DATE'2026-01-02');

SHOW PARTITIONS s.alpha;

SHOW PARTITIONS s.beta;

SHOW SCHEMAS LIKE 's';

SHOW DATABASES LIKE 's';

SHOW TBLPROPERTIES s.nothing;

SHOW VIEWS IN s;

-- # described

CREATE TABLE s.t (id INT NOT NULL COMMENT 'the key', name STRING, p STRUCT<x: INT, y: ARRAY<STRING>>) USING delta COMMENT 'a table';

DESCRIBE TABLE s.t;

DESC s.t;

DESCRIBE s.t id;

DESCRIBE TABLE s.t p.x;

DESCRIBE s.t nothing;

DESCRIBE s.nothing;

DESCRIBE SCHEMA nowhere;

-- @shown col_name
DESCRIBE QUERY SELECT id, name FROM s.t;

DESCRIBE SELECT id + 1 AS more FROM s.t;

-- # history

CREATE TABLE s.t (id INT, name STRING) USING delta;

INSERT INTO s.t VALUES (1, 'a'), (2, 'b');

INSERT OVERWRITE s.t VALUES (3, 'c');

UPDATE s.t SET name = 'C' WHERE id = 3;

DELETE FROM s.t WHERE id = 3;

MERGE INTO s.t USING (SELECT 4 AS id, 'd' AS name) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;

ALTER TABLE s.t ADD COLUMN n INT;

ALTER TABLE s.t SET TBLPROPERTIES ('team' = 'sales');

-- @shown version, operation, readVersion, isolationLevel, isBlindAppend
DESCRIBE HISTORY s.t;

-- @shown version, operation, readVersion
DESCRIBE HISTORY s.t LIMIT 2;

-- @shown version
DESC HISTORY s.t LIMIT 1;

-- @shown version, operationParameters
DESCRIBE HISTORY s.t;

DESCRIBE HISTORY s.nothing;

DESCRIBE HISTORY s.t LIMIT -1;

-- # detail

CREATE TABLE s.t (id INT, day DATE) USING delta PARTITIONED BY (day) COMMENT 'a table' TBLPROPERTIES ('team' = 'sales');

INSERT INTO s.t VALUES (1, DATE'2026-01-01'), (2, DATE'2026-01-02');

-- @shown format, name, description, partitionColumns, clusteringColumns, numFiles
DESCRIBE DETAIL s.t;

DESCRIBE DETAIL s.nothing;

-- # explained

CREATE TABLE s.t (id INT) USING delta;

-- @mask plan
EXPLAIN SELECT * FROM s.t;

-- @mask plan
EXPLAIN EXTENDED SELECT * FROM s.t WHERE id = 1;

-- # table names in other places

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1);

USE s;

SELECT * FROM t;

INSERT INTO t VALUES (2);

SELECT count(*) AS n FROM s.t;

USE default;

CACHE TABLE s.t;

UNCACHE TABLE s.t;

REFRESH TABLE s.t;

ANALYZE TABLE s.t COMPUTE STATISTICS;
