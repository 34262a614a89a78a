-- SELECT over tables, views and both.

-- # filters, expressions and aggregates

CREATE TABLE s.orders (id BIGINT, customer INT, day DATE, amount DECIMAL(10, 2)) USING delta;
-- ok

INSERT INTO s.orders VALUES (1, 1, DATE'2026-01-01', 10.00), (2, 1, DATE'2026-01-02', 20.50), (3, 2, DATE'2026-01-02', 5.25), (4, NULL, DATE'2026-01-03', NULL);
-- ok

SELECT * FROM s.orders ORDER BY id;
-- id bigint, customer int, day date, amount decimal(10,2)
-- 1 | 1 | 2026-01-01 | 10.00
-- 2 | 1 | 2026-01-02 | 20.50
-- 3 | 2 | 2026-01-02 | 5.25
-- 4 | NULL | 2026-01-03 | NULL

SELECT id, amount * 2 AS twice FROM s.orders WHERE day > DATE'2026-01-01' ORDER BY id;
-- id bigint, twice decimal(12,2)
-- 2 | 41.00
-- 3 | 10.50
-- 4 | NULL

SELECT customer, sum(amount) AS total, count(*) AS n FROM s.orders GROUP BY customer ORDER BY customer NULLS FIRST;
-- customer int, total decimal(20,2), n bigint
-- NULL | NULL | 1
-- 1 | 30.50 | 2
-- 2 | 5.25 | 1

SELECT customer, count(*) AS n FROM s.orders GROUP BY customer HAVING count(*) > 1;
-- customer int, n bigint
-- 1 | 2

SELECT DISTINCT day FROM s.orders ORDER BY day;
-- day date
-- 2026-01-01
-- 2026-01-02
-- 2026-01-03

SELECT day, customer, sum(amount) AS total FROM s.orders GROUP BY ROLLUP (day, customer) ORDER BY day NULLS LAST, customer NULLS LAST, total NULLS LAST;
-- day date, customer int, total decimal(20,2)
-- 2026-01-01 | 1 | 10.00
-- 2026-01-01 | NULL | 10.00
-- 2026-01-02 | 1 | 20.50
-- 2026-01-02 | 2 | 5.25
-- 2026-01-02 | NULL | 25.75
-- 2026-01-03 | NULL | NULL
-- 2026-01-03 | NULL | NULL
-- NULL | NULL | 35.75

SELECT id, row_number() OVER (PARTITION BY customer ORDER BY amount DESC) AS place FROM s.orders WHERE customer IS NOT NULL ORDER BY id;
-- id bigint, place int
-- 1 | 2
-- 2 | 1
-- 3 | 1

SELECT id, CASE WHEN amount > 10 THEN 'large' WHEN amount IS NULL THEN NULL ELSE 'small' END AS size FROM s.orders ORDER BY id;
-- id bigint, size string
-- 1 | 'small'
-- 2 | 'large'
-- 3 | 'small'
-- 4 | NULL

SELECT id FROM s.orders ORDER BY id DESC LIMIT 2 OFFSET 1;
-- id bigint
-- 3
-- 2

SELECT id FROM s.orders WHERE customer IS NULL;
-- id bigint
-- 4

SELECT id FROM s.orders WHERE customer <=> NULL;
-- id bigint
-- 4

SELECT count(*) FROM s.orders WHERE false;
-- count(1) bigint
-- 0

SELECT max(id) AS newest, min(day) AS first_day FROM s.orders;
-- newest bigint, first_day date
-- 4 | 2026-01-01

SELECT o.* EXCEPT (day, amount) FROM s.orders AS o WHERE o.id = 1;
-- id bigint, customer int
-- 1 | 1

SELECT 'it''s {braces} and s.orders' AS text, id FROM s.orders WHERE id = 1;
-- text string, id bigint
-- 'it\'s {braces} and s.orders' | 1

SELECT /* s.nothing */ id -- and s.nothing
FROM s.orders WHERE id = 2;
-- id bigint
-- 2

