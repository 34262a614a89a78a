-- Types of columns: which there are, and what is done with columns of type VARIANT.

-- # variants

CREATE TABLE s.t (id INT, v VARIANT COMMENT 'a document', n STRUCT<a: VARIANT, b: ARRAY<VARIANT>>) USING delta;
-- ok

DESCRIBE TABLE s.t;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | NULL
-- 'v' | 'variant' | 'a document'
-- 'n' | 'struct<a:variant,b:array<variant>>' | NULL

INSERT INTO s.t SELECT 1, parse_json('{"a": {"b": 7}, "c": [1, 2]}'), named_struct('a', parse_json('1'), 'b', array(parse_json('"x"'), NULL));
-- ok

INSERT INTO s.t VALUES (2, parse_json('[true]'), NULL), (3, NULL, NULL), (4, parse_json('null'), NULL);
-- ok

SELECT v:a.b::int AS b, variant_get(v, '$.c[1]', 'int') AS c, n.a::int AS a, n.b[0]::string AS d FROM s.t WHERE id = 1;
-- b int, c int, a int, d string
-- 7 | 2 | 1 | 'x'

SELECT id, v FROM s.t ORDER BY id;
-- id int, v variant
-- 1 | {"a": {"b": 7}, "c": [1, 2]}
-- 2 | [true]
-- 3 | NULL
-- 4 | null

SELECT id FROM s.t WHERE v IS NULL;
-- id int
-- 3

SELECT id FROM s.t WHERE v:a.b::int > 5;
-- id int
-- 1

INSERT INTO s.t (id, v) SELECT 6, CAST(array(1, 2) AS VARIANT);
-- ok

UPDATE s.t SET v = parse_json('{"z": null}') WHERE v:a.b::int = 7;
-- num_affected_rows bigint
-- 1

DELETE FROM s.t WHERE v:[0]::string = 'true';
-- num_affected_rows bigint
-- 1

MERGE INTO s.t USING (SELECT 1 AS id, parse_json('"merged"') AS v UNION ALL SELECT 9, parse_json('9')) AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = u.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (u.id, u.v);
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 2 | 1 | 0 | 1

SELECT id, v FROM s.t ORDER BY id;
-- id int, v variant
-- 1 | "merged"
-- 3 | NULL
-- 4 | null
-- 6 | [1, 2]
-- 9 | 9

CREATE TABLE s.copied USING delta AS SELECT id, v FROM s.t WHERE id > 4;
-- ok

SELECT id, to_json(v) AS v FROM s.copied ORDER BY id;
-- id int, v string
-- 6 | '[1,2]'
-- 9 | '9'

CREATE TABLE s.later (id INT) USING delta;
-- ok

ALTER TABLE s.later ADD COLUMNS (v VARIANT);
-- ok

INSERT INTO s.later SELECT id, v FROM s.t WHERE id = 9;
-- ok

SELECT * FROM s.later;
-- id int, v variant
-- 9 | 9

SELECT v FROM s.t ORDER BY v;
-- error DATATYPE_MISMATCH.INVALID_ORDERING_TYPE

SELECT v, count(*) FROM s.t GROUP BY v;
-- error GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE

CREATE TABLE s.required (id INT, v VARIANT NOT NULL) USING delta;
-- ok

INSERT INTO s.required VALUES (1, NULL);
-- error DELTA_NOT_NULL_CONSTRAINT_VIOLATED

INSERT INTO s.required VALUES (1, parse_json('null'));
-- ok

-- @differs Spark refuses it before Delta sees it
CREATE TABLE s.u (id INT, v VARIANT) USING delta PARTITIONED BY (v);
-- error DELTA_INVALID_PARTITION_COLUMN_TYPE
-- delta: error INVALID_PARTITION_COLUMN_DATA_TYPE

CREATE TABLE s.u (id INT, v VARIANT) USING delta CLUSTER BY (v);
-- error DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED

CREATE TABLE s.u (id INT, v VARIANT GENERATED ALWAYS AS (parse_json('1'))) USING delta;
-- error DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN

CREATE TABLE s.d (id INT, v VARIANT DEFAULT parse_json('1')) USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported');
-- ok

