#include "borescope/ingest/rpd/rpd.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "borescope/ingest/load.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kVersion1 = R"(
CREATE TABLE rocpd_string (id integer PRIMARY KEY, string text);
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer,
  end integer, apiName_id integer, args_id integer);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer,
  completionSignal text, start integer, end integer, description_id integer, opType_id integer);
CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id integer, op_id integer);
)";
constexpr std::string_view kTexts = R"(
INSERT INTO rocpd_string VALUES (1,''), (2,'hipLaunchKernel'), (3,'hipMemcpyWithStream'),
  (4,'UserMarker'), (5,'KernelExecution'), (6,'CopyHostToDevice'), (7,'gemm'), (8,'FillBuffer'),
  (9,'OpTable::writeRows'), (10,'aten::mm, seq = 7, op_id = 3, sizes = [[2, 3], [3, 4]]'),
  (11,'warm-up'), (12,'hip'), (13,'ptr=0x1'), (14,'Memcpy'), (15,'ConcurrentKernel'),
  (16,'Dance');
)";
const std::string kVersion2 = std::string(kVersion1) + R"(
CREATE TABLE rocpd_metadata (id integer PRIMARY KEY, tag text, value text);
INSERT INTO rocpd_metadata(tag,value) VALUES ('schema_version','2');
CREATE TABLE rocpd_kernelapi (api_ptr_id integer PRIMARY KEY, stream text, gridX integer,
  gridY integer, gridZ integer, workgroupX integer, workgroupY integer, workgroupZ integer,
  groupSegmentSize integer, privateSegmentSize integer, kernelArgAddress text, aquireFence text,
  releaseFence text, codeObject_id integer, kernelName_id integer);
CREATE TABLE rocpd_copyapi (api_ptr_id integer PRIMARY KEY, stream text, size integer,
  width integer, height integer, kind integer, dst text, src text, dstDevice integer,
  srcDevice integer, sync bool, pinned bool);
CREATE TABLE rocpd_monitor (id integer PRIMARY KEY, deviceType text, deviceId integer,
  monitorType text, start integer, end integer, value text);
)";
constexpr std::string_view kVersion3 = R"(
CREATE TABLE rocpd_metadata (id integer PRIMARY KEY, tag text, value text);
INSERT INTO rocpd_metadata(tag,value) VALUES ('schema_version','3');
CREATE TABLE rocpd_string (id integer PRIMARY KEY, string text);
CREATE TABLE rocpd_ustring (id integer PRIMARY KEY, string text);
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer,
  end integer, apiName_id bigint, category_id bigint, domain_id bigint, args_id bigint);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer,
  start integer, end integer, description_id bigint, opType_id bigint);
CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id bigint, op_id bigint);
CREATE INDEX covering ON rocpd_api_ops (op_id, api_id);
)";

// A database as a file, which is removed with the object.
class DatabaseFile {
 public:
  explicit DatabaseFile(const std::string& sql)
      : path_((std::filesystem::temp_directory_path() /
               (std::string("borescope_") +
                ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".rpd"))
                  .string()) {
    std::filesystem::remove(path_);
    Result<SqlDatabase> database = SqlDatabase::Create(path_);
    EXPECT_TRUE(database.ok());
    const Result<void> made = database->Run(sql);
    EXPECT_TRUE(made.ok()) << made.error().Sentence();
  }
  ~DatabaseFile() { std::filesystem::remove(path_); }
  DatabaseFile(const DatabaseFile&) = delete;
  DatabaseFile& operator=(const DatabaseFile&) = delete;

  const std::string& path() const { return path_; }
  Result<Trace> Load() const { return LoadFile(path_, {}); }

 private:
  std::string path_;
};

Trace LoadSql(const std::string& sql) {
  Result<Trace> trace = DatabaseFile(sql).Load();
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().Sentence());
  return trace.ok() ? std::move(*trace) : Trace(TraceData());
}

uint64_t Count(const Trace& trace, Diag diag) { return trace.diagnostics().count(diag); }