SELECT `id` FROM `s`.`orders` WHERE `id` = 3;
-- id bigint
-- 3

SELECT ID, Customer FROM S.ORDERS WHERE Id = 3;
-- ID bigint, Customer int
-- 3 | 2

FROM s.orders SELECT id WHERE id > 3;
-- id bigint
-- 4

FROM s.orders |> WHERE id < 3 |> SELECT id, amount |> ORDER BY id;
-- id bigint, amount decimal(10,2)
-- 1 | 10.00
-- 2 | 20.50

TABLE s.orders |> AGGREGATE count(*) AS n;
-- n bigint
-- 4

SELECT s.orders.id FROM s.orders WHERE orders.id = 1;
-- id bigint
-- 1

-- @differs a table of a lake does not tell the files of its rows
SELECT _metadata.file_name IS NOT NULL AS has_name FROM s.orders WHERE id = 1;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION
-- delta: has_name boolean
-- delta: true

-- # joins

CREATE TABLE s.a (id INT, v STRING) USING delta;
-- ok

CREATE TABLE s.b (id INT, w STRING) USING delta;
-- ok

INSERT INTO s.a VALUES (1, 'a1'), (2, 'a2'), (3, 'a3');
-- ok

INSERT INTO s.b VALUES (2, 'b2'), (3, 'b3'), (4, 'b4');
-- ok

SELECT a.id, v, w FROM s.a AS a JOIN s.b AS b ON a.id = b.id ORDER BY a.id;
-- id int, v string, w string
-- 2 | 'a2' | 'b2'
-- 3 | 'a3' | 'b3'

SELECT * FROM s.a LEFT JOIN s.b USING (id) ORDER BY id;
-- id int, v string, w string
-- 1 | 'a1' | NULL
-- 2 | 'a2' | 'b2'
-- 3 | 'a3' | 'b3'

SELECT * FROM s.a FULL OUTER JOIN s.b USING (id) ORDER BY id;
-- id int, v string, w string
-- 1 | 'a1' | NULL
-- 2 | 'a2' | 'b2'
-- 3 | 'a3' | 'b3'
-- 4 | NULL | 'b4'

SELECT * FROM s.a RIGHT JOIN s.b ON s.a.id = s.b.id ORDER BY s.b.id;
-- id int, v string, id int, w string
-- 2 | 'a2' | 2 | 'b2'
-- 3 | 'a3' | 3 | 'b3'
-- NULL | NULL | 4 | 'b4'

SELECT * FROM s.a LEFT SEMI JOIN s.b ON a.id = b.id ORDER BY id;
-- id int, v string
-- 2 | 'a2'
-- 3 | 'a3'

SELECT * FROM s.a ANTI JOIN s.b ON a.id = b.id ORDER BY id;
-- id int, v string
-- 1 | 'a1'

SELECT count(*) AS n FROM s.a CROSS JOIN s.b;
-- n bigint
-- 9

SELECT count(*) AS n FROM s.a, s.b WHERE s.a.id < s.b.id;
-- n bigint
-- 6

SELECT * FROM s.a NATURAL JOIN s.b ORDER BY id;
-- id int, v string, w string
-- 2 | 'a2' | 'b2'
-- 3 | 'a3' | 'b3'

SELECT x.id, y.v FROM s.a AS x JOIN s.a AS y ON x.id = y.id + 1 ORDER BY x.id;
-- id int, v string
-- 2 | 'a1'
-- 3 | 'a2'

SELECT a.id, q.w FROM s.a AS a, LATERAL (SELECT b.w FROM s.b AS b WHERE b.id = a.id) AS q ORDER BY a.id;
-- id int, w string
-- 2 | 'b2'
-- 3 | 'b3'

SELECT /*+ BROADCAST(b) */ a.id FROM s.a AS a JOIN s.b AS b ON a.id = b.id ORDER BY a.id;
-- id int
-- 2
-- 3

SELECT id FROM s.a JOIN s.b ON a.id = b.id;
-- error AMBIGUOUS_REFERENCE

