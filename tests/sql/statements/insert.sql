-- INSERT in all its forms.

-- # values, queries and lists of columns

CREATE TABLE s.t (id INT, name STRING, score DOUBLE) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a', 1.5), (2, 'b', NULL);
-- ok

INSERT INTO s.t (name, id) VALUES ('c', 3);
-- ok

INSERT INTO s.t SELECT id + 10, name, score FROM s.t WHERE id < 3;
-- ok

INSERT INTO TABLE s.t TABLE s.t;
-- ok

INSERT INTO s.t FROM s.t SELECT id + 100, name, score WHERE id = 3;
-- ok

SELECT * FROM s.t ORDER BY id, name;
-- id int, name string, score double
-- 1 | 'a' | 1.5
-- 1 | 'a' | 1.5
-- 2 | 'b' | NULL
-- 2 | 'b' | NULL
-- 3 | 'c' | NULL
-- 3 | 'c' | NULL
-- 11 | 'a' | 1.5
-- 11 | 'a' | 1.5
-- 12 | 'b' | NULL
-- 12 | 'b' | NULL
-- 103 | 'c' | NULL
-- 103 | 'c' | NULL

INSERT INTO s.t VALUES (1, 'a');
-- error DELTA_INSERT_COLUMN_ARITY_MISMATCH

INSERT INTO s.t VALUES (1, 'a', 2.0, 'more');
-- error DELTA_METADATA_MISMATCH

INSERT INTO s.t (id, nothing) VALUES (1, 2);
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

INSERT INTO s.t (id, id) VALUES (1, 2);
-- error COLUMN_ALREADY_EXISTS

INSERT INTO s.t VALUES ('one', 'a', 1.0);
-- error CAST_INVALID_INPUT

INSERT INTO s.t VALUES (3000000000, 'a', 1.0);
-- error CAST_OVERFLOW_IN_TABLE_INSERT

INSERT INTO s.t SELECT array(1), 'a', 1.0;
-- error DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION

INSERT INTO s.nothing VALUES (1);
-- error TABLE_OR_VIEW_NOT_FOUND

INSERT INTO nowhere.t VALUES (1);
-- error TABLE_OR_VIEW_NOT_FOUND

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 12

-- # by name

CREATE TABLE s.t (id INT, name STRING, score DOUBLE) USING delta;
-- ok

INSERT INTO s.t BY NAME SELECT 'a' AS name, 1 AS id, 2.5D AS score;
-- ok

INSERT INTO s.t BY NAME SELECT 'b' AS name, 2 AS id;
-- ok

INSERT INTO s.t BY NAME SELECT 'b' AS name, 2 AS id, 7 AS extra;
-- error DELTA_METADATA_MISMATCH

INSERT INTO s.t BY NAME SELECT 'b' AS name, 2 AS ID;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, name string, score double
-- 1 | 'a' | 2.5
-- 2 | 'b' | NULL
-- 2 | 'b' | NULL

INSERT OVERWRITE s.t BY NAME SELECT 9.5D AS score, 9 AS id, 'z' AS name;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, name string, score double
-- 9 | 'z' | 9.5

-- # overwrite

CREATE TABLE s.t (id INT, day DATE) USING delta PARTITIONED BY (day);
-- ok

INSERT INTO s.t VALUES (1, DATE'2026-01-01'), (2, DATE'2026-01-02');
-- ok

INSERT OVERWRITE s.t VALUES (3, DATE'2026-01-01');
-- ok

SELECT * FROM s.t;
-- id int, day date
-- 3 | 2026-01-01

INSERT OVERWRITE TABLE s.t SELECT id + 1, day FROM s.t;
-- ok

SELECT * FROM s.t;
-- id int, day date
-- 4 | 2026-01-01

INSERT OVERWRITE s.t PARTITION (day = DATE'2026-01-05') SELECT 7;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, day date
-- 4 | 2026-01-01
-- 7 | 2026-01-05

INSERT INTO s.t PARTITION (day = DATE'2026-01-06') VALUES (8), (9);
-- ok

INSERT INTO s.t PARTITION (day) SELECT 10, DATE'2026-01-07';
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, day date
-- 4 | 2026-01-01
-- 7 | 2026-01-05
-- 8 | 2026-01-06
-- 9 | 2026-01-06
-- 10 | 2026-01-07

