-- OPTIMIZE, VACUUM, RESTORE, CLONE, CONVERT and the like.

-- # optimize

CREATE TABLE s.t (id INT, day DATE) USING delta PARTITIONED BY (day);
-- ok

INSERT INTO s.t VALUES (1, DATE'2026-01-01');
-- ok

INSERT INTO s.t VALUES (2, DATE'2026-01-01');
-- ok

INSERT INTO s.t VALUES (3, DATE'2026-01-02');
-- ok

INSERT INTO s.t VALUES (4, DATE'2026-01-02');
-- ok

-- @mask path, metrics
OPTIMIZE s.t WHERE day = DATE'2026-01-01';
-- path string, metrics struct<numFilesAdded:bigint,numFilesRemoved:bigint,filesAdded:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,filesRemoved:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,partitionsOptimized:bigint,zOrderStats:struct<strategyName:string,inputCubeFiles:struct<num:bigint,size:bigint>,inputOtherFiles:struct<num:bigint,size:bigint>,inputNumCubes:bigint,mergedFiles:struct<num:bigint,size:bigint>,numOutputCubes:bigint,mergedNumCubes:bigint>,clusteringStats:struct<inputZCubeFiles:struct<numFiles:bigint,size:bigint>,inputOtherFiles:struct<numFiles:bigint,size:bigint>,inputNumZCubes:bigint,mergedFiles:struct<numFiles:bigint,size:bigint>,numOutputZCubes:bigint>,numBins:bigint,numBatches:bigint,totalConsideredFiles:bigint,totalFilesSkipped:bigint,preserveInsertionOrder:boolean,numFilesSkippedToReduceWriteAmplification:bigint,numBytesSkippedToReduceWriteAmplification:bigint,startTimeMs:bigint,endTimeMs:bigint,totalClusterParallelism:bigint,totalScheduledTasks:bigint,autoCompactParallelismStats:struct<maxClusterActiveParallelism:bigint,minClusterActiveParallelism:bigint,maxSessionActiveParallelism:bigint,minSessionActiveParallelism:bigint>,deletionVectorStats:struct<numDeletionVectorsRemoved:bigint,numDeletionVectorRowsRemoved:bigint>,numTableColumns:bigint,numTableColumnsWithStats:bigint>
-- * | *

-- @shown numFiles
DESCRIBE DETAIL s.t;
-- format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- * | * | * | * | * | * | * | * | * | 3 | * | * | * | * | *

-- @mask path, metrics
OPTIMIZE s.t;
-- path string, metrics struct<numFilesAdded:bigint,numFilesRemoved:bigint,filesAdded:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,filesRemoved:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,partitionsOptimized:bigint,zOrderStats:struct<strategyName:string,inputCubeFiles:struct<num:bigint,size:bigint>,inputOtherFiles:struct<num:bigint,size:bigint>,inputNumCubes:bigint,mergedFiles:struct<num:bigint,size:bigint>,numOutputCubes:bigint,mergedNumCubes:bigint>,clusteringStats:struct<inputZCubeFiles:struct<numFiles:bigint,size:bigint>,inputOtherFiles:struct<numFiles:bigint,size:bigint>,inputNumZCubes:bigint,mergedFiles:struct<numFiles:bigint,size:bigint>,numOutputZCubes:bigint>,numBins:bigint,numBatches:bigint,totalConsideredFiles:bigint,totalFilesSkipped:bigint,preserveInsertionOrder:boolean,numFilesSkippedToReduceWriteAmplification:bigint,numBytesSkippedToReduceWriteAmplification:bigint,startTimeMs:bigint,endTimeMs:bigint,totalClusterParallelism:bigint,totalScheduledTasks:bigint,autoCompactParallelismStats:struct<maxClusterActiveParallelism:bigint,minClusterActiveParallelism:bigint,maxSessionActiveParallelism:bigint,minSessionActiveParallelism:bigint>,deletionVectorStats:struct<numDeletionVectorsRemoved:bigint,numDeletionVectorRowsRemoved:bigint>,numTableColumns:bigint,numTableColumnsWithStats:bigint>
-- * | *