TEST(RpdTest, Version2IsReadIntoHostAndDeviceRows) {
  const Trace trace = LoadSql(kVersion2 + std::string(kTexts) + R"(
    INSERT INTO rocpd_api VALUES (1,10,11,100,150,2,1), (2,10,11,200,260,3,13),
      (2147483649,10,11,90,300,4,10), (2147483650,10,11,80,310,4,11),
      (2147483651,10,12,400,410,9,1);
    INSERT INTO rocpd_op VALUES (1,2,0,0,'',160,180,7,5), (2,2,0,0,'',270,280,1,6);
    INSERT INTO rocpd_api_ops(api_id,op_id) VALUES (1,1), (2,2), (1,2), (5,99);
    INSERT INTO rocpd_kernelapi VALUES (1,'0x0',4,2,1,256,1,1,64,16,'','','','',7);
    INSERT INTO rocpd_copyapi VALUES (2,'0x0',4096,'','',1,'0xaa','0xbb',5,6,0,1);
    INSERT INTO rocpd_monitor VALUES (1,'gpu',0,'sclk',0,100,'1700'), (2,'gpu',0,'sclk',100,90,'?');
    )");
  EXPECT_EQ(trace.meta().producer, "rocmProfileData, schema v2");
  EXPECT_EQ(trace.meta().vendor, Vendor::kAmd);
  ASSERT_EQ(trace.meta().devices.size(), 1U);
  EXPECT_EQ(trace.meta().devices[0].id, 2);
  ASSERT_EQ(trace.host().size(), 5U);
  EXPECT_EQ(trace.Name(HostId{0}), "warm-up");
  EXPECT_EQ(trace.host().kind[0], HostKind::kAnnotation);
  EXPECT_EQ(trace.Name(HostId{1}), "aten::mm");
  EXPECT_EQ(trace.host().kind[1], HostKind::kOp);
  EXPECT_EQ(trace.ops().sequence[trace.host().detail[1]], 7);
  EXPECT_EQ(trace.Text(trace.ops().input_dims[trace.host().detail[1]]), "[[2, 3], [3, 4]]");
  EXPECT_EQ(trace.runtime_calls().correlation[trace.host().detail[2]], 1);
  EXPECT_EQ(trace.Text(trace.runtime_calls().args[trace.host().detail[3]]), "ptr=0x1");
  EXPECT_EQ(trace.host().kind[4], HostKind::kOther);
  EXPECT_EQ(trace.runtime_calls().correlation[trace.host().detail[4]], kMissing);

  ASSERT_EQ(trace.device().size(), 2U);
  EXPECT_EQ(trace.device().correlation, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(trace.Name(DeviceId{1}), "CopyHostToDevice");
  const uint32_t kernel = trace.device().detail[0];
  EXPECT_EQ(trace.kernels().grid_x[kernel], 4);
  EXPECT_EQ(trace.kernels().shared_bytes[kernel], 64);
  EXPECT_EQ(trace.kernels().private_bytes[kernel], 16);
  const uint32_t copy = trace.device().detail[1];
  EXPECT_EQ(trace.copies().bytes[copy], 4096);
  const uint32_t call = trace.copies().call[copy];
  EXPECT_EQ(trace.Text(trace.copy_calls().source[call]), "0xaa");
  EXPECT_EQ(trace.copy_calls().source_device[call], 5);
  EXPECT_EQ(trace.copy_calls().width[call], kMissing);
  EXPECT_EQ(Count(trace, Diag::kSwappedCopyEnds), 1U);
  EXPECT_EQ(Count(trace, Diag::kSeveralLaunches), 1U);
  EXPECT_EQ(Count(trace, Diag::kDanglingReference), 1U);  // work 99
  ASSERT_EQ(trace.samples().size(), 1U);
  EXPECT_EQ(trace.samples().value[0], 1700.0);
  EXPECT_EQ(Count(trace, Diag::kBadFieldType), 1U);
}

TEST(RpdTest, Version1HangsDetailsOnTheWorkAndVersion3OnTheCall) {
  const std::string rows = R"(
    INSERT INTO rocpd_api VALUES (1,10,11,100,150,2,1);
    INSERT INTO rocpd_op VALUES (9,0,3,0,'',160,180,7,5);
    INSERT INTO rocpd_api_ops(api_id,op_id) VALUES (1,9);)";
  const Trace first = LoadSql(std::string(kVersion1) + std::string(kTexts) + rows + R"(
    CREATE TABLE rocpd_kernelop (op_ptr_id integer PRIMARY KEY, gridX integer, workgroupX integer);
    INSERT INTO rocpd_kernelop VALUES (9,8,64);)");
  EXPECT_EQ(first.meta().producer, "rocmProfileData, schema v1");
  ASSERT_EQ(first.device().size(), 1U);
  EXPECT_EQ(first.kernels().grid_x[first.device().detail[0]], 8);
  EXPECT_EQ(first.kernels().grid_y[first.device().detail[0]], -1);
  EXPECT_EQ(first.StreamOf(DeviceId{0}), 3);

  const Trace third = LoadSql(std::string(kVersion3) + std::string(kTexts) + R"(
    INSERT INTO rocpd_ustring VALUES (1,''), (2,'aten::add, seq = 1'), (3,'x=1');
    INSERT INTO rocpd_api VALUES (1,10,11,100,150,2,12,12,3), (2147483649,10,11,90,200,4,0,0,2),
      (2147483650,10,11,80,210,11,140154190283872,140154190283872,1);
    INSERT INTO rocpd_op VALUES (1,0,0,0,160,180,7,5);
    INSERT INTO rocpd_api_ops(api_id,op_id) VALUES (1,1);)");
  EXPECT_EQ(third.meta().producer, "rocmProfileData, schema v3");
  ASSERT_EQ(third.host().size(), 3U);
  EXPECT_EQ(third.Name(HostId{0}), "warm-up");  // a range with a name of its own
  EXPECT_EQ(third.host().kind[0], HostKind::kAnnotation);
  EXPECT_EQ(third.Name(HostId{1}), "aten::add");
  const uint32_t call = third.host().detail[2];
  EXPECT_EQ(third.Text(third.runtime_calls().domain[call]), "hip");
  EXPECT_EQ(third.Text(third.runtime_calls().args[call]), "x=1");
}

