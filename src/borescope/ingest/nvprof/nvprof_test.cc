#include "borescope/ingest/nvprof/nvprof.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/ingest/cupti/cupti_test_database.h"

namespace borescope::internal {
namespace {

const std::string kStrings =
    "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL UNIQUE);"
    "INSERT INTO StringTable(value) VALUES('_Z4addsPfi'),('layer:conv1'),('conv2d, seq = 5'),"
    "('NCCL'),('Tesla V100-SXM2-16GB'),('not mangled');";

const std::string kCalls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cbid INT,"
    "start INT, end INT, processId INT, threadId INT, correlationId INT, returnValue INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cbid INT,"
    "start INT, end INT, processId INT, threadId INT, correlationId INT, returnValue INT);";

const std::string kKernelColumnsSql =
    "(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, registersPerThread INT, start INT, end INT,"
    "completed INT, deviceId INT, contextId INT, streamId INT, gridX INT, gridY INT, gridZ INT,"
    "blockX INT, blockY INT, blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT,"
    "localMemoryPerThread INT, correlationId INT, gridId INT, name INT);";

const std::string kMarkers =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, flags INT,"
    "timestamp INT, id INT, objectKind INT, objectId BLOB, name INT, domain INT);";

// Process 77, thread -5: stored as 77 in 4 bytes and -5 in 8.
const std::string kThread = "X'4D000000FBFFFFFFFFFFFFFF'";

std::string Marker(int flags, int64_t time, int id, int name, int domain = 0) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER(flags,timestamp,id,objectKind,objectId,name,"
         "domain) VALUES(" +
         std::to_string(flags) + "," + std::to_string(time) + "," + std::to_string(id) + ",2," +
         kThread + "," + std::to_string(name) + "," + std::to_string(domain) + ");";
}

std::string Call(const std::string& table, int callback, int64_t start, int64_t end,
                 int correlation) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_" + table +
         "(cbid,start,end,processId,threadId,correlationId,returnValue) VALUES(" +
         std::to_string(callback) + "," + std::to_string(start) + "," + std::to_string(end) +
         ",77,-5," + std::to_string(correlation) + ",0);";
}

std::string Kernel(const std::string& table, int64_t start, int64_t end, int correlation,
                   int name) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_" + table +
         "(registersPerThread,start,end,completed,deviceId,contextId,streamId,gridX,gridY,gridZ,"
         "blockX,blockY,blockZ,staticSharedMemory,dynamicSharedMemory,localMemoryPerThread,"
         "correlationId,gridId,name) VALUES(24," +
         std::to_string(start) + "," + std::to_string(end) + ",0,0,1,7,8,1,1,256,1,1,64,0,0," +
         std::to_string(correlation) + ",1," + std::to_string(name) + ");";
}

TEST(NvprofTest, KernelsCallsAndRangesOfOneThread) {
  const Trace trace = LoadSql(
      kStrings + kCalls + kMarkers + "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL" +
      kKernelColumnsSql + Call("RUNTIME", 211, 100, 120, 4) + Call("DRIVER", 307, 130, 140, 5) +
      Call("RUNTIME", 9999, 150, 160, 0) + Marker(2, 90, 1, 2) + Marker(2, 95, 2, 3) +
      Marker(4, 125, 2, 0) + Marker(4, 170, 1, 0) + Kernel("CONCURRENT_KERNEL", 200, 260, 4, 1) +
      Kernel("CONCURRENT_KERNEL", 300, 310, 5, 6));
  EXPECT_EQ(HostRows(trace),
            "range layer:conv1 77/4294967291 @90+80\n"
            "op conv2d 77/4294967291 @95+30\n"
            "call cudaLaunchKernel 77/4294967291 @100+20 #4\n"
            "call cuLaunchKernel 77/4294967291 @130+10 #5\n"
            "call cudaApi_9999 77/4294967291 @150+10\n");
  EXPECT_EQ(DeviceRows(trace),
            "kernel adds(float*, int) 0/7 @200+60 #4\nkernel not mangled 0/7 @300+10 #5\n");
  EXPECT_EQ(trace.kernels().grid_x[0], 8);
  EXPECT_EQ(trace.kernels().registers[0], 24);
  EXPECT_EQ(trace.ops().sequence[0], 5);
  EXPECT_EQ(trace.meta().format, TraceFormat::kNvprof);
  EXPECT_EQ(trace.meta().producer, "nvprof");
  EXPECT_TRUE(trace.diagnostics().empty());
}

