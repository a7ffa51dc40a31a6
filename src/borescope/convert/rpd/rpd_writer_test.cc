#include "borescope/convert/rpd/rpd_writer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::TraceMaker;

// A database in a file of its own, removed with the object.
class Written {
 public:
  explicit Written(const Trace& trace, TimeWindow window = {})
      : path_(testing::TempDir() + "borescope_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".rpd") {
    std::filesystem::remove(path_);
    const TraceIndex index = BuildIndex(trace, 1);
    const Result<ConvertCounts> written = WriteRpd({trace, index, window, {}}, path_);
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().Sentence());
    counts = written.ok() ? *written : ConvertCounts();
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() { std::filesystem::remove(path_); }

  // The rows of a query, "1|a" each, in lines.
  std::string Rows(const std::string& sql) const {
    Result<SqlDatabase> database = SqlDatabase::OpenRead(path_);
    Result<SqlStatement> rows = database->Prepare(sql);
    if (!rows.ok()) {
      return rows.error().Sentence();
    }
    std::string text;
    while (*rows->Step()) {
      for (int column = 0; column < rows->columns(); ++column) {
        text += (column == 0 ? "" : "|") + std::string(rows->Text(column));
      }
      text += '\n';
    }
    return text;
  }

  ConvertCounts counts;

 private:
  std::string path_;
};

uint32_t AddKernelDetail(TraceMaker& maker) {
  Kernels& kernels = maker.part().data.kernels;
  const uint32_t row = AddMissingRow(kernels);
  kernels.grid_x[row] = 4, kernels.grid_y[row] = 5, kernels.grid_z[row] = 6;
  kernels.block_x[row] = 7, kernels.block_y[row] = 8, kernels.block_z[row] = 9;
  kernels.shared_bytes[row] = 1024;
  kernels.private_bytes[row] = 16;
  kernels.stream_handle[row] = maker.part().Intern("0x7f");
  return row;
}

uint32_t AddCopyDetail(TraceMaker& maker) {
  CopyCalls& calls = maker.part().data.copy_calls;
  const uint32_t call = AddMissingRow(calls);
  calls.kind[call] = 1;
  calls.source[call] = maker.part().Intern("0xaa");
  calls.target[call] = maker.part().Intern("0xbb");
  calls.target_device[call] = 2;
  calls.is_sync[call] = 1;
  Copies& copies = maker.part().data.copies;
  const uint32_t row = AddMissingRow(copies);
  copies.bytes[row] = 20'000'000'000;
  copies.call[row] = call;
  return row;
}

// An operator, a launch of two kernels, a copy, and events that the format cannot represent.
Trace SmallRun() {
  TraceMaker maker;
  maker.Op("aten::mm", 1, {0, 100});
  maker.Call("hipGraphLaunch", 1, {10, 5}, 5);
  maker.Call("hipMemcpyAsync", 1, {30, 5}, 6);
  maker.Kernel("gemm", 0, {20, 7}, {5});
  maker.part().data.device.detail.back() = AddKernelDetail(maker);
  maker.Kernel("relu", 0, {27, 3}, {5});
  maker.Device(DeviceKind::kMemcpy, "CopyHostToDevice", 0, 1, {40, 8}, {6});
  maker.part().data.device.detail.back() = AddCopyDetail(maker);
  maker.Device(DeviceKind::kMemset, "Memset (Device)", 0, 1, {50, 8});
  maker.Device(DeviceKind::kSync, "wait", 0, 1, {60, 8});
  RuntimeCalls& calls = maker.part().data.runtime_calls;
  calls.domain[0] = maker.part().Intern("HIP_API");
  calls.args[0] = maker.part().Intern("graph=0x1");
  return maker.Finish();
}

TEST(RpdWriter, WritesCallsAndMarkers) {
  const Written written(SmallRun());
  EXPECT_EQ(written.Rows("SELECT * FROM api ORDER BY start"),
            "2147483649|100|1|0|100|UserMarker|cpu_op|UserMarker|aten::mm\n"
            "5|100|1|10|15|HIP_API||hipGraphLaunch|graph=0x1\n"
            "6|100|1|30|35|hip||hipMemcpyAsync|\n");
  EXPECT_EQ(written.counts.written, 7U);
  EXPECT_EQ(written.counts.unplaced, 1U);
}

TEST(RpdWriter, WritesOpsAndTheirLaunches) {
  const Written written(SmallRun());
  EXPECT_EQ(written.Rows("SELECT * FROM op ORDER BY start"),
            "1|0|0|0|20|27|gemm|KernelExecution\n"
            "2|0|0|0|27|30|relu|KernelExecution\n"
            "3|0|1|0|40|48||CopyHostToDevice\n"
            "4|0|1|0|50|58|Memset (Device)|FillBuffer\n");
  EXPECT_EQ(written.Rows("SELECT api_id, op_id FROM rocpd_api_ops"), "5|1\n5|2\n6|3\n");
  EXPECT_EQ(written.Rows("SELECT * FROM rocpd_copyapi"),
            "6|1|20000000000|0|0|1|0xbb|0xaa|2|0|1|0\n");
  EXPECT_EQ(written.Rows("SELECT api_ptr_id, stream, gridX, gridZ, workgroupX, workgroupZ, "
                         "groupSegmentSize, privateSegmentSize FROM rocpd_kernelapi"),
            "5|0x7f|4|6|7|9|1024|16\n");
}

