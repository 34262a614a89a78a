-- CREATE, REPLACE and CREATE TABLE AS SELECT.

-- # plain tables

CREATE TABLE s.t (id INT NOT NULL COMMENT 'the key', name STRING) USING delta COMMENT 'a table';
-- ok

DESCRIBE TABLE s.t;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | 'the key'
-- 'name' | 'string' | NULL

CREATE TABLE s.t (id INT) USING delta;
-- error TABLE_OR_VIEW_ALREADY_EXISTS

CREATE TABLE IF NOT EXISTS s.t (other STRING) USING delta;
-- ok

DESCRIBE TABLE s.t;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | 'the key'
-- 'name' | 'string' | NULL

CREATE TABLE s.u (id INT, name STRING);
-- ok

INSERT INTO s.u VALUES (1, 'a');
-- ok

SELECT * FROM s.u;
-- id int, name string
-- 1 | 'a'

CREATE TABLE s.p (id INT, day DATE, region STRING) USING delta PARTITIONED BY (day, region);
-- ok

DESCRIBE TABLE s.p;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | NULL
-- 'day' | 'date' | NULL
-- 'region' | 'string' | NULL
-- '# Partition Information' | '' | ''
-- '# col_name' | 'data_type' | 'comment'
-- 'day' | 'date' | NULL
-- 'region' | 'string' | NULL

CREATE TABLE s.c (id INT, day DATE) USING delta CLUSTER BY (day);
-- ok

DESCRIBE TABLE s.c;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | NULL
-- 'day' | 'date' | NULL

CREATE TABLE s.props (id INT) USING delta TBLPROPERTIES ('delta.appendOnly' = 'true', 'team' = 'sales');
-- ok

SHOW TBLPROPERTIES s.props ('delta.appendOnly');
-- key string, value string
-- 'delta.appendOnly' | 'true'

SHOW TBLPROPERTIES s.props ('team');
-- key string, value string
-- 'team' | 'sales'

CREATE TABLE s.widths (a CHAR(3), b VARCHAR(3), c DECIMAL(5, 2)) USING delta;
-- ok

INSERT INTO s.widths VALUES ('a', 'bcd', 1.5);
-- ok

SELECT * FROM s.widths;
-- a string, b string, c decimal(5,2)
-- 'a  ' | 'bcd' | 1.50

INSERT INTO s.widths VALUES ('abcd', 'b', 1.5);
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

INSERT INTO s.widths VALUES ('a', 'bcde', 1.5);
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

-- # what cannot be created

CREATE TABLE s.t (id INT, id STRING) USING delta;
-- error COLUMN_ALREADY_EXISTS

CREATE TABLE s.t (id INT, ID STRING) USING delta;
-- error COLUMN_ALREADY_EXISTS

-- @differs the name that Spark has is a placeholder
CREATE TABLE s.t (id INT) USING delta PARTITIONED BY (nothing);
-- error DELTA_PARTITION_COLUMN_NOT_FOUND
-- delta: error _LEGACY_ERROR_TEMP_3060

CREATE TABLE s.t (id INT) USING delta PARTITIONED BY (id);
-- error ALL_PARTITION_COLUMNS_NOT_ALLOWED

-- @differs Spark takes a column that is not there for a part of one
CREATE TABLE s.t (id INT) USING delta CLUSTER BY (nothing);
-- error DELTA_COLUMN_NOT_FOUND_IN_SCHEMA
-- delta: error UNSUPPORTED_FEATURE.PARTITION_WITH_NESTED_COLUMN_IS_UNSUPPORTED

-- @differs the name that Spark has is a placeholder
CREATE TABLE s.t (id INT, day DATE) USING delta PARTITIONED BY (day) CLUSTER BY (id);
-- error DELTA_CLUSTER_BY_WITH_PARTITIONED_BY
-- delta: error _LEGACY_ERROR_TEMP_0035

CREATE TABLE nowhere.t (id INT) USING delta;
-- error SCHEMA_NOT_FOUND

-- @differs Headgate has one name for what it does not understand in the definition of a column
CREATE TABLE s.t (id NOTHING) USING delta;
-- error DELTA_ILLEGAL_OPTION
-- delta: error UNSUPPORTED_DATATYPE

-- @differs Delta Spark gives an error of Java without a class
CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.appendOnly' = 'maybe');
-- error DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED
-- delta: error without a class: For input string: "maybe"

CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.nothing' = '1');
-- error DELTA_UNKNOWN_CONFIGURATION

CREATE TABLE s.t (`a b` INT) USING delta;
-- error DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES

CREATE TABLE s.t (`a b` INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name');
-- ok

SELECT `a b` FROM s.t;
-- a b int

CREATE TABLE s.t2 (id INT USING delta;
-- error PARSE_SYNTAX_ERROR

CREATE TABLE s.t3 (id INT) USING nothing;
-- error DATA_SOURCE_NOT_FOUND

-- @differs a table of a lake has a column at least
CREATE TABLE s.t4 USING delta;
-- error DELTA_EMPTY_DATA
-- delta: ok

-- # as a query gives it

CREATE TABLE s.q USING delta AS SELECT 1 AS id, 'a' AS name UNION ALL SELECT 2, 'b';
-- ok

SELECT * FROM s.q ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'

CREATE TABLE s.r USING delta PARTITIONED BY (name) AS SELECT * FROM s.q WHERE id = 1;
-- ok

DESCRIBE TABLE s.r;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | NULL
-- 'name' | 'string' | NULL
-- '# Partition Information' | '' | ''
-- '# col_name' | 'data_type' | 'comment'
-- 'name' | 'string' | NULL

CREATE TABLE s.r AS SELECT 1 AS id;
-- error TABLE_OR_VIEW_ALREADY_EXISTS

CREATE TABLE IF NOT EXISTS s.r USING delta AS SELECT 5 AS other;
-- ok

SELECT * FROM s.r;
-- id int, name string
-- 1 | 'a'

CREATE TABLE s.w USING delta TBLPROPERTIES ('team' = 'x') COMMENT 'made by a query' AS WITH z AS (SELECT max(id) AS most FROM s.q) SELECT * FROM z;
-- ok

SELECT * FROM s.w;
-- most int
-- 2

CREATE TABLE s.x USING delta CLUSTER BY (id) AS SELECT * FROM s.q;
-- ok

SELECT count(*) AS n FROM s.x;
-- n bigint
-- 2

-- @differs the name that Spark has is a placeholder
CREATE TABLE s.y (id INT) USING delta AS SELECT 1 AS id;
-- error PARSE_SYNTAX_ERROR
-- delta: error _LEGACY_ERROR_TEMP_0035

CREATE TABLE s.y USING delta AS SELECT 1 AS a, 2 AS a;
-- error COLUMN_ALREADY_EXISTS

CREATE TABLE s.y USING delta AS SELECT * FROM s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

-- @differs a table of a lake has a column at least, and this one has no type
CREATE TABLE s.y USING delta AS SELECT NULL AS nothing;
-- error DELTA_EMPTY_DATA
-- delta: error DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS

-- @shown version, operation, isBlindAppend
DESCRIBE HISTORY s.q;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 0 | * | * | * | 'CREATE TABLE AS SELECT' | * | * | * | * | * | * | true | * | * | *

-- # replaced tables

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1);
-- ok

CREATE OR REPLACE TABLE s.t (name STRING, n INT) USING delta;
-- ok

SELECT * FROM s.t;
-- name string, n int

INSERT INTO s.t VALUES ('a', 1);
-- ok

REPLACE TABLE s.t USING delta AS SELECT 5 AS five;
-- ok

SELECT * FROM s.t;
-- five int
-- 5

CREATE OR REPLACE TABLE s.t USING delta AS SELECT five + 1 AS six FROM s.t;
-- ok

SELECT * FROM s.t;
-- six int
-- 6

SELECT * FROM s.t VERSION AS OF 1;
-- id int
-- 1

CREATE OR REPLACE TABLE s.t USING delta PARTITIONED BY (b) AS SELECT 1 AS a, 2 AS b;
-- ok

SELECT * FROM s.t;
-- a int, b int
-- 1 | 2

-- @shown version, operation
DESCRIBE HISTORY s.t;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 6 | * | * | * | 'CREATE OR REPLACE TABLE AS SELECT' | * | * | * | * | * | * | * | * | * | *
-- 5 | * | * | * | 'CREATE OR REPLACE TABLE AS SELECT' | * | * | * | * | * | * | * | * | * | *
-- 4 | * | * | * | 'REPLACE TABLE AS SELECT' | * | * | * | * | * | * | * | * | * | *
-- 3 | * | * | * | 'WRITE' | * | * | * | * | * | * | * | * | * | *
-- 2 | * | * | * | 'CREATE OR REPLACE TABLE' | * | * | * | * | * | * | * | * | * | *
-- 1 | * | * | * | 'WRITE' | * | * | * | * | * | * | * | * | * | *
-- 0 | * | * | * | 'CREATE TABLE' | * | * | * | * | * | * | * | * | * | *

REPLACE TABLE s.nothing (id INT) USING delta;
-- error TABLE_OR_VIEW_NOT_FOUND

REPLACE TABLE s.t (x INT, y INT) USING delta;
-- ok

SELECT * FROM s.t;
-- x int, y int

CREATE OR REPLACE TABLE s.fresh (id INT) USING delta;
-- ok

-- # defaults

-- @differs Headgate enables the table feature of defaults itself
CREATE TABLE s.d (id INT, n INT DEFAULT 7) USING delta;
-- ok
-- delta: error WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED

CREATE TABLE s.t (id INT, n INT DEFAULT 7, name STRING DEFAULT 'none') USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported');
-- ok

INSERT INTO s.t (id) VALUES (1);
-- ok

INSERT INTO s.t VALUES (2, DEFAULT, DEFAULT);
-- ok

INSERT INTO s.t VALUES (3, 8, 'c');
-- ok

INSERT INTO s.t (name, id) SELECT 'd', 4;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, n int, name string
-- 1 | 7 | 'none'
-- 2 | 7 | 'none'
-- 3 | 8 | 'c'
-- 4 | 7 | 'd'

UPDATE s.t SET n = DEFAULT WHERE id = 3;
-- num_affected_rows bigint
-- 1

SELECT * FROM s.t ORDER BY id;
-- id int, n int, name string
-- 1 | 7 | 'none'
-- 2 | 7 | 'none'
-- 3 | 7 | 'c'
-- 4 | 7 | 'd'

ALTER TABLE s.t ALTER COLUMN n SET DEFAULT 9;
-- ok

INSERT INTO s.t (id) VALUES (6);
-- ok

ALTER TABLE s.t ALTER COLUMN n DROP DEFAULT;
-- ok

INSERT INTO s.t (id) VALUES (7);
-- ok

SELECT id, n FROM s.t WHERE id > 5 ORDER BY id;
-- id int, n int
-- 6 | 9
-- 7 | NULL

ALTER TABLE s.t ALTER COLUMN n SET DEFAULT 'x';
-- error INVALID_DEFAULT_VALUE.DATA_TYPE

ALTER TABLE s.t ALTER COLUMN n SET DEFAULT nothing + 1;
-- error INVALID_DEFAULT_VALUE.NOT_CONSTANT

-- @differs Delta Spark fails with an internal error
MERGE INTO s.t USING (SELECT 5 AS id) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, n) VALUES (q.id, DEFAULT);
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 0 | 1
-- delta: error INTERNAL_ERROR

