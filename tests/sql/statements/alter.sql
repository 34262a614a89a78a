-- ALTER TABLE in all its forms.

-- # adding columns

CREATE TABLE s.t (id INT, p STRUCT<x: INT>) USING delta;
-- ok

INSERT INTO s.t VALUES (1, named_struct('x', 1));
-- ok

ALTER TABLE s.t ADD COLUMN name STRING;
-- ok

ALTER TABLE s.t ADD COLUMNS (a INT COMMENT 'an a' FIRST, b DOUBLE AFTER id);
-- ok

ALTER TABLE s.t ADD COLUMN p.y STRING;
-- ok

ALTER TABLE s.t ADD COLUMN p.z INT FIRST;
-- ok

SELECT * FROM s.t;
-- a int, id int, b double, p struct<z:int,x:int,y:string>, name string
-- NULL | 1 | NULL | (NULL, 1, NULL) | NULL

DESCRIBE TABLE s.t;
-- col_name string, data_type string, comment string
-- 'a' | 'int' | 'an a'
-- 'id' | 'int' | NULL
-- 'b' | 'double' | NULL
-- 'p' | 'struct<z:int,x:int,y:string>' | NULL
-- 'name' | 'string' | NULL

ALTER TABLE s.t ADD COLUMN name STRING;
-- error FIELD_ALREADY_EXISTS

-- @differs Headgate adds a column only if it is not there
ALTER TABLE s.t ADD COLUMN IF NOT EXISTS name STRING;
-- ok
-- delta: error PARSE_SYNTAX_ERROR

ALTER TABLE s.t ADD COLUMN NAME STRING;
-- error FIELD_ALREADY_EXISTS

ALTER TABLE s.t ADD COLUMN c INT AFTER nothing;
-- error FIELD_NOT_FOUND

ALTER TABLE s.t ADD COLUMN c INT NOT NULL;
-- error DELTA_OPERATION_NOT_ALLOWED

ALTER TABLE s.t ADD COLUMN c INT DEFAULT 5;
-- error WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED

ALTER TABLE s.nothing ADD COLUMN c INT;
-- error TABLE_OR_VIEW_NOT_FOUND

ALTER TABLE s.t ADD COLUMN c NOTHING;
-- error UNSUPPORTED_DATATYPE

ALTER TABLE s.t ADD;
-- error PARSE_SYNTAX_ERROR

-- # changing columns