-- # subqueries, CTEs and sets

CREATE TABLE s.a (id INT, v STRING) USING delta;
-- ok

INSERT INTO s.a VALUES (1, 'a1'), (2, 'a2'), (3, 'a3');
-- ok

SELECT id FROM (SELECT * FROM s.a WHERE id > 1) AS q ORDER BY id;
-- id int
-- 2
-- 3

SELECT id FROM s.a WHERE id IN (SELECT id + 1 FROM s.a) ORDER BY id;
-- id int
-- 2
-- 3

SELECT id FROM s.a AS o WHERE EXISTS (SELECT 1 FROM s.a AS i WHERE i.id = o.id + 1) ORDER BY id;
-- id int
-- 1
-- 2

SELECT id FROM s.a WHERE id NOT IN (SELECT id FROM s.a WHERE id > 1);
-- id int
-- 1

SELECT id, (SELECT max(id) FROM s.a) AS most FROM s.a ORDER BY id;
-- id int, most int
-- 1 | 3
-- 2 | 3
-- 3 | 3

WITH q AS (SELECT id FROM s.a WHERE id < 3), r AS (SELECT id * 10 AS id FROM q) SELECT * FROM q UNION ALL SELECT * FROM r ORDER BY id;
-- id int
-- 1
-- 2
-- 10
-- 20

WITH a AS (SELECT 7 AS id) SELECT a.id FROM a;
-- id int
-- 7

WITH q AS (WITH p AS (SELECT id FROM s.a) SELECT max(id) AS id FROM p) SELECT id FROM q;
-- id int
-- 3

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT a.v FROM s.a JOIN n ON a.id = n.i ORDER BY a.v;
-- v string
-- 'a1'
-- 'a2'
-- 'a3'

SELECT id FROM s.a UNION SELECT id + 1 FROM s.a ORDER BY id;
-- id int
-- 1
-- 2
-- 3
-- 4

SELECT id FROM s.a INTERSECT SELECT id + 1 FROM s.a ORDER BY id;
-- id int
-- 2
-- 3

SELECT id FROM s.a EXCEPT SELECT id + 1 FROM s.a;
-- id int
-- 1

SELECT a.id, x FROM s.a AS a LATERAL VIEW explode(array(a.id, a.id * 2)) AS x ORDER BY a.id, x;
-- id int, x int
-- 1 | 1
-- 1 | 2
-- 2 | 2
-- 2 | 4
-- 3 | 3
-- 3 | 6

SELECT a.id, t.col FROM s.a AS a, explode(sequence(1, a.id)) AS t ORDER BY a.id, t.col;
-- error UNRESOLVED_COLUMN.WITHOUT_SUGGESTION

SELECT * FROM s.a PIVOT (max(v) FOR id IN (1 AS one, 2 AS two));
-- one string, two string
-- 'a1' | 'a2'

SELECT * FROM (SELECT id AS x, id + 1 AS y FROM s.a WHERE id = 1) UNPIVOT (value FOR name IN (x, y)) ORDER BY name;
-- name string, value int
-- 'x' | 1
-- 'y' | 2

SELECT * FROM VALUES (1, 'x'), (2, 'y') AS v(id, name) JOIN s.a USING (id) ORDER BY id;
-- id int, name string, v string
-- 1 | 'x' | 'a1'
-- 2 | 'y' | 'a2'

SELECT q.id FROM range(2, 4) AS q JOIN s.a AS a ON a.id = q.id ORDER BY q.id;
-- id bigint
-- 2
-- 3

(SELECT id FROM s.a WHERE id = 1) UNION ALL (SELECT id FROM s.a WHERE id = 3) ORDER BY id;
-- id int
-- 1
-- 3

SELECT * FROM s.a TABLESAMPLE (100 PERCENT) ORDER BY id;
-- id int, v string
-- 1 | 'a1'
-- 2 | 'a2'
-- 3 | 'a3'

SELECT 1 AS one;
-- one int
-- 1

SELECT * FROM range(3);
-- id bigint
-- 0
-- 1
-- 2

