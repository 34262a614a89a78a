-- Older versions, and the change data feed.

-- # versions and moments

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a');
-- ok

INSERT INTO s.t VALUES (2, 'b');
-- ok

UPDATE s.t SET name = 'B' WHERE id = 2;
-- num_affected_rows bigint
-- 1

SELECT * FROM s.t VERSION AS OF 1;
-- id int, name string
-- 1 | 'a'

SELECT * FROM s.t VERSION AS OF 2 ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'

SELECT * FROM s.t FOR VERSION AS OF 2 ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'

SELECT * FROM s.t FOR SYSTEM_VERSION AS OF 1;
-- id int, name string
-- 1 | 'a'

SELECT * FROM s.t VERSION AS OF '2' ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'

-- @differs Delta Spark reads @v in a path only
SELECT * FROM s.t@v1;
-- id int, name string
-- 1 | 'a'
-- delta: error PARSE_SYNTAX_ERROR

-- @differs Delta Spark reads @v in a path only
SELECT count(*) AS n FROM s.t@v0;
-- n bigint
-- 0
-- delta: error PARSE_SYNTAX_ERROR

SELECT * FROM s.t TIMESTAMP AS OF '${time s.t 1}';
-- id int, name string
-- 1 | 'a'

SELECT * FROM s.t TIMESTAMP AS OF CAST('${time s.t 2}' AS TIMESTAMP) ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'

SELECT count(*) AS n FROM s.t FOR TIMESTAMP AS OF '${time s.t 2}';
-- n bigint
-- 2

SELECT count(*) AS n FROM s.t FOR SYSTEM_TIME AS OF '${time s.t 1}';
-- n bigint
-- 1

SELECT old.name AS before, new.name AS after FROM s.t VERSION AS OF 2 AS old JOIN s.t AS new ON old.id = new.id ORDER BY old.id;
-- before string, after string
-- 'a' | 'a'
-- 'b' | 'B'

SELECT count(*) AS n FROM (SELECT * FROM s.t VERSION AS OF 1 UNION ALL SELECT * FROM s.t VERSION AS OF 2);
-- n bigint
-- 3

WITH q AS (SELECT * FROM s.t VERSION AS OF 1) SELECT count(*) AS n FROM q;
-- n bigint
-- 1

INSERT INTO s.t SELECT id + 10, name FROM s.t VERSION AS OF 1;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'B'
-- 11 | 'a'

SELECT * FROM s.t VERSION AS OF 99;
-- error DELTA_VERSION_NOT_FOUND

SELECT * FROM s.t VERSION AS OF -1;
-- error PARSE_SYNTAX_ERROR

SELECT * FROM s.t VERSION AS OF 'x';
-- error DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE

-- @differs Delta Spark reads @v in a path only
SELECT * FROM s.t@v99;
-- error DELTA_VERSION_NOT_FOUND
-- delta: error PARSE_SYNTAX_ERROR

SELECT * FROM s.t TIMESTAMP AS OF '1999-01-01';
-- error DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION

SELECT * FROM s.t TIMESTAMP AS OF '2999-01-01';
-- error DELTA_TIMESTAMP_GREATER_THAN_COMMIT

SELECT * FROM s.t TIMESTAMP AS OF 'not a moment';
-- error INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT

SELECT * FROM s.nothing VERSION AS OF 1;
-- error TABLE_OR_VIEW_NOT_FOUND

DELETE FROM s.t VERSION AS OF 1 WHERE id = 1;
-- error PARSE_SYNTAX_ERROR

INSERT INTO s.t VERSION AS OF 1 VALUES (1, 'a');
-- error PARSE_SYNTAX_ERROR

-- # the schema of an older version

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1);
-- ok

ALTER TABLE s.t ADD COLUMN name STRING;
-- ok

INSERT INTO s.t VALUES (2, 'b');
-- ok

SELECT * FROM s.t VERSION AS OF 1;
-- id int
-- 1

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | NULL
-- 2 | 'b'

SELECT name FROM s.t VERSION AS OF 1;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

-- # changes

CREATE TABLE s.t (id INT, name STRING) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true');
-- ok

INSERT INTO s.t VALUES (1, 'a'), (2, 'b'), (3, 'c');
-- ok

UPDATE s.t SET name = 'B' WHERE id = 2;
-- num_affected_rows bigint
-- 1

DELETE FROM s.t WHERE id = 1;
-- num_affected_rows bigint
-- 1