-- # generated columns

CREATE TABLE s.t (id INT, at TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(at AS DATE))) USING delta PARTITIONED BY (day);
-- ok

INSERT INTO s.t (id, at) VALUES (1, TIMESTAMP'2026-01-01 10:00:00');
-- ok

INSERT INTO s.t VALUES (2, TIMESTAMP'2026-01-02 10:00:00', DATE'2026-01-02');
-- ok

INSERT INTO s.t VALUES (3, TIMESTAMP'2026-01-02 10:00:00', DATE'2026-01-09');
-- error DELTA_VIOLATE_CONSTRAINT_WITH_VALUES

SELECT * FROM s.t ORDER BY id;
-- id int, at timestamp, day date
-- 1 | 2026-01-01 10:00:00 | 2026-01-01
-- 2 | 2026-01-02 10:00:00 | 2026-01-02

UPDATE s.t SET at = TIMESTAMP'2026-03-01 00:00:00' WHERE id = 1;
-- num_affected_rows bigint
-- 1

UPDATE s.t SET day = DATE'2026-03-02' WHERE id = 1;
-- error DELTA_VIOLATE_CONSTRAINT_WITH_VALUES

SELECT * FROM s.t ORDER BY id;
-- id int, at timestamp, day date
-- 1 | 2026-03-01 00:00:00 | 2026-03-01
-- 2 | 2026-01-02 10:00:00 | 2026-01-02

CREATE TABLE s.bad (id INT, twice INT GENERATED ALWAYS AS (nothing * 2)) USING delta;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