TEST(RpdWriter, MakesTheViews) {
  const Written written(SmallRun());
  EXPECT_EQ(written.Rows("SELECT Name, TotalCalls, TotalDuration_us, Ave_us FROM top LIMIT 1"),
            "Memset (Device)|1|0|0.008\n");
  EXPECT_EQ(written.Rows("SELECT sum(TotalCalls), sum(Percentage) FROM top"), "4|100.0\n");
  EXPECT_EQ(written.Rows("SELECT gpuId, GpuTime, WallTime FROM busy"), "0|26|38\n");
  EXPECT_EQ(written.Rows("SELECT id, duration, kernelName FROM kernel"), "1|7|gemm\n2|3|gemm\n");
  EXPECT_EQ(written.Rows("SELECT id, duration, size, apiName FROM copyop"),
            "3|8|20000000000|hipMemcpyAsync\n");
  EXPECT_EQ(written.Rows("SELECT node, pid, tid FROM napi LIMIT 1"), "0|100|1\n");
  EXPECT_EQ(written.Rows("SELECT node, gpuId, queueId FROM nop LIMIT 1"), "0|0|0\n");
  EXPECT_EQ(written.Rows("SELECT count(*) FROM stackframe"), "0\n");
  EXPECT_EQ(written.Rows("SELECT * FROM rocpd_metadata"),
            "1|schema_version|3\n2|gpu_stride|1000\n3|pid_stride|10000000\n4|session_count|1\n"
            "5|copy_ends|right\n");
}

TEST(RpdWriter, IsSound) {
  const Written written(SmallRun());
  EXPECT_EQ(written.Rows("PRAGMA integrity_check"), "ok\n");
  EXPECT_EQ(written.Rows("PRAGMA foreign_key_check"), "");
  EXPECT_EQ(written.Rows("SELECT string FROM rocpd_string WHERE id = 1"), "\n");
  EXPECT_EQ(written.Rows("SELECT string FROM rocpd_ustring WHERE id = 1"), "\n");
  EXPECT_EQ(written.Rows("SELECT string FROM rocpd_string GROUP BY string HAVING count(*) > 1"),
            "");
}

TEST(RpdWriter, GivesEveryCallAnIdOfItsOwn) {
  TraceMaker maker;
  const int64_t huge = (int64_t{1} << 31) + 1;  // of a marker
  for (const int64_t correlation : {int64_t{3}, int64_t{3}, int64_t{0}, int64_t{-4}, huge,
                                    int64_t{1} << 32 | 3, std::numeric_limits<int64_t>::max()}) {
    maker.Call("hipLaunchKernel", 1, {static_cast<int64_t>(maker.part().data.host.size()), 0},
               correlation);
  }
  const Written written(maker.Finish());
  EXPECT_EQ(written.Rows("SELECT id FROM rocpd_api ORDER BY start"),
            "3\n2147483649\n2147483650\n2147483651\n2147483652\n4294967299\n2147483653\n");
}

// An operator with details.
struct OpDetails {
  int64_t sequence = kMissing;
  int64_t call = kMissing;
  int64_t forward_thread = kMissing;
  std::string_view dims = {};
};

void AddDetailedOp(TraceMaker& maker, std::string_view name, const OpDetails& details) {
  maker.Op(name, 1, {static_cast<int64_t>(maker.part().data.host.size()), 0},
           {.sequence = details.sequence, .forward_thread = details.forward_thread});
  maker.part().data.ops.record_function_id.back() = details.call;
  maker.part().data.ops.input_dims.back() = maker.part().Intern(details.dims);
}

TEST(RpdWriter, WritesTheTextsOfPyTorchsObserver) {
  TraceMaker maker;
  AddDetailedOp(maker, "aten::mm", {.sequence = 7, .call = 3, .dims = "[[2, 3], [3, 4]]"});
  AddDetailedOp(maker, "MmBackward0", {.sequence = 7, .forward_thread = 1});
  AddDetailedOp(maker, "aten::empty", {.sequence = -1, .call = 0, .forward_thread = 0});
  AddDetailedOp(maker, "mine", {.dims = "[[]]"});
  AddDetailedOp(maker, "odd", {.sequence = 0, .dims = R"(["a, seq = 9"])"});
  EXPECT_EQ(Written(maker.Finish()).Rows("SELECT apiName, category, args FROM api ORDER BY start"),
            "UserMarker|cpu_op|aten::mm, seq = 7, op_id = 3, sizes = [[2, 3], [3, 4]], "
            "input_op_ids = []\n"
            "UserMarker|cpu_op, fwd_thread = 1|MmBackward0, seq = 7, op_id = 0\n"
            "UserMarker|cpu_op, fwd_thread = 0|aten::empty\n"
            "UserMarker|cpu_op|mine, op_id = 0, sizes = [[]], input_op_ids = []\n"
            "UserMarker|cpu_op|odd, seq = 0, op_id = 0\n");
}

