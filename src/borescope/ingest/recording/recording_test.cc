#include "borescope/ingest/recording/recording.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "borescope/ingest/cupti/cupti_test_database.h"
#include "borescope/testing/log_maker.h"

namespace borescope::internal {
namespace {

using recording::ChunkKind;
using recording::RecordType;
using testkit::LogMaker;

constexpr uint64_t kLaunchOfRuntime = 211 | uint64_t{1} << 32U;
constexpr std::string_view kOperatorText =
    "aten::mm, seq = 12, op_id = 3, sizes = [[2, 3], [3, 4]]";

Result<Trace> TryLoad(const std::string& bytes) { return LoadBytes(bytes, "a.bsl", {}); }

Trace Load(const LogMaker& log) {
  Result<Trace> trace = TryLoad(log.Bytes());
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace(TraceData());
}

// A launch in an operator in a range, its kernel, a mark, a range of two threads, frames of Python,
// and a range that is open when the process is killed. Texts come last in the file.
LogMaker SmallLog() {
  LogMaker log(100);
  log.Chunk(100, 1000);
  log.Add(RecordType::kPush, 0, {1000}, "outer");
  log.Add(RecordType::kPush, 0, {1100}, kOperatorText);
  log.Add(RecordType::kCall, 5, {1200, 1300, kLaunchOfRuntime, 0, 0});
  log.Add(RecordType::kPop, 0, {1500});
  log.Add(RecordType::kMark, 0, {1600}, "mark");
  log.Add(RecordType::kRangeStart, 0, {1650, 9}, "request");
  log.Add(RecordType::kPush, 16, {1700}, "ncclAllReduce");
  log.Add(RecordType::kPop, 0, {1800});
  log.Add(RecordType::kPop, 16, {1900});
  log.Add(RecordType::kPush, 0, {2500}, "open");
  log.Chunk(101, 1150);
  log.Add(RecordType::kRangeEnd, 0, {2600, 9});
  log.Add(RecordType::kPythonCall, 1, {2610});
  log.Add(RecordType::kPythonReturn, 1, {2700});
  log.Add(RecordType::kOperator, 3, {2710, 2720, 12, 100, 8},
          R"({"Input Dims": [[2]], "Input type": ["float"]})");
  log.Chunk(102, 3000, ChunkKind::kActivity);
  recording::KernelBody kernel{};
  kernel.start_ns = 1400;
  kernel.end_ns = 1450;
  kernel.stream = 7;
  kernel.name = 1;
  kernel.grid[0] = 4;
  log.AddBody(RecordType::kKernel, 5, kernel);
  log.Chunk(102, 3100, ChunkKind::kStrings);
  log.Add(RecordType::kString, 1, {}, "_Z4gemmPf");
  log.Add(RecordType::kString, 2, {}, "train.py");
  log.Add(RecordType::kString, 3, {}, "MmBackward0");
  log.Add(RecordType::kPythonCode, 1, {2 | uint64_t{12} << 32U}, "step");
  log.Add(RecordType::kName, 1, {16, 0}, "NCCL");
  log.Add(RecordType::kThread, 101, {0, 0}, "worker");
  return log;
}

TEST(Recording, RecordsOfThreadsAreEventsOfTheHost) {
  const Trace trace = Load(SmallLog());
  EXPECT_EQ(HostRows(trace),
            "range outer 100/100 @1000+800\n"
            "op aten::mm 100/100 @1100+400\n"
            "call cudaLaunchKernel 100/100 @1200+100 #5\n"
            "range mark 100/100 @1600+0\n"
            "range NCCL:ncclAllReduce 100/100 @1700+200\n"
            "range open 100/100 @2500+220\n"
            "range request 100/100 @1650+950\n"
            "python train.py(12): step 100/101 @2610+90\n"
            "op MmBackward0 100/101 @2710+10\n");
  EXPECT_EQ(trace.diagnostics().count(Diag::kMissingDuration), 1U);
  EXPECT_EQ(trace.meta().format, TraceFormat::kRecording);
}

TEST(Recording, OperatorsKeepSequenceAndShapes) {
  const Trace trace = Load(SmallLog());
  const Ops& ops = trace.ops();
  ASSERT_EQ(ops.size(), 2U);
  for (size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(ops.sequence[row], 12);
    const bool is_backward = ops.forward_thread[row] == 100;
    EXPECT_EQ(trace.Text(ops.input_dims[row]), is_backward ? "[[2]]" : "[[2, 3], [3, 4]]");
    EXPECT_EQ(trace.Text(ops.input_types[row]), is_backward ? R"(["float"])" : "");
  }
}

TEST(Recording, WorkIsTiedToItsCall) {
  const Trace trace = Load(SmallLog());
  EXPECT_EQ(DeviceRows(trace), "kernel gemm(float*) 0/7 @1400+50 #5\n");
  EXPECT_EQ(trace.kernels().grid_x[0], 4);
}

TEST(Recording, WhatAPopEndsBeganBefore) {
  LogMaker log(1);
  log.Chunk(1, 10);
  log.Add(RecordType::kPop, 0, {10});
  log.Add(RecordType::kDropped, 1, {3, 0, 0});
  log.Add(RecordType::kState, 6, {12}, "Kineto took the buffers");
  log.Add(static_cast<RecordType>(0x55), 0, {1});
  const Diagnostics found = Load(log).diagnostics();
  EXPECT_EQ(found.count(Diag::kMissingTimestamp), 1U);
  EXPECT_EQ(found.count(Diag::kDroppedRecords), 3U);
  EXPECT_EQ(found.Get(Diag::kRecordingGap).first, "Kineto took the buffers");
  EXPECT_EQ(found.count(Diag::kUnreadRows), 1U);
}

// What precedes the cut is read, and no cut is an error once the header is whole.
TEST(Recording, ReadsLogsThatAreCutAnywhere) {
  const std::string bytes = SmallLog().Bytes();
  size_t last = 0;
  for (size_t cut = 0; cut < bytes.size(); cut += cut % 4096 < 1024 ? 1 : 512) {
    const Result<Trace> trace = TryLoad(bytes.substr(0, cut));
    ASSERT_EQ(trace.ok(), cut >= sizeof(recording::LogHeader)) << cut;
    if (trace.ok()) {
      ASSERT_GE(trace->host().size() + trace->device().size(), last) << cut;
      last = trace->host().size() + trace->device().size();
    }
  }
  EXPECT_EQ(last, 10U);
}

TEST(Recording, AnyDamageEndsInATraceOrAnError) {
  const std::string bytes = SmallLog().Bytes();
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 3000; ++turn) {
    std::string damaged = bytes;
    for (int change = 0; change < 8; ++change) {
      const size_t chunk = random() % (bytes.size() / 4096) * 4096;
      damaged[chunk + random() % 512] = static_cast<char>(random());
    }
    const Result<Trace> trace = TryLoad(damaged);
    if (trace.ok()) {
      ASSERT_LE(trace->host().size(), 64U);
    }
  }
}

TEST(Recording, ATornChunkHidesNoOther) {
  LogMaker log = SmallLog();
  std::string bytes = log.Bytes();
  bytes[2 * 4096] = 'x';  // the magic of the second chunk
  const Result<Trace> trace = TryLoad(bytes);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->diagnostics().count(Diag::kTornChunk), 1U);
  EXPECT_EQ(trace->device().size(), 1U);
}

TEST(Recording, OtherVersionsAreNamed) {
  LogMaker log(1);
  log.header.version = 2;
  const Result<Trace> trace = TryLoad(log.Bytes());
  ASSERT_FALSE(trace.ok());
  EXPECT_NE(trace.error().message.find("version 2"), std::string::npos) << trace.error().message;
}

}  // namespace
}  // namespace borescope::internal
