-- MERGE with all its clauses.

-- # matched and not matched

CREATE TABLE s.t (id INT, name STRING, n INT) USING delta;
-- ok

CREATE TABLE s.q (id INT, name STRING, n INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
-- ok

INSERT INTO s.q VALUES (2, 'B', 20), (3, 'C', 30), (4, 'D', 40);
-- ok

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 3 | 2 | 0 | 1

SELECT * FROM s.t ORDER BY id;
-- id int, name string, n int
-- 1 | 'a' | 1
-- 2 | 'B' | 20
-- 3 | 'C' | 30
-- 4 | 'D' | 40

MERGE INTO s.t AS x USING s.q AS y ON x.id = y.id WHEN MATCHED AND y.n > 25 THEN DELETE WHEN MATCHED THEN UPDATE SET x.n = x.n + y.n;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 3 | 1 | 2 | 0

SELECT * FROM s.t ORDER BY id;
-- id int, name string, n int
-- 1 | 'a' | 1
-- 2 | 'B' | 40

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED AND q.n > 35 THEN INSERT (id, name) VALUES (q.id, lower(q.name)) WHEN NOT MATCHED THEN INSERT (n, id) VALUES (-1, q.id);
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 2 | 0 | 0 | 2

SELECT * FROM s.t ORDER BY id;
-- id int, name string, n int
-- 1 | 'a' | 1
-- 2 | 'B' | 40
-- 3 | NULL | -1
-- 4 | 'd' | NULL

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED BY SOURCE THEN DELETE;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 1 | 0

SELECT * FROM s.t ORDER BY id;
-- id int, name string, n int
-- 2 | 'B' | 40
-- 3 | NULL | -1
-- 4 | 'd' | NULL

MERGE INTO s.t USING (SELECT * FROM s.q WHERE id = 2) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET name = 'two' WHEN NOT MATCHED BY SOURCE AND t.id > 3 THEN UPDATE SET name = 'gone' WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 0;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 3 | 3 | 0 | 0

SELECT * FROM s.t ORDER BY id;
-- id int, name string, n int
-- 2 | 'two' | 40
-- 3 | NULL | 0
-- 4 | 'gone' | NULL

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED BY TARGET THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 0 | 0 | 0 | 0

MERGE INTO s.t USING s.q ON false WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 3 | 0 | 0 | 3

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 6

MERGE INTO s.t USING (SELECT DISTINCT id FROM s.t) AS q ON t.id = q.id WHEN MATCHED THEN DELETE;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 6 | 0 | 6 | 0

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 0

MERGE INTO s.t USING (SELECT * FROM s.q WHERE false) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 0 | 0 | 0 | 0

-- @shown version, operation, isBlindAppend
DESCRIBE HISTORY s.t LIMIT 3;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 8 | * | * | * | 'MERGE' | * | * | * | * | * | * | false | * | * | *
-- 7 | * | * | * | 'MERGE' | * | * | * | * | * | * | false | * | * | *
-- 6 | * | * | * | 'MERGE' | * | * | * | * | * | * | false | * | * | *

-- # a CTE as source

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a'), (2, 'b');
-- ok

UPDATE s.t SET name = 'changed';
-- num_affected_rows bigint
-- 2

WITH q AS (SELECT 1 AS id, 'cte' AS name) MERGE INTO s.t USING q ON t.id = q.id WHEN MATCHED THEN UPDATE SET *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 1 | 0 | 0

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | 'cte'
-- 2 | 'changed'

-- # an older version and values as sources
-- @ours the grammar of Spark has neither behind USING

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a'), (2, 'b');
-- ok

UPDATE s.t SET name = 'changed';
-- num_affected_rows bigint
-- 2

MERGE INTO s.t USING s.t VERSION AS OF 1 AS old ON t.id = old.id AND t.id = 2 WHEN MATCHED THEN UPDATE SET name = old.name;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 1 | 0 | 0

MERGE INTO s.t USING VALUES (3, 'three') AS q(id, name) ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 0 | 1

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | 'changed'
-- 2 | 'b'
-- 3 | 'three'

-- # several matches

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a');
-- ok

MERGE INTO s.t USING (SELECT * FROM VALUES (1, 'x'), (1, 'y') AS v(id, name)) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET *;
-- error DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE

-- @differs Headgate asks whether several rows change one row, Delta Spark whether they match it
MERGE INTO s.t USING (SELECT * FROM VALUES (1, 'x'), (1, 'y') AS v(id, name)) AS q ON t.id = q.id WHEN MATCHED AND q.name = 'x' THEN UPDATE SET *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 1 | 0 | 0
-- delta: error DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE

MERGE INTO s.t USING (SELECT * FROM VALUES (1, 'x'), (1, 'y') AS v(id, name)) AS q ON t.id = q.id WHEN MATCHED THEN DELETE;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 1 | 0

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 0

-- # schema evolution

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a');
-- ok

MERGE INTO s.t USING (SELECT 1 AS id, 'b' AS name, 5 AS extra) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 1 | 0 | 0

SELECT * FROM s.t;
-- id int, name string
-- 1 | 'b'

MERGE WITH SCHEMA EVOLUTION INTO s.t USING (SELECT 1 AS id, 'c' AS name, 5 AS extra UNION ALL SELECT 2, 'd', 6) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 2 | 1 | 0 | 1

SELECT * FROM s.t ORDER BY id;
-- id int, name string, extra int
-- 1 | 'c' | 5
-- 2 | 'd' | 6

MERGE WITH SCHEMA EVOLUTION INTO s.t USING (SELECT 3 AS id, true AS flag) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, flag) VALUES (q.id, q.flag);
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 0 | 1