-- @differs Headgate has one name for every expression that it does not keep in a table
CREATE TABLE s.bad (id INT, some DOUBLE GENERATED ALWAYS AS (rand())) USING delta;
-- error HEADGATE_UNSAFE_EXPRESSION
-- delta: error UNSUPPORTED_EXPRESSION_GENERATED_COLUMN

CREATE TABLE s.bad (id INT, twice STRING GENERATED ALWAYS AS (id * 2)) USING delta;
-- error DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH

-- @differs Delta Spark gives an error of Java without a class
CREATE TABLE s.bad (id INT, total BIGINT GENERATED ALWAYS AS (sum(id))) USING delta;
-- error HEADGATE_UNSAFE_EXPRESSION
-- delta: error without a class: java.util.NoSuchElementException: None.get

CREATE TABLE s.bad (a INT GENERATED ALWAYS AS (b), b INT GENERATED ALWAYS AS (a)) USING delta;
-- error UNRESOLVED_COLUMN.WITHOUT_SUGGESTION

-- @differs Delta Spark takes DEFAULT for NULL here
INSERT INTO s.t (id, at, day) VALUES (3, TIMESTAMP'2026-01-03 10:00:00', DEFAULT);
-- ok
-- delta: error DELTA_VIOLATE_CONSTRAINT_WITH_VALUES

-- # identity columns

CREATE TABLE s.t (id BIGINT GENERATED ALWAYS AS IDENTITY, name STRING) USING delta;
-- ok

INSERT INTO s.t (name) VALUES ('a');
-- ok

INSERT INTO s.t (name) VALUES ('b');
-- ok

SELECT count(DISTINCT id) AS ids, min(id) AS least FROM s.t;
-- ids bigint, least bigint
-- 2 | 1

INSERT INTO s.t VALUES (9, 'x');
-- error DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED

-- @differs Delta Spark takes DEFAULT for NULL here
INSERT INTO s.t (id, name) VALUES (DEFAULT, 'x');
-- ok
-- delta: error DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED

UPDATE s.t SET id = 5;
-- error DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED

CREATE TABLE s.u (id BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 100 INCREMENT BY 10), name STRING) USING delta;
-- ok

INSERT INTO s.u (name) VALUES ('a');
-- ok

INSERT INTO s.u VALUES (5, 'own');
-- ok

INSERT INTO s.u (name) VALUES ('b');
-- ok

SELECT count(DISTINCT id) AS ids, min(id) AS least FROM s.u WHERE id <> 5;
-- ids bigint, least bigint
-- 2 | 100

ALTER TABLE s.u ALTER COLUMN id SYNC IDENTITY;
-- ok

ALTER TABLE s.u ALTER COLUMN name SYNC IDENTITY;
-- error DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN

CREATE TABLE s.bad (id INT GENERATED ALWAYS AS IDENTITY) USING delta;
-- error DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE

CREATE TABLE s.bad (id BIGINT GENERATED ALWAYS AS IDENTITY (INCREMENT BY 0)) USING delta;
-- error IDENTITY_COLUMNS_ILLEGAL_STEP

CREATE TABLE s.bad (id BIGINT GENERATED ALWAYS AS IDENTITY, day DATE) USING delta PARTITIONED BY (id);
-- error DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED

-- # schemas

CREATE SCHEMA ${catalog}.s2;
-- ok

CREATE SCHEMA ${catalog}.s2;
-- error SCHEMA_ALREADY_EXISTS

-- @differs a schema of a lake has no comment
CREATE SCHEMA IF NOT EXISTS ${catalog}.s2 COMMENT 'another';
-- error UNSUPPORTED_FEATURE.TABLE_OPERATION
-- delta: ok

CREATE TABLE s2.t (id INT) USING delta;
-- ok

INSERT INTO s2.t VALUES (1);
-- ok

CREATE TABLE s.t USING delta AS SELECT * FROM s2.t;
-- ok

SELECT a.id FROM s.t AS a JOIN s2.t AS b ON a.id = b.id;
-- id int
-- 1

DROP SCHEMA ${catalog}.s2;
-- error SCHEMA_NOT_EMPTY

DROP SCHEMA ${catalog}.s2 CASCADE;
-- ok

DROP SCHEMA ${catalog}.s2;
-- error SCHEMA_NOT_FOUND

DROP SCHEMA IF EXISTS ${catalog}.s2;
-- ok

CREATE DATABASE ${catalog}.s2;
-- ok

DROP DATABASE ${catalog}.s2;
-- ok