INSERT INTO s.d (id) VALUES (1);
-- ok

SELECT * FROM s.d;
-- id int, v variant
-- 1 | 1

INSERT INTO s.d VALUES (5, 5), (6, 7);
-- ok

INSERT INTO s.d VALUES (8, '{"a": 1}');
-- ok

INSERT INTO s.d (v, id) SELECT array(array(1.5, 2)), 9;
-- ok

INSERT INTO s.d BY NAME SELECT DATE'2026-01-31' AS v, 10 AS id;
-- ok

INSERT INTO s.d VALUES (11, map('a', 1));
-- error DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION

INSERT INTO s.d VALUES (11, named_struct('a', 1));
-- error DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION

INSERT INTO s.d VALUES (11, array(map('a', 1)));
-- error DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION

INSERT INTO s.d VALUES (11, INTERVAL 1 DAY);
-- error DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION

INSERT INTO s.d REPLACE WHERE id = 5 SELECT 5, 6;
-- ok

SELECT id, to_json(v) AS v, schema_of_variant(v) AS of FROM s.d ORDER BY id;
-- id int, v string, of string
-- 1 | '1' | 'BIGINT'
-- 5 | '6' | 'BIGINT'
-- 6 | '7' | 'BIGINT'
-- 8 | '"{\\"a\\": 1}"' | 'STRING'
-- 9 | '[[1.5,2]]' | 'ARRAY<ARRAY<DECIMAL(2,1)>>'
-- 10 | '"2026-01-31"' | 'DATE'

INSERT INTO s.t (id, n) SELECT 12, named_struct('a', 1, 'b', array(1, NULL));
-- ok

SELECT to_json(n) AS n FROM s.t WHERE id = 12;
-- n string
-- '{"a":1,"b":[1,null]}'

CREATE TABLE s.m (m MAP<VARIANT, INT>) USING delta;
-- ok

-- # types of columns

CREATE TABLE s.t (a BOOLEAN, b TINYINT, c SMALLINT, d BIGINT, e FLOAT, f DOUBLE, g DECIMAL(38, 10), h BINARY, i DATE, j TIMESTAMP, k TIMESTAMP_LTZ, l TIMESTAMP_NTZ, m VOID) USING delta;
-- ok

DESCRIBE TABLE s.t;
-- col_name string, data_type string, comment string
-- 'a' | 'boolean' | NULL
-- 'b' | 'tinyint' | NULL
-- 'c' | 'smallint' | NULL
-- 'd' | 'bigint' | NULL
-- 'e' | 'float' | NULL
-- 'f' | 'double' | NULL
-- 'g' | 'decimal(38,10)' | NULL
-- 'h' | 'binary' | NULL
-- 'i' | 'date' | NULL
-- 'j' | 'timestamp' | NULL
-- 'k' | 'timestamp' | NULL
-- 'l' | 'timestamp_ntz' | NULL
-- 'm' | 'void' | NULL

CREATE TABLE s.sized (a CHAR(3) COMMENT 'padded', b VARCHAR(3) NOT NULL) USING delta;
-- ok

-- @differs a column is shown as it was declared
DESCRIBE TABLE s.sized;
-- col_name string, data_type string, comment string
-- 'a' | 'char(3)' | 'padded'
-- 'b' | 'varchar(3)' | NULL
-- delta: col_name string, data_type string, comment string
-- delta: 'a' | 'string' | 'padded'
-- delta: 'b' | 'string' | NULL

INSERT INTO s.sized VALUES ('a', 'abc');
-- ok

SELECT concat(a, '|') AS a, b FROM s.sized;
-- a string, b string
-- 'a  |' | 'abc'

INSERT INTO s.sized VALUES ('abcd', 'abc');
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

INSERT INTO s.sized VALUES ('a', 'abcd');
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

-- @differs Delta Spark makes no tables with collations
CREATE TABLE s.texts (a STRING COLLATE UTF8_LCASE COMMENT 'any case', b STRING COLLATE UNICODE) USING delta;
-- ok
-- delta: error DELTA_UNSUPPORTED_DATA_TYPES

