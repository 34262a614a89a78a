-- Temporary views and DataFrames beside tables, and parameters.

-- # temporary views

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

INSERT INTO s.t VALUES (1, 'a'), (2, 'b');
-- ok

CREATE TEMP VIEW numbers AS SELECT * FROM VALUES (1, 'one'), (2, 'two') AS v(id, word);
-- ok

SELECT t.name, n.word FROM s.t AS t JOIN numbers AS n ON t.id = n.id ORDER BY t.id;
-- name string, word string
-- 'a' | 'one'
-- 'b' | 'two'

CREATE OR REPLACE TEMPORARY VIEW upper_names AS SELECT id, upper(name) AS name FROM s.t;
-- ok

SELECT * FROM upper_names ORDER BY id;
-- id int, name string
-- 1 | 'A'
-- 2 | 'B'

INSERT INTO s.t VALUES (3, 'c');
-- ok

-- @differs a view over a table of a lake keeps the version at which it was made
SELECT * FROM upper_names ORDER BY id;
-- id int, name string
-- 1 | 'A'
-- 2 | 'B'
-- delta: id int, name string
-- delta: 1 | 'A'
-- delta: 2 | 'B'
-- delta: 3 | 'C'

INSERT INTO s.t SELECT id + 10, word FROM numbers;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'
-- 3 | 'c'
-- 11 | 'one'
-- 12 | 'two'

MERGE INTO s.t USING numbers ON t.id = numbers.id WHEN MATCHED THEN UPDATE SET name = numbers.word;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 2 | 2 | 0 | 0

DELETE FROM s.t WHERE id IN (SELECT id + 10 FROM numbers);
-- error DELTA_UNSUPPORTED_SUBQUERY

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | 'one'
-- 2 | 'two'
-- 3 | 'c'
-- 11 | 'one'
-- 12 | 'two'

CREATE TEMP VIEW numbers AS SELECT 1;
-- error TEMP_TABLE_OR_VIEW_ALREADY_EXISTS

INSERT INTO numbers VALUES (1, 'x');
-- error EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE

DROP VIEW numbers;
-- ok

SELECT * FROM numbers;
-- error TABLE_OR_VIEW_NOT_FOUND

DROP VIEW numbers;
-- error TABLE_OR_VIEW_NOT_FOUND

-- # tables of files beside tables of the lake

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1), (2);
-- ok

INSERT OVERWRITE DIRECTORY '${folder}/p' USING parquet SELECT id, id * 2 AS twice FROM s.t;
-- ok

SELECT t.id, p.twice FROM s.t AS t JOIN parquet.`${folder}/p` AS p ON t.id = p.id ORDER BY t.id;
-- id int, twice int
-- 1 | 2
-- 2 | 4

INSERT INTO s.t SELECT twice FROM parquet.`${folder}/p`;
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int
-- 1
-- 2
-- 2
-- 4

-- # named parameters

CREATE TABLE s.t (id INT, name STRING, day DATE) USING delta;
-- ok

-- @args {"id": 1, "name": "it's"}
INSERT INTO s.t VALUES (:id, :name, DATE'2026-01-01');
-- ok

-- @args {"id": 2, "name": "b", "day": "2026-01-02"}
INSERT INTO s.t VALUES (:id, :name, CAST(:day AS DATE));
-- ok

-- @args {"least": 2}
SELECT * FROM s.t WHERE id >= :least;
-- id int, name string, day date
-- 2 | 'b' | 2026-01-02

-- @args {"name": "it's"}
SELECT id FROM s.t WHERE name = :name;
-- id int
-- 1

-- @args {"name": "B", "id": 2}
UPDATE s.t SET name = :name WHERE id = :id;
-- num_affected_rows bigint
-- 1

-- @args {"id": 1}
DELETE FROM s.t WHERE id = :id;
-- num_affected_rows bigint
-- 1

SELECT * FROM s.t;
-- id int, name string, day date
-- 2 | 'B' | 2026-01-02

-- @args {"id": 2, "name": "merged"}
MERGE INTO s.t USING (SELECT :id AS id, :name AS name) AS n ON t.id = n.id WHEN MATCHED THEN UPDATE SET t.name = n.name;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 1 | 0 | 0

SELECT * FROM s.t;
-- id int, name string, day date
-- 2 | 'merged' | 2026-01-02

-- @args {"other": 2}
SELECT * FROM s.t WHERE id = :id;
-- error UNBOUND_SQL_PARAMETER

SELECT * FROM s.t WHERE id = :id;
-- error UNBOUND_SQL_PARAMETER

-- @args {"table": "s.t"}
SELECT count(*) AS n FROM IDENTIFIER(:table);
-- n bigint
-- 1

-- # parameters by place

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

-- @args [1, "a"]
INSERT INTO s.t VALUES (?, ?);
-- ok

-- @args [2, "?"]
INSERT INTO s.t VALUES (?, ?);
-- ok

-- @args ["?"]
SELECT * FROM s.t WHERE name = ? AND name LIKE '%?%';
-- id int, name string
-- 2 | '?'

-- @args [1]
UPDATE s.t SET name = 'A' WHERE id = ?;
-- num_affected_rows bigint
-- 1

-- @args [2]
DELETE FROM s.t WHERE id = ?;
-- num_affected_rows bigint
-- 1

SELECT * FROM s.t;
-- id int, name string
-- 1 | 'A'

-- @args [1]
SELECT * FROM s.t WHERE id = ? AND name = ?;
-- error UNBOUND_SQL_PARAMETER

-- # DataFrames by name

CREATE TABLE s.t (id INT, name STRING) USING delta;
-- ok

-- @frames {"new": "SELECT 1 AS id, 'a' AS name UNION ALL SELECT 2, 'b'"}
INSERT INTO s.t SELECT * FROM {new};
-- ok

-- @frames {"new": "SELECT 2 AS id, 'B' AS name UNION ALL SELECT 3, 'C'"}
SELECT t.id, n.name FROM s.t AS t JOIN {new} AS n ON t.id = n.id;
-- id int, name string
-- 2 | 'B'

-- @frames {"new": "SELECT 2 AS id, 'B' AS name UNION ALL SELECT 3, 'C'"}
MERGE INTO s.t USING {new} AS n ON t.id = n.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 2 | 1 | 0 | 1

-- @frames {"gone": "SELECT 1 AS id"}
DELETE FROM s.t WHERE id IN (SELECT id FROM {gone});
-- error DELTA_UNSUPPORTED_SUBQUERY

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'B'
-- 3 | 'C'
