-- Statements of a lake that Delta Spark does not have.

-- # dropped tables come back
-- @ours a table that is dropped in Delta Spark is gone

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1);
-- ok

DROP TABLE s.t;
-- ok

SELECT * FROM s.t;
-- error TABLE_OR_VIEW_NOT_FOUND

-- @mask droppedAt, deletedAt, dropped_at, tableId, table_id, location
SHOW TABLES DROPPED IN s;
-- catalogName string, schemaName string, tableName string, tableId string, deletedAt timestamp
-- 'main' | 's' | 't' | * | *

UNDROP TABLE s.t;
-- ok

SELECT * FROM s.t;
-- id int
-- 1

UNDROP TABLE s.t;
-- error TABLE_OR_VIEW_NOT_FOUND

UNDROP TABLE s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

DROP TABLE s.t;
-- ok

CREATE TABLE s.t (name STRING) USING delta;
-- ok

UNDROP TABLE s.t;
-- error TABLE_OR_VIEW_ALREADY_EXISTS

-- # metadata domains
-- @ours Delta Spark has no words for metadata domains

CREATE TABLE s.t (id INT) USING delta;
-- ok

ALTER TABLE s.t SET DOMAIN 'acme.x' '{"n": 1}';
-- ok

ALTER TABLE s.t SET DOMAIN 'acme.y' 'text';
-- ok

SHOW DOMAINS IN s.t;
-- domain string, configuration string
-- 'acme.x' | '{"n": 1}'
-- 'acme.y' | 'text'

SHOW DOMAINS s.t LIKE 'acme.x';
-- domain string, configuration string
-- 'acme.x' | '{"n": 1}'

ALTER TABLE s.t SET DOMAIN 'acme.x' '{"n": 2}';
-- ok

ALTER TABLE s.t UNSET DOMAIN 'acme.y';
-- ok

SHOW DOMAINS IN s.t;
-- domain string, configuration string
-- 'acme.x' | '{"n": 2}'

ALTER TABLE s.t UNSET DOMAIN 'acme.y';
-- error HEADGATE_DOMAIN_NOT_FOUND

ALTER TABLE s.t UNSET DOMAIN IF EXISTS 'acme.y';
-- ok

ALTER TABLE s.t SET DOMAIN 'delta.clustering' 'x';
-- error HEADGATE_DOMAIN_RESERVED

ALTER TABLE s.nothing SET DOMAIN 'acme.x' 'x';
-- error TABLE_OR_VIEW_NOT_FOUND

SHOW DOMAINS IN s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

-- # transactions
-- @ours Delta Spark commits to one table at a time

CREATE TABLE s.a (id INT, n INT) USING delta;
-- ok

CREATE TABLE s.b (id INT, n INT) USING delta;
-- ok

INSERT INTO s.a VALUES (1, 10);
-- ok

BEGIN;
-- ok

INSERT INTO s.a VALUES (2, 20);
-- ok

INSERT INTO s.b SELECT id, n FROM s.a;
-- ok

UPDATE s.a SET n = n + 1 WHERE id = 1;
-- num_affected_rows bigint
-- 1

SELECT * FROM s.a ORDER BY id;
-- id int, n int
-- 1 | 11
-- 2 | 20

SELECT * FROM s.b ORDER BY id;
-- id int, n int
-- 1 | 10
-- 2 | 20

COMMIT;
-- table string, version bigint
-- 's.a' | 2
-- 's.b' | 1

SELECT * FROM s.a ORDER BY id;
-- id int, n int
-- 1 | 11
-- 2 | 20

SELECT * FROM s.b ORDER BY id;
-- id int, n int
-- 1 | 10
-- 2 | 20

BEGIN TRANSACTION;
-- ok

DELETE FROM s.a;
-- num_affected_rows bigint
-- 2

MERGE INTO s.b USING (SELECT 9 AS id, 9 AS n) AS q ON b.id = q.id WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 0 | 1

SELECT count(*) AS n FROM s.a;
-- n bigint
-- 0

SELECT count(*) AS n FROM s.b;
-- n bigint
-- 3

ROLLBACK;
-- ok

SELECT count(*) AS n FROM s.a;
-- n bigint
-- 2

SELECT count(*) AS n FROM s.b;
-- n bigint
-- 2

START TRANSACTION;
-- ok

INSERT INTO s.nothing VALUES (1);
-- error TABLE_OR_VIEW_NOT_FOUND

INSERT INTO s.a VALUES (3, 30);
-- ok

COMMIT;
-- table string, version bigint
-- 's.a' | 3

SELECT count(*) AS n FROM s.a;
-- n bigint
-- 3

COMMIT;
-- error NO_ACTIVE_TRANSACTION

ROLLBACK;
-- error NO_ACTIVE_TRANSACTION

BEGIN;
-- ok

BEGIN;
-- error TRANSACTION_ALREADY_ACTIVE

ROLLBACK;
-- ok

-- # privileges
-- @ours Spark's own catalog knows no privileges

CREATE TABLE s.t (id INT) USING delta;
-- ok

GRANT SELECT ON TABLE s.t TO `ann@example.com`;
-- ok

