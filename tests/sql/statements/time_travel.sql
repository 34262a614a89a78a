-- Older versions, and the change data feed.

-- # versions and moments

CREATE TABLE s.t (id INT, name STRING) USING delta;

INSERT INTO s.t VALUES (1, 'a');

INSERT INTO s.t VALUES (2, 'b');

UPDATE s.t SET name = 'B' WHERE id = 2;

SELECT * FROM s.t VERSION AS OF 1;

SELECT * FROM s.t VERSION AS OF 2 ORDER BY id;

SELECT * FROM s.t FOR VERSION AS OF 2 ORDER BY id;

SELECT * FROM s.t FOR SYSTEM_VERSION AS OF 1;

SELECT * FROM s.t VERSION AS OF '2' ORDER BY id;

SELECT * FROM s.t@v1;

SELECT count(*) AS n FROM s.t@v0;

SELECT * FROM s.t TIMESTAMP AS OF '${time s.t 1}';

SELECT * FROM s.t TIMESTAMP AS OF CAST('${time s.t 2}' AS TIMESTAMP) ORDER BY id;

SELECT count(*) AS n FROM s.t FOR TIMESTAMP AS OF '${time s.t 2}';

SELECT count(*) AS n FROM s.t FOR SYSTEM_TIME AS OF '${time s.t 1}';

SELECT old.name AS before, new.name AS after FROM s.t VERSION AS OF 2 AS old JOIN s.t AS new ON old.id = new.id ORDER BY old.id;

SELECT count(*) AS n FROM (SELECT * FROM s.t VERSION AS OF 1 UNION ALL SELECT * FROM s.t VERSION AS OF 2);

WITH q AS (SELECT * FROM s.t VERSION AS OF 1) SELECT count(*) AS n FROM q;

INSERT INTO s.t SELECT id + 10, name FROM s.t VERSION AS OF 1;

SELECT * FROM s.t ORDER BY id;

SELECT * FROM s.t VERSION AS OF 99;

SELECT * FROM s.t VERSION AS OF -1;

SELECT * FROM s.t VERSION AS OF 'x';

SELECT * FROM s.t@v99;

SELECT * FROM s.t TIMESTAMP AS OF '1999-01-01';

SELECT * FROM s.t TIMESTAMP AS OF '2999-01-01';

SELECT * FROM s.t TIMESTAMP AS OF 'not a moment';

SELECT * FROM s.nothing VERSION AS OF 1;

DELETE FROM s.t VERSION AS OF 1 WHERE id = 1;

INSERT INTO s.t VERSION AS OF 1 VALUES (1, 'a');

-- # the schema of an older version

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1);

ALTER TABLE s.t ADD COLUMN name STRING;

INSERT INTO s.t VALUES (2, 'b');

SELECT * FROM s.t VERSION AS OF 1;

SELECT * FROM s.t ORDER BY id;

SELECT name FROM s.t VERSION AS OF 1;

-- # changes

CREATE TABLE s.t (id INT, name STRING) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true');

INSERT INTO s.t VALUES (1, 'a'), (2, 'b'), (3, 'c');

UPDATE s.t SET name = 'B' WHERE id = 2;

DELETE FROM s.t WHERE id = 1;

-- @mask _commit_timestamp
SELECT * FROM table_changes('s.t', 0) ORDER BY _commit_version, id, _change_type;

-- @mask _commit_timestamp
SELECT * FROM table_changes('s.t', 2, 2) ORDER BY id, _change_type;

SELECT _change_type, count(*) AS n FROM table_changes('s.t', 1, 3) GROUP BY _change_type ORDER BY _change_type;

SELECT count(*) AS n FROM table_changes('s.t', '${time s.t 2}', '${time s.t 3}');

SELECT c.id, c._change_type FROM table_changes('s.t', 3) AS c JOIN s.t VERSION AS OF 1 AS o ON c.id = o.id;

SELECT * FROM table_changes('s.t', 3, 2);

SELECT * FROM table_changes('s.t', 9);

SELECT * FROM table_changes('s.t');

SELECT * FROM table_changes('s.nothing', 0);

SELECT * FROM table_changes('s.t', -1);

-- # changes that were not kept

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1);

SELECT * FROM table_changes('s.t', 0);

ALTER TABLE s.t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true');

INSERT INTO s.t VALUES (2);

SELECT id, _change_type, _commit_version FROM table_changes('s.t', 3);

SELECT id FROM table_changes('s.t', 0);