-- @differs the columns of a text are read without Spark, and what is none of them is refused at once
CREATE TABLE s.u (a STRING COLLATE NOTHING) USING delta;
-- error DELTA_ILLEGAL_OPTION
-- delta: error COLLATION_INVALID_NAME

CREATE TABLE s.nested (a STRUCT<b: ARRAY<MAP<STRING, STRUCT<c: DECIMAL(10, 2) COMMENT 'money', d: TIMESTAMP_NTZ>>>>) USING delta;
-- ok

INSERT INTO s.nested SELECT named_struct('b', array(map('k', named_struct('c', 1.5, 'd', TIMESTAMP_NTZ'2026-01-01 10:00:00'))));
-- ok

SELECT a.b[0]['k'].c AS c, a.b[0]['k'].d AS d FROM s.nested;
-- c decimal(10,2), d timestamp_ntz
-- 1.50 | 2026-01-01 10:00:00

-- @differs a NOT NULL inside a struct is enforced by nobody
CREATE TABLE s.u (a STRUCT<b: INT NOT NULL>) USING delta;
-- error DELTA_NESTED_NOT_NULL_CONSTRAINT
-- delta: ok

-- # texts with a length inside others

CREATE TABLE s.t (id INT, c ARRAY<CHAR(2)>, d STRUCT<e: VARCHAR(2), f: CHARACTER(3), n: INT>, m MAP<CHAR(2), VARCHAR(3)>) USING delta;
-- ok

-- @differs a column is shown as it was declared
DESCRIBE TABLE s.t;
-- col_name string, data_type string, comment string
-- 'id' | 'int' | NULL
-- 'c' | 'array<char(2)>' | NULL
-- 'd' | 'struct<e:varchar(2),f:char(3),n:int>' | NULL
-- 'm' | 'map<char(2),varchar(3)>' | NULL
-- delta: col_name string, data_type string, comment string
-- delta: 'id' | 'int' | NULL
-- delta: 'c' | 'array<string>' | NULL
-- delta: 'd' | 'struct<e:string,f:string,n:int>' | NULL
-- delta: 'm' | 'map<string,string>' | NULL

INSERT INTO s.t SELECT 1, array('a', NULL, 'bc'), named_struct('e', 'x', 'f', 'y', 'n', 1), map('k', 'v');
-- ok

SELECT transform(c, x -> concat(x, '|')) AS c, concat(d.e, '|') AS e, concat(d.f, '|') AS f, concat(map_keys(m)[0], '|') AS k, concat(m['k '], '|') AS v FROM s.t;
-- c array<string>, e string, f string, k string, v string
-- ('a |', NULL, 'bc|') | 'x|' | 'y  |' | 'k |' | 'v|'

SELECT id FROM s.t WHERE d.f = 'y';
-- id int

SELECT id FROM s.t WHERE d.f = 'y  ' AND c[0] = 'a ';
-- id int
-- 1

INSERT INTO s.t (id, c) SELECT 2, array('abc');
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

INSERT INTO s.t (id, d) SELECT 2, named_struct('e', 'abc', 'f', 'y', 'n', 1);
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

INSERT INTO s.t (id, m) VALUES (2, map('k', 'vvvv'));
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

INSERT INTO s.t (id, m) VALUES (2, map('kkk', 'v'));
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

-- @differs spaces at the end are no part of a text, as Spark has it
INSERT INTO s.t (id, c) VALUES (3, array('ab   '));
-- ok
-- delta: error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

-- @differs keys that are padded are told apart before they are written
INSERT INTO s.t (id, m) VALUES (4, map('k', 'v', 'k ', 'w'));
-- error DUPLICATED_MAP_KEY
-- delta: ok

DELETE FROM s.t WHERE id IN (3, 4);
-- num_affected_rows bigint
-- 1

UPDATE s.t SET d.e = 'abc' WHERE id = 1;
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

UPDATE s.t SET d.f = 'z', c = array('z') WHERE id = 1;
-- num_affected_rows bigint
-- 1

MERGE INTO s.t USING (SELECT 1 AS id, array('abc') AS c) AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET c = u.c;
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

