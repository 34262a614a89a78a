-- UPDATE and DELETE.

-- # update

CREATE TABLE s.t (id INT, name STRING, n BIGINT, day DATE) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a', 10, DATE'2026-01-01'), (2, 'b', 20, DATE'2026-01-01'), (3, NULL, NULL, NULL);
-- ok

UPDATE s.t SET name = 'A' WHERE id = 1;
-- num_affected_rows bigint
-- 1

UPDATE s.t SET n = n + 1, name = concat(name, '!') WHERE n IS NOT NULL;
-- num_affected_rows bigint
-- 2

UPDATE s.t AS x SET x.day = DATE'2026-02-01' WHERE x.id = 3;
-- num_affected_rows bigint
-- 1

UPDATE s.t SET id = n, n = id WHERE id = 2;
-- num_affected_rows bigint
-- 1

SELECT * FROM s.t ORDER BY id;
-- id int, name string, n bigint, day date
-- 1 | 'A!' | 11 | 2026-01-01
-- 3 | NULL | NULL | 2026-02-01
-- 21 | 'b!' | 2 | 2026-01-01

UPDATE s.t SET n = 0;
-- num_affected_rows bigint
-- 3

UPDATE s.t SET n = 1 WHERE id = 99;
-- num_affected_rows bigint
-- 0

UPDATE s.t SET n = (SELECT max(id) FROM s.t) WHERE id = 1;
-- num_affected_rows bigint
-- 1

UPDATE s.t SET name = 'in' WHERE id IN (SELECT id FROM s.t WHERE n = 21);
-- error DELTA_UNSUPPORTED_SUBQUERY

UPDATE s.t SET name = 'in' WHERE id IN (1, 3);
-- num_affected_rows bigint
-- 2

SELECT * FROM s.t ORDER BY id;
-- id int, name string, n bigint, day date
-- 1 | 'in' | 21 | 2026-01-01
-- 3 | 'in' | 0 | 2026-02-01
-- 21 | 'b!' | 0 | 2026-01-01

UPDATE s.t SET nothing = 1;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

UPDATE s.t SET n = nothing;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

UPDATE s.t SET n = 'x' WHERE id = 1;
-- error CAST_INVALID_INPUT

UPDATE s.t SET id = 3000000000 WHERE id = 1;
-- error DELTA_CAST_OVERFLOW_IN_TABLE_WRITE

UPDATE s.t SET n = 1, n = 2;
-- error DELTA_CONFLICT_SET_COLUMN

UPDATE s.t SET n = 1 WHERE nothing = 1;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

-- @differs Headgate asks for the new values in a query, of which Spark tells in its own words
UPDATE s.t SET n = max(n);
-- error MISSING_GROUP_BY
-- delta: error UNSUPPORTED_EXPR_FOR_OPERATOR

UPDATE s.nothing SET n = 1;
-- error TABLE_OR_VIEW_NOT_FOUND

UPDATE s.t SET;
-- error PARSE_SYNTAX_ERROR

UPDATE s.t SET n = rand() WHERE id = 1;
-- error INVALID_NON_DETERMINISTIC_EXPRESSIONS

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 3

-- # delete

CREATE TABLE s.t (id INT, name STRING, day DATE) USING delta PARTITIONED BY (day);
-- ok

INSERT INTO s.t SELECT id, concat('n', id), date_add(DATE'2026-01-01', CAST(id % 3 AS INT)) FROM range(9);
-- ok

DELETE FROM s.t WHERE id = 1;
-- num_affected_rows bigint
-- 1

DELETE FROM s.t WHERE day = DATE'2026-01-03';
-- num_affected_rows bigint
-- 3

DELETE FROM s.t AS x WHERE x.name = 'n3' OR x.name IS NULL;
-- num_affected_rows bigint
-- 1

DELETE FROM s.t WHERE id > 100;
-- num_affected_rows bigint
-- 0

SELECT * FROM s.t ORDER BY id;
-- id int, name string, day date
-- 0 | 'n0' | 2026-01-01
-- 4 | 'n4' | 2026-01-02
-- 6 | 'n6' | 2026-01-01
-- 7 | 'n7' | 2026-01-02