-- @shown numFiles
DESCRIBE DETAIL s.t;
-- format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- * | * | * | * | * | * | * | * | * | 2 | * | * | * | * | *

-- @mask path, metrics
OPTIMIZE s.t ZORDER BY (id);
-- path string, metrics struct<numFilesAdded:bigint,numFilesRemoved:bigint,filesAdded:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,filesRemoved:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,partitionsOptimized:bigint,zOrderStats:struct<strategyName:string,inputCubeFiles:struct<num:bigint,size:bigint>,inputOtherFiles:struct<num:bigint,size:bigint>,inputNumCubes:bigint,mergedFiles:struct<num:bigint,size:bigint>,numOutputCubes:bigint,mergedNumCubes:bigint>,clusteringStats:struct<inputZCubeFiles:struct<numFiles:bigint,size:bigint>,inputOtherFiles:struct<numFiles:bigint,size:bigint>,inputNumZCubes:bigint,mergedFiles:struct<numFiles:bigint,size:bigint>,numOutputZCubes:bigint>,numBins:bigint,numBatches:bigint,totalConsideredFiles:bigint,totalFilesSkipped:bigint,preserveInsertionOrder:boolean,numFilesSkippedToReduceWriteAmplification:bigint,numBytesSkippedToReduceWriteAmplification:bigint,startTimeMs:bigint,endTimeMs:bigint,totalClusterParallelism:bigint,totalScheduledTasks:bigint,autoCompactParallelismStats:struct<maxClusterActiveParallelism:bigint,minClusterActiveParallelism:bigint,maxSessionActiveParallelism:bigint,minSessionActiveParallelism:bigint>,deletionVectorStats:struct<numDeletionVectorsRemoved:bigint,numDeletionVectorRowsRemoved:bigint>,numTableColumns:bigint,numTableColumnsWithStats:bigint>
-- * | *

SELECT * FROM s.t ORDER BY id;
-- id int, day date
-- 1 | 2026-01-01
-- 2 | 2026-01-01
-- 3 | 2026-01-02
-- 4 | 2026-01-02

-- @shown version, operation
DESCRIBE HISTORY s.t LIMIT 3;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 7 | * | * | * | 'OPTIMIZE' | * | * | * | * | * | * | * | * | * | *
-- 6 | * | * | * | 'OPTIMIZE' | * | * | * | * | * | * | * | * | * | *
-- 5 | * | * | * | 'OPTIMIZE' | * | * | * | * | * | * | * | * | * | *

OPTIMIZE s.t WHERE id = 1;
-- error DELTA_NON_PARTITION_COLUMN_REFERENCE

OPTIMIZE s.t ZORDER BY (day);
-- error DELTA_ZORDERING_ON_PARTITION_COLUMN

OPTIMIZE s.t ZORDER BY (nothing);
-- error DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST

OPTIMIZE s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

OPTIMIZE s.t FULL;
-- error DELTA_OPTIMIZE_FULL_NOT_SUPPORTED

OPTIMIZE s.t ZORDER BY;
-- error PARSE_SYNTAX_ERROR

-- # a clustered table

CREATE TABLE s.t (id INT, n INT) USING delta CLUSTER BY (id);
-- ok

INSERT INTO s.t SELECT id, id % 3 FROM range(20);
-- ok

INSERT INTO s.t SELECT id + 20, id % 3 FROM range(20);
-- ok