// The names of the host rows, with their kinds and what is known of operators.
std::string HostRows(const Trace& trace) {
  std::string text;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    text += std::string(trace.Name(HostId{row})) + "|" +
            std::to_string(static_cast<int>(trace.host().kind[row]));
    const uint32_t detail = trace.host().detail[row];
    if (trace.host().kind[row] == HostKind::kOp && detail != kNoDetail) {
      const Ops& ops = trace.ops();
      for (const int64_t number : {ops.sequence[detail], ops.forward_thread[detail]}) {
        text += "|" + (number == kMissing ? std::string("-") : std::to_string(number));
      }
      text += "|" + std::string(trace.Text(ops.input_dims[detail]));
    }
    text += '\n';
  }
  return text;
}

// What `convert` wrote says what its rows were; without, texts decide.
TEST(RpdTest, CategoriesSayWhatARowIs) {
  const Trace trace = LoadSql(std::string(kVersion3) + std::string(kTexts) + R"(
    INSERT INTO rocpd_string VALUES (20,'cpu_op'), (21,'cpu_op, fwd_thread = 2'),
      (22,'user_annotation'), (23,'python_function'), (24,'overhead'), (25,'runtime'),
      (26,'step, seq = 7'), (27,'f.py(1): f'), (28,'cudaFree'), (29,'buffer');
    INSERT INTO rocpd_ustring VALUES (1,''), (2,'mine'), (3,'aten::mm, seq = 7, op_id = 0'),
      (4,', seq = 8, op_id = 0, sizes = [[1]], input_op_ids = []');
    INSERT INTO rocpd_api VALUES (2147483649,1,1,10,11,4,20,4,2), (2147483650,1,1,20,21,4,21,4,3),
      (2147483651,1,1,30,31,4,22,4,3), (2147483652,1,1,40,41,26,20,4,4),
      (2147483653,1,1,50,51,26,20,4,1), (2147483654,1,1,60,61,26,22,4,1),
      (2147483655,1,1,70,71,27,23,4,1), (2147483656,1,1,80,81,28,25,4,1),
      (2147483657,1,1,90,91,29,24,4,1), (2147483658,1,1,100,101,4,1,4,2),
      (2147483659,1,1,110,111,4,99,4,3);)");
  EXPECT_EQ(HostRows(trace),
            "mine|2\naten::mm|2|7|2|\naten::mm, seq = 7, op_id = 0|1\n"
            "step, seq = 7|2|8|-|[[1]]\nstep, seq = 7|2\nstep, seq = 7|1\n"
            "f.py(1): f|0\ncudaFree|3\nbuffer|4\nmine|1\naten::mm|2|7|-|\n");
  EXPECT_EQ(trace.runtime_calls().correlation[trace.host().detail[7]], 2147483656);
  EXPECT_EQ(trace.meta().vendor, Vendor::kNvidia);
  EXPECT_EQ(Count(trace, Diag::kDanglingReference), 0U);
}

