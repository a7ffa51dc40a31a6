#include "borescope/rpd/rpd_schema.h"

#include <fmt/format.h>

namespace borescope::internal {

Result<RpdStrings> RpdStrings::Into(const SqlDatabase& database, std::string_view table) {
  RpdStrings strings;
  BS_ASSIGN(strings.rows_, RowInserter::Into(database, table, 2));
  strings.Id(std::string_view());
  return strings;
}

void RpdStrings::Use(const StringPool& pool) {
  pool_ = &pool;
  id_of_.assign(pool.size(), 0);
}

int64_t RpdStrings::Id(StringId text) {
  int64_t& id = id_of_[text.valid() ? text.value : 0];
  if (id == 0) {
    id = Id(pool_->Get(text));
  }
  return id;
}

int64_t RpdStrings::Id(std::string_view text) {
  const uint32_t number = texts_.Intern(text).value;
  if (number >= id_of_text_.size()) {
    id_of_text_.resize(number + 1, 0);
  }
  int64_t& id = id_of_text_[number];
  if (id == 0) {
    id = Add(text);
  }
  return id;
}

int64_t RpdStrings::Add(std::string_view text) {
  last_id_ += 1;
  if (written_.ok()) {
    written_ = rows_.Add(last_id_, text);
  }
  return last_id_;
}

Result<void> RpdStrings::Flush() {
  BS_TRY(written_);
  return rows_.Flush();
}

namespace {

// More rows save little: with ten the largest id is a tenth of the price already.
constexpr size_t kRowsAtOnce = 16;

}  // namespace

Result<RowInserter> RowInserter::Into(const SqlDatabase& database, std::string_view table,
                                      int columns) {
  RowInserter inserter;
  inserter.database_ = &database;
  inserter.table_ = table;
  inserter.columns_ = static_cast<size_t>(columns);
  inserter.full_ = inserter.columns_ * kRowsAtOnce;
  inserter.values_.reserve(inserter.full_);
  BS_ASSIGN(inserter.many_, inserter.PrepareFor(kRowsAtOnce));
  return inserter;
}

Result<SqlStatement> RowInserter::PrepareFor(size_t rows) const {
  std::string row = "(?";
  for (size_t i = 1; i < columns_; ++i) {
    row += ",?";
  }
  row += ')';
  std::string sql = fmt::format("INSERT INTO {} VALUES {}", SqlName(table_), row);
  for (size_t i = 1; i < rows; ++i) {
    sql += ',' + row;
  }
  return database_->Prepare(sql);
}

Result<void> RowInserter::Flush() {
  if (values_.size() == full_ && full_ != 0) {
    return Run(many_);
  }
  if (values_.empty()) {
    return {};
  }
  BS_ASSIGN(SqlStatement rest, PrepareFor(values_.size() / columns_));
  return Run(rest);
}

Result<void> RowInserter::Run(SqlStatement& statement) {
  int parameter = 0;
  for (const Value& value : values_) {
    parameter += 1;
    if (const auto* number = std::get_if<int64_t>(&value)) {
      statement.Bind(parameter, *number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      statement.Bind(parameter, std::string_view(*text));
    } else {
      statement.BindNull(parameter);
    }
  }
  values_.clear();
  return statement.Run();
}

const std::string_view kRpdTables = R"sql(
CREATE TABLE "rocpd_metadata" (
  "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "tag" varchar(4096) NOT NULL,
  "value" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_string" (
  "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "string" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_ustring" (
  "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "string" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_api" (
  "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "pid" integer NOT NULL,
  "tid" integer NOT NULL,
  "start" integer NOT NULL,
  "end" integer NOT NULL,
  "apiName_id" bigint NOT NULL REFERENCES "rocpd_string" ("id") DEFERRABLE INITIALLY DEFERRED,
  "category_id" bigint NOT NULL REFERENCES "rocpd_string" ("id") DEFERRABLE INITIALLY DEFERRED,
  "domain_id" bigint NOT NULL REFERENCES "rocpd_string" ("id") DEFERRABLE INITIALLY DEFERRED,
  "args_id" bigint NOT NULL REFERENCES "rocpd_ustring" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "rocpd_copyapi" (
  "api_ptr_id" bigint NOT NULL PRIMARY KEY REFERENCES "rocpd_api" ("id") DEFERRABLE INITIALLY DEFERRED,
  "stream" varchar(18) NOT NULL,
  "size" integer NOT NULL,
  "width" integer NOT NULL,
  "height" integer NOT NULL,
  "kind" integer NOT NULL,
  "dst" varchar(18) NOT NULL,
  "src" varchar(18) NOT NULL,
  "dstDevice" integer NOT NULL,
  "srcDevice" integer NOT NULL,
  "sync" bool NOT NULL,
  "pinned" bool NOT NULL);
CREATE TABLE "rocpd_kernelapi" (
  "api_ptr_id" bigint NOT NULL PRIMARY KEY REFERENCES "rocpd_api" ("id") DEFERRABLE INITIALLY DEFERRED,
  "stream" varchar(18) NOT NULL,
  "gridX" integer NOT NULL,
  "gridY" integer NOT NULL,
  "gridZ" integer NOT NULL,
  "workgroupX" integer NOT NULL,
  "workgroupY" integer NOT NULL,
  "workgroupZ" integer NOT NULL,
  "groupSegmentSize" integer NOT NULL,
  "privateSegmentSize" integer NOT NULL,
  "kernelName_id" bigint NOT NULL REFERENCES "rocpd_string" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "rocpd_op" (
  "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "gpuId" integer NOT NULL,
  "queueId" integer NOT NULL,
  "sequenceId" integer NOT NULL,
  "start" integer NOT NULL,
  "end" integer NOT NULL,
  "description_id" bigint NOT NULL REFERENCES "rocpd_string" ("id") DEFERRABLE INITIALLY DEFERRED,
  "opType_id" bigint NOT NULL REFERENCES "rocpd_string" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "rocpd_api_ops" (
  "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "api_id" bigint NOT NULL REFERENCES "rocpd_api" ("id") DEFERRABLE INITIALLY DEFERRED,
  "op_id" bigint NOT NULL REFERENCES "rocpd_op" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "rocpd_monitor" (
  "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "deviceType" varchar(16) NOT NULL,
  "deviceId" integer NOT NULL,
  "monitorType" varchar(16) NOT NULL,
  "start" integer NOT NULL,
  "end" integer NOT NULL,
  "value" varchar(255) NOT NULL);
CREATE TABLE "rocpd_counter" (
  "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "value" real NOT NULL,
  "op_id" bigint NOT NULL REFERENCES "rocpd_op" ("id") DEFERRABLE INITIALLY DEFERRED,
  "name_id" bigint NOT NULL REFERENCES "rocpd_string" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE "rocpd_stackframe" (
  "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "api_ptr_id" bigint NOT NULL REFERENCES "rocpd_api" ("id") DEFERRABLE INITIALLY DEFERRED,
  "depth" integer NOT NULL,
  "name_id" bigint NOT NULL REFERENCES "rocpd_string" ("id") DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "rocpd_metadata" ("tag", "value") VALUES
  ('schema_version', '3'), ('gpu_stride', '1000'), ('pid_stride', '10000000'),
  ('session_count', '1'), ('copy_ends', 'right');
)sql";

// `top` counts every op, also several of one name and one time, which its model takes for one.
const std::string_view kRpdViews = R"sql(
CREATE VIEW "api" AS
  SELECT A.id, A.pid, A.tid, A.start, A."end", D.string AS domain, C.string AS category,
         N.string AS apiName, U.string AS args
  FROM rocpd_api A
  JOIN rocpd_string D ON D.id = A.domain_id
  JOIN rocpd_string C ON C.id = A.category_id
  JOIN rocpd_string N ON N.id = A.apiName_id
  JOIN rocpd_ustring U ON U.id = A.args_id;
CREATE VIEW "op" AS
  SELECT O.id, O.gpuId, O.queueId, O.sequenceId, O.start, O."end", D.string AS description,
         T.string AS opType
  FROM rocpd_op O
  JOIN rocpd_string D ON D.id = O.description_id
  JOIN rocpd_string T ON T.id = O.opType_id;
CREATE VIEW "busy" AS
  SELECT G.gpuId, G.GpuTime, W.WallTime, G.GpuTime * 1.0 / W.WallTime AS Busy
  FROM (SELECT gpuId, sum("end" - start) AS GpuTime FROM rocpd_op GROUP BY gpuId) G
  CROSS JOIN (SELECT max("end") - min(start) AS WallTime FROM rocpd_op) W;
CREATE VIEW "top" AS
  SELECT Name, count(*) AS TotalCalls, sum(Duration) / 1000 AS TotalDuration_us,
         (sum(Duration) / count(*)) / 1000.0 AS Ave_us,
         sum(Duration) * 100.0 / (SELECT sum("end" - start) FROM rocpd_op) AS Percentage
  FROM (SELECT CASE D.string WHEN '' THEN T.string ELSE D.string END AS Name,
               O."end" - O.start AS Duration
        FROM rocpd_op O
        JOIN rocpd_string D ON D.id = O.description_id
        JOIN rocpd_string T ON T.id = O.opType_id)
  GROUP BY Name
  ORDER BY sum(Duration) DESC;
CREATE VIEW "kernel" AS
  SELECT O.id, O.gpuId, O.queueId, O.sequenceId, O.start, O."end", O."end" - O.start AS duration,
         K.stream, K.gridX, K.gridY, K.gridZ, K.workgroupX, K.workgroupY, K.workgroupZ,
         K.groupSegmentSize, K.privateSegmentSize, N.string AS kernelName
  FROM rocpd_api_ops L
  JOIN rocpd_op O ON O.id = L.op_id
  JOIN rocpd_kernelapi K ON K.api_ptr_id = L.api_id
  JOIN rocpd_string N ON N.id = K.kernelName_id;
CREATE VIEW "copy" AS
  SELECT A.id, A.pid, A.tid, A.start, A."end", N.string AS apiName, C.stream, C.size, C.width,
         C.height, C.kind, C.dst, C.src, C.dstDevice, C.srcDevice, C.sync, C.pinned
  FROM rocpd_copyapi C
  JOIN rocpd_api A ON A.id = C.api_ptr_id
  JOIN rocpd_string N ON N.id = A.apiName_id;
CREATE VIEW "copyop" AS
  SELECT O.id, O.gpuId, O.queueId, O.sequenceId, O.start, O."end", O."end" - O.start AS duration,
         C.stream, C.size, C.width, C.height, C.kind, C.dst, C.src, C.dstDevice, C.srcDevice,
         C.sync, C.pinned, N.string AS apiName
  FROM rocpd_api_ops L
  JOIN rocpd_op O ON O.id = L.op_id
  JOIN rocpd_copyapi C ON C.api_ptr_id = L.api_id
  JOIN rocpd_api A ON A.id = L.api_id
  JOIN rocpd_string N ON N.id = A.apiName_id;
CREATE VIEW "stackframe" AS
  SELECT A.id, N.string, F.depth, S.string
  FROM rocpd_stackframe F
  JOIN rocpd_api A ON A.id = F.api_ptr_id
  JOIN rocpd_string N ON N.id = A.apiName_id
  JOIN rocpd_string S ON S.id = F.name_id;
CREATE VIEW "napi" AS
  SELECT A.id, A.pid / S.stride AS node, A.pid % S.stride AS pid, A.tid % S.stride AS tid, A.start,
         A."end", A.domain, A.category, A.apiName, A.args
  FROM api A
  CROSS JOIN (SELECT CAST(value AS integer) AS stride FROM rocpd_metadata
              WHERE tag = 'pid_stride') S;
CREATE VIEW "nop" AS
  SELECT O.id, O.gpuId / S.stride AS node, O.gpuId % S.stride AS gpuId,
         O.queueId % S.stride AS queueId, O.sequenceId, O.start, O."end", O.description, O.opType
  FROM op O
  CROSS JOIN (SELECT CAST(value AS integer) AS stride FROM rocpd_metadata
              WHERE tag = 'gpu_stride') S;
)sql";

const std::string_view kRpdIndexes = R"sql(
CREATE INDEX "rocpd_string_string" ON "rocpd_string" ("string");
CREATE INDEX "rocpd_ustring_string" ON "rocpd_ustring" ("string");
)sql";

}  // namespace borescope::internal