-- @mask path, metrics
OPTIMIZE s.t;
-- path string, metrics struct<numFilesAdded:bigint,numFilesRemoved:bigint,filesAdded:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,filesRemoved:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,partitionsOptimized:bigint,zOrderStats:struct<strategyName:string,inputCubeFiles:struct<num:bigint,size:bigint>,inputOtherFiles:struct<num:bigint,size:bigint>,inputNumCubes:bigint,mergedFiles:struct<num:bigint,size:bigint>,numOutputCubes:bigint,mergedNumCubes:bigint>,clusteringStats:struct<inputZCubeFiles:struct<numFiles:bigint,size:bigint>,inputOtherFiles:struct<numFiles:bigint,size:bigint>,inputNumZCubes:bigint,mergedFiles:struct<numFiles:bigint,size:bigint>,numOutputZCubes:bigint>,numBins:bigint,numBatches:bigint,totalConsideredFiles:bigint,totalFilesSkipped:bigint,preserveInsertionOrder:boolean,numFilesSkippedToReduceWriteAmplification:bigint,numBytesSkippedToReduceWriteAmplification:bigint,startTimeMs:bigint,endTimeMs:bigint,totalClusterParallelism:bigint,totalScheduledTasks:bigint,autoCompactParallelismStats:struct<maxClusterActiveParallelism:bigint,minClusterActiveParallelism:bigint,maxSessionActiveParallelism:bigint,minSessionActiveParallelism:bigint>,deletionVectorStats:struct<numDeletionVectorsRemoved:bigint,numDeletionVectorRowsRemoved:bigint>,numTableColumns:bigint,numTableColumnsWithStats:bigint>
-- * | *

-- @mask path, metrics
OPTIMIZE s.t FULL;
-- path string, metrics struct<numFilesAdded:bigint,numFilesRemoved:bigint,filesAdded:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,filesRemoved:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,partitionsOptimized:bigint,zOrderStats:struct<strategyName:string,inputCubeFiles:struct<num:bigint,size:bigint>,inputOtherFiles:struct<num:bigint,size:bigint>,inputNumCubes:bigint,mergedFiles:struct<num:bigint,size:bigint>,numOutputCubes:bigint,mergedNumCubes:bigint>,clusteringStats:struct<inputZCubeFiles:struct<numFiles:bigint,size:bigint>,inputOtherFiles:struct<numFiles:bigint,size:bigint>,inputNumZCubes:bigint,mergedFiles:struct<numFiles:bigint,size:bigint>,numOutputZCubes:bigint>,numBins:bigint,numBatches:bigint,totalConsideredFiles:bigint,totalFilesSkipped:bigint,preserveInsertionOrder:boolean,numFilesSkippedToReduceWriteAmplification:bigint,numBytesSkippedToReduceWriteAmplification:bigint,startTimeMs:bigint,endTimeMs:bigint,totalClusterParallelism:bigint,totalScheduledTasks:bigint,autoCompactParallelismStats:struct<maxClusterActiveParallelism:bigint,minClusterActiveParallelism:bigint,maxSessionActiveParallelism:bigint,minSessionActiveParallelism:bigint>,deletionVectorStats:struct<numDeletionVectorsRemoved:bigint,numDeletionVectorRowsRemoved:bigint>,numTableColumns:bigint,numTableColumnsWithStats:bigint>
-- * | *

OPTIMIZE s.t ZORDER BY (id);
-- error DELTA_CLUSTERING_WITH_ZORDER_BY

SELECT count(*) AS n, sum(id) AS total FROM s.t;
-- n bigint, total bigint
-- 40 | 780

-- # vacuum

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1);
-- ok

INSERT INTO s.t VALUES (2);
-- ok

INSERT OVERWRITE s.t VALUES (3);
-- ok

VACUUM s.t DRY RUN;
-- path string

-- @mask path
VACUUM s.t;
-- path string
-- *

-- @mask path
VACUUM s.t RETAIN 200 HOURS DRY RUN;
-- path string

-- @mask path
VACUUM s.t RETAIN 200 HOURS;
-- path string
-- *