TEST(RpdTest, LongTextsAreReadAsShortOnes) {
  const std::string name(3000, 'n');
  const Trace trace = LoadSql(std::string(kVersion3) + std::string(kTexts) + R"(
    INSERT INTO rocpd_ustring VALUES (1,''), (2,')" +
                              name + R"(, seq = 7, op_id = 3'),
      (3,')" + name + R"('), (4,'x, seq = 1');
    INSERT INTO rocpd_api VALUES (1,1,1,10,11,2,1,12,3), (2,1,1,20,21,2,1,12,3),
      (2147483649,1,1,30,31,4,1,4,2), (2147483650,1,1,40,41,4,1,4,2),
      (2147483651,1,1,50,51,4,1,4,3), (2147483652,1,1,60,61,4,1,4,4);)");
  EXPECT_EQ(HostRows(trace), "hipLaunchKernel|3\nhipLaunchKernel|3\n" + name + "|2|7|-|\n" + name +
                                 "|2|7|-|\n" + name + "|1\nx|2|1|-|\n");
  for (const uint32_t row : {0, 1}) {
    EXPECT_EQ(trace.Text(trace.runtime_calls().args[trace.host().detail[row]]), name);
  }
}

TEST(RpdTest, LaunchesOfNoSizeHaveNone) {
  const Trace trace = LoadSql(kVersion2 + std::string(kTexts) + R"(
    INSERT INTO rocpd_api VALUES (1,10,11,100,150,2,1);
    INSERT INTO rocpd_op VALUES (1,2,0,0,'',160,180,7,5);
    INSERT INTO rocpd_api_ops(api_id,op_id) VALUES (1,1);
    INSERT INTO rocpd_kernelapi VALUES (1,'0x0',0,0,0,64,0,0,0,0,'','','','',7);)");
  const uint32_t kernel = trace.device().detail[0];
  ASSERT_NE(kernel, kNoDetail);
  EXPECT_EQ(trace.kernels().grid_x[kernel], -1);
  EXPECT_EQ(trace.kernels().grid_z[kernel], -1);
  EXPECT_EQ(trace.kernels().block_x[kernel], 64);
  EXPECT_EQ(trace.kernels().block_y[kernel], -1);
  EXPECT_EQ(trace.kernels().shared_bytes[kernel], 0);
}

TEST(RpdTest, SessionsShareQueuesButNotTracks) {
  const Trace trace = LoadSql(std::string(kVersion3) + std::string(kTexts) + R"(
    INSERT INTO rocpd_string VALUES (4294967297,''), (4294967298,'hipLaunchKernel'),
      (4294967299,'KernelExecution'), (4294967300,'softmax');
    INSERT INTO rocpd_api VALUES (1,10,11,100,150,2,1,1,1),
      (4294967297,20,21,100,150,4294967298,4294967297,4294967297,1);
    INSERT INTO rocpd_ustring VALUES (1,'');
    INSERT INTO rocpd_op VALUES (1,0,0,0,160,180,7,5),
      (4294967297,0,0,0,170,190,4294967300,4294967299), (4294967298,0,1,0,1,2,7,5);
    INSERT INTO rocpd_api_ops(api_id,op_id) VALUES (4294967297,4294967297), (1,1);)");
  EXPECT_EQ(Count(trace, Diag::kDanglingReference), 0U);
  ASSERT_EQ(trace.device().size(), 3U);
  std::vector<int64_t> processes;
  for (const TrackId track : trace.device().track) {
    processes.push_back(trace.tracks().process[track.value]);
  }
  EXPECT_EQ(processes, (std::vector<int64_t>{10, 20, kMissing}));
  EXPECT_EQ(trace.device().correlation[1], 4294967297);
}

TEST(RpdTest, DescriptionsOfGraphLaunchesAreOfTheirFirstKernel) {
  const Trace trace = LoadSql(kVersion2 + std::string(kTexts) + R"(
    INSERT INTO rocpd_api VALUES (1,10,11,100,150,2,1), (2,10,11,200,260,3,1);
    INSERT INTO rocpd_op VALUES (1,2,0,0,'',160,180,2,5), (2,2,0,0,'',190,200,7,5),
      (3,2,0,0,'',210,220,7,5);
    INSERT INTO rocpd_api_ops(api_id,op_id) VALUES (1,1), (1,2), (1,3);
    INSERT INTO rocpd_kernelapi VALUES (1,'0x0',4,2,1,256,1,1,64,16,'','','','',7),
      (2,'0x0',4,2,1,256,1,1,64,16,'','','','',7);)");
  ASSERT_EQ(trace.device().size(), 3U);
  EXPECT_EQ(trace.device().detail[0], kNoDetail);
  EXPECT_NE(trace.device().detail[1], kNoDetail);
  EXPECT_EQ(trace.device().detail[2], kNoDetail);
  EXPECT_EQ(Count(trace, Diag::kUnusedDetail), 1U);
}

TEST(RpdTest, CudaWorkHasItsStreamInTheSequence) {
  const Trace trace = LoadSql(kVersion2 + std::string(kTexts) + R"(
    INSERT INTO rocpd_api VALUES (1,10,11,100,150,3,1);
    INSERT INTO rocpd_op VALUES (1,0,1,7,'',160,180,1,14), (2,0,1,13,'',160,180,7,15),
      (3,0,1,13,'',160,180,1,16);
    INSERT INTO rocpd_api_ops(api_id,op_id) VALUES (1,1);
    INSERT INTO rocpd_copyapi VALUES (1,'0x0','','','',2,'0xaa','0xbb',0,0,0,1);)");
  EXPECT_EQ(trace.meta().vendor, Vendor::kNvidia);
  ASSERT_EQ(trace.device().size(), 3U);
  EXPECT_EQ(trace.StreamOf(DeviceId{0}), 1);  // of an unknown type: its queue
  EXPECT_EQ(trace.device().kind[0], DeviceKind::kKernel);
  EXPECT_EQ(Count(trace, Diag::kUnknownWork), 1U);
  EXPECT_EQ(trace.StreamOf(DeviceId{1}), 7);
  EXPECT_EQ(trace.Name(DeviceId{1}), "Memcpy DtoH");
  EXPECT_EQ(trace.copies().bytes[trace.device().detail[1]], kMissing);
  EXPECT_EQ(Count(trace, Diag::kUnknownCopySize), 1U);
}

TEST(RpdTest, OddRowsAreCounted) {
  const Trace trace = LoadSql(kVersion2 + std::string(kTexts) + R"(
    INSERT INTO rocpd_api VALUES (1,10,11,100,50,2,1), (2,'','',200,260,77,1),
      (3,10,11,'',1,2,1), (4,10,11,'noon',1,2,1), (5,10,11,9223372036854775807,1,2,1),
      (2147483649,10,11,0,20,1,1), (-9223372036854775808,10,11,-9223372036854775807,'',2,1),
      (9223372036854775807,10,11,1,2,2,1);
    INSERT INTO rocpd_op VALUES (1,x'00','','','',300,200,7,5);
    CREATE TABLE rocpd_counter (id integer PRIMARY KEY, value real);
    INSERT INTO rocpd_counter VALUES (1,0), (2,1);)");
  EXPECT_EQ(Count(trace, Diag::kNegativeDuration), 3U);
  EXPECT_EQ(Count(trace, Diag::kDanglingReference), 1U);
  EXPECT_EQ(Count(trace, Diag::kMissingTimestamp), 3U);
  EXPECT_EQ(Count(trace, Diag::kMissingDuration), 1U);
  EXPECT_EQ(Count(trace, Diag::kIntegerOverflow), 2U);
  EXPECT_EQ(Count(trace, Diag::kMissingName), 2U);
  EXPECT_EQ(Count(trace, Diag::kBadFieldType), 2U);
  EXPECT_EQ(Count(trace, Diag::kUnreadRows), 2U);
  EXPECT_EQ(trace.host().size(), 5U);
  EXPECT_EQ(trace.device().dur_ns[0], 0);
}

// Depth 0 is the innermost; each frame lasts as long as its call.
TEST(RpdTest, CallStacksLieAroundTheirCalls) {
  const Trace trace = LoadSql(kVersion2 + std::string(kTexts) + R"(
    INSERT INTO rocpd_string VALUES (20,'main'), (21,'launch at a.hip:5');
    INSERT INTO rocpd_api VALUES (1,10,11,100,150,2,1), (2,10,11,200,260,3,1);
    CREATE TABLE rocpd_stackframe (id integer PRIMARY KEY, api_ptr_id integer, depth integer,
      name_id integer);
    INSERT INTO rocpd_stackframe VALUES (1,1,0,21), (2,1,1,20), (3,2,0,20), (4,9,0,20);)");
  ASSERT_EQ(trace.host().size(), 5U);
  EXPECT_EQ(trace.Name(HostId{0}), "main");
  EXPECT_EQ(trace.Name(HostId{1}), "launch at a.hip:5");
  EXPECT_EQ(trace.Name(HostId{2}), "hipLaunchKernel");
  EXPECT_EQ(trace.host().kind[1], HostKind::kPython);
  EXPECT_EQ(trace.host().dur_ns[0], 50);
  EXPECT_EQ(trace.Name(HostId{3}), "main");
  EXPECT_EQ(trace.host().ts_ns[3], 200);
  EXPECT_EQ(Count(trace, Diag::kDanglingReference), 1U);
}

TEST(RpdTest, ViewsInPlaceOfTablesAreNotRead) {
  const Trace trace = LoadSql(std::string(kVersion1) + std::string(kTexts) + R"(
    DROP TABLE rocpd_string;
    CREATE VIEW rocpd_string AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
      SELECT i AS id, 'x' AS string FROM n;
    INSERT INTO rocpd_api VALUES (1,10,11,100,150,2,1);)");
  ASSERT_EQ(trace.host().size(), 1U);
  EXPECT_EQ(trace.Name(HostId{0}), "");
  EXPECT_GE(Count(trace, Diag::kDanglingReference), 1U);
}

TEST(RpdTest, ADamagedPageIsAnErrorThatNamesTheTable) {
  std::string sql = std::string(kVersion1) + std::string(kTexts);
  for (int i = 1; i <= 2000; ++i) {
    sql += "INSERT INTO rocpd_api VALUES (" + std::to_string(i) + ",10,11,100,150,2,1);";
  }
  const DatabaseFile file(sql);
  const auto bytes = std::filesystem::file_size(file.path());
  std::fstream stream(file.path(), std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(bytes / 2 / 4096 * 4096));
  stream << std::string(4096, '\x7f');
  stream.close();
  const Result<Trace> trace = file.Load();
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(trace.error().Sentence().find(": table rocpd_api: "), std::string::npos)
      << trace.error().Sentence();
}

TEST(RpdTest, ProgressEndsAtTheEnd) {
  const DatabaseFile file(std::string(kVersion1) + std::string(kTexts));
  uint64_t last = 0;
  ASSERT_TRUE(LoadFile(file.path(), {.threads = 1,
                                     .progress =
                                         [&](uint64_t done, uint64_t total) {
                                           EXPECT_LE(done, total);
                                           last = done;
                                         }})
                  .ok());
  EXPECT_GT(last, 0U);
}

}  // namespace
}  // namespace borescope::internal