// The name is then that of the row, and its arguments are only the details.
TEST(RpdWriter, NamesLikeDetailsAreNoDetails) {
  TraceMaker maker;
  AddDetailedOp(maker, "step, seq = 7", {});
  AddDetailedOp(maker, "x, sizes = [[1]]", {.sequence = 4, .dims = "[[2]]"});
  maker.Host(HostKind::kAnnotation, "all, op_id = 5", 1, {5, 0});
  maker.Host(HostKind::kAnnotation, "aten::mine", 1, {6, 0});
  maker.Host(HostKind::kAnnotation, "seq = 7", 1, {7, 0});
  EXPECT_EQ(Written(maker.Finish()).Rows("SELECT apiName, category, args FROM api ORDER BY start"),
            "step, seq = 7|cpu_op|\n"
            "x, sizes = [[1]]|cpu_op|, seq = 4, op_id = 0, sizes = [[2]], input_op_ids = []\n"
            "all, op_id = 5|user_annotation|\n"
            "aten::mine|user_annotation|\n"
            "UserMarker|user_annotation|seq = 7\n");
}

// Texts of a single call are not remembered, others are stored once.
TEST(RpdWriter, TextsOfManyCallsAreStoredOnce) {
  TraceMaker maker;
  for (int i = 0; i < 3; ++i) {
    AddDetailedOp(maker, "a", {.dims = "[[1]]"});
    AddDetailedOp(maker, "a", {.sequence = i, .dims = "[[1]]"});
    AddDetailedOp(maker, "a", {});
  }
  const Written written(maker.Finish());
  EXPECT_EQ(written.Rows("SELECT count(*), count(DISTINCT string) FROM rocpd_ustring"), "6|6\n");
  EXPECT_EQ(written.Rows("SELECT count(*) FROM api WHERE args LIKE 'a%'"), "9\n");
}

// A small file can have many calls with one long text.
TEST(RpdWriter, LongTextsAreStoredOnce) {
  TraceMaker maker;
  const std::string name(5000, 'n');
  const std::string dims = "[" + std::string(2000, '1') + "]";
  for (int i = 0; i < 10; ++i) {
    AddDetailedOp(maker, name, {.sequence = i});
    AddDetailedOp(maker, "a", {.sequence = 7, .dims = dims});
    maker.Host(HostKind::kAnnotation, name, 1, {100 + i, 0});
  }
  const Written written(maker.Finish());
  EXPECT_EQ(written.Rows("SELECT count(*) FROM rocpd_string WHERE length(string) = 5000"), "1\n");
  EXPECT_EQ(written.Rows("SELECT count(*), max(length(string)) FROM rocpd_ustring"), "12|2052\n");
}

// The category keeps what ids and names alone do not.
TEST(RpdWriter, SaysWhatCallsWithoutAnIdOfTheirOwnAre) {
  TraceMaker maker;
  maker.Call("hipFree", 1, {0, 0}, 3);
  maker.Call("hipFree", 1, {1, 0}, 3);
  maker.Host(HostKind::kOther, "buffer", 1, {2, 0});
  maker.Host(HostKind::kPython, "f.py(1): f", 1, {3, 0});
  EXPECT_EQ(Written(maker.Finish()).Rows("SELECT apiName, category FROM api ORDER BY start"),
            "hipFree|\nhipFree|runtime\nbuffer|overhead\nf.py(1): f|python_function\n");
}

TEST(RpdWriter, WritesMonitorsAndWindows) {
  TraceMaker maker;
  Samples& samples = maker.part().data.samples;
  for (const int64_t ts_ns : {10, 20}) {
    const uint32_t row = AddMissingRow(samples);
    samples.ts_ns[row] = ts_ns;
    samples.end_ns[row] = ts_ns + 5;
    samples.device[row] = ts_ns == 10 ? kMissing : 1;
    samples.device_type[row] = maker.part().Intern("gpu");
    samples.name[row] = maker.part().Intern("sclk");
    samples.value[row] = 800.5;
  }
  const Trace trace = maker.Finish();
  EXPECT_EQ(Written(trace).Rows("SELECT deviceId FROM rocpd_monitor"), "-1\n1\n");
  const Written written(trace, {15, 25});
  EXPECT_EQ(written.Rows("SELECT * FROM rocpd_monitor"), "1|gpu|1|sclk|20|25|800.5\n");
  EXPECT_EQ(written.counts.written, 1U);
  EXPECT_EQ(written.counts.outside, 1U);
}

TEST(RpdWriter, WritesAnEmptyTrace) {
  const Written written(TraceMaker().Finish());
  EXPECT_EQ(written.Rows("SELECT * FROM top"), "");
  EXPECT_EQ(written.Rows("SELECT count(*) FROM rocpd_string"), "1\n");
}

}  // namespace
}  // namespace borescope::internal
