-- MERGE with all its clauses.

-- # matched and not matched

CREATE TABLE s.t (id INT, name STRING, n INT) USING delta;

CREATE TABLE s.q (id INT, name STRING, n INT) USING delta;

INSERT INTO s.t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);

INSERT INTO s.q VALUES (2, 'B', 20), (3, 'C', 30), (4, 'D', 40);

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;

SELECT * FROM s.t ORDER BY id;

MERGE INTO s.t AS x USING s.q AS y ON x.id = y.id WHEN MATCHED AND y.n > 25 THEN DELETE WHEN MATCHED THEN UPDATE SET x.n = x.n + y.n;

SELECT * FROM s.t ORDER BY id;

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED AND q.n > 35 THEN INSERT (id, name) VALUES (q.id, lower(q.name)) WHEN NOT MATCHED THEN INSERT (n, id) VALUES (-1, q.id);

SELECT * FROM s.t ORDER BY id;

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED BY SOURCE THEN DELETE;

SELECT * FROM s.t ORDER BY id;

MERGE INTO s.t USING (SELECT * FROM s.q WHERE id = 2) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET name = 'two' WHEN NOT MATCHED BY SOURCE AND t.id > 3 THEN UPDATE SET name = 'gone' WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 0;

SELECT * FROM s.t ORDER BY id;

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED BY TARGET THEN INSERT *;

MERGE INTO s.t USING s.q ON false WHEN NOT MATCHED THEN INSERT *;

SELECT count(*) AS n FROM s.t;

MERGE INTO s.t USING (SELECT DISTINCT id FROM s.t) AS q ON t.id = q.id WHEN MATCHED THEN DELETE;

SELECT count(*) AS n FROM s.t;

MERGE INTO s.t USING (SELECT * FROM s.q WHERE false) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;

-- @shown version, operation, isBlindAppend
DESCRIBE HISTORY s.t LIMIT 3;

-- # a CTE, a subquery and an older version as source

CREATE TABLE s.t (id INT, name STRING) USING delta;

INSERT INTO s.t VALUES (1, 'a'), (2, 'b');

UPDATE s.t SET name = 'changed';

WITH q AS (SELECT 1 AS id, 'cte' AS name) MERGE INTO s.t USING q ON t.id = q.id WHEN MATCHED THEN UPDATE SET *;

MERGE INTO s.t USING s.t VERSION AS OF 1 AS old ON t.id = old.id AND t.id = 2 WHEN MATCHED THEN UPDATE SET name = old.name;

MERGE INTO s.t USING VALUES (3, 'three') AS q(id, name) ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;

SELECT * FROM s.t ORDER BY id;

-- # several matches

CREATE TABLE s.t (id INT, name STRING) USING delta;

INSERT INTO s.t VALUES (1, 'a');

MERGE INTO s.t USING (SELECT * FROM VALUES (1, 'x'), (1, 'y') AS v(id, name)) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET *;

MERGE INTO s.t USING (SELECT * FROM VALUES (1, 'x'), (1, 'y') AS v(id, name)) AS q ON t.id = q.id WHEN MATCHED AND q.name = 'x' THEN UPDATE SET *;

MERGE INTO s.t USING (SELECT * FROM VALUES (1, 'x'), (1, 'y') AS v(id, name)) AS q ON t.id = q.id WHEN MATCHED THEN DELETE;

SELECT count(*) AS n FROM s.t;

-- # schema evolution

CREATE TABLE s.t (id INT, name STRING) USING delta;

INSERT INTO s.t VALUES (1, 'a');

MERGE INTO s.t USING (SELECT 1 AS id, 'b' AS name, 5 AS extra) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;

SELECT * FROM s.t;

MERGE WITH SCHEMA EVOLUTION INTO s.t USING (SELECT 1 AS id, 'c' AS name, 5 AS extra UNION ALL SELECT 2, 'd', 6) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;

SELECT * FROM s.t ORDER BY id;

MERGE WITH SCHEMA EVOLUTION INTO s.t USING (SELECT 3 AS id, true AS flag) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, flag) VALUES (q.id, q.flag);

SELECT * FROM s.t ORDER BY id;

-- # what cannot be merged

CREATE TABLE s.t (id INT, name STRING, n INT NOT NULL) USING delta;

CREATE TABLE s.q (id INT, name STRING) USING delta;

INSERT INTO s.t VALUES (1, 'a', 1);

INSERT INTO s.q VALUES (1, 'A'), (2, 'B');

MERGE INTO s.t USING s.q ON t.id = q.id;

MERGE INTO s.t USING s.q ON t.id = q.nothing WHEN MATCHED THEN DELETE;

MERGE INTO s.t USING s.q ON id = id WHEN MATCHED THEN DELETE;

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET nothing = 1;

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET *;

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, name) VALUES (q.id, q.name);

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, nothing) VALUES (1, 2);

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, name, n) VALUES (1, 'x');

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET name = 'x';

MERGE INTO s.t USING s.q ON t.id = q.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET name = q.name;

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET name = 'x', name = 'y';

MERGE INTO s.t USING s.q ON t.id = q.id WHEN MATCHED THEN UPDATE SET n = 'x';

MERGE INTO s.t USING s.nothing AS q ON t.id = q.id WHEN MATCHED THEN DELETE;

MERGE INTO s.nothing AS t USING s.q ON t.id = q.id WHEN MATCHED THEN DELETE;

MERGE INTO s.t USING s.q WHEN MATCHED THEN DELETE;

SELECT * FROM s.t ORDER BY id;