SELECT * FROM s.t VERSION AS OF 2 ORDER BY id;
-- id int
-- 1
-- 2

-- @mask path
VACUUM s.t LITE;
-- path string
-- *

-- @mask path
VACUUM s.t FULL DRY RUN;
-- path string

SET spark.databricks.delta.retentionDurationCheck.enabled = true;
-- key string, value string
-- 'spark.databricks.delta.retentionDurationCheck.enabled' | 'true'

VACUUM s.t RETAIN 0 HOURS;
-- error DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT

VACUUM s.t RETAIN 0 HOURS DRY RUN;
-- error DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT

SET spark.databricks.delta.retentionDurationCheck.enabled = false;
-- key string, value string
-- 'spark.databricks.delta.retentionDurationCheck.enabled' | 'false'

-- @mask path
VACUUM s.t RETAIN 0 HOURS DRY RUN;
-- path string
-- *
-- *

-- @mask path
VACUUM s.t RETAIN 0 HOURS;
-- path string
-- *

SELECT * FROM s.t;
-- id int
-- 3

VACUUM s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

-- @mask path
-- @differs Delta Spark takes a time below zero for one
VACUUM s.t RETAIN -1 HOURS;
-- error DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE
-- delta: path string
-- delta: *

-- # restore

CREATE TABLE s.t (id INT) USING delta;
-- ok

INSERT INTO s.t VALUES (1);
-- ok

INSERT INTO s.t VALUES (2);
-- ok

DELETE FROM s.t WHERE id = 1;
-- num_affected_rows bigint
-- 1

-- @shown num_of_files_after_restore, num_removed_files, num_restored_files
RESTORE TABLE s.t TO VERSION AS OF 2;
-- table_size_after_restore bigint, num_of_files_after_restore bigint, num_removed_files bigint, num_restored_files bigint, removed_files_size bigint, restored_files_size bigint
-- * | 2 | 0 | 1 | * | *

SELECT * FROM s.t ORDER BY id;
-- id int
-- 1
-- 2

-- @shown num_of_files_after_restore, num_removed_files, num_restored_files
RESTORE s.t TO TIMESTAMP AS OF '${time s.t 1}';
-- table_size_after_restore bigint, num_of_files_after_restore bigint, num_removed_files bigint, num_restored_files bigint, removed_files_size bigint, restored_files_size bigint
-- * | 1 | 1 | 0 | * | *

SELECT * FROM s.t ORDER BY id;
-- id int
-- 1

-- @shown num_of_files_after_restore, num_removed_files, num_restored_files
RESTORE TABLE s.t VERSION AS OF 0;
-- table_size_after_restore bigint, num_of_files_after_restore bigint, num_removed_files bigint, num_restored_files bigint, removed_files_size bigint, restored_files_size bigint
-- * | 0 | 1 | 0 | * | *

SELECT * FROM s.t ORDER BY id;
-- id int

-- @differs Headgate tells of a RESTORE only what was said
-- @shown version, operation, operationParameters
DESCRIBE HISTORY s.t LIMIT 1;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 6 | * | * | * | 'RESTORE' | {'version': '0'} | * | * | * | * | * | * | * | * | *
-- delta: version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- delta: 6 | * | * | * | 'RESTORE' | {'timestamp': NULL, 'version': '0'} | * | * | * | * | * | * | * | * | *

RESTORE TABLE s.t TO VERSION AS OF 99;
-- error DELTA_CANNOT_RESTORE_TABLE_VERSION

RESTORE TABLE s.t TO TIMESTAMP AS OF '1999-01-01';
-- error DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER

RESTORE TABLE s.t TO TIMESTAMP AS OF '2999-01-01';
-- error DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER

RESTORE TABLE s.nothing TO VERSION AS OF 0;
-- error TABLE_OR_VIEW_NOT_FOUND

RESTORE TABLE s.t;
-- error PARSE_SYNTAX_ERROR

-- # shallow clones

