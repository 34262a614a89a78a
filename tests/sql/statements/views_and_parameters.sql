-- Temporary views and DataFrames beside tables, and parameters.

-- # temporary views

CREATE TABLE s.t (id INT, name STRING) USING delta;

INSERT INTO s.t VALUES (1, 'a'), (2, 'b');

CREATE TEMP VIEW numbers AS SELECT * FROM VALUES (1, 'one'), (2, 'two') AS v(id, word);

SELECT t.name, n.word FROM s.t AS t JOIN numbers AS n ON t.id = n.id ORDER BY t.id;

CREATE OR REPLACE TEMPORARY VIEW upper_names AS SELECT id, upper(name) AS name FROM s.t;

SELECT * FROM upper_names ORDER BY id;

INSERT INTO s.t VALUES (3, 'c');

SELECT * FROM upper_names ORDER BY id;

INSERT INTO s.t SELECT id + 10, word FROM numbers;

SELECT * FROM s.t ORDER BY id;

MERGE INTO s.t USING numbers ON t.id = numbers.id WHEN MATCHED THEN UPDATE SET name = numbers.word;

DELETE FROM s.t WHERE id IN (SELECT id + 10 FROM numbers);

SELECT * FROM s.t ORDER BY id;

CREATE TEMP VIEW numbers AS SELECT 1;

INSERT INTO numbers VALUES (1, 'x');

DROP VIEW numbers;

SELECT * FROM numbers;

DROP VIEW numbers;

-- # tables of files beside tables of the lake

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1), (2);

INSERT OVERWRITE DIRECTORY '${folder}/p' USING parquet SELECT id, id * 2 AS twice FROM s.t;

SELECT t.id, p.twice FROM s.t AS t JOIN parquet.`${folder}/p` AS p ON t.id = p.id ORDER BY t.id;

INSERT INTO s.t SELECT twice FROM parquet.`${folder}/p`;

SELECT * FROM s.t ORDER BY id;

-- # named parameters

CREATE TABLE s.t (id INT, name STRING, day DATE) USING delta;

-- @args {"id": 1, "name": "it's"}
INSERT INTO s.t VALUES (:id, :name, DATE'2026-01-01');

-- @args {"id": 2, "name": "b", "day": "2026-01-02"}
INSERT INTO s.t VALUES (:id, :name, CAST(:day AS DATE));

-- @args {"least": 2}
SELECT * FROM s.t WHERE id >= :least;

-- @args {"name": "it's"}
SELECT id FROM s.t WHERE name = :name;

-- @args {"name": "B", "id": 2}
UPDATE s.t SET name = :name WHERE id = :id;

-- @args {"id": 1}
DELETE FROM s.t WHERE id = :id;

SELECT * FROM s.t;

-- @args {"id": 2, "name": "merged"}
MERGE INTO s.t USING (SELECT :id AS id, :name AS name) AS n ON t.id = n.id WHEN MATCHED THEN UPDATE SET t.name = n.name;

SELECT * FROM s.t;

-- @args {"other": 2}
SELECT * FROM s.t WHERE id = :id;

SELECT * FROM s.t WHERE id = :id;

-- @args {"table": "s.t"}
SELECT count(*) AS n FROM IDENTIFIER(:table);

-- # parameters by place

CREATE TABLE s.t (id INT, name STRING) USING delta;

-- @args [1, "a"]
INSERT INTO s.t VALUES (?, ?);

-- @args [2, "?"]
INSERT INTO s.t VALUES (?, ?);

-- @args ["?"]
SELECT * FROM s.t WHERE name = ? AND name LIKE '%?%';

-- @args [1]
UPDATE s.t SET name = 'A' WHERE id = ?;

-- @args [2]
DELETE FROM s.t WHERE id = ?;

SELECT * FROM s.t;

-- @args [1]
SELECT * FROM s.t WHERE id = ? AND name = ?;

-- # DataFrames by name

CREATE TABLE s.t (id INT, name STRING) USING delta;

-- @frames {"new": "SELECT 1 AS id, 'a' AS name UNION ALL SELECT 2, 'b'"}
INSERT INTO s.t SELECT * FROM {new};

-- @frames {"new": "SELECT 2 AS id, 'B' AS name UNION ALL SELECT 3, 'C'"}
SELECT t.id, n.name FROM s.t AS t JOIN {new} AS n ON t.id = n.id;

-- @frames {"new": "SELECT 2 AS id, 'B' AS name UNION ALL SELECT 3, 'C'"}
MERGE INTO s.t USING {new} AS n ON t.id = n.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;

-- @frames {"gone": "SELECT 1 AS id"}
DELETE FROM s.t WHERE id IN (SELECT id FROM {gone});

SELECT * FROM s.t ORDER BY id;
