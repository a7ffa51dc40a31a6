#include "borescope/ingest/rocpd/rocpd.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "borescope/ingest/load.h"

namespace borescope::internal {
namespace {

// The tables of schema 3.0.2, as far as they are read. "@" is the suffix.
constexpr std::string_view kTables = R"(
CREATE TABLE "rocpd_metadata@" (id integer PRIMARY KEY, tag text, value text);
CREATE TABLE "rocpd_string@" (id integer PRIMARY KEY, guid text, string text);
CREATE TABLE "rocpd_info_process@" (id integer PRIMARY KEY, pid integer);
CREATE TABLE "rocpd_info_thread@" (id integer PRIMARY KEY, pid integer, tid integer, name text);
CREATE TABLE "rocpd_info_agent@" (id integer PRIMARY KEY, type text, absolute_index integer,
  type_index integer, name text, product_name text);
CREATE TABLE "rocpd_info_kernel_symbol@" (id integer PRIMARY KEY, kernel_name text,
  display_name text, arch_vgpr_count integer);
CREATE TABLE "rocpd_event@" (id integer PRIMARY KEY, category_id integer, stack_id integer,
  parent_stack_id integer, correlation_id integer, extdata jsonb);
CREATE TABLE "rocpd_arg@" (id integer PRIMARY KEY, event_id integer, position integer, type text,
  name text, value text);
CREATE TABLE "rocpd_region@" (id integer PRIMARY KEY, nid integer, pid integer, tid integer,
  start bigint, end bigint, name_id integer, event_id integer, extdata jsonb);
CREATE TABLE "rocpd_kernel_dispatch@" (id integer PRIMARY KEY, pid integer, tid integer,
  agent_id integer, kernel_id integer, queue_id integer, stream_id integer, start bigint,
  end bigint, private_segment_size integer, group_segment_size integer, workgroup_size_x integer,
  workgroup_size_y integer, workgroup_size_z integer, grid_size_x integer, grid_size_y integer,
  grid_size_z integer, event_id integer, graph_node_id integer);
CREATE TABLE "rocpd_memory_copy@" (id integer PRIMARY KEY, pid integer, tid integer, start bigint,
  end bigint, name_id integer, dst_agent_id integer, dst_address integer, src_agent_id integer,
  src_address integer, size integer, queue_id integer, stream_id integer, event_id integer);
INSERT INTO "rocpd_metadata@"(tag,value) VALUES ('schema_version','3.0.2');
INSERT INTO "rocpd_string@"(id,string) VALUES (1,'HIP_RUNTIME_API_EXT'), (2,'hipLaunchKernel'),
  (3,'MARKER_CORE_API'), (4,'roctxThreadRangeA'), (5,'MEMORY_COPY_DEVICE_TO_HOST'),
  (6,'KERNEL_DISPATCH'), (7,'hipMemcpyAsync');
INSERT INTO "rocpd_info_process@" VALUES (1,~0);
INSERT INTO "rocpd_info_thread@" VALUES (1,1,~1,'main'), (2,1,~2,'');
INSERT INTO "rocpd_info_agent@" VALUES (1,'CPU',0,0,'EPYC',''), (2,'GPU',1,0,'gfx942','MI300X');
INSERT INTO "rocpd_info_kernel_symbol@" VALUES (1,'_Z4gemm.kd','gemm(float*)',48);
INSERT INTO "rocpd_event@" VALUES (1,1,1,0,0,'{}'), (2,6,1,0,0,'{}'), (3,1,2,0,0,'{}'),
  (4,5,2,0,0,'{}'), (5,3,3,0,0,'{"message":"step \"one\""}');
INSERT INTO "rocpd_arg@"(event_id,position,name,value) VALUES (1,0,'f','0x1'), (1,1,'s','0x0');
INSERT INTO "rocpd_region@" VALUES (1,1,1,1,100,150,2,1,'{}'), (2,1,1,2,200,250,7,3,'{}'),
  (3,1,1,1,90,300,4,5,'{}');
INSERT INTO "rocpd_kernel_dispatch@" VALUES (1,1,1,2,1,1,3,160,190,16,512,64,2,1,1000,2,1,2,77);
INSERT INTO "rocpd_memory_copy@" VALUES (1,1,2,260,280,5,1,4096,2,8192,5000000000,0,3,4);
)";

std::string WithSuffix(std::string_view suffix, std::string_view process, std::string_view thread) {
  std::string sql;
  for (size_t i = 0; i < kTables.size(); ++i) {
    const char c = kTables[i];
    if (c == '@') {
      sql += suffix;
    } else if (c == '~') {
      const char digit = kTables[++i];
      sql += digit == '0' ? process : thread;
      sql += digit == '0' ? "" : std::string(1, digit);
    } else {
      sql += c;
    }
  }
  return sql;
}

Result<Trace> TryLoad(const std::string& sql) {
  const std::string path =
      (std::filesystem::temp_directory_path() /
       (std::string("borescope_rocpd_") +
        ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".db"))
          .string();
  std::filesystem::remove(path);
  {
    Result<SqlDatabase> database = SqlDatabase::Create(path);
    EXPECT_TRUE(database.ok());
    const Result<void> made = database->Run(sql);
    EXPECT_TRUE(made.ok()) << made.error().Sentence();
  }
  Result<Trace> trace = LoadFile(path, {});
  std::filesystem::remove(path);
  return trace;
}

Trace LoadSql(const std::string& sql) {
  Result<Trace> trace = TryLoad(sql);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().Sentence());
  return trace.ok() ? std::move(*trace) : Trace(TraceData());
}