CREATE TABLE s.t (id INT, name STRING NOT NULL, n INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a', 5);
-- ok

ALTER TABLE s.t ALTER COLUMN name COMMENT 'what it is called';
-- ok

ALTER TABLE s.t CHANGE COLUMN n n INT COMMENT 'a number';
-- ok

ALTER TABLE s.t ALTER COLUMN name DROP NOT NULL;
-- ok

ALTER TABLE s.t ALTER COLUMN n FIRST;
-- ok

ALTER TABLE s.t ALTER COLUMN n AFTER name;
-- ok

ALTER TABLE s.t CHANGE COLUMN id id INT AFTER name;
-- ok

DESCRIBE TABLE s.t;
-- col_name string, data_type string, comment string
-- 'name' | 'string' | 'what it is called'
-- 'id' | 'int' | NULL
-- 'n' | 'int' | 'a number'

INSERT INTO s.t VALUES (NULL, 2, 6);
-- ok

SELECT * FROM s.t ORDER BY id;
-- name string, id int, n int
-- 'a' | 1 | 5
-- NULL | 2 | 6

ALTER TABLE s.t ALTER COLUMN n TYPE BIGINT;
-- error DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP

ALTER TABLE s.t ALTER COLUMN n TYPE STRING;
-- error DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP

-- @differs the name that Spark has is a placeholder
ALTER TABLE s.t ALTER COLUMN n SET NOT NULL;
-- error DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP
-- delta: error _LEGACY_ERROR_TEMP_2330

ALTER TABLE s.t ALTER COLUMN nothing COMMENT 'x';
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

ALTER TABLE s.t ALTER COLUMN n AFTER nothing;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

-- @differs the name that Spark has is a placeholder
ALTER TABLE s.t CHANGE COLUMN n m INT;
-- error DELTA_UNSUPPORTED_RENAME_COLUMN
-- delta: error _LEGACY_ERROR_TEMP_0034

-- # wider types

CREATE TABLE s.t (a SMALLINT, b INT, c FLOAT, d DECIMAL(5, 2), e DATE) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true');
-- ok

INSERT INTO s.t VALUES (1, 2, 1.5, 3.25, DATE'2026-01-01');
-- ok

ALTER TABLE s.t ALTER COLUMN a TYPE INT;
-- ok

ALTER TABLE s.t CHANGE COLUMN b TYPE BIGINT;
-- ok

ALTER TABLE s.t ALTER COLUMN c TYPE DOUBLE;
-- ok

ALTER TABLE s.t ALTER COLUMN d TYPE DECIMAL(10, 2);
-- ok

ALTER TABLE s.t ALTER COLUMN e TYPE TIMESTAMP_NTZ;
-- error DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT

INSERT INTO s.t VALUES (100000, 3000000000, 2.5, 12345678.25, TIMESTAMP_NTZ'2026-01-01 10:00:00');
-- ok

SELECT * FROM s.t ORDER BY a;
-- a int, b bigint, c double, d decimal(10,2), e date
-- 1 | 2 | 1.5 | 3.25 | 2026-01-01
-- 100000 | 3000000000 | 2.5 | 12345678.25 | 2026-01-01

-- @differs Headgate has one name for every change of a type that cannot be made
ALTER TABLE s.t ALTER COLUMN a TYPE SMALLINT;
-- error DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP
-- delta: error NOT_SUPPORTED_CHANGE_COLUMN

-- @differs Headgate has one name for every change of a type that cannot be made
ALTER TABLE s.t ALTER COLUMN d TYPE DECIMAL(9, 3);
-- error DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP
-- delta: error NOT_SUPPORTED_CHANGE_COLUMN

-- # renamed and dropped columns

CREATE TABLE s.t (id INT, name STRING, n INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a', 5);
-- ok

ALTER TABLE s.t RENAME COLUMN name TO title;
-- error DELTA_UNSUPPORTED_RENAME_COLUMN

ALTER TABLE s.t DROP COLUMN n;
-- error DELTA_UNSUPPORTED_DROP_COLUMN

ALTER TABLE s.t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5');
-- ok

ALTER TABLE s.t RENAME COLUMN name TO title;
-- ok

ALTER TABLE s.t DROP COLUMN n;
-- ok

SELECT * FROM s.t;
-- id int, title string
-- 1 | 'a'

ALTER TABLE s.t ADD COLUMN n STRING;
-- ok

INSERT INTO s.t VALUES (2, 'b', 'text');
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, title string, n string
-- 1 | 'a' | NULL
-- 2 | 'b' | 'text'

ALTER TABLE s.t RENAME COLUMN nothing TO x;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

ALTER TABLE s.t RENAME COLUMN title TO id;
-- error FIELD_ALREADY_EXISTS

ALTER TABLE s.t DROP COLUMN nothing;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

ALTER TABLE s.t DROP COLUMN IF EXISTS nothing;
-- ok

ALTER TABLE s.t DROP COLUMNS (title, n);
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int
-- 1
-- 2

ALTER TABLE s.t DROP COLUMN id;
-- error DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA

-- @differs Headgate does not replace all columns at once: it names ALTER TABLE and REPLACE TABLE instead
ALTER TABLE s.t REPLACE COLUMNS (id INT, fresh STRING);
-- error UNSUPPORTED_FEATURE.TABLE_OPERATION
-- delta: ok

-- # properties and comments

CREATE TABLE s.t (id INT) USING delta;
-- ok

ALTER TABLE s.t SET TBLPROPERTIES ('team' = 'sales', 'delta.logRetentionDuration' = 'interval 60 days');
-- ok

SHOW TBLPROPERTIES s.t ('team');
-- key string, value string
-- 'team' | 'sales'

SHOW TBLPROPERTIES s.t ('delta.logRetentionDuration');
-- key string, value string
-- 'delta.logRetentionDuration' | 'interval 60 days'

ALTER TABLE s.t UNSET TBLPROPERTIES ('team');
-- ok

-- @differs the name of a table in a lake has two parts
SHOW TBLPROPERTIES s.t ('team');
-- key string, value string
-- 'team' | 'Table s.t does not have property: team'
-- delta: key string, value string
-- delta: 'team' | 'Table ${catalog}.s.t does not have property: team'

ALTER TABLE s.t UNSET TBLPROPERTIES ('team');
-- ok

ALTER TABLE s.t UNSET TBLPROPERTIES IF EXISTS ('team');
-- ok

ALTER TABLE s.t SET TBLPROPERTIES ('delta.nothing' = '1');
-- error DELTA_UNKNOWN_CONFIGURATION

-- @differs Headgate has one name for every property whose value does not fit
ALTER TABLE s.t SET TBLPROPERTIES ('delta.logRetentionDuration' = 'forever');
-- error DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED
-- delta: error DELTA_INVALID_INTERVAL

-- @differs Delta Spark gives an error without a class
ALTER TABLE s.t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'nothing');
-- error DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED
-- delta: error without a class: The column mapping mode `nothing` is not supported for this Delta version. Please upgrade if you want to use this mode.

COMMENT ON TABLE s.t IS 'what it is';
-- ok

COMMENT ON TABLE s.nothing IS 'x';
-- error TABLE_OR_VIEW_NOT_FOUND

-- @differs a schema of a lake has no comment
COMMENT ON SCHEMA s IS 'a schema';
-- error UNSUPPORTED_FEATURE.TABLE_OPERATION
-- delta: ok

ALTER TABLE s.nothing SET TBLPROPERTIES ('a' = 'b');
-- error TABLE_OR_VIEW_NOT_FOUND

-- @shown description
DESCRIBE DETAIL s.t;
-- format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- * | * | * | 'what it is' | * | * | * | * | * | * | * | * | * | * | *

COMMENT ON TABLE s.t IS NULL;
-- ok

-- # constraints

CREATE TABLE s.t (id INT, n INT, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 5, 'a');
-- ok

ALTER TABLE s.t ADD CONSTRAINT positive CHECK (n > 0);
-- ok

INSERT INTO s.t VALUES (2, -5, 'b');
-- error DELTA_VIOLATE_CONSTRAINT_WITH_VALUES

INSERT INTO s.t VALUES (2, NULL, 'b');
-- error DELTA_VIOLATE_CONSTRAINT_WITH_VALUES

INSERT INTO s.t VALUES (2, 7, 'b'), (3, NULL, 'c');
-- error DELTA_VIOLATE_CONSTRAINT_WITH_VALUES

UPDATE s.t SET n = -1 WHERE id = 1;
-- error DELTA_VIOLATE_CONSTRAINT_WITH_VALUES

MERGE INTO s.t USING (SELECT 1 AS id, -9 AS n, 'x' AS name) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET *;
-- error DELTA_VIOLATE_CONSTRAINT_WITH_VALUES

SELECT * FROM s.t ORDER BY id;
-- id int, n int, name string
-- 1 | 5 | 'a'

ALTER TABLE s.t ADD CONSTRAINT positive CHECK (n > 1);
-- error DELTA_CONSTRAINT_ALREADY_EXISTS

ALTER TABLE s.t ADD CONSTRAINT POSITIVE CHECK (n > 1);
-- error DELTA_CONSTRAINT_ALREADY_EXISTS

ALTER TABLE s.t ADD CONSTRAINT small CHECK (n < 6);
-- ok

ALTER TABLE s.t ADD CONSTRAINT unknown CHECK (nothing > 1);
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

ALTER TABLE s.t ADD CONSTRAINT number CHECK (id + 1);
-- error DELTA_NON_BOOLEAN_CHECK_CONSTRAINT

ALTER TABLE s.t ADD CONSTRAINT empty CHECK ();
-- error PARSE_SYNTAX_ERROR

SHOW TBLPROPERTIES s.t ('delta.constraints.positive');
-- key string, value string
-- 'delta.constraints.positive' | 'n > 0'

ALTER TABLE s.t DROP CONSTRAINT nothing;
-- error DELTA_CONSTRAINT_DOES_NOT_EXIST

ALTER TABLE s.t DROP CONSTRAINT IF EXISTS nothing;
-- ok

ALTER TABLE s.t DROP CONSTRAINT positive;
-- ok

INSERT INTO s.t VALUES (4, -5, 'd');
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, n int, name string
-- 1 | 5 | 'a'
-- 4 | -5 | 'd'

-- @differs Delta Spark takes a condition whose answer changes, and no row can be written any more
ALTER TABLE s.t ADD CONSTRAINT random CHECK (rand() < 2);
-- error HEADGATE_UNSAFE_EXPRESSION
-- delta: ok

-- # columns that are never null

CREATE TABLE s.t (id INT NOT NULL, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (NULL, 'a');
-- error DELTA_NOT_NULL_CONSTRAINT_VIOLATED

INSERT INTO s.t (name) VALUES ('a');
-- error DELTA_INSERT_COLUMN_MISMATCH

INSERT INTO s.t VALUES (1, NULL);
-- ok

UPDATE s.t SET id = NULL;
-- error DELTA_NOT_NULL_CONSTRAINT_VIOLATED

SELECT * FROM s.t;
-- id int, name string
-- 1 | NULL

-- @differs Headgate takes conditions with a new table, Delta Spark only later by ALTER TABLE
CREATE TABLE s.u (id INT, CHECK (id > 0)) USING delta;
-- ok
-- delta: error UNSUPPORTED_FEATURE.TABLE_OPERATION

-- @differs Headgate takes conditions with a new table, Delta Spark only later by ALTER TABLE
CREATE TABLE s.v (id INT, CONSTRAINT positive CHECK (id > 0)) USING delta;
-- ok
-- delta: error UNSUPPORTED_FEATURE.TABLE_OPERATION

-- @differs Headgate has one name for what it does not understand in the definition of a column
CREATE TABLE s.w (id INT PRIMARY KEY) USING delta;
-- error DELTA_ILLEGAL_OPTION
-- delta: error UNSUPPORTED_FEATURE.TABLE_OPERATION

-- # clustering

CREATE TABLE s.t (id INT, day DATE) USING delta CLUSTER BY (id);
-- ok

INSERT INTO s.t VALUES (1, DATE'2026-01-01');
-- ok

-- @shown partitionColumns, clusteringColumns
DESCRIBE DETAIL s.t;
-- format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- * | * | * | * | * | * | * | () | ('id') | * | * | * | * | * | *

ALTER TABLE s.t CLUSTER BY (day, id);
-- ok

-- @shown partitionColumns, clusteringColumns
DESCRIBE DETAIL s.t;
-- format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- * | * | * | * | * | * | * | () | ('day', 'id') | * | * | * | * | * | *

ALTER TABLE s.t CLUSTER BY (nothing);
-- error DELTA_COLUMN_NOT_FOUND_IN_SCHEMA

ALTER TABLE s.t CLUSTER BY NONE;
-- ok

-- @shown partitionColumns, clusteringColumns
DESCRIBE DETAIL s.t;
-- format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- * | * | * | * | * | * | * | () | () | * | * | * | * | * | *

CREATE TABLE s.p (id INT, day DATE) USING delta PARTITIONED BY (day);
-- ok

ALTER TABLE s.p CLUSTER BY (id);
-- error DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED

-- # features

CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');
-- ok

INSERT INTO s.t VALUES (1), (2);
-- ok

ALTER TABLE s.t SET TBLPROPERTIES ('delta.feature.rowTracking' = 'supported');
-- ok

ALTER TABLE s.t SET TBLPROPERTIES ('delta.feature.nothing' = 'supported');
-- error DELTA_UNSUPPORTED_FEATURES_IN_CONFIG

ALTER TABLE s.t DROP FEATURE nothing;
-- error DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE

ALTER TABLE s.t DROP FEATURE columnMapping;
-- error DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT

-- @differs a table of a lake has only the features that it uses
ALTER TABLE s.t DROP FEATURE appendOnly;
-- error DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT
-- delta: error DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE

SELECT * FROM s.t ORDER BY id;
-- id int
-- 1
-- 2

-- # renamed tables

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1);
-- ok

ALTER TABLE s.t RENAME TO s.u;
-- ok

SELECT * FROM s.u;
-- id int
-- 1

SELECT * FROM s.t;
-- error TABLE_OR_VIEW_NOT_FOUND

CREATE TABLE s.t (id INT) USING delta;
-- ok

ALTER TABLE s.t RENAME TO s.u;
-- error TABLE_OR_VIEW_ALREADY_EXISTS

ALTER TABLE s.nothing RENAME TO s.x;
-- error TABLE_OR_VIEW_NOT_FOUND