MERGE INTO s.t USING (SELECT 5 AS id, array('q') AS c) AS u ON t.id = u.id WHEN NOT MATCHED THEN INSERT (id, c) VALUES (u.id, u.c);
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 0 | 1

SELECT id, concat(c[0], '|') AS c, concat(d.f, '|') AS f FROM s.t ORDER BY id;
-- id int, c string, f string
-- 1 | 'z |' | 'z  |'
-- 5 | 'q |' | NULL

ALTER TABLE s.t ADD COLUMNS (z STRUCT<a: CHAR(2)>, w VARCHAR(3));
-- ok

INSERT INTO s.t (id, z) SELECT 6, named_struct('a', 'abc');
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

INSERT INTO s.t (id, w) VALUES (6, 'abcd');
-- error DELTA_EXCEED_CHAR_VARCHAR_LIMIT

ALTER TABLE s.t ALTER COLUMN w TYPE VARCHAR(5);
-- ok

INSERT INTO s.t (id, w) VALUES (6, 'abcd');
-- ok

-- @differs Delta Spark says what Spark says
ALTER TABLE s.t ALTER COLUMN w TYPE VARCHAR(2);
-- error DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP
-- delta: error NOT_SUPPORTED_CHANGE_COLUMN

-- @differs Delta Spark says what Spark says
ALTER TABLE s.t ALTER COLUMN w TYPE CHAR(8);
-- error DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP
-- delta: error NOT_SUPPORTED_CHANGE_COLUMN

-- @differs Delta Spark makes only columns longer
ALTER TABLE s.t ALTER COLUMN c.element TYPE VARCHAR(4);
-- ok
-- delta: error NOT_SUPPORTED_CHANGE_COLUMN

ALTER TABLE s.t ALTER COLUMN w TYPE STRING;
-- ok

INSERT INTO s.t (id, w) VALUES (7, 'abcdefgh');
-- ok

CREATE TABLE s.g (c STRUCT<a: CHAR(3)>, b STRING GENERATED ALWAYS AS (upper(c.a))) USING delta;
-- ok

INSERT INTO s.g (c) SELECT named_struct('a', 'xyz');
-- ok

SELECT c.a, b FROM s.g;
-- a string, b string
-- 'xyz' | 'XYZ'

-- # types that no column has

CREATE TABLE s.u (a INTERVAL DAY TO SECOND) USING delta;
-- error DELTA_UNSUPPORTED_DATA_TYPES

CREATE TABLE s.u (a INTERVAL YEAR) USING delta;
-- error DELTA_UNSUPPORTED_DATA_TYPES

CREATE TABLE s.u (id INT, a STRUCT<b: INTERVAL YEAR TO MONTH>) USING delta;
-- error DELTA_UNSUPPORTED_DATA_TYPES

CREATE TABLE s.u AS SELECT INTERVAL 1 DAY AS a;
-- error DELTA_UNSUPPORTED_DATA_TYPES

-- @differs Spark has no error of a name for it
CREATE TABLE s.u (a INTERVAL) USING delta;
-- error DELTA_UNSUPPORTED_DATA_TYPES
-- delta: error _LEGACY_ERROR_TEMP_1183

-- @differs Spark has types of times that are not switched on
CREATE TABLE s.u (a TIME) USING delta;
-- error DELTA_UNSUPPORTED_DATA_TYPES
-- delta: error UNSUPPORTED_TIME_TYPE

-- @differs no table has such a type, whatever Spark knows
CREATE TABLE s.u (a OBJECT) USING delta;
-- error DELTA_UNSUPPORTED_DATA_TYPES
-- delta: error UNSUPPORTED_DATATYPE

-- @differs the columns of a text are read without Spark, and what is none of them is refused at once
CREATE TABLE s.u (a NUMBER(10)) USING delta;
-- error DELTA_ILLEGAL_OPTION
-- delta: error UNSUPPORTED_DATATYPE

-- @differs the columns of a text are read without Spark, and what is none of them is refused at once
CREATE TABLE s.u (a DECIMAL(39, 2)) USING delta;
-- error DELTA_ILLEGAL_OPTION
-- delta: error DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION
