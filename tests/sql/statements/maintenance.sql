-- OPTIMIZE, VACUUM, RESTORE, CLONE, CONVERT and the like.

-- # optimize

CREATE TABLE s.t (id INT, day DATE) USING delta PARTITIONED BY (day);

INSERT INTO s.t VALUES (1, DATE'2026-01-01');

INSERT INTO s.t VALUES (2, DATE'2026-01-01');

INSERT INTO s.t VALUES (3, DATE'2026-01-02');

INSERT INTO s.t VALUES (4, DATE'2026-01-02');

-- @mask path, metrics
OPTIMIZE s.t WHERE day = DATE'2026-01-01';

-- @shown numFiles
DESCRIBE DETAIL s.t;

-- @mask path, metrics
OPTIMIZE s.t;

-- @shown numFiles
DESCRIBE DETAIL s.t;

-- @mask path, metrics
OPTIMIZE s.t ZORDER BY (id);

SELECT * FROM s.t ORDER BY id;

-- @shown version, operation
DESCRIBE HISTORY s.t LIMIT 3;

OPTIMIZE s.t WHERE id = 1;

OPTIMIZE s.t ZORDER BY (day);

OPTIMIZE s.t ZORDER BY (nothing);

OPTIMIZE s.nothing;

OPTIMIZE s.t FULL;

OPTIMIZE s.t ZORDER BY;

-- # a clustered table

CREATE TABLE s.t (id INT, n INT) USING delta CLUSTER BY (id);

INSERT INTO s.t SELECT id, id % 3 FROM range(20);

INSERT INTO s.t SELECT id + 20, id % 3 FROM range(20);

-- @mask path, metrics
OPTIMIZE s.t;

-- @mask path, metrics
OPTIMIZE s.t FULL;

OPTIMIZE s.t ZORDER BY (id);

SELECT count(*) AS n, sum(id) AS total FROM s.t;

-- # vacuum

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1);

INSERT INTO s.t VALUES (2);

INSERT OVERWRITE s.t VALUES (3);

VACUUM s.t DRY RUN;

-- @mask path
VACUUM s.t;

-- @mask path
VACUUM s.t RETAIN 200 HOURS DRY RUN;

-- @mask path
VACUUM s.t RETAIN 200 HOURS;

SELECT * FROM s.t VERSION AS OF 2 ORDER BY id;

-- @mask path
VACUUM s.t LITE;

-- @mask path
VACUUM s.t FULL DRY RUN;

SET spark.databricks.delta.retentionDurationCheck.enabled = true;

VACUUM s.t RETAIN 0 HOURS;

VACUUM s.t RETAIN 0 HOURS DRY RUN;

SET spark.databricks.delta.retentionDurationCheck.enabled = false;

-- @mask path
VACUUM s.t RETAIN 0 HOURS DRY RUN;

-- @mask path
VACUUM s.t RETAIN 0 HOURS;

SELECT * FROM s.t;

VACUUM s.nothing;

VACUUM s.t RETAIN -1 HOURS;

-- # restore

CREATE TABLE s.t (id INT) USING delta;

INSERT INTO s.t VALUES (1);

INSERT INTO s.t VALUES (2);

DELETE FROM s.t WHERE id = 1;

-- @shown num_of_files_after_restore, num_removed_files, num_restored_files
RESTORE TABLE s.t TO VERSION AS OF 2;

SELECT * FROM s.t ORDER BY id;

-- @shown num_of_files_after_restore, num_removed_files, num_restored_files
RESTORE s.t TO TIMESTAMP AS OF '${time s.t 1}';

SELECT * FROM s.t ORDER BY id;

-- @shown num_of_files_after_restore, num_removed_files, num_restored_files
RESTORE TABLE s.t VERSION AS OF 0;

SELECT * FROM s.t ORDER BY id;

-- @shown version, operation, operationParameters
DESCRIBE HISTORY s.t LIMIT 1;

RESTORE TABLE s.t TO VERSION AS OF 99;

RESTORE TABLE s.t TO TIMESTAMP AS OF '1999-01-01';

RESTORE TABLE s.t TO TIMESTAMP AS OF '2999-01-01';

RESTORE TABLE s.nothing TO VERSION AS OF 0;

RESTORE TABLE s.t;

-- # shallow clones

CREATE TABLE s.t (id INT, name STRING) USING delta TBLPROPERTIES ('team' = 'sales');

INSERT INTO s.t VALUES (1, 'a');

INSERT INTO s.t VALUES (2, 'b');

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE s.c SHALLOW CLONE s.t;

SELECT * FROM s.c ORDER BY id;

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE s.d SHALLOW CLONE s.t VERSION AS OF 1;

SELECT * FROM s.d ORDER BY id;

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE s.e SHALLOW CLONE s.t TIMESTAMP AS OF '${time s.t 1}' TBLPROPERTIES ('team' = 'other');

SHOW TBLPROPERTIES s.e ('team');

UPDATE s.c SET name = 'changed';

SELECT * FROM s.t ORDER BY id;

SELECT * FROM s.c ORDER BY id;

CREATE TABLE s.c SHALLOW CLONE s.t;

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE IF NOT EXISTS s.c SHALLOW CLONE s.t;

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE OR REPLACE TABLE s.c SHALLOW CLONE s.t;

SELECT * FROM s.c ORDER BY id;

CREATE TABLE s.f SHALLOW CLONE s.nothing;

CREATE TABLE s.f SHALLOW CLONE s.t VERSION AS OF 99;

CREATE TABLE nowhere.f SHALLOW CLONE s.t;

-- # reorg and generate

CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');

INSERT INTO s.t SELECT id FROM range(10);

DELETE FROM s.t WHERE id < 3;

-- @mask path, metrics
REORG TABLE s.t APPLY (PURGE);

SELECT count(*) AS n FROM s.t;

REORG TABLE s.nothing APPLY (PURGE);

REORG TABLE s.t APPLY (NOTHING);

GENERATE nothing FOR TABLE s.t;

GENERATE symlink_format_manifest FOR TABLE s.nothing;

-- # converted folders

INSERT OVERWRITE DIRECTORY '${folder}/plain' USING parquet SELECT 1 AS id, 'a' AS name;

CONVERT TO DELTA parquet.`${folder}/plain`;

SELECT * FROM delta.`${folder}/plain`;

CONVERT TO DELTA parquet.`${folder}/plain`;

CONVERT TO DELTA parquet.`${folder}/nothing`;

INSERT INTO delta.`${folder}/plain` VALUES (2, 'b');

DELETE FROM delta.`${folder}/plain` WHERE id = 1;

SELECT * FROM delta.`${folder}/plain`;

-- @shown version, operation
DESCRIBE HISTORY delta.`${folder}/plain`;

-- @shown version, operation
DESCRIBE HISTORY '${folder}/plain';

-- @shown format, location, numFiles
DESCRIBE DETAIL delta.`${folder}/plain`;

-- @mask path, metrics
OPTIMIZE delta.`${folder}/plain`;

-- @mask path
VACUUM delta.`${folder}/plain` DRY RUN;

-- # ordinary tables by path

CREATE TABLE delta.`${folder}/p` (id INT, name STRING) USING delta;

INSERT INTO delta.`${folder}/p` VALUES (1, 'a'), (2, 'b');

UPDATE delta.`${folder}/p` SET name = 'B' WHERE id = 2;

MERGE INTO delta.`${folder}/p` AS t USING (SELECT 3 AS id, 'c' AS name) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;

SELECT * FROM delta.`${folder}/p` ORDER BY id;

SELECT * FROM delta.`${folder}/p` VERSION AS OF 1 ORDER BY id;

SELECT * FROM delta.`${folder}/p@v1` ORDER BY id;

-- @shown num_of_files_after_restore, num_removed_files, num_restored_files
RESTORE TABLE delta.`${folder}/p` TO VERSION AS OF 1;

ALTER TABLE delta.`${folder}/p` ADD COLUMN n INT;

SELECT * FROM delta.`${folder}/p` ORDER BY id;

SELECT * FROM delta.`${folder}/nothing`;