GRANT SELECT, MODIFY ON SCHEMA s TO bob;
-- ok

SHOW GRANTS ON TABLE s.t;
-- Principal string, ActionType string, ObjectType string, ObjectKey string
-- 'ann@example.com' | 'READ' | 'TABLE' | 's.t'

SHOW GRANTS ON SCHEMA s;
-- Principal string, ActionType string, ObjectType string, ObjectKey string
-- 'bob' | 'CHANGE DATA' | 'SCHEMA' | 's'
-- 'bob' | 'READ' | 'SCHEMA' | 's'

SHOW GRANTS bob ON SCHEMA s;
-- Principal string, ActionType string, ObjectType string, ObjectKey string
-- 'bob' | 'CHANGE DATA' | 'SCHEMA' | 's'
-- 'bob' | 'READ' | 'SCHEMA' | 's'

REVOKE SELECT ON TABLE s.t FROM `ann@example.com`;
-- ok

SHOW GRANTS ON TABLE s.t;
-- Principal string, ActionType string, ObjectType string, ObjectKey string

REVOKE SELECT ON TABLE s.t FROM `ann@example.com`;
-- ok

GRANT FLY ON TABLE s.t TO ann;
-- error INVALID_PRIVILEGE

GRANT SELECT ON TABLE s.nothing TO ann;
-- error TABLE_OR_VIEW_NOT_FOUND

GRANT SELECT ON s.t TO ann;
-- ok

-- # files that are copied once
-- @ours open-source Delta has no COPY INTO

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

INSERT OVERWRITE DIRECTORY '${folder}/in' USING parquet SELECT 1 AS id, 'a' AS name;
-- ok

COPY INTO s.t FROM '${folder}/in' FILEFORMAT = PARQUET;
-- num_affected_rows bigint, num_inserted_rows bigint, num_skipped_corrupt_files bigint
-- 1 | 1 | 0

COPY INTO s.t FROM '${folder}/in' FILEFORMAT = PARQUET;
-- num_affected_rows bigint, num_inserted_rows bigint, num_skipped_corrupt_files bigint
-- 0 | 0 | 0

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | 'a'

COPY INTO s.t FROM '${folder}/in' FILEFORMAT = PARQUET COPY_OPTIONS ('force' = 'true');
-- num_affected_rows bigint, num_inserted_rows bigint, num_skipped_corrupt_files bigint
-- 1 | 1 | 0

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 2

INSERT OVERWRITE DIRECTORY '${folder}/csv' USING csv OPTIONS ('header' = 'true') SELECT 5 AS id, 'five' AS name;
-- ok

COPY INTO s.t FROM '${folder}/csv' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true', 'inferSchema' = 'true');
-- num_affected_rows bigint, num_inserted_rows bigint, num_skipped_corrupt_files bigint
-- 1 | 1 | 0

INSERT OVERWRITE DIRECTORY '${folder}/json' USING json SELECT 6 AS id, 'six' AS name;
-- ok

COPY INTO s.t FROM (SELECT CAST(id AS INT) + 1 AS id, upper(name) AS name FROM '${folder}/json') FILEFORMAT = JSON;
-- num_affected_rows bigint, num_inserted_rows bigint, num_skipped_corrupt_files bigint
-- 1 | 1 | 0

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 1 | 'a'
-- 5 | 'five'
-- 7 | 'SIX'

COPY INTO s.t FROM '${folder}/nothing' FILEFORMAT = PARQUET;
-- error PATH_NOT_FOUND

COPY INTO s.nothing FROM '${folder}/in' FILEFORMAT = PARQUET;
-- error TABLE_OR_VIEW_NOT_FOUND

COPY INTO s.t FROM '${folder}/in' FILEFORMAT = NOTHING;
-- error UNSUPPORTED_FEATURE.TABLE_OPERATION

-- # deep clones
-- @ours open-source Delta has shallow clones only

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1), (2);
-- ok

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE s.c DEEP CLONE s.t;
-- source_table_size bigint, source_num_of_files bigint, num_removed_files bigint, num_copied_files bigint, removed_files_size bigint, copied_files_size bigint
-- * | 2 | 0 | 2 | * | *

INSERT INTO s.t VALUES (3);
-- ok

SELECT * FROM s.c ORDER BY id;
-- id int
-- 1
-- 2

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE OR REPLACE TABLE s.c CLONE s.t;
-- source_table_size bigint, source_num_of_files bigint, num_removed_files bigint, num_copied_files bigint, removed_files_size bigint, copied_files_size bigint
-- * | 3 | 0 | 1 | * | *

SELECT * FROM s.c ORDER BY id;
-- id int
-- 1
-- 2
-- 3

-- # names of three parts
-- @ours a lake is a catalog by its own name, which Spark does not have

CREATE TABLE main.s.t (id INT) USING delta;
-- ok

INSERT INTO main.s.t VALUES (1);
-- ok

SELECT t.id FROM main.s.t AS t JOIN s.t AS u ON t.id = u.id;
-- id int
-- 1

DESCRIBE TABLE main.s.t;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | NULL

DROP TABLE main.s.t;
-- ok

SELECT * FROM main.s.t;
-- error TABLE_OR_VIEW_NOT_FOUND