SET spark.sql.sources.partitionOverwriteMode = dynamic;
-- key string, value string
-- 'spark.sql.sources.partitionOverwriteMode' | 'dynamic'

INSERT OVERWRITE s.t VALUES (11, DATE'2026-01-06');
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, day date
-- 4 | 2026-01-01
-- 7 | 2026-01-05
-- 10 | 2026-01-07
-- 11 | 2026-01-06

INSERT OVERWRITE s.t PARTITION (day) SELECT 12, DATE'2026-01-07';
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, day date
-- 4 | 2026-01-01
-- 7 | 2026-01-05
-- 11 | 2026-01-06
-- 12 | 2026-01-07

INSERT OVERWRITE s.t PARTITION (nothing = 1) SELECT 7;
-- error NON_PARTITION_COLUMN

SELECT day, count(*) AS n FROM s.t GROUP BY day ORDER BY day;
-- day date, n bigint
-- 2026-01-01 | 1
-- 2026-01-05 | 1
-- 2026-01-06 | 1
-- 2026-01-07 | 1

-- # replace where

CREATE TABLE s.t (id INT, day DATE) USING delta;
-- ok

INSERT INTO s.t VALUES (1, DATE'2026-01-01'), (2, DATE'2026-01-02'), (3, DATE'2026-01-02');
-- ok

INSERT INTO s.t REPLACE WHERE day = DATE'2026-01-02' VALUES (20, DATE'2026-01-02');
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, day date
-- 1 | 2026-01-01
-- 20 | 2026-01-02

INSERT INTO s.t REPLACE WHERE day = DATE'2026-01-02' VALUES (20, DATE'2026-02-02');
-- error DELTA_REPLACE_WHERE_MISMATCH

INSERT INTO TABLE s.t REPLACE WHERE id >= 20 AND day > DATE'2026-01-01' SELECT 30, DATE'2026-01-03';
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, day date
-- 1 | 2026-01-01
-- 30 | 2026-01-03

INSERT INTO s.t REPLACE WHERE nothing = 1 SELECT 30, DATE'2026-01-03';
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

-- # replace using and replace on
-- @ours Delta 4.4 refuses REPLACE USING and REPLACE ON in SQL, and has them as options of DataFrames only

CREATE TABLE s.t (id INT, day DATE, v STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, DATE'2026-01-01', 'a'), (2, DATE'2026-01-02', 'b'), (3, NULL, 'c');
-- ok

INSERT INTO s.t REPLACE USING (id) VALUES (2, DATE'2026-01-05', 'B'), (4, DATE'2026-01-06', 'D');
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, day date, v string
-- 1 | 2026-01-01 | 'a'
-- 2 | 2026-01-05 | 'B'
-- 3 | NULL | 'c'
-- 4 | 2026-01-06 | 'D'

INSERT INTO s.t AS t REPLACE ON t.id = q.id (SELECT 1 AS id, DATE'2026-03-01' AS day, 'A' AS v) AS q;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, day date, v string
-- 1 | 2026-03-01 | 'A'
-- 2 | 2026-01-05 | 'B'
-- 3 | NULL | 'c'
-- 4 | 2026-01-06 | 'D'

INSERT INTO s.t REPLACE USING (nothing) VALUES (2, DATE'2026-01-05', 'B');
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

-- # schema evolution

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1);
-- ok

INSERT WITH SCHEMA EVOLUTION INTO s.t SELECT 2 AS id, 'b' AS name;
-- ok

INSERT WITH SCHEMA EVOLUTION INTO s.t BY NAME SELECT 'c' AS name, 3 AS id, true AS flag;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, name string, flag boolean
-- 1 | NULL | NULL
-- 2 | 'b' | NULL
-- 3 | 'c' | true

SET spark.databricks.delta.schema.autoMerge.enabled = true;
-- key string, value string
-- 'spark.databricks.delta.schema.autoMerge.enabled' | 'true'

INSERT INTO s.t SELECT 4 AS id, 'd' AS name, false AS flag, 1.5D AS score;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, name string, flag boolean, score double
-- 1 | NULL | NULL | NULL
-- 2 | 'b' | NULL | NULL
-- 3 | 'c' | true | NULL
-- 4 | 'd' | false | 1.5