DELETE FROM s.t WHERE id IN (SELECT max(id) FROM s.t);
-- error DELTA_UNSUPPORTED_SUBQUERY

DELETE FROM s.t WHERE EXISTS (SELECT 1 FROM range(5) AS r WHERE r.id = t.id);
-- error DELTA_UNSUPPORTED_SUBQUERY

SELECT * FROM s.t ORDER BY id;
-- id int, name string, day date
-- 0 | 'n0' | 2026-01-01
-- 4 | 'n4' | 2026-01-02
-- 6 | 'n6' | 2026-01-01
-- 7 | 'n7' | 2026-01-02

DELETE FROM s.t WHERE nothing = 1;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

DELETE FROM s.t WHERE name;
-- error DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN

DELETE FROM s.t WHERE rand() > 2;
-- error INVALID_NON_DETERMINISTIC_EXPRESSIONS

DELETE FROM s.nothing WHERE id = 1;
-- error TABLE_OR_VIEW_NOT_FOUND

DELETE s.t WHERE id = 1;
-- error PARSE_SYNTAX_ERROR

DELETE FROM s.t;
-- num_affected_rows bigint
-- 4

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 0

DELETE FROM s.t;
-- num_affected_rows bigint
-- 0

-- # truncate

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1), (2);
-- ok

TRUNCATE TABLE s.t;
-- ok

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 0

TRUNCATE TABLE s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

-- # with deletion vectors

CREATE TABLE s.t (id BIGINT, n INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');
-- ok

INSERT INTO s.t SELECT id, CAST(id % 5 AS INT) FROM range(20);
-- ok

DELETE FROM s.t WHERE n = 0;
-- num_affected_rows bigint
-- 4

UPDATE s.t SET n = n * 10 WHERE id < 4;
-- num_affected_rows bigint
-- 3

DELETE FROM s.t WHERE id > 12;
-- num_affected_rows bigint
-- 6

SELECT * FROM s.t ORDER BY id;
-- id bigint, n int
-- 1 | 10
-- 2 | 20
-- 3 | 30
-- 4 | 4
-- 6 | 1
-- 7 | 2
-- 8 | 3
-- 9 | 4
-- 11 | 1
-- 12 | 2

-- @shown version, operation, readVersion, isolationLevel, isBlindAppend
DESCRIBE HISTORY s.t;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 4 | * | * | * | 'DELETE' | * | * | * | * | 3 | 'Serializable' | false | * | * | *
-- 3 | * | * | * | 'UPDATE' | * | * | * | * | 2 | 'Serializable' | false | * | * | *
-- 2 | * | * | * | 'DELETE' | * | * | * | * | 1 | 'Serializable' | false | * | * | *
-- 1 | * | * | * | 'WRITE' | * | * | * | * | 0 | 'Serializable' | true | * | * | *
-- 0 | * | * | * | 'CREATE TABLE' | * | * | * | * | NULL | 'Serializable' | true | * | * | *

-- # an append-only table

CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.appendOnly' = 'true');
-- ok

INSERT INTO s.t VALUES (1);
-- ok

DELETE FROM s.t WHERE id = 1;
-- error DELTA_CANNOT_MODIFY_APPEND_ONLY

UPDATE s.t SET id = 2;
-- error DELTA_CANNOT_MODIFY_APPEND_ONLY

INSERT OVERWRITE s.t VALUES (3);
-- error DELTA_CANNOT_MODIFY_APPEND_ONLY

MERGE INTO s.t USING (SELECT 1 AS id) AS q ON t.id = q.id WHEN MATCHED THEN DELETE;
-- error DELTA_CANNOT_MODIFY_APPEND_ONLY

MERGE INTO s.t USING (SELECT 2 AS id) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 0 | 1

ALTER TABLE s.t SET TBLPROPERTIES ('delta.appendOnly' = 'false');
-- ok

DELETE FROM s.t WHERE id = 1;
-- num_affected_rows bigint
-- 1

SELECT * FROM s.t ORDER BY id;
-- id int
-- 2