// --analysis-metrics serialises kernels and writes them to the other table.
TEST(NvprofTest, SerialKernelsCopiesAndDevices) {
  const Trace trace = LoadSql(
      kStrings + kCalls + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL" + kKernelColumnsSql +
      Kernel("KERNEL", 10, 20, 1, 1) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(_id_ INTEGER PRIMARY KEY, copyKind INT, srcKind INT,"
      "dstKind INT, flags INT, bytes INT, start INT, end INT, deviceId INT, contextId INT,"
      "streamId INT, correlationId INT, runtimeCorrelationId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1,1,1,3,0,4096,30,40,0,1,7,2,0);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(_id_ INTEGER PRIMARY KEY, value INT, bytes INT,"
      "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, flags INT,"
      "memoryKind INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(1,0,64,50,60,0,1,7,3,0,3);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE(_id_ INTEGER PRIMARY KEY, globalMemorySize INT,"
      "numThreadsPerWarp INT, numMultiprocessors INT, maxWarpsPerMultiprocessor INT,"
      "computeCapabilityMajor INT, computeCapabilityMinor INT, id INT, name INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES(1,17179869184,32,80,64,7,0,0,5);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD(_id_ INTEGER PRIMARY KEY, start INT, end INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES(1,1,2),(2,3,4);");
  EXPECT_EQ(DeviceRows(trace),
            "kernel adds(float*, int) 0/7 @10+10 #1\n"
            "memcpy Memcpy HtoD (Pageable -> Device) 0/7 @30+10 #2\n"
            "memset Memset (Device) 0/7 @50+10 #3\n");
  ASSERT_EQ(trace.meta().devices.size(), 1U);
  EXPECT_EQ(trace.meta().devices[0].name, "Tesla V100-SXM2-16GB");
  EXPECT_EQ(trace.meta().devices[0].max_threads_per_multiprocessor, 2048);
  EXPECT_EQ(EventCounts(trace),
            "? CUPTI_ACTIVITY_KIND_OVERHEAD 2\nX CUPTI_ACTIVITY_KIND_KERNEL 1\n"
            "X CUPTI_ACTIVITY_KIND_MEMCPY 1\nX CUPTI_ACTIVITY_KIND_MEMSET 1\n");
}

TEST(NvprofTest, MarkersInAnyOrder) {
  const Trace trace = LoadSql(kStrings + kMarkers + Marker(4, 50, 1, 0) + Marker(2, 10, 1, 2, 4) +
                              Marker(2, 20, 2, 2) + Marker(2, 30, 2, 2) + Marker(4, 35, 2, 0) +
                              Marker(4, 99, 3, 0) + Marker(1, 5, 4, 2) + Marker(0, 6, 5, 2) +
                              Marker(2, 40, 6, 99) + Marker(4, 39, 6, 0) + Marker(2, 60, 7, 2));
  EXPECT_EQ(HostRows(trace),
            "range NCCL:layer:conv1 77/4294967291 @10+40\n"
            "range layer:conv1 77/4294967291 @20+0\n"
            "range layer:conv1 77/4294967291 @30+5\n"
            "range  77/4294967291 @40+0\n"
            "range layer:conv1 77/4294967291 @60+0\n");
  const Diagnostics& diagnostics = trace.diagnostics();
  EXPECT_EQ(diagnostics.count(Diag::kMissingDuration), 2U);
  EXPECT_EQ(diagnostics.count(Diag::kNegativeDuration), 1U);
  EXPECT_EQ(diagnostics.count(Diag::kMissingTimestamp), 1U);
  EXPECT_EQ(diagnostics.count(Diag::kMissingName), 1U);
  EXPECT_EQ(EventCounts(trace),
            "? CUPTI_ACTIVITY_KIND_MARKER 1\nX CUPTI_ACTIVITY_KIND_MARKER 6\n"
            "i CUPTI_ACTIVITY_KIND_MARKER 1\n");
}

// nvtxRangeStart and nvtxRangeEnd: of the process, or begun on one thread and ended on another.
TEST(NvprofTest, RangesThatMayOverlapStandApart) {
  const Trace trace = LoadSql(
      kStrings + kMarkers + Marker(2, 10, 1, 2) + Marker(4, 50, 1, 0) +
      "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES"
      "(10,2,20,2,1,X'4D0000000000000000000000',2,0),(11,4,90,2,1,X'4D0000000000000000000000',0,0),"
      "(12,2,30,3,2,X'4D0000000700000000000000',6,0),(13,4,95,3,2,X'4D0000000800000000000000',0,0)"
      ";");
  EXPECT_EQ(HostRows(trace),
            "range layer:conv1 77/-1 @20+70\nrange not mangled 77/7 @30+65\n"
            "range layer:conv1 77/4294967291 @10+40\n");
  EXPECT_EQ(trace.tracks().is_async, (std::vector<char>{1, 1, 0}));
}

TEST(NvprofTest, OddRowsDoNotStopTheReader) {
  const Trace trace =
      LoadSql(kStrings + kCalls + kMarkers + "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL" +
              kKernelColumnsSql + Call("RUNTIME", 172, 100, 0, 1) +
              "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES(1,2,10,1,2,'short',2,0),"
              "(2,'x',20,1,2,NULL,2,0);"
              "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start,end,deviceId,streamId,"
              "correlationId,name,gridX) VALUES(10,NULL,'',NULL,-3,777,99999999999);");
  EXPECT_EQ(trace.diagnostics().count(Diag::kMissingDuration), 3U);  // call, marker, kernel
  EXPECT_EQ(trace.diagnostics().count(Diag::kBadFieldType), 2U);     // object, flags
  EXPECT_EQ(trace.diagnostics().count(Diag::kMissingName), 1U);
  EXPECT_EQ(trace.device().correlation[0], kMissing);
  EXPECT_EQ(trace.kernels().grid_x[0], 2'147'483'647);
}

TEST(NvprofTest, WhatIsOne) {
  EXPECT_EQ(LoadSql(kStrings + kMarkers).meta().format, TraceFormat::kNvprof);
  EXPECT_FALSE(TryLoadSql(kStrings).ok());
}

}  // namespace
}  // namespace borescope::internal
