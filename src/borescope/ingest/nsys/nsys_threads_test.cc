#include "borescope/ingest/nsys/nsys_threads.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/ingest/cupti/cupti_test_database.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

namespace {

const std::string kTid = std::to_string(int64_t{100} << 24 | 100);

const std::string kStrings =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
    "INSERT INTO StringIds VALUES(1,'cudaMalloc'),(2,'cudaFree'),(3,'ioctl'),(10,'main'),"
    "(11,'grow'),(12,'drop'),(13,'0x7f00'),(14,'/usr/lib/libcuda.so.525'),(15,'/opt/a.out'),"
    "(20,'cudaMalloc_v3020'),(21,'cudaFree_v3020'),(22,'__ioctl');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT,"
    "correlationId INT, nameId INT, callchainId INT);"
    "CREATE TABLE OSRT_API(start INT, end INT, eventClass INT, globalTid INT, nameId INT,"
    "callchainId INT NOT NULL);"
    "CREATE TABLE CUDA_CALLCHAINS(id INT, symbol INT, module INT, unresolved INT, stackDepth INT);"
    "CREATE TABLE OSRT_CALLCHAINS(id INT, symbol INT, module INT, unresolved INT, stackDepth INT);";

std::string Call(int64_t start, int event_class, int correlation, int name,
                 const std::string& chain) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(" + std::to_string(start) + "," +
         std::to_string(start + 5) + "," + std::to_string(event_class) + "," + kTid + "," +
         std::to_string(correlation) + "," + std::to_string(name) + "," + chain + ");";
}

std::string SystemCall(int64_t start, int chain) {
  return "INSERT INTO OSRT_API VALUES(" + std::to_string(start) + "," + std::to_string(start + 5) +
         ",27," + kTid + ",3," + std::to_string(chain) + ");";
}

// "name @time: a;b;c" per call, the outermost frame first.
std::string Stacks(const Trace& trace) {
  std::string text;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    std::string stack;
    const StackFrames& frames = trace.stack_frames();
    for (uint32_t frame = StackOfCall(trace, HostId{row}); frame != kNoDetail;
         frame = frames.parent[frame]) {
      stack = std::string(trace.Text(frames.name[frame])) + ";" + stack;
    }
    text += std::string(trace.Name(HostId{row})) + " @" + std::to_string(trace.host().ts_ns[row]) +
            ": " + stack + "\n";
  }
  return text;
}

// A backtrace is of the call with its number; a call of the system has a chain itself, or 0. A
// chain that no row has is none.
TEST(NsysCallStacksTest, OfCallsOfCudaAndTheSystem) {
  const Trace trace = LoadSql(
      kStrings + Call(10, 0, 1, 20, "NULL") + Call(9, 67, 1, 1, "1") + Call(20, 0, 2, 21, "2") +
      Call(30, 0, 3, 21, "7") + SystemCall(40, 1) + SystemCall(50, 0) +
      "INSERT INTO CUDA_CALLCHAINS VALUES(1,13,14,1,0),(1,1,14,NULL,1),(1,11,15,NULL,2),"
      "(1,10,15,NULL,3),(2,12,15,NULL,0),(2,10,15,NULL,1);"
      "INSERT INTO OSRT_CALLCHAINS VALUES(1,22,14,NULL,0),(1,10,15,NULL,1);");
  EXPECT_EQ(Stacks(trace),
            "cudaMalloc @10: main;grow;cudaMalloc;[libcuda.so.525];\ncudaFree @20: main;drop;\n"
            "cudaFree @30: \nioctl @40: main;__ioctl;\nioctl @50: \n");
  EXPECT_EQ(trace.stack_frames().size(), 6U);
  EXPECT_TRUE(trace.diagnostics().empty());
}

// Releases of 2022 count chains from 0 in calls and from 1 in the table of chains: the frames say
// so, or, if they have no names, the largest numbers.
TEST(NsysCallStacksTest, ChainsCountedFromZero) {
  const std::string calls = kStrings + Call(10, 0, 1, 20, "NULL") + Call(20, 0, 2, 21, "NULL") +
                            Call(9, 67, 1, 1, "0") + Call(19, 67, 2, 2, "1");
  const Trace named = LoadSql(calls +
                              "INSERT INTO CUDA_CALLCHAINS VALUES(1,1,14,NULL,0),(1,11,15,NULL,1),"
                              "(2,2,14,NULL,0),(2,12,15,NULL,1),(3,10,15,NULL,0);");
  EXPECT_EQ(Stacks(named), "cudaMalloc @10: grow;cudaMalloc;\ncudaFree @20: drop;cudaFree;\n");
  const Trace unnamed =
      LoadSql(calls + "INSERT INTO CUDA_CALLCHAINS VALUES(1,11,15,NULL,0),(2,12,15,NULL,0);");
  EXPECT_EQ(Stacks(unnamed), "cudaMalloc @10: grow;\ncudaFree @20: drop;\n");
}

// Where 0 means none, numbers are those of the chains, also if the last chain is of no call, and if
// calls without a chain are named in the first one.
TEST(NsysCallStacksTest, ZeroMeansNone) {
  const Trace trace = LoadSql(
      kStrings + SystemCall(10, 0) + SystemCall(11, 0) + SystemCall(20, 1) +
      "INSERT INTO OSRT_CALLCHAINS VALUES(1,22,14,NULL,0),(1,11,15,NULL,1),(2,12,15,NULL,0);");
  EXPECT_EQ(Stacks(trace), "ioctl @10: \nioctl @11: \nioctl @20: grow;__ioctl;\n");
}

// Without a row of the call itself, its backtrace takes the place of it.
TEST(NsysCallStacksTest, ABacktraceAlone) {
  const Trace trace = LoadSql(kStrings + Call(10, 67, 1, 1, "1") +
                              "INSERT INTO CUDA_CALLCHAINS VALUES(1,11,15,NULL,0);");
  EXPECT_EQ(Stacks(trace), "cudaMalloc @10: grow;\n");
}

// What is no number refers to nothing.
TEST(NsysCallStacksTest, Damaged) {
  const Trace trace = LoadSql(
      kStrings + Call(10, 0, 1, 20, "'x'") + Call(20, 0, 2, 21, "9223372036854775807") +
      "INSERT INTO CUDA_CALLCHAINS VALUES('y',11,15,NULL,0),(1,99,98,NULL,-9223372036854775807);");
  EXPECT_EQ(Stacks(trace), "cudaMalloc @10: \ncudaFree @20: \n");
}

}  // namespace

}  // namespace borescope::internal