void ExpectWhole(const Trace& trace) {
  EXPECT_EQ(trace.meta().producer, "rocprofiler-sdk, rocpd schema 3.0.2");
  EXPECT_TRUE(trace.diagnostics().empty());
  ASSERT_EQ(trace.meta().devices.size(), 1U);
  EXPECT_EQ(trace.meta().devices[0].name, "MI300X");
  ASSERT_EQ(trace.host().size(), 3U);
  EXPECT_EQ(trace.Name(HostId{0}), "step \"one\"");
  EXPECT_EQ(trace.host().kind[0], HostKind::kAnnotation);
  EXPECT_EQ(trace.Name(HostId{1}), "hipLaunchKernel");
  EXPECT_EQ(trace.tracks().pid[trace.host().track[1].value], 4711);
  EXPECT_EQ(trace.tracks().tid[trace.host().track[1].value], 5001);
  EXPECT_EQ(trace.Text(trace.tracks().name[trace.host().track[1].value]), "main");
  const uint32_t call = trace.host().detail[1];
  EXPECT_EQ(trace.Text(trace.runtime_calls().args[call]), "f=0x1, s=0x0");
  EXPECT_EQ(trace.Text(trace.runtime_calls().domain[call]), "HIP_RUNTIME_API_EXT");
  ASSERT_EQ(trace.device().size(), 2U);
  EXPECT_EQ(trace.device().correlation, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(trace.Name(DeviceId{0}), "gemm(float*)");
  EXPECT_EQ(trace.DeviceOf(DeviceId{1}), 0);
  EXPECT_EQ(trace.StreamOf(DeviceId{1}), 3);
  EXPECT_EQ(trace.copies().bytes[0], 5'000'000'000);
}

TEST(RocpdTest, TablesWithoutSuffix) {
  const Trace trace = LoadSql(WithSuffix("", "4711", "500"));
  ExpectWhole(trace);
  EXPECT_EQ(trace.kernels().grid_x[0], 16);  // 1000 work-items in groups of 64
  EXPECT_EQ(trace.kernels().grid_y[0], 1);
  EXPECT_EQ(trace.kernels().block_x[0], 64);
  EXPECT_EQ(trace.kernels().shared_bytes[0], 512);
  EXPECT_EQ(trace.kernels().private_bytes[0], 16);
  EXPECT_EQ(trace.kernels().registers[0], 48);
  EXPECT_EQ(trace.kernels().graph_node_id[0], 77);
}

TEST(RocpdTest, TablesWithSuffixAndTheirViews) {
  ExpectWhole(LoadSql(WithSuffix("_0000fe", "4711", "500") +
                      "CREATE VIEW rocpd_region AS SELECT * FROM rocpd_region_0000fe;"));
}

TEST(RocpdTest, DatabasesSideBySideKeepTheirIdsApart) {
  const Trace trace = LoadSql(WithSuffix("_1", "4711", "500") + WithSuffix("_2", "4712", "600"));
  EXPECT_TRUE(trace.diagnostics().empty());
  ASSERT_EQ(trace.host().size(), 6U);
  ASSERT_EQ(trace.device().size(), 4U);
  const ColumnData<int64_t>& links = trace.device().correlation;
  EXPECT_EQ(links[0], 1);
  EXPECT_EQ(links[2], (int64_t{1} << 47) + 1);
  EXPECT_EQ(trace.tracks().process[trace.device().track[0].value], 4711);
  EXPECT_EQ(trace.tracks().process[trace.device().track[2].value], 4712);
}

TEST(RocpdTest, DanglingIdsAndUnreadTablesAreCounted) {
  const Trace trace = LoadSql(WithSuffix("", "4711", "500") + R"(
    DELETE FROM rocpd_info_kernel_symbol; DELETE FROM rocpd_info_thread;
    UPDATE rocpd_kernel_dispatch SET agent_id=9, workgroup_size_x=0;
    CREATE TABLE rocpd_hip_event (id integer PRIMARY KEY);
    INSERT INTO rocpd_hip_event VALUES (1);)");
  EXPECT_EQ(trace.diagnostics().count(Diag::kDanglingReference), 5U);
  EXPECT_EQ(trace.diagnostics().count(Diag::kUnreadRows), 1U);
  EXPECT_EQ(trace.device().size(), 2U);
  EXPECT_EQ(trace.kernels().grid_x[0], -1);
}

// A free has no size of its own, and frees precede allocations in the table.
TEST(RocpdTest, AllocationsAndFrees) {
  const Trace trace = LoadSql(WithSuffix("", "4711", "500") + R"(
    CREATE TABLE rocpd_memory_allocate (id integer PRIMARY KEY, pid integer, tid integer,
      agent_id integer, type text, level text, start bigint, end bigint, address integer,
      size integer);
    INSERT INTO rocpd_memory_allocate(pid,tid,agent_id,type,level,start,end,address,size) VALUES
      (1,1,2,'FREE','REAL',40,41,4096,0), (1,1,2,'ALLOC','REAL',10,11,4096,512),
      (1,1,1,'ALLOC','REAL',20,21,8192,64), (1,1,2,'REALLOC','REAL',30,31,4096,1024),
      (1,1,2,'FREE','REAL',50,51,4096,0), (1,1,2,'ALLOC','VIRTUAL',60,61,1,4096),
      (1,1,9,'ALLOC','SCRATCH',70,71,2,16), (1,1,2,'LEND','REAL',80,81,3,16),
      (1,1,2,'ALLOC','REAL',90,91,4,-1);)");
  const MemoryEvents& memory = trace.memory();
  EXPECT_EQ(memory.ts_ns, (std::vector<int64_t>{10, 20, 30, 30, 40, 70}));
  EXPECT_EQ(memory.bytes, (std::vector<int64_t>{512, 64, -512, 1024, -1024, 16}));
  EXPECT_EQ(memory.device_type, (std::vector<int32_t>{6, 0, 6, 6, 6, -1}));
  EXPECT_EQ(memory.device, (std::vector<int32_t>{0, -1, 0, 0, 0, -1}));
  EXPECT_EQ(trace.tracks().tid[memory.track[0].value], 5001);
  EXPECT_EQ(trace.diagnostics().count(Diag::kDanglingReference), 2U);  // agent 9, the second free
  EXPECT_EQ(trace.diagnostics().count(Diag::kUnreadRows), 1U);         // VIRTUAL
  EXPECT_EQ(trace.diagnostics().count(Diag::kBadFieldType), 2U);       // LEND, -1
}

constexpr std::string_view kMemoryTable = R"(
    CREATE TABLE rocpd_memory_allocate (id integer PRIMARY KEY, pid integer, tid integer,
      agent_id integer, type text, level text, start bigint, end bigint, address integer,
      size integer);
    INSERT INTO rocpd_info_agent VALUES (3,'GPU',2,1,'gfx942','MI300X');
    INSERT INTO rocpd_memory_allocate(pid,tid,agent_id,type,level,start,end,address,size) VALUES )";

// Allocations have an agent, frees mostly do not.
TEST(RocpdTest, FreesAreOfTheDeviceOfTheirAllocation) {
  const Trace trace = LoadSql(WithSuffix("", "4711", "500") + std::string(kMemoryTable) + R"(
      (1,1,2,'ALLOC','REAL',10,11,4096,1000), (1,1,3,'ALLOC','REAL',20,21,4096,500),
      (1,1,NULL,'FREE','REAL',30,31,4096,0);)");
  const MemoryEvents& memory = trace.memory();
  EXPECT_EQ(memory.ts_ns, (std::vector<int64_t>{10, 20, 20, 30}));
  EXPECT_EQ(memory.bytes, (std::vector<int64_t>{1000, -1000, 500, -500}));
  EXPECT_EQ(memory.device_type, (std::vector<int32_t>{6, 6, 6, 6}));
  EXPECT_EQ(memory.device, (std::vector<int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(trace.diagnostics().count(Diag::kDuplicateKey), 1U);
  EXPECT_EQ(trace.diagnostics().count(Diag::kDanglingReference), 0U);
}

// Its address is always 0.
TEST(RocpdTest, ScratchMemoryIsToldApartByAgent) {
  const Trace trace = LoadSql(WithSuffix("", "4711", "500") + std::string(kMemoryTable) + R"(
      (1,1,2,'ALLOC','SCRATCH',10,11,0,1000), (1,1,3,'ALLOC','SCRATCH',20,21,0,500),
      (1,1,2,'FREE','SCRATCH',30,31,0,0), (1,1,3,'ASYNC_RECLAIM','SCRATCH',40,41,0,0);)");
  const MemoryEvents& memory = trace.memory();
  EXPECT_EQ(memory.bytes, (std::vector<int64_t>{1000, 500, -1000, -500}));
  EXPECT_EQ(memory.device, (std::vector<int32_t>{0, 1, 0, 1}));
  EXPECT_TRUE(trace.diagnostics().empty());
}

TEST(RocpdTest, CountersOfKernelsAndSamples) {
  const Trace trace = LoadSql(WithSuffix("", "4711", "500") + R"(
    CREATE TABLE rocpd_info_pmc (id integer PRIMARY KEY, agent_id integer, name text, symbol text);
    INSERT INTO rocpd_info_pmc VALUES (1,2,'SQ_WAVES',''), (2,2,'SQ_WAVES',''), (3,2,'','GRBM'),
      (4,2,'busy',''), (5,9,'of no agent','');
    CREATE TABLE rocpd_pmc_event (id integer PRIMARY KEY, event_id integer, pmc_id integer,
      value real, sample_id integer);
    INSERT INTO rocpd_pmc_event(event_id,pmc_id,value,sample_id) VALUES (2,1,3.0,NULL),
      (2,3,7.5,NULL), (2,2,4.0,NULL), (9,4,55.0,NULL), (8,4,1.0,NULL), (2,99,1.0,NULL),
      (2,1,1.0,5), (2,1,'nan',NULL), (2,1,1e300,NULL);
    CREATE TABLE rocpd_sample (id integer PRIMARY KEY, track_id integer, timestamp bigint,
      event_id integer);
    INSERT INTO rocpd_sample VALUES (1,1,123,9), (2,1,124,9), (3,1,125,NULL);)");
  ASSERT_EQ(trace.device().size(), 3U);
  EXPECT_EQ(trace.device().kind[1], DeviceKind::kRange);
  EXPECT_EQ(trace.Name(DeviceId{1}), "gemm(float*)");
  EXPECT_EQ(trace.device().correlation[1], 1);
  ASSERT_EQ(trace.metrics().size(), 2U);
  EXPECT_EQ(trace.Text(trace.metrics().name[0]), "SQ_WAVES");
  EXPECT_EQ(trace.metrics().value, (std::vector<double>{7.0, 7.5}));
  ASSERT_EQ(trace.samples().size(), 1U);
  EXPECT_EQ(trace.Text(trace.samples().name[0]), "busy");
  EXPECT_EQ(trace.Text(trace.samples().device_type[0]), "gpu");
  EXPECT_EQ(trace.samples().ts_ns[0], 123);
  EXPECT_EQ(trace.diagnostics().count(Diag::kUnusedDetail), 1U);       // event 8
  EXPECT_EQ(trace.diagnostics().count(Diag::kNonFiniteNumber), 2U);    // nan, 1e300
  EXPECT_EQ(trace.diagnostics().count(Diag::kDanglingReference), 2U);  // agent 9, counter 99
  EXPECT_EQ(trace.diagnostics().count(Diag::kUnreadRows), 2U);         // a stream, the last sample
}

// Ranges of a process may overlap the push/pop ranges of its threads.
TEST(RocpdTest, RangesOfTheProcessStandApart) {
  const Trace trace = LoadSql(WithSuffix("", "4711", "500") + R"(
    INSERT INTO rocpd_string(id,string) VALUES (8,'roctxProcessRangeA');
    INSERT INTO rocpd_event VALUES (6,3,4,0,0,'{"message":"request"}');
    INSERT INTO rocpd_region VALUES (4,1,1,1,120,400,8,6,'{}');)");
  ASSERT_EQ(trace.host().size(), 4U);
  EXPECT_EQ(trace.Name(HostId{2}), "request");
  EXPECT_EQ(trace.tracks().is_async, (std::vector<char>{0, 1, 0, 0}));
}

TEST(RocpdTest, GenerationsThatAreNotReadAreNamed) {
  const std::string whole = WithSuffix("_1", "4711", "500");
  const Result<Trace> develop =
      TryLoad(whole + "CREATE TABLE rocpd_timestamp_1 (id integer PRIMARY KEY, value bigint);");
  ASSERT_FALSE(develop.ok());
  EXPECT_NE(develop.error().Sentence().find("development schema"), std::string::npos);
  const Result<Trace> tracks = TryLoad(
      whole +
      "DROP TABLE rocpd_region_1; CREATE TABLE rocpd_region_1 (id integer, track_id integer);");
  ASSERT_FALSE(tracks.ok());
  EXPECT_NE(tracks.error().Sentence().find("schema 4.1"), std::string::npos);
  const Result<Trace> compressed = TryLoad(
      whole + "INSERT INTO rocpd_metadata_1(tag,value) VALUES ('compression','lz4-frame-v1');");
  ASSERT_FALSE(compressed.ok());
  EXPECT_NE(compressed.error().Sentence().find("compressed"), std::string::npos);
}

}  // namespace
}  // namespace borescope::internal
