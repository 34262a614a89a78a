-- UPDATE and DELETE.

-- # update

CREATE TABLE s.t (id INT, name STRING, n BIGINT, day DATE) USING delta;

INSERT INTO s.t VALUES (1, 'a', 10, DATE'2026-01-01'), (2, 'b', 20, DATE'2026-01-01'), (3, NULL, NULL, NULL);

UPDATE s.t SET name = 'A' WHERE id = 1;

UPDATE s.t SET n = n + 1, name = concat(name, '!') WHERE n IS NOT NULL;

UPDATE s.t AS x SET x.day = DATE'2026-02-01' WHERE x.id = 3;

UPDATE s.t SET id = n, n = id WHERE id = 2;

SELECT * FROM s.t ORDER BY id;

UPDATE s.t SET n = 0;

UPDATE s.t SET n = 1 WHERE id = 99;

UPDATE s.t SET n = (SELECT max(id) FROM s.t) WHERE id = 1;

UPDATE s.t SET name = 'in' WHERE id IN (SELECT id FROM s.t WHERE n = 21);

UPDATE s.t SET name = 'in' WHERE id IN (1, 3);

SELECT * FROM s.t ORDER BY id;

UPDATE s.t SET nothing = 1;

UPDATE s.t SET n = nothing;

UPDATE s.t SET n = 'x' WHERE id = 1;

UPDATE s.t SET id = 3000000000 WHERE id = 1;

UPDATE s.t SET n = 1, n = 2;

UPDATE s.t SET n = 1 WHERE nothing = 1;

UPDATE s.t SET n = max(n);

UPDATE s.nothing SET n = 1;

UPDATE s.t SET;

UPDATE s.t SET n = rand() WHERE id = 1;

SELECT count(*) AS n FROM s.t;

-- # delete

CREATE TABLE s.t (id INT, name STRING, day DATE) USING delta PARTITIONED BY (day);

INSERT INTO s.t SELECT id, concat('n', id), date_add(DATE'2026-01-01', CAST(id % 3 AS INT)) FROM range(9);

DELETE FROM s.t WHERE id = 1;

DELETE FROM s.t WHERE day = DATE'2026-01-03';

DELETE FROM s.t AS x WHERE x.name = 'n3' OR x.name IS NULL;

DELETE FROM s.t WHERE id > 100;

SELECT * FROM s.t ORDER BY id;

DELETE FROM s.t WHERE id IN (SELECT max(id) FROM s.t);

DELETE FROM s.t WHERE EXISTS (SELECT 1 FROM range(5) AS r WHERE r.id = t.id);

SELECT * FROM s.t ORDER BY id;

DELETE FROM s.t WHERE nothing = 1;

DELETE FROM s.t WHERE name;

DELETE FROM s.t WHERE rand() > 2;

DELETE FROM s.nothing WHERE id = 1;

DELETE s.t WHERE id = 1;

DELETE FROM s.t;

SELECT count(*) AS n FROM s.t;

DELETE FROM s.t;

-- # truncate

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1), (2);

TRUNCATE TABLE s.t;

SELECT count(*) AS n FROM s.t;

TRUNCATE TABLE s.nothing;

-- # with deletion vectors

CREATE TABLE s.t (id BIGINT, n INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');

INSERT INTO s.t SELECT id, CAST(id % 5 AS INT) FROM range(20);

DELETE FROM s.t WHERE n = 0;

UPDATE s.t SET n = n * 10 WHERE id < 4;

DELETE FROM s.t WHERE id > 12;

SELECT * FROM s.t ORDER BY id;

-- @shown version, operation, readVersion, isolationLevel, isBlindAppend
DESCRIBE HISTORY s.t;

-- # an append-only table

CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.appendOnly' = 'true');

INSERT INTO s.t VALUES (1);

DELETE FROM s.t WHERE id = 1;

UPDATE s.t SET id = 2;

INSERT OVERWRITE s.t VALUES (3);

MERGE INTO s.t USING (SELECT 1 AS id) AS q ON t.id = q.id WHEN MATCHED THEN DELETE;

MERGE INTO s.t USING (SELECT 2 AS id) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;

ALTER TABLE s.t SET TBLPROPERTIES ('delta.appendOnly' = 'false');

DELETE FROM s.t WHERE id = 1;

SELECT * FROM s.t ORDER BY id;