CREATE TABLE s.t (id INT, name STRING) USING delta TBLPROPERTIES ('team' = 'sales');
-- ok

INSERT INTO s.t VALUES (1, 'a');
-- ok

INSERT INTO s.t VALUES (2, 'b');
-- ok

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE s.c SHALLOW CLONE s.t;
-- source_table_size bigint, source_num_of_files bigint, num_removed_files bigint, num_copied_files bigint, removed_files_size bigint, copied_files_size bigint
-- * | 2 | 0 | 0 | * | *

SELECT * FROM s.c ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE s.d SHALLOW CLONE s.t VERSION AS OF 1;
-- source_table_size bigint, source_num_of_files bigint, num_removed_files bigint, num_copied_files bigint, removed_files_size bigint, copied_files_size bigint
-- * | 1 | 0 | 0 | * | *

SELECT * FROM s.d ORDER BY id;
-- id int, name string
-- 1 | 'a'

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE s.e SHALLOW CLONE s.t TIMESTAMP AS OF '${time s.t 1}' TBLPROPERTIES ('team' = 'other');
-- source_table_size bigint, source_num_of_files bigint, num_removed_files bigint, num_copied_files bigint, removed_files_size bigint, copied_files_size bigint
-- * | 1 | 0 | 0 | * | *

SHOW TBLPROPERTIES s.e ('team');
-- key string, value string
-- 'team' | 'other'

UPDATE s.c SET name = 'changed';
-- num_affected_rows bigint
-- 2

SELECT * FROM s.t ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'

SELECT * FROM s.c ORDER BY id;
-- id int, name string
-- 1 | 'changed'
-- 2 | 'changed'

CREATE TABLE s.c SHALLOW CLONE s.t;
-- error DELTA_TABLE_ALREADY_EXISTS

-- @mask source_table_size, copied_files_size, removed_files_size
CREATE TABLE IF NOT EXISTS s.c SHALLOW CLONE s.t;
-- source_table_size bigint, source_num_of_files bigint, num_removed_files bigint, num_copied_files bigint, removed_files_size bigint, copied_files_size bigint

CREATE TABLE s.f SHALLOW CLONE s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

CREATE TABLE s.f SHALLOW CLONE s.t VERSION AS OF 99;
-- error DELTA_VERSION_NOT_FOUND

CREATE TABLE nowhere.f SHALLOW CLONE s.t;
-- error SCHEMA_NOT_FOUND

-- @mask source_table_size, copied_files_size, removed_files_size
-- @differs Headgate clones into a table that has rows, and keeps its history
CREATE OR REPLACE TABLE s.c SHALLOW CLONE s.t;
-- source_table_size bigint, source_num_of_files bigint, num_removed_files bigint, num_copied_files bigint, removed_files_size bigint, copied_files_size bigint
-- * | 2 | 1 | 0 | * | *
-- delta: error DELTA_UNSUPPORTED_NON_EMPTY_CLONE

-- # reorg and generate

