#include "borescope/ingest/nsys/nsys.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/ingest/cupti/cupti_test_database.h"

namespace borescope::internal {
namespace {

// Process 100 (its threads 100 and 101) and process 200 in Nsight Systems' numbers.
const std::string kPid100 = std::to_string(int64_t{100} << 24);
const std::string kTid100 = std::to_string(int64_t{100} << 24 | 100);
const std::string kTid101 = std::to_string(int64_t{100} << 24 | 101);
const std::string kPid200 = std::to_string(int64_t{0x2a} << 56 | int64_t{200} << 24);
const std::string kTid200 = std::to_string(int64_t{0x2a} << 56 | int64_t{200} << 24 | 200);

const std::string kStrings =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
    "INSERT INTO StringIds VALUES(1,'void gemm<float>(int)'),(2,'gemm'),"
    "(3,'cudaLaunchKernel_v7000'),(4,'cudaGraphLaunch_v10000'),(5,'forward'),"
    "(6,'_Z4addsPfi'),(7,'cuMemAlloc_v2'),(8,'pthread_mutex_lock'),(9,'main thread');";

const std::string kCalls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT,"
    "correlationId INT, nameId INT, returnValue INT);";

// A recent export.
const std::string kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT,"
    "greenContextId INT, streamId INT, correlationId INT, globalPid INT, demangledName INT,"
    "shortName INT, mangledName INT, registersPerThread INT, gridX INT, gridY INT, gridZ INT,"
    "blockX INT, blockY INT, blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT,"
    "localMemoryPerThread INT, graphNodeId INT);";

const std::string kRanges =
    "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, rangeId INT, text TEXT,"
    "globalTid INT, endGlobalTid INT, textId INT, domainId INT);";

std::string Call(int64_t start, int64_t end, const std::string& tid, int correlation, int name) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(" + std::to_string(start) + "," +
         std::to_string(end) + ",0," + tid + "," + std::to_string(correlation) + "," +
         std::to_string(name) + ",0);";
}

std::string Kernel(int64_t start, int64_t end, int device, const std::string& pid, int correlation,
                   const std::string& node = "NULL") {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" + std::to_string(start) + "," +
         std::to_string(end) + "," + std::to_string(device) + ",1,0,7," +
         std::to_string(correlation) + "," + pid + ",1,2,6,32,4,2,1,128,1,1,1024,2048,16," + node +
         ");";
}

std::string Range(const std::string& values) {
  return "INSERT INTO NVTX_EVENTS(start,end,eventType,text,globalTid,textId,domainId) VALUES(" +
         values + ");";
}

TEST(NsysTest, KernelsAndTheirLaunches) {
  const Trace trace = LoadSql(kStrings + kCalls + kKernels + Call(100, 150, kTid101, 9, 3) +
                              Call(200, 210, kTid100, 0, 7) + Kernel(180, 380, 1, kPid100, 9));
  EXPECT_EQ(HostRows(trace),
            "call cuMemAlloc_v2 100/100 @200+10\n"
            "call cudaLaunchKernel 100/101 @100+50 #9\n");
  EXPECT_EQ(DeviceRows(trace), "kernel void gemm<float>(int) 1/7 @180+200 #9\n");
  const Kernels& kernels = trace.kernels();
  EXPECT_EQ(kernels.grid_x[0], 4);
  EXPECT_EQ(kernels.grid_y[0], 2);
  EXPECT_EQ(kernels.block_x[0], 128);
  EXPECT_EQ(kernels.registers[0], 32);
  EXPECT_EQ(kernels.shared_bytes[0], 3072);
  EXPECT_EQ(kernels.private_bytes[0], 16);
  EXPECT_EQ(kernels.graph_node_id[0], kMissing);
  EXPECT_EQ(trace.meta().format, TraceFormat::kNsys);
  EXPECT_EQ(trace.meta().producer, "Nsight Systems");
  EXPECT_EQ(trace.meta().vendor, Vendor::kNvidia);
  EXPECT_EQ(EventCounts(trace),
            "X CUPTI_ACTIVITY_KIND_KERNEL 1\nX CUPTI_ACTIVITY_KIND_RUNTIME 2\n");
  EXPECT_TRUE(trace.diagnostics().empty());
}

// As of 2019: no process, no full names, no shared memory.
TEST(NsysTest, OldColumns) {
  const Trace trace = LoadSql(
      kStrings + kCalls + Call(1, 2, kTid100, 5, 3) + Call(3, 4, kTid200, 6, 3) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT,"
      "correlationId INT, shortName INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10,20,0,7,5,2),(20,30,0,7,6,2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId INT,"
      "correlationId INT, bytes INT, copyKind INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(40,50,0,7,0,64,2);"
      "CREATE TABLE NVTX_EVENTS(start INT, end INT, text TEXT, globalTid INT);"
      "INSERT INTO NVTX_EVENTS VALUES(0,9,'a'," +
      kTid100 + "),(3,NULL,'mark'," + kTid100 + ");");
  EXPECT_EQ(DeviceRows(trace),
            "kernel gemm 0/7 @10+10 #5\nkernel gemm 0/7 @20+10 #6\nmemcpy Memcpy DtoH 0/7 "
            "@40+10\n");
  EXPECT_EQ(HostRows(trace),
            "range a 100/100 @0+9\ncall cudaLaunchKernel 100/100 @1+1 #5\n"
            "call cudaLaunchKernel 200/200 @3+1 #6\n");
  EXPECT_EQ(trace.kernels().grid_x[0], -1);
  EXPECT_EQ(trace.kernels().shared_bytes[0], -1);
  EXPECT_TRUE(trace.diagnostics().empty());
}

// Both processes number their calls from 1 and see their GPU as device 0.
TEST(NsysTest, SeveralProcessesKeepApart) {
  const Trace trace = LoadSql(kStrings + kCalls + kKernels + Call(100, 110, kTid100, 1, 3) +
                              Call(100, 110, kTid200, 1, 3) + Kernel(200, 210, 0, kPid200, 1) +
                              Kernel(300, 310, 0, kPid100, 1) + Kernel(400, 410, 0, kPid200, 0));
  EXPECT_EQ(HostRows(trace),
            "call cudaLaunchKernel 100/100 @100+10 #1\n"
            "call cudaLaunchKernel 200/200 @100+10 #4294967297\n");
  EXPECT_EQ(DeviceRows(trace),
            "kernel void gemm<float>(int) 0/7 of 100 @300+10 #1\n"
            "kernel void gemm<float>(int) 0/7 of 200 @200+10 #4294967297\n"
            "kernel void gemm<float>(int) 0/7 of 200 @400+10\n");
}

TEST(NsysTest, CopiesSetsAndWaits) {
  const Trace trace = LoadSql(
      kStrings +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId INT,"
      "correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT,"
      "srcDeviceId INT, dstDeviceId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(10,20,0,7,1,0,1024,1,0,2,NULL,0),"
      "(30,40,0,7,2,0,2048,10,2,2,0,1),(50,60,0,7,3,0,1,77,1,99,0,0),(70,80,0,7,4,0,1,11,0,4,0,0);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INT, end INT, deviceId INT, streamId INT,"
      "correlationId INT, globalPid INT, bytes INT, memKind INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(90,95,0,7,5,0,512,2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, deviceId INT,"
      "streamId INT, correlationId INT, globalPid INT, syncType INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(100,110,0,7,6,0,3),"
      "(120,130,0,4294967295,7,0,4);");
  EXPECT_EQ(DeviceRows(trace),
            "sync Context Sync 0/-1 @120+10 #7\n"
            "memcpy Memcpy HtoD (Pageable -> Device) 0/7 @10+10 #1\n"
            "memcpy Memcpy PtoP (Device -> Device) 0/7 @30+10 #2\n"
            "memcpy Memcpy Unknown (Pinned -> Unknown) 0/7 @50+10 #3\n"
            "memcpy Memcpy HtoD (unified memory) 0/7 @70+10 #4\n"
            "memset Memset (Device) 0/7 @90+5 #5\n"
            "sync Stream Sync 0/7 @100+10 #6\n");
  EXPECT_EQ(trace.copies().bytes, (std::vector<int64_t>{1024, 2048, 1, 1, 512}));
  EXPECT_EQ(trace.copy_calls().target_device[1], 1);
  EXPECT_EQ(trace.diagnostics().Get(Diag::kBadFieldType).first, "copyKind 77");
}

// The numbers of syncType have changed their meaning; what was called has not.
TEST(NsysTest, WaitsAreWhatWasCalled) {
  const Trace trace = LoadSql(
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
      "INSERT INTO StringIds VALUES(1,'cudaDeviceSynchronize_v3020'),"
      "(2,'cudaStreamSynchronize_v3020'),(3,'cudaFree_v3020');" +
      kCalls + Call(1, 25, kTid100, 1, 1) + Call(30, 45, kTid100, 2, 2) +
      Call(50, 65, kTid100, 3, 3) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, deviceId INT,"
      "streamId INT, correlationId INT, globalPid INT, syncType INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(10,20,0,4294967295,1," +
      kPid100 + ",1),(35,40,0,7,2," + kPid100 + ",2),(55,60,0,4294967295,3," + kPid100 +
      ",4),(70,80,0,7,0," + kPid100 + ",3);");
  EXPECT_EQ(DeviceRows(trace),
            "sync Context Sync 0/-1 @10+10 #1\n"
            "sync Context Sync 0/-1 @55+5 #3\n"
            "sync Stream Sync 0/7 @35+5 #2\n"
            "sync Stream Sync 0/7 @70+10\n");
}

// --cudabacktrace records a call twice: the call, and around it where it was called from.
TEST(NsysTest, BacktracesAreNoCalls) {
  const std::string backtrace =
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(90,110,67," + kTid100 + ",1,3,0);";
  const std::string lone =
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(200,210,67," + kTid100 + ",2,3,0);";
  const Trace trace = LoadSql(kStrings + kCalls + backtrace + Call(95, 105, kTid100, 1, 3) + lone);
  EXPECT_EQ(HostRows(trace),
            "call cudaLaunchKernel 100/100 @95+10 #1\n"
            "call cudaLaunchKernel 100/100 @200+10 #2\n");
  EXPECT_EQ(EventCounts(trace), "X CUPTI_ACTIVITY_KIND_RUNTIME 3\n");
}

// Nodes have rows of their own under --cuda-graph-trace=node; then the launch is no work again.
TEST(NsysTest, GraphsAreCountedOnce) {
  const std::string graphs =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INT, end INT, deviceId INT, contextId "
      "INT, streamId INT, correlationId INT, globalPid INT, graphId INT, graphExecId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(10,90,0,1,7,1," +
      kPid100 + ",3,4),(100,190,0,1,7,2," + kPid100 + ",3,4);";
  const Trace trace =
      LoadSql(kStrings + kCalls + kKernels + graphs + Call(1, 2, kTid100, 1, 4) +
              Call(3, 4, kTid100, 2, 4) + Kernel(10, 40, 0, kPid100, 1, "21474836481") +
              Kernel(50, 90, 0, kPid100, 1, "21474836482"));
  EXPECT_EQ(DeviceRows(trace),
            "annotation CUDA graph 3 0/7 @10+80 #1\n"
            "kernel void gemm<float>(int) 0/7 @10+30 #1\n"
            "kernel void gemm<float>(int) 0/7 @50+40 #1\n"
            "kernel CUDA graph 3 0/7 @100+90 #2\n");
  EXPECT_EQ(trace.kernels().graph_node_id[0], 21'474'836'481);
}

TEST(NsysTest, RangesMarksAndDomains) {
  const Trace trace = LoadSql(kStrings + kRanges + Range("10,90,59,'step'," + kTid100 + ",NULL,0") +
                              Range("20,80,59,NULL," + kTid100 + ",5,0") +
                              Range("30,70,59,'ncclAllReduce'," + kTid100 + ",NULL,3") +
                              Range("35,60,60,'io'," + kTid101 + ",NULL,NULL") +
                              Range("5,NULL,75,'NCCL'," + kTid100 + ",NULL,3") +
                              Range("40,NULL,34,'here'," + kTid100 + ",NULL,0") +
                              Range("50,NULL,59,'open'," + kTid101 + ",NULL,9") +
                              Range("1,NULL,39,'worker'," + kTid101 + ",NULL,0"));
  EXPECT_EQ(HostRows(trace),
            "range step 100/100 @10+80\nrange forward 100/100 @20+60\n"
            "range NCCL:ncclAllReduce 100/100 @30+40\nrange open 100/101 @50+0\n"
            "range io 100/101 @35+25\n");
  EXPECT_EQ(trace.tracks().is_async, (std::vector<char>{0, 0, 1}));  // io
  EXPECT_EQ(EventCounts(trace), "M NVTX_EVENTS 2\nX NVTX_EVENTS 5\ni NVTX_EVENTS 1\n");
  EXPECT_EQ(trace.diagnostics().count(Diag::kMissingDuration), 1U);
  EXPECT_EQ(trace.Text(trace.tracks().name[1]), "worker");
  EXPECT_EQ(trace.Text(trace.tracks().name[2]), "worker");
}

// The ranges of PyTorch's emit_nvtx, old and new, are its operators; PyProf read them from these.
TEST(NsysTest, OperatorsOfEmitNvtx) {
  const Trace trace = LoadSql(
      kStrings + kCalls + kKernels + kRanges +
      Range("1,99,59,'layer:conv2_x'," + kTid100 + ",NULL,0") +
      Range("2,98,59,'{''mod'': ''torch.nn.functional'', ''op'': ''conv2d'', ''args'': []}'," +
            kTid100 + ",NULL,0") +
      Range("3,97,59,'conv2d, seq = 5'," + kTid100 + ",NULL,0") +
      Range("4,96,59,'aten::_convolution, seq = 5, op_id = 9, sizes = [[1, 3], []], "
            "input_op_ids = [(1,0)]'," +
            kTid100 + ",NULL,0") +
      Range("10,20,59,'aten::detach, op_id = 10'," + kTid100 + ",NULL,0") +
      Range("10,50,59,'CudnnConvolutionBackward, seq = 5'," + kTid101 + ",NULL,0") +
      Call(30, 40, kTid100, 1, 3) + Kernel(200, 210, 0, kPid100, 1));
  EXPECT_EQ(HostRows(trace),
            "range layer:conv2_x 100/100 @1+98\n"
            "range {'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': []} 100/100 @2+96\n"
            "op conv2d 100/100 @3+94\n"
            "op aten::_convolution 100/100 @4+92\n"
            "op aten::detach 100/100 @10+10\n"
            "call cudaLaunchKernel 100/100 @30+10 #1\n"
            "op CudnnConvolutionBackward 100/101 @10+40\n");
  const Ops& ops = trace.ops();
  EXPECT_EQ(ops.sequence, (std::vector<int64_t>{5, 5, kMissing, 5}));
  EXPECT_EQ(trace.Text(ops.input_dims[1]), "[[1, 3], []]");
  EXPECT_EQ(trace.Text(ops.input_dims[0]), "");
}

TEST(NsysTest, WhatTheFileSaysOfItself) {
  const Trace trace = LoadSql(
      kStrings +
      "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_VERSION','2024.5.1.113'),"
      "('EXPORT_SCHEMA_VERSION','3.13.2');"
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INT);"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1730000000000000000);"
      "CREATE TABLE TARGET_INFO_GPU(id INT, name TEXT, totalMemory INT, smCount INT, computeMajor "
      "INT, computeMinor INT, maxWarpsPerSm INT, threadsPerWarp INT);"
      "INSERT INTO TARGET_INFO_GPU VALUES(0,'NVIDIA L4',24000000000,58,8,9,48,32),"
      "(1,'NVIDIA A100',85899345920,108,8,0,64,NULL);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INT, cudaId INT);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(0,1),(1,0);"
      "CREATE TABLE ThreadNames(nameId INT, priority INT, globalTid INT);"
      "INSERT INTO ThreadNames VALUES(9,NULL," +
      kTid100 + "),(99,NULL," + kTid101 +
      ");"
      "CREATE TABLE OSRT_API(start INT, end INT, globalTid INT, correlationId INT, nameId INT);"
      "INSERT INTO OSRT_API VALUES(1,5," +
      kTid100 +
      ",4,8);"
      "CREATE TABLE COMPOSITE_EVENTS(id INT, start INT, globalTid INT);"
      "INSERT INTO COMPOSITE_EVENTS VALUES(1,2,3),(2,3,4);");
  const Meta& meta = trace.meta();
  EXPECT_EQ(meta.producer, "Nsight Systems 2024.5.1.113 (export schema 3.13.2)");
  EXPECT_EQ(meta.base_ns, 1'730'000'000'000'000'000);
  ASSERT_EQ(meta.devices.size(), 2U);
  EXPECT_EQ(meta.devices[0].id, 0);
  EXPECT_EQ(meta.devices[0].name, "NVIDIA A100");
  EXPECT_EQ(meta.devices[0].total_bytes, 85'899'345'920);
  EXPECT_EQ(meta.devices[0].max_threads_per_multiprocessor, 2048);
  EXPECT_EQ(meta.devices[1].max_threads_per_multiprocessor, 1536);
  EXPECT_EQ(meta.devices[1].compute_minor, 9);
  EXPECT_EQ(trace.Text(trace.tracks().name[0]), "main thread");
  EXPECT_EQ(HostRows(trace), "other pthread_mutex_lock 100/100 @1+4\n");
  EXPECT_EQ(trace.Text(trace.runtime_calls().domain[trace.host().detail[0]]), "osrt");
  EXPECT_EQ(EventCounts(trace), "X OSRT_API 1\ni COMPOSITE_EVENTS 2\n");
}

// Files without their texts have the number of each instead, which names no thread.
TEST(NsysTest, ThreadsNamedByANumberOfATextHaveNoName) {
  const Trace trace = LoadSql(
      kStrings +
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INT);"
      "INSERT INTO StringIds VALUES(35,'string 35'),(36,'string 35');"
      "CREATE TABLE ThreadNames(nameId INT, priority INT, globalTid INT);"
      "INSERT INTO ThreadNames VALUES(35,NULL," +
      kTid100 + "),(36,NULL," + kTid101 +
      ");"
      "CREATE TABLE OSRT_API(start INT, end INT, globalTid INT, correlationId INT, nameId INT);"
      "INSERT INTO OSRT_API VALUES(1,5," +
      kTid100 + ",4,8),(1,5," + kTid101 + ",5,8);");
  ASSERT_EQ(trace.tracks().size(), 2U);
  EXPECT_EQ(trace.Text(trace.tracks().name[0]), "");
  EXPECT_EQ(trace.Text(trace.tracks().name[1]), "string 35");  // of another number: a name
}

TEST(NsysTest, MemoryUsage) {
  const Trace trace = LoadSql(
      kStrings + kRanges +
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INT, globalPid INT, deviceId INT, address "
      "INT, bytes INT, memKind INT, memoryOperationType INT);"
      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(10," +
      kPid100 + ",1,4096,512,2,0),(20," + kPid100 + ",1,4096,512,2,1),(30," + kPid100 +
      ",0,1,64,1,0),(40,0,0,1,64,1,7),(50,0,0,1,-64,2,0);");
  const MemoryEvents& memory = trace.memory();
  EXPECT_EQ(memory.bytes, (std::vector<int64_t>{512, -512, 64}));
  EXPECT_EQ(memory.device_type, (std::vector<int32_t>{1, 1, 0}));
  EXPECT_EQ(memory.device, (std::vector<int32_t>{1, 1, -1}));
  EXPECT_EQ(trace.diagnostics().count(Diag::kBadFieldType), 2U);
}

TEST(NsysTest, OddTimesAreRepairedAndCounted) {
  const Trace trace = LoadSql(kStrings + kCalls +
                              "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10,5,0," + kTid100 +
                              ",1,3,0),"
                              "(20,NULL,0," +
                              kTid100 + ",2,3,0),('',30,0," + kTid100 +
                              ",3,3,0),"
                              "(9223372036854775807,9223372036854775807,0," +
                              kTid100 +
                              ",4,3,0),"
                              "(-9223372036854775807,7,0," +
                              kTid100 +
                              ",99999999999,3,0),"
                              "('x',X'00',0," +
                              kTid100 + ",'5',3,0);");
  const Diagnostics& diagnostics = trace.diagnostics();
  EXPECT_EQ(diagnostics.count(Diag::kNegativeDuration), 1U);
  EXPECT_EQ(diagnostics.count(Diag::kMissingDuration), 1U);
  EXPECT_EQ(diagnostics.count(Diag::kMissingTimestamp), 2U);
  EXPECT_EQ(diagnostics.count(Diag::kBadFieldType), 2U);
  EXPECT_GE(diagnostics.count(Diag::kIntegerOverflow), 3U);
  EXPECT_EQ(trace.host().size(), 4U);
  EXPECT_EQ(EventCounts(trace), "X CUPTI_ACTIVITY_KIND_RUNTIME 6\n");
}

TEST(NsysTest, StringsThatAreNotThere) {
  const Trace trace = LoadSql(
      "CREATE TABLE StringIds(id, value);"
      "INSERT INTO StringIds VALUES(-5,'neg'),(9000000000000,'far'),(NULL,'none'),('7','seven');" +
      kCalls + Call(1, 2, kTid100, 1, -5) + Call(3, 4, kTid100, 2, 7) + Call(5, 6, kTid100, 3, 8) +
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(7,8,0,NULL,4,9000000000000,0);");
  EXPECT_EQ(HostRows(trace),
            "call far -1/-1 @7+1\n"
            "call neg 100/100 @1+1 #1\ncall seven 100/100 @3+1 #2\n"
            "call  100/100 @5+1 #3\n");
  EXPECT_EQ(trace.diagnostics().Get(Diag::kMissingName).first, "string 8 is not in the file");
}

TEST(NsysTest, TextsThatAreNotUtf8) {
  const Trace trace = LoadSql(
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES(3,CAST(X'61ff62e282' AS TEXT));" +
      kCalls + Call(1, 2, kTid100, 1, 3));
  EXPECT_EQ(HostRows(trace),
            "call a\xef\xbf\xbd"
            "b\xef\xbf\xbd\xef\xbf\xbd 100/100 @1+1 #1\n");
  EXPECT_EQ(trace.diagnostics().count(Diag::kInvalidUtf8), 1U);
}

TEST(NsysTest, OnlyTablesAreRead) {
  const Trace trace = LoadSql(kStrings + kRanges +
                              "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS"
                              "(SELECT 1 UNION ALL SELECT start+1 FROM n) SELECT start FROM n;");
  EXPECT_EQ(trace.device().size(), 0U);
  EXPECT_EQ(trace.host().size(), 0U);
}

// Switches of one thread, in any order: it has no processor from the first of several losses to the
// next gain. Nothing is known before the first and after the last, and of threads without calls.
TEST(NsysTest, TimeWithoutAProcessor) {
  const Trace trace =
      LoadSql(kStrings + kCalls + Call(5, 6, kTid101, 9, 3) + Call(500, 510, kTid100, 10, 3) +
              "CREATE TABLE SCHED_EVENTS(start INT, cpu INT, isSchedIn INT, globalTid INT);"
              "INSERT INTO SCHED_EVENTS VALUES(50,0,1," +
              kTid100 + "),(20,0,0," + kTid100 + "),(30,0,0," + kTid100 + "),(60,1,1," + kTid100 +
              "),(70,1,0," + kTid100 + "),(10,2,1," + kTid101 + "),(40,2,0," + kTid101 +
              "),(41,2,1," + kTid101 + "),(1,3,0," + kTid200 + "),(9,3,1," + kTid200 +
              "),(NULL,3,1," + kTid100 + "),(2,3,1,NULL);");
  const Pauses& pauses = trace.pauses();
  std::string text;
  for (size_t row = 0; row < pauses.size(); ++row) {
    text += std::to_string(trace.tracks().tid[pauses.track[row].value]) + " " +
            std::to_string(pauses.ts_ns[row]) + ".." + std::to_string(pauses.end_ns[row]) + "\n";
  }
  EXPECT_EQ(text, "100 20..50\n101 40..41\n");
  EXPECT_EQ(EventCounts(trace), "X CUPTI_ACTIVITY_KIND_RUNTIME 2\ni SCHED_EVENTS 12\n");
  EXPECT_EQ(trace.diagnostics().count(Diag::kMissingTimestamp), 1U);
}

// "thread @time: a;b;c", the outermost frame first.
std::string SampleRows(const Trace& trace) {
  const StackSamples& samples = trace.stack_samples();
  const StackFrames& frames = trace.stack_frames();
  std::string text;
  for (size_t row = 0; row < samples.size(); ++row) {
    std::string stack;
    for (uint32_t frame = samples.frame[row]; frame != kNoDetail; frame = frames.parent[frame]) {
      stack = std::string(trace.Text(frames.name[frame])) + ";" + stack;
    }
    text += std::to_string(trace.tracks().tid[samples.track[row].value]) + " @" +
            std::to_string(samples.ts_ns[row]) + ": " + stack + "\n";
  }
  return text;
}

// Rows of chains are in any order; what has no symbol is named by its module. Of processes without
// calls nothing is read.
TEST(NsysTest, SampledStacks) {
  const Trace trace = LoadSql(
      kStrings + kCalls + Call(5, 6, kTid100, 9, 3) +
      "INSERT INTO StringIds VALUES(20,'main'),(21,'solve'),(22,'0x7fff81a8b858'),"
      "(23,'/usr/lib/libcuda.so.525'),(24,'[vdso]'),(25,'/opt/a.out');"
      "CREATE TABLE COMPOSITE_EVENTS(id INT, start INT, globalTid INT);"
      "INSERT INTO COMPOSITE_EVENTS VALUES(1,300," +
      kTid100 + "),(2,100," + kTid101 + "),(3,200," + kTid100 + "),(4,250," + kTid100 +
      "),(5,NULL," + kTid100 + "),(6,1," + kTid200 +
      ");"
      "CREATE TABLE SAMPLING_CALLCHAINS(id INT, symbol INT, module INT, unresolved INT,"
      "stackDepth INT);"
      "INSERT INTO SAMPLING_CALLCHAINS VALUES(1,21,25,NULL,0),(1,20,25,NULL,1),(2,20,25,NULL,2),"
      "(2,22,23,1,0),(2,21,25,NULL,1),(3,22,24,NULL,0),(3,20,25,NULL,1),(6,20,25,NULL,0),"
      "(77,20,25,NULL,0);");
  EXPECT_EQ(SampleRows(trace),
            "100 @200: main;[vdso];\n100 @250: \n100 @300: main;solve;\n"
            "101 @100: main;solve;[libcuda.so.525];\n");
  EXPECT_EQ(trace.stack_frames().size(), 4U);
  EXPECT_EQ(EventCounts(trace), "X CUPTI_ACTIVITY_KIND_RUNTIME 1\ni COMPOSITE_EVENTS 6\n");
  EXPECT_EQ(trace.begin_ns(), 5);
  EXPECT_EQ(trace.end_ns(), 6);
}

TEST(NsysTest, WhatIsOne) {
  EXPECT_EQ(LoadSql(kStrings + kRanges).meta().format, TraceFormat::kNsys);
  EXPECT_EQ(LoadSql(kStrings + "CREATE TABLE TARGET_INFO_GPU(id INT);").meta().format,
            TraceFormat::kNsys);
  EXPECT_FALSE(TryLoadSql(kStrings).ok());
}

// Damage inside a table is an error with a remedy, not a result for the rest.
TEST(NsysTest, ADamagedPage) {
  const std::string path = testing::TempDir() + "/damaged.sqlite";
  std::remove(path.c_str());
  std::string sql = kStrings + kCalls + kKernels + "BEGIN;";
  for (int i = 0; i < 2000; ++i) {
    sql += Kernel(int64_t{10} * i, int64_t{10} * i + 5, 0, kPid100, i);
  }
  {
    SqlDatabase database = std::move(SqlDatabase::Create(path)).value();
    ASSERT_TRUE(database.Run(sql + "COMMIT;").ok());
  }
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  std::fseek(file, 20L * 4096, SEEK_SET);
  const std::string garbage(4096, '\x07');
  std::fwrite(garbage.data(), 1, garbage.size(), file);
  std::fclose(file);
  const Result<Trace> trace = LoadFile(path, {});
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(trace.error().Sentence().find("damaged.sqlite"), std::string::npos);
  std::remove(path.c_str());
}

// Waits for events name the stream and the call of the last record of the event before them.
TEST(NsysTest, WaitsForEventsNameTheirRecord) {
  for (const bool has_numbers : {false, true}) {
    const std::string records = has_numbers ? "31" : "4294967295";
    const Trace trace = LoadSql(
        kStrings + kKernels + Kernel(0, 10, 0, kPid100, 1) +
        "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId INT, contextId INT, streamId INT,"
        "correlationId INT, globalPid INT, eventId INT, eventSyncId INT);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0,1,13,9," +
        kPid100 + ",5,32)," + "(0,1,7,4," + kPid100 + ",5," + records + "),(0,1,8,2," + kPid100 +
        ",5,30),"
        "(0,1,9,3," +
        kPid200 +
        ",5,31);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, deviceId INT,"
        "contextId INT, streamId INT, correlationId INT, globalPid INT, syncType INT, eventId INT,"
        "eventSyncId INT);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(20,25,0,1,4294967295,6," +
        kPid100 + ",1,5," + records + "),(30,35,0,1,7,7," + kPid100 + ",3,4294967295,4294967295);");
    ASSERT_EQ(trace.syncs().size(), 2U);
    EXPECT_EQ(trace.syncs().wait_on_stream[0], 7);
    EXPECT_EQ(trace.syncs().wait_on_record_correlation[0], 4);
    EXPECT_EQ(trace.syncs().wait_on_stream[1], kMissing);
    EXPECT_NE(EventCounts(trace).find("i CUPTI_ACTIVITY_KIND_CUDA_EVENT 4"), std::string::npos);
  }
}

}  // namespace
}  // namespace borescope::internal
