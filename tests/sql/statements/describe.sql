-- DROP, SHOW, DESCRIBE and EXPLAIN.

-- # dropped tables

CREATE TABLE s.t (id INT) USING delta;
-- ok

DROP TABLE s.t;
-- ok

SELECT * FROM s.t;
-- error TABLE_OR_VIEW_NOT_FOUND

DROP TABLE s.t;
-- error TABLE_OR_VIEW_NOT_FOUND

DROP TABLE IF EXISTS s.t;
-- ok

CREATE TABLE s.t (name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES ('a');
-- ok

SELECT * FROM s.t;
-- name string
-- 'a'

DROP TABLE IF EXISTS s.t;
-- ok

DROP TABLE nowhere.t;
-- error TABLE_OR_VIEW_NOT_FOUND

-- # what there is

CREATE TABLE s.alpha (id INT, day DATE) USING delta PARTITIONED BY (day);
-- ok

CREATE TABLE s.beta (id INT, name STRING COMMENT 'called') USING delta;
-- ok

SHOW TABLES IN s;
-- namespace string, tableName string, isTemporary boolean
-- 's' | 'alpha' | false
-- 's' | 'beta' | false

SHOW TABLES FROM s LIKE 'al*';
-- namespace string, tableName string, isTemporary boolean
-- 's' | 'alpha' | false

SHOW COLUMNS IN s.beta;
-- col_name string
-- 'id'
-- 'name'

SHOW COLUMNS FROM beta IN s;
-- col_name string
-- 'id'
-- 'name'

SHOW COLUMNS IN s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

SHOW TABLES IN nowhere;
-- error SCHEMA_NOT_FOUND

INSERT INTO s.alpha VALUES (1, DATE'2026-01-01'), (2, DATE'2026-01-02');
-- ok

SHOW PARTITIONS s.alpha;
-- day date
-- 2026-01-01
-- 2026-01-02

SHOW PARTITIONS s.beta;
-- error DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE

SHOW SCHEMAS LIKE 's';
-- namespace string
-- 's'

SHOW DATABASES LIKE 's';
-- namespace string
-- 's'

SHOW TBLPROPERTIES s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

SHOW VIEWS IN s;
-- namespace string, viewName string, isTemporary boolean

-- # described

CREATE TABLE s.t (id INT NOT NULL COMMENT 'the key', name STRING, p STRUCT<x: INT, y: ARRAY<STRING>>) USING delta COMMENT 'a table';
-- ok

DESCRIBE TABLE s.t;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | 'the key'
-- 'name' | 'string' | NULL
-- 'p' | 'struct<x:int,y:array<string>>' | NULL

DESC s.t;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | 'the key'
-- 'name' | 'string' | NULL
-- 'p' | 'struct<x:int,y:array<string>>' | NULL

DESCRIBE s.t id;
-- info_name string, info_value string
-- 'col_name' | 'id'
-- 'data_type' | 'int'
-- 'comment' | 'the key'

-- @differs the name that Spark has is a placeholder, and Headgate describes a part of a column
DESCRIBE TABLE s.t p.x;
-- info_name string, info_value string
-- 'col_name' | 'x'
-- 'data_type' | 'int'
-- 'comment' | 'NULL'
-- delta: error _LEGACY_ERROR_TEMP_1060

DESCRIBE s.t nothing;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

DESCRIBE s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

DESCRIBE SCHEMA nowhere;
-- error SCHEMA_NOT_FOUND

-- @shown col_name
DESCRIBE QUERY SELECT id, name FROM s.t;
-- col_name string, data_type string, comment string
-- 'id' | * | *
-- 'name' | * | *

DESCRIBE SELECT id + 1 AS more FROM s.t;
-- col_name string, data_type string, comment string
-- 'more' | 'int' | NULL

-- # history

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a'), (2, 'b');
-- ok

INSERT OVERWRITE s.t VALUES (3, 'c');
-- ok

UPDATE s.t SET name = 'C' WHERE id = 3;
-- num_affected_rows bigint
-- 1

DELETE FROM s.t WHERE id = 3;
-- num_affected_rows bigint
-- 1

MERGE INTO s.t USING (SELECT 4 AS id, 'd' AS name) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 0 | 1

ALTER TABLE s.t ADD COLUMN n INT;
-- ok

ALTER TABLE s.t SET TBLPROPERTIES ('team' = 'sales');
-- ok

-- @shown version, operation, readVersion, isolationLevel, isBlindAppend
DESCRIBE HISTORY s.t;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 7 | * | * | * | 'SET TBLPROPERTIES' | * | * | * | * | 6 | 'Serializable' | true | * | * | *
-- 6 | * | * | * | 'ADD COLUMNS' | * | * | * | * | 5 | 'Serializable' | true | * | * | *
-- 5 | * | * | * | 'MERGE' | * | * | * | * | 4 | 'Serializable' | false | * | * | *
-- 4 | * | * | * | 'DELETE' | * | * | * | * | 3 | 'Serializable' | false | * | * | *
-- 3 | * | * | * | 'UPDATE' | * | * | * | * | 2 | 'Serializable' | false | * | * | *
-- 2 | * | * | * | 'WRITE' | * | * | * | * | 1 | 'Serializable' | false | * | * | *
-- 1 | * | * | * | 'WRITE' | * | * | * | * | 0 | 'Serializable' | true | * | * | *
-- 0 | * | * | * | 'CREATE TABLE' | * | * | * | * | NULL | 'Serializable' | true | * | * | *

-- @shown version, operation, readVersion
DESCRIBE HISTORY s.t LIMIT 2;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 7 | * | * | * | 'SET TBLPROPERTIES' | * | * | * | * | 6 | * | * | * | * | *
-- 6 | * | * | * | 'ADD COLUMNS' | * | * | * | * | 5 | * | * | * | * | *

-- @shown version
DESC HISTORY s.t LIMIT 1;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 7 | * | * | * | * | * | * | * | * | * | * | * | * | * | *

-- @differs Headgate keeps a condition as it was written, and of a new table only that it is managed
-- @shown version, operationParameters
DESCRIBE HISTORY s.t;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 7 | * | * | * | * | {'properties': '{"team":"sales"}'} | * | * | * | * | * | * | * | * | *
-- 6 | * | * | * | * | {'columns': '[{"column":{"name":"n","type":"integer","nullable":true,"metadata":{}}}]'} | * | * | * | * | * | * | * | * | *
-- 5 | * | * | * | * | {'matchedPredicates': '[]', 'notMatchedBySourcePredicates': '[]', 'notMatchedPredicates': '[{"actionType":"insert"}]', 'predicate': '["t.id = q.id"]'} | * | * | * | * | * | * | * | * | *
-- 4 | * | * | * | * | {'predicate': '["id = 3"]'} | * | * | * | * | * | * | * | * | *
-- 3 | * | * | * | * | {'predicate': '["id = 3"]'} | * | * | * | * | * | * | * | * | *
-- 2 | * | * | * | * | {'mode': 'Overwrite', 'partitionBy': '[]'} | * | * | * | * | * | * | * | * | *
-- 1 | * | * | * | * | {'mode': 'Append', 'partitionBy': '[]'} | * | * | * | * | * | * | * | * | *
-- 0 | * | * | * | * | {'isManaged': 'true'} | * | * | * | * | * | * | * | * | *
-- delta: version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- delta: 7 | * | * | * | * | {'properties': '{"team":"sales"}'} | * | * | * | * | * | * | * | * | *
-- delta: 6 | * | * | * | * | {'columns': '[{"column":{"name":"n","type":"integer","nullable":true,"metadata":{}}}]'} | * | * | * | * | * | * | * | * | *
-- delta: 5 | * | * | * | * | {'matchedPredicates': '[]', 'notMatchedBySourcePredicates': '[]', 'notMatchedPredicates': '[{"actionType":"insert"}]', 'predicate': '["(id# = id#)"]'} | * | * | * | * | * | * | * | * | *
-- delta: 4 | * | * | * | * | {'predicate': '["(id# = 3)"]'} | * | * | * | * | * | * | * | * | *
-- delta: 3 | * | * | * | * | {'predicate': '["(id# = 3)"]'} | * | * | * | * | * | * | * | * | *
-- delta: 2 | * | * | * | * | {'mode': 'Overwrite', 'partitionBy': '[]'} | * | * | * | * | * | * | * | * | *
-- delta: 1 | * | * | * | * | {'mode': 'Append', 'partitionBy': '[]'} | * | * | * | * | * | * | * | * | *
-- delta: 0 | * | * | * | * | {'clusterBy': '[]', 'description': NULL, 'isManaged': 'true', 'partitionBy': '[]', 'properties': '{}'} | * | * | * | * | * | * | * | * | *

DESCRIBE HISTORY s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

DESCRIBE HISTORY s.t LIMIT -1;
-- error PARSE_SYNTAX_ERROR

-- # detail

CREATE TABLE s.t (id INT, day DATE) USING delta PARTITIONED BY (day) COMMENT 'a table' TBLPROPERTIES ('team' = 'sales');
-- ok

INSERT INTO s.t VALUES (1, DATE'2026-01-01'), (2, DATE'2026-01-02');
-- ok

-- @differs the name of a table in a lake has two parts
-- @shown format, name, description, partitionColumns, clusteringColumns, numFiles
DESCRIBE DETAIL s.t;
-- format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- 'delta' | * | 's.t' | 'a table' | * | * | * | ('day') | () | 2 | * | * | * | * | *
-- delta: format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- delta: 'delta' | * | '${catalog}.s.t' | 'a table' | * | * | * | ('day') | () | 2 | * | * | * | * | *

DESCRIBE DETAIL s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

-- # explained

CREATE TABLE s.t (id INT) USING delta;
-- ok

-- @mask plan
EXPLAIN SELECT * FROM s.t;
-- plan string
-- *

-- @mask plan
EXPLAIN EXTENDED SELECT * FROM s.t WHERE id = 1;
-- plan string
-- *

-- # table names in other places

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1);
-- ok

USE s;
-- ok

SELECT * FROM t;
-- id int
-- 1

INSERT INTO t VALUES (2);
-- ok

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 2

USE default;
-- ok

-- @differs a table of a lake is read anew by each query; a DataFrame of it can be cached
CACHE TABLE s.t;
-- error UNSUPPORTED_FEATURE.TABLE_OPERATION
-- delta: ok

UNCACHE TABLE s.t;
-- ok

REFRESH TABLE s.t;
-- ok

ANALYZE TABLE s.t COMPUTE STATISTICS;
-- error NOT_SUPPORTED_COMMAND_FOR_V2_TABLE