CREATE TABLE s.t (id INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');
-- ok

INSERT INTO s.t SELECT id FROM range(10);
-- ok

DELETE FROM s.t WHERE id < 3;
-- num_affected_rows bigint
-- 3

-- @mask path, metrics
REORG TABLE s.t APPLY (PURGE);
-- path string, metrics struct<numFilesAdded:bigint,numFilesRemoved:bigint,filesAdded:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,filesRemoved:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,partitionsOptimized:bigint,zOrderStats:struct<strategyName:string,inputCubeFiles:struct<num:bigint,size:bigint>,inputOtherFiles:struct<num:bigint,size:bigint>,inputNumCubes:bigint,mergedFiles:struct<num:bigint,size:bigint>,numOutputCubes:bigint,mergedNumCubes:bigint>,clusteringStats:struct<inputZCubeFiles:struct<numFiles:bigint,size:bigint>,inputOtherFiles:struct<numFiles:bigint,size:bigint>,inputNumZCubes:bigint,mergedFiles:struct<numFiles:bigint,size:bigint>,numOutputZCubes:bigint>,numBins:bigint,numBatches:bigint,totalConsideredFiles:bigint,totalFilesSkipped:bigint,preserveInsertionOrder:boolean,numFilesSkippedToReduceWriteAmplification:bigint,numBytesSkippedToReduceWriteAmplification:bigint,startTimeMs:bigint,endTimeMs:bigint,totalClusterParallelism:bigint,totalScheduledTasks:bigint,autoCompactParallelismStats:struct<maxClusterActiveParallelism:bigint,minClusterActiveParallelism:bigint,maxSessionActiveParallelism:bigint,minSessionActiveParallelism:bigint>,deletionVectorStats:struct<numDeletionVectorsRemoved:bigint,numDeletionVectorRowsRemoved:bigint>,numTableColumns:bigint,numTableColumnsWithStats:bigint>
-- * | *

SELECT count(*) AS n FROM s.t;
-- n bigint
-- 7

REORG TABLE s.nothing APPLY (PURGE);
-- error TABLE_OR_VIEW_NOT_FOUND

REORG TABLE s.t APPLY (NOTHING);
-- error PARSE_SYNTAX_ERROR

GENERATE nothing FOR TABLE s.t;
-- error DELTA_MODE_NOT_SUPPORTED

GENERATE symlink_format_manifest FOR TABLE s.nothing;
-- error TABLE_OR_VIEW_NOT_FOUND

-- # converted folders

INSERT OVERWRITE DIRECTORY '${folder}/plain' USING parquet SELECT 1 AS id, 'a' AS name;
-- ok

CONVERT TO DELTA parquet.`${folder}/plain`;
-- ok

SELECT * FROM delta.`${folder}/plain`;
-- id int, name string
-- 1 | 'a'

CONVERT TO DELTA parquet.`${folder}/plain`;
-- ok

-- @differs Delta Spark gives an error of Java without a class
CONVERT TO DELTA parquet.`${folder}/nothing`;
-- error DELTA_CONVERT_TO_DELTA_NO_FILES
-- delta: error without a class: java.io.FileNotFoundException: file:${folder}/nothing doesn't exist

INSERT INTO delta.`${folder}/plain` VALUES (2, 'b');
-- ok

DELETE FROM delta.`${folder}/plain` WHERE id = 1;
-- num_affected_rows bigint
-- 1

SELECT * FROM delta.`${folder}/plain`;
-- id int, name string
-- 2 | 'b'

-- @shown version, operation
DESCRIBE HISTORY delta.`${folder}/plain`;
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 2 | * | * | * | 'DELETE' | * | * | * | * | * | * | * | * | * | *
-- 1 | * | * | * | 'WRITE' | * | * | * | * | * | * | * | * | * | *
-- 0 | * | * | * | 'CONVERT' | * | * | * | * | * | * | * | * | * | *

-- @shown version, operation
DESCRIBE HISTORY '${folder}/plain';
-- version bigint, timestamp timestamp, userId string, userName string, operation string, operationParameters map<string,string>, job struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>, notebook struct<notebookId:string>, clusterId string, readVersion bigint, isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string, engineInfo string
-- 2 | * | * | * | 'DELETE' | * | * | * | * | * | * | * | * | * | *
-- 1 | * | * | * | 'WRITE' | * | * | * | * | * | * | * | * | * | *
-- 0 | * | * | * | 'CONVERT' | * | * | * | * | * | * | * | * | * | *

-- @differs a place on this machine is a path, not a URL
-- @shown format, location, numFiles
DESCRIBE DETAIL delta.`${folder}/plain`;
-- format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- 'delta' | * | * | * | '${folder}/plain' | * | * | * | * | 1 | * | * | * | * | *
-- delta: format string, id string, name string, description string, location string, createdAt timestamp, lastModified timestamp, partitionColumns array<string>, clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, properties map<string,string>, minReaderVersion int, minWriterVersion int, tableFeatures array<string>
-- delta: 'delta' | * | * | * | 'file:${folder}/plain' | * | * | * | * | 1 | * | * | * | * | *

-- @mask path, metrics
OPTIMIZE delta.`${folder}/plain`;
-- path string, metrics struct<numFilesAdded:bigint,numFilesRemoved:bigint,filesAdded:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,filesRemoved:struct<min:bigint,max:bigint,avg:double,totalFiles:bigint,totalSize:bigint>,partitionsOptimized:bigint,zOrderStats:struct<strategyName:string,inputCubeFiles:struct<num:bigint,size:bigint>,inputOtherFiles:struct<num:bigint,size:bigint>,inputNumCubes:bigint,mergedFiles:struct<num:bigint,size:bigint>,numOutputCubes:bigint,mergedNumCubes:bigint>,clusteringStats:struct<inputZCubeFiles:struct<numFiles:bigint,size:bigint>,inputOtherFiles:struct<numFiles:bigint,size:bigint>,inputNumZCubes:bigint,mergedFiles:struct<numFiles:bigint,size:bigint>,numOutputZCubes:bigint>,numBins:bigint,numBatches:bigint,totalConsideredFiles:bigint,totalFilesSkipped:bigint,preserveInsertionOrder:boolean,numFilesSkippedToReduceWriteAmplification:bigint,numBytesSkippedToReduceWriteAmplification:bigint,startTimeMs:bigint,endTimeMs:bigint,totalClusterParallelism:bigint,totalScheduledTasks:bigint,autoCompactParallelismStats:struct<maxClusterActiveParallelism:bigint,minClusterActiveParallelism:bigint,maxSessionActiveParallelism:bigint,minSessionActiveParallelism:bigint>,deletionVectorStats:struct<numDeletionVectorsRemoved:bigint,numDeletionVectorRowsRemoved:bigint>,numTableColumns:bigint,numTableColumnsWithStats:bigint>
-- * | *

-- @mask path
VACUUM delta.`${folder}/plain` DRY RUN;
-- path string

-- # ordinary tables by path

CREATE TABLE delta.`${folder}/p` (id INT, name STRING) USING delta;
-- ok

INSERT INTO delta.`${folder}/p` VALUES (1, 'a'), (2, 'b');
-- ok

UPDATE delta.`${folder}/p` SET name = 'B' WHERE id = 2;
-- num_affected_rows bigint
-- 1

MERGE INTO delta.`${folder}/p` AS t USING (SELECT 3 AS id, 'c' AS name) AS q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *;
-- num_affected_rows bigint, num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint
-- 1 | 0 | 0 | 1

SELECT * FROM delta.`${folder}/p` ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'B'
-- 3 | 'c'

SELECT * FROM delta.`${folder}/p` VERSION AS OF 1 ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'

SELECT * FROM delta.`${folder}/p@v1` ORDER BY id;
-- id int, name string
-- 1 | 'a'
-- 2 | 'b'

-- @shown num_of_files_after_restore, num_removed_files, num_restored_files
RESTORE TABLE delta.`${folder}/p` TO VERSION AS OF 1;
-- table_size_after_restore bigint, num_of_files_after_restore bigint, num_removed_files bigint, num_restored_files bigint, removed_files_size bigint, restored_files_size bigint
-- * | 2 | 2 | 1 | * | *

ALTER TABLE delta.`${folder}/p` ADD COLUMN n INT;
-- ok

SELECT * FROM delta.`${folder}/p` ORDER BY id;
-- id int, name string, n int
-- 1 | 'a' | NULL
-- 2 | 'b' | NULL

SELECT * FROM delta.`${folder}/nothing`;
-- error PATH_NOT_FOUND