VALUES (1, 'a'), (2, 'b');
-- col1 int, col2 string
-- 1 | 'a'
-- 2 | 'b'

-- # nested and other types

CREATE TABLE s.t (id INT, p STRUCT<x: INT, y: STRING>, l ARRAY<INT>, m MAP<STRING, INT>, at TIMESTAMP, local TIMESTAMP_NTZ, raw BINARY, f FLOAT, b BOOLEAN, small SMALLINT, tiny TINYINT) USING delta;
-- ok

INSERT INTO s.t VALUES (1, named_struct('x', 1, 'y', 'one'), array(1, 2), map('k', 1), TIMESTAMP'2026-01-01 10:00:00', TIMESTAMP_NTZ'2026-01-01 10:00:00', X'00FF', 1.5F, true, 3S, 4Y), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
-- ok

SELECT * FROM s.t ORDER BY id;
-- id int, p struct<x:int,y:string>, l array<int>, m map<string,int>, at timestamp, local timestamp_ntz, raw binary, f float, b boolean, small smallint, tiny tinyint
-- 1 | (1, 'one') | (1, 2) | {'k': 1} | 2026-01-01 10:00:00 | 2026-01-01 10:00:00 | X'00ff' | 1.5 | true | 3 | 4
-- 2 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL

SELECT p.x, p.y, l[0] AS head, m['k'] AS k FROM s.t WHERE id = 1;
-- x int, y string, head int, k int
-- 1 | 'one' | 1 | 1

SELECT id FROM s.t WHERE p.y = 'one';
-- id int
-- 1

SELECT id, transform(l, x -> x + 1) AS more FROM s.t ORDER BY id;
-- id int, more array<int>
-- 1 | (2, 3)
-- 2 | NULL

SELECT p.nothing FROM s.t;
-- error FIELD_NOT_FOUND

UPDATE s.t SET p.x = 7 WHERE id = 1;
-- num_affected_rows bigint
-- 1

SELECT p FROM s.t WHERE id = 1;
-- p struct<x:int,y:string>
-- (7, 'one')

-- # what is not there

CREATE TABLE s.t (id INT) USING delta;
-- ok

SELECT * FROM s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

SELECT * FROM nowhere.t;
-- error TABLE_OR_VIEW_NOT_FOUND

SELECT nothing FROM s.t;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

SELECT t.nothing FROM s.t;
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION

SELECT id + 'x' FROM s.t;
-- error CAST_INVALID_INPUT

INSERT INTO s.t VALUES (1);
-- ok

SELECT id + 'x' FROM s.t;
-- error CAST_INVALID_INPUT

SELECT id / 0 FROM s.t;
-- error DIVIDE_BY_ZERO

SELECT nothing(id) FROM s.t;
-- error UNRESOLVED_ROUTINE

SELECT id, count(*) FROM s.t;
-- error MISSING_GROUP_BY

SELECT id FROM s.t WHERE count(*) > 1;
-- error INVALID_WHERE_CONDITION

SELECT id FROM s.t WHERE id;
-- error DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN

SELECT FROM s.t;
-- error PARSE_SYNTAX_ERROR

SELECT * FORM s.t;
-- error PARSE_SYNTAX_ERROR

-- @differs to Headgate a keyword is no alias
SELECT * FROM s.t WHERE;
-- error PARSE_SYNTAX_ERROR
-- delta: id int
-- delta: 1

SELECT id FROM s.t UNION SELECT id, id FROM s.t;
-- error NUM_COLUMNS_MISMATCH

SELECT (SELECT id, id FROM s.t) FROM s.t;
-- error INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN

SELECT * FROM s.t ORDER BY 5;
-- error ORDER_BY_POS_OUT_OF_RANGE

SELECT * FROM s.t JOIN s.nothing USING (id);
-- error TABLE_OR_VIEW_NOT_FOUND

WITH q AS (SELECT * FROM s.nothing) SELECT * FROM q;
-- error TABLE_OR_VIEW_NOT_FOUND
