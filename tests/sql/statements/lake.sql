-- Statements of a lake that Delta Spark does not have.

-- # dropped tables come back
-- @ours a table that is dropped in Delta Spark is gone

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1);

DROP TABLE s.t;

SELECT * FROM s.t;

-- @mask droppedAt, deletedAt, dropped_at, tableId, table_id, location
SHOW TABLES DROPPED IN s;

UNDROP TABLE s.t;

SELECT * FROM s.t;

UNDROP TABLE s.t;

UNDROP TABLE s.nothing;

DROP TABLE s.t;

CREATE TABLE s.t (name STRING) USING delta;

UNDROP TABLE s.t;

-- # metadata domains
-- @ours Delta Spark has no words for metadata domains

CREATE TABLE s.t (id INT) USING delta;

ALTER TABLE s.t SET DOMAIN 'acme.x' '{"n": 1}';

ALTER TABLE s.t SET DOMAIN 'acme.y' 'text';

SHOW DOMAINS IN s.t;

SHOW DOMAINS s.t LIKE 'acme.x';

ALTER TABLE s.t SET DOMAIN 'acme.x' '{"n": 2}';

ALTER TABLE s.t UNSET DOMAIN 'acme.y';

SHOW DOMAINS IN s.t;

ALTER TABLE s.t UNSET DOMAIN 'acme.y';

ALTER TABLE s.t UNSET DOMAIN IF EXISTS 'acme.y';

ALTER TABLE s.t SET DOMAIN 'delta.clustering' 'x';

ALTER TABLE s.nothing SET DOMAIN 'acme.x' 'x';

SHOW DOMAINS IN s.nothing;

-- # transactions
-- @ours Delta Spark commits to one table at a time

CREATE TABLE s.a (id INT, n INT) USING delta;

CREATE TABLE s.b (id INT, n INT) USING delta;

INSERT INTO s.a VALUES (1, 10);

BEGIN;

INSERT INTO s.a VALUES (2, 20);

INSERT INTO s.b SELECT id, n FROM s.a;

UPDATE s.a SET n = n + 1 WHERE id = 1;

SELECT * FROM s.a ORDER BY id;

SELECT * FROM s.b ORDER BY id;

COMMIT;

SELECT * FROM s.a ORDER BY id;

SELECT * FROM s.b ORDER BY id;

BEGIN TRANSACTION;

DELETE FROM s.a;

MERGE INTO s.b USING (SELECT 9 AS id, 9 AS n) AS q ON b.id = q.id WHEN NOT MATCHED THEN INSERT *;

SELECT count(*) AS n FROM s.a;

SELECT count(*) AS n FROM s.b;

ROLLBACK;

SELECT count(*) AS n FROM s.a;

SELECT count(*) AS n FROM s.b;

START TRANSACTION;

INSERT INTO s.nothing VALUES (1);

INSERT INTO s.a VALUES (3, 30);

COMMIT;

SELECT count(*) AS n FROM s.a;

COMMIT;

ROLLBACK;

BEGIN;

BEGIN;

ROLLBACK;

-- # privileges
-- @ours Spark's own catalog knows no privileges

CREATE TABLE s.t (id INT) USING delta;

GRANT SELECT ON TABLE s.t TO `ann@example.com`;

GRANT SELECT, MODIFY ON SCHEMA s TO bob;

SHOW GRANTS ON TABLE s.t;

SHOW GRANTS ON SCHEMA s;

SHOW GRANTS bob ON SCHEMA s;

REVOKE SELECT ON TABLE s.t FROM `ann@example.com`;

SHOW GRANTS ON TABLE s.t;

REVOKE SELECT ON TABLE s.t FROM `ann@example.com`;

GRANT FLY ON TABLE s.t TO ann;

GRANT SELECT ON TABLE s.nothing TO ann;

GRANT SELECT ON s.t TO ann;

-- # files that are copied once
-- @ours open-source Delta has no COPY INTO

CREATE TABLE s.t (id INT, name STRING) USING delta;

INSERT OVERWRITE DIRECTORY '${folder}/in' USING parquet SELECT 1 AS id, 'a' AS name;

COPY INTO s.t FROM '${folder}/in' FILEFORMAT = PARQUET;

COPY INTO s.t FROM '${folder}/in' FILEFORMAT = PARQUET;

SELECT * FROM s.t ORDER BY id;

COPY INTO s.t FROM '${folder}/in' FILEFORMAT = PARQUET COPY_OPTIONS ('force' = 'true');

SELECT count(*) AS n FROM s.t;

INSERT OVERWRITE DIRECTORY '${folder}/csv' USING csv OPTIONS ('header' = 'true') SELECT 5 AS id, 'five' AS name;

COPY INTO s.t FROM '${folder}/csv' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true', 'inferSchema' = 'true');

INSERT OVERWRITE DIRECTORY '${folder}/json' USING json SELECT 6 AS id, 'six' AS name;

COPY INTO s.t FROM (SELECT CAST(id AS INT) + 1 AS id, upper(name) AS name FROM '${folder}/json') FILEFORMAT = JSON;

SELECT * FROM s.t ORDER BY id;

COPY INTO s.t FROM '${folder}/nothing' FILEFORMAT = PARQUET;

COPY INTO s.nothing FROM '${folder}/in' FILEFORMAT = PARQUET;

COPY INTO s.t FROM '${folder}/in' FILEFORMAT = NOTHING;

-- # deep clones
-- @ours open-source Delta has shallow clones only

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1), (2);

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE s.c DEEP CLONE s.t;

INSERT INTO s.t VALUES (3);

SELECT * FROM s.c ORDER BY id;

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE OR REPLACE TABLE s.c CLONE s.t;

SELECT * FROM s.c ORDER BY id;

-- # names of three parts
-- @ours a lake is a catalog by its own name, which Spark does not have

CREATE TABLE main.s.t (id INT) USING delta;

INSERT INTO main.s.t VALUES (1);

SELECT t.id FROM main.s.t AS t JOIN s.t AS u ON t.id = u.id;

DESCRIBE TABLE main.s.t;

DROP TABLE main.s.t;

SELECT * FROM main.s.t;