-- @mask _commit_timestamp
SELECT * FROM table_changes('s.t', 0) ORDER BY _commit_version, id, _change_type;
-- id int, name string, _change_type string, _commit_version bigint, _commit_timestamp timestamp
-- 1 | 'a' | 'insert' | 1 | *
-- 2 | 'b' | 'insert' | 1 | *
-- 3 | 'c' | 'insert' | 1 | *
-- 2 | 'B' | 'update_postimage' | 2 | *
-- 2 | 'b' | 'update_preimage' | 2 | *
-- 1 | 'a' | 'delete' | 3 | *

-- @mask _commit_timestamp
SELECT * FROM table_changes('s.t', 2, 2) ORDER BY id, _change_type;
-- id int, name string, _change_type string, _commit_version bigint, _commit_timestamp timestamp
-- 2 | 'B' | 'update_postimage' | 2 | *
-- 2 | 'b' | 'update_preimage' | 2 | *

SELECT _change_type, count(*) AS n FROM table_changes('s.t', 1, 3) GROUP BY _change_type ORDER BY _change_type;
-- _change_type string, n bigint
-- 'delete' | 1
-- 'insert' | 3
-- 'update_postimage' | 1
-- 'update_preimage' | 1

SELECT count(*) AS n FROM table_changes('s.t', '${time s.t 2}', '${time s.t 3}');
-- n bigint
-- 3

SELECT c.id, c._change_type FROM table_changes('s.t', 3) AS c JOIN s.t VERSION AS OF 1 AS o ON c.id = o.id;
-- id int, _change_type string
-- 1 | 'delete'

SELECT * FROM table_changes('s.t', 3, 2);
-- error DELTA_INVALID_CDC_RANGE

SELECT * FROM table_changes('s.t', 9);
-- error DELTA_CDC_START_VERSION_AFTER_LATEST

-- @differs Delta Spark does not know the name of its own error
SELECT * FROM table_changes('s.t');
-- error UNRESOLVABLE_TABLE_VALUED_FUNCTION
-- delta: error INTERNAL_ERROR

-- @ours Delta Spark has no clause for changes
SELECT DISTINCT _commit_version FROM s.t CHANGES FROM VERSION 1 TO VERSION 3 ORDER BY _commit_version;
-- _commit_version bigint
-- 1
-- 2
-- 3

-- @ours Delta Spark has no clause for changes
SELECT DISTINCT _commit_version FROM s.t CHANGES FROM VERSION 1 EXCLUSIVE TO VERSION 3 EXCLUSIVE;
-- _commit_version bigint
-- 2

-- @ours Delta Spark has no clause for changes
SELECT DISTINCT _commit_version
FROM s.t CHANGES FROM TIMESTAMP '${time s.t 1}' EXCLUSIVE TO TIMESTAMP '${time s.t 3}' EXCLUSIVE;
-- _commit_version bigint
-- 2

-- @ours Delta Spark has no clause for changes
SELECT DISTINCT _commit_version FROM s.t CHANGES FROM VERSION '3' INCLUSIVE;
-- _commit_version bigint
-- 3

-- @ours Delta Spark has no clause for changes
SELECT * FROM s.t CHANGES FROM VERSION 2 EXCLUSIVE TO VERSION 3 EXCLUSIVE;
-- error DELTA_INVALID_CDC_RANGE

-- @ours Delta Spark has no clause for changes
SELECT * FROM s.t CHANGES FROM VERSION 'latest';
-- error DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE

SELECT * FROM table_changes('s.nothing', 0);
-- error TABLE_OR_VIEW_NOT_FOUND

-- @differs Delta Spark looks for a file of the log that has no such name
SELECT * FROM table_changes('s.t', -1);
-- error DELTA_INVALID_CDC_RANGE
-- delta: error DELTA_LOG_FILE_NOT_FOUND

-- # changes that were not kept

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1);
-- ok

SELECT * FROM table_changes('s.t', 0);
-- error DELTA_MISSING_CHANGE_DATA

ALTER TABLE s.t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true');
-- ok

INSERT INTO s.t VALUES (2);
-- ok

SELECT id, _change_type, _commit_version FROM table_changes('s.t', 3);
-- id int, _change_type string, _commit_version bigint
-- 2 | 'insert' | 3

SELECT id FROM table_changes('s.t', 0);
-- error DELTA_MISSING_CHANGE_DATA