SELECT * FROM s.t ORDER BY id;
-- id int, name string, extra int, flag boolean
-- 1 | 'c' | 5 | NULL
-- 2 | 'd' | 6 | NULL
-- 3 | NULL | NULL | true

-- # what cannot be merged

CREATE TABLE s.t (id INT, name STRING, n INT NOT NULL) USING delta;
-- ok

CREATE TABLE s.q (id INT, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a', 1);
-- ok

INSERT INTO s.q VALUES (1, 'A'), (2, 'B');
-- ok

MERGE INTO s.t USING s.q ON t.id = q.id;
-- error MERGE_WITHOUT_WHEN

-- @differs Delta Spark does not find its own error class
MERGE INTO s.t USING s.q ON t.id = q.nothing WHEN MATCHED THEN DELETE;
-- error DELTA_MERGE_UNRESOLVED_EXPRESSION
-- delta: error INTERNAL_ERROR

MERGE INTO s.t USING s.q ON id = id WHEN MATCHED THEN DELETE;
-- error AMBIGUOUS_REFERENCE

-- @differs Delta Spark does not find its own error class
MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET nothing = 1;
-- error DELTA_MERGE_UNRESOLVED_EXPRESSION
-- delta: error INTERNAL_ERROR

-- @differs Delta Spark does not find its own error class
MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET *;
-- error DELTA_MERGE_UNRESOLVED_EXPRESSION
-- delta: error INTERNAL_ERROR

-- @differs Delta Spark does not find its own error class
MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;
-- error DELTA_MERGE_UNRESOLVED_EXPRESSION
-- delta: error INTERNAL_ERROR

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, name) VALUES (q.id, q.name);
-- error DELTA_NOT_NULL_CONSTRAINT_VIOLATED

-- @differs Delta Spark does not find its own error class
MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, nothing) VALUES (1, 2);
-- error DELTA_MERGE_UNRESOLVED_EXPRESSION
-- delta: error INTERNAL_ERROR

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, name, n) VALUES (1, 'x');
-- error MERGE_INSERT_VALUE_COUNT_MISMATCH

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET name = 'x';
-- error NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION

-- @differs both refuse it; Delta Spark does not find its own error class
MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET name = q.name;
-- error DELTA_MERGE_UNRESOLVED_EXPRESSION
-- delta: error INTERNAL_ERROR

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET name = 'x', name = 'y';
-- error DELTA_CONFLICT_SET_COLUMN

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET n = 'x';
-- error CAST_INVALID_INPUT

MERGE INTO s.t USING s.nothing AS q ON t.id = q.id WHEN MATCHED THEN DELETE;
-- error TABLE_OR_VIEW_NOT_FOUND

MERGE INTO s.nothing AS t USING s.q ON t.id = q.id WHEN MATCHED THEN DELETE;
-- error TABLE_OR_VIEW_NOT_FOUND

MERGE INTO s.t USING s.q WHEN MATCHED THEN DELETE;
-- error PARSE_SYNTAX_ERROR

SELECT * FROM s.t ORDER BY id;
-- id int, name string, n int
-- 1 | 'a' | 1
