#include "borescope/ingest/recording/recording.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/ingest/load.h"
#include "borescope/ingest/recording/recording_test_log.h"

namespace borescope::internal {
namespace {

using recording::ChunkKind;
using recording::RecordType;

Trace Load(const std::string& bytes) {
  Result<Trace> trace = LoadBytes(bytes, "test.bsl", {});
  EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
  return std::move(*trace);
}

uint64_t CountOf(const Trace& trace, Diag diag) { return trace.diagnostics().count(diag); }

int64_t RowOf(const Trace& trace, std::string_view name) {
  const HostEvents& host = trace.host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    if (trace.Name(HostId{row}) == name) return row;
  }
  return -1;
}

// A thread with an operator of PyTorch in a range, and a mark.
TestChunk ThreadChunk() {
  TestChunk chunk(101, 2'000);
  chunk.Add(RecordType::kPush, 0, {2'000}, "step")
      .Add(RecordType::kPush, 0, {2'100}, "aten::mm, seq = 7, op_id = 3, sizes = [[2, 3], [3, 4]]")
      .Add(RecordType::kMark, 0, {2'150}, "here")
      .Add(RecordType::kPop, 0, {2'200})
      .Add(RecordType::kPop, 0, {3'000});
  return chunk;
}

recording::KernelBody TestKernel() {
  recording::KernelBody kernel{};
  kernel.start_ns = 2'500;
  kernel.end_ns = 2'900;
  kernel.stream = 7;
  kernel.name = 1;
  kernel.grid[0] = 8;
  kernel.block[0] = 256;
  return kernel;
}

std::string WholeLog() {
  TestChunk calls(101, 2'110);
  constexpr uint64_t kRuntimeLaunch = 211;  // cudaLaunchKernel_v7000
  calls.Add(RecordType::kCall, 5, {2'110, 2'120, kRuntimeLaunch | uint64_t{1} << 32U, 0, 101});
  TestChunk activity(0, 2'500, ChunkKind::kActivity);
  activity.AddBody(RecordType::kKernel, 5, TestKernel());
  TestChunk strings(100, 1'000, ChunkKind::kStrings);
  strings.Add(RecordType::kString, 1, {}, "_Z4gemmv");
  return TestLog(TestLogHeader(3), {ThreadChunk(), calls, activity, strings});
}

// Copies of a log count once, also one that was made while the log was written; the same bytes of
// another process do not.
TEST(RecordingTest, CopiesOfALogCountOnce) {
  const TemporaryFolder folder = TemporaryFolder::Make().value();
  const auto put = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder.path() + "/" + name, std::ios::binary) << bytes;
    return folder.path() + "/" + name;
  };
  const std::string early = TestLog(TestLogHeader(3), {ThreadChunk()});
  const std::vector<std::string> one = {put("a.bsl", WholeLog())};
  const std::vector<std::string> copied = {put("0.bsl", early), one[0], put("b.bsl", WholeLog())};
  const std::vector<std::string> other = {
      one[0], put("c.bsl", TestLog(TestLogHeader(3, 200), {ThreadChunk()}))};
  const Trace alone = LoadRecording(one, {}).value();
  const Trace with_copies = LoadRecording(copied, {}).value();
  EXPECT_EQ(with_copies.host().size(), alone.host().size());
  EXPECT_EQ(with_copies.device().size(), alone.device().size());
  EXPECT_EQ(CountOf(with_copies, Diag::kCopiedFile), 2U);
  EXPECT_EQ(with_copies.meta().file_bytes, alone.meta().file_bytes);
  const Trace with_other = LoadRecording(other, {}).value();
  EXPECT_GT(with_other.host().size(), alone.host().size());
  EXPECT_EQ(CountOf(with_other, Diag::kCopiedFile), 0U);
}

// As roctracer records: the call says the grid, and the kernel's record does not.
TEST(RecordingTest, TheGridOfACallIsThatOfItsKernel) {
  recording::KernelBody kernel = TestKernel();
  kernel.grid[0] = kernel.block[0] = 0;
  TestChunk activity(0, 2'500, ChunkKind::kActivity);
  activity.AddBody(RecordType::kKernel, 5, kernel);
  activity.AddBody(RecordType::kKernel, 6, TestKernel());
  activity.AddBody(RecordType::kKernel, 7, kernel);
  TestChunk calls(101, 2'110);
  constexpr auto kShape = static_cast<uint64_t>(recording::CallDetailKind::kLaunchShape);
  for (const uint32_t correlation : {5U, 6U}) {
    calls.Add(RecordType::kCallDetail, correlation,
              {kShape, 70'000 | uint64_t{2} << 32U, 3 | uint64_t{512} << 32U,
               64 | uint64_t{4} << 16U | uint64_t{1} << 32U});
  }
  const Trace trace = Load(TestLog(TestLogHeader(), {activity, calls}));
  const Kernels& kernels = trace.kernels();
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels.grid_x[0], 70'000);
  EXPECT_EQ(kernels.grid_z[0], 3);
  EXPECT_EQ(kernels.block_x[0], 64);
  EXPECT_EQ(kernels.block_y[0], 4);
  EXPECT_EQ(kernels.shared_bytes[0], 512);
  EXPECT_EQ(kernels.grid_x[1], 8);
  EXPECT_EQ(kernels.grid_x[2], -1);
  EXPECT_EQ(kernels.shared_bytes[2], -1);
  EXPECT_EQ(kernels.registers[0], -1);
  EXPECT_EQ(kernels.registers[1], 0);
}

// A ring whose note says that chunks released until 5000 may be overwritten: of its three chunks
// one is, one is being used again, and one is newer.
TEST(RecordingTest, OfARingWhatIsAboutToBeOverwrittenIsLeftOut) {
  recording::LogHeader header = TestLogHeader();
  header.flags |= recording::kIsRing;
  TestChunk process(100, 1'000, ChunkKind::kStrings);
  constexpr auto kOverwrote = static_cast<uint32_t>(recording::StateKind::kRingOverwrote);
  process.Add(RecordType::kState, kOverwrote, {5'000, 1'500, 7});
  const auto marks = [](uint64_t ns, std::string_view text) {
    TestChunk chunk(101, ns);
    chunk.Add(RecordType::kMark, 0, {ns}, text);
    return chunk;
  };
  std::string log =
      TestLog(header, {process, marks(4'000, "old"), marks(4'500, "reused"), marks(6'000, "kept")});
  const auto chunk_at = [&](size_t number) {
    return reinterpret_cast<recording::ChunkHeader*>(log.data() +
                                                     (1 + number) * recording::kLeastHeaderBytes);
  };
  chunk_at(1)->released_ns = 5'000;
  chunk_at(2)->magic = recording::kReusedChunkMagic;
  chunk_at(3)->released_ns = 7'000;
  const Trace trace = Load(log);
  ASSERT_EQ(trace.host().size(), 1U);
  EXPECT_EQ(RowOf(trace, "kept"), 0);
  EXPECT_EQ(CountOf(trace, Diag::kTornChunk), 0U);
  EXPECT_EQ(CountOf(trace, Diag::kRecordingGap), 1U);
}

TEST(RecordingTest, ARingThatHasNotOverwrittenAnythingHasNoGap) {
  recording::LogHeader header = TestLogHeader();
  header.flags |= recording::kIsRing;
  TestChunk process(100, 1'000, ChunkKind::kStrings);
  process.Add(RecordType::kState, static_cast<uint32_t>(recording::StateKind::kRingOverwrote),
              {0, 0, 0});
  const Trace trace = Load(TestLog(header, {process, ThreadChunk()}));
  EXPECT_EQ(trace.host().size(), 3U);
  EXPECT_EQ(CountOf(trace, Diag::kRecordingGap), 0U);
}

TEST(RecordingTest, RangesOfAThreadNest) {
  const Trace trace = Load(TestLog(TestLogHeader(), {ThreadChunk()}));
  ASSERT_EQ(trace.host().size(), 3U);
  const auto step = static_cast<uint32_t>(RowOf(trace, "step"));
  const auto mm = static_cast<uint32_t>(RowOf(trace, "aten::mm"));
  EXPECT_EQ(trace.host().dur_ns[step], 1'000);
  EXPECT_EQ(trace.host().dur_ns[mm], 100);
  EXPECT_EQ(trace.host().kind[mm], HostKind::kOp);
  EXPECT_EQ(trace.host().kind[step], HostKind::kAnnotation);
  EXPECT_EQ(trace.host().dur_ns[static_cast<uint32_t>(RowOf(trace, "here"))], 0);
}

TEST(RecordingTest, DeviceWorkBelongsToItsCall) {
  const Trace trace = Load(WholeLog());
  ASSERT_EQ(trace.device().size(), 1U);
  EXPECT_EQ(trace.Name(DeviceId{0}), "gemm()");
  EXPECT_EQ(trace.device().dur_ns[0], 400);
  EXPECT_EQ(trace.meta().rank, 3);
  EXPECT_GE(RowOf(trace, "cudaLaunchKernel"), 0);
}

// The counters of a launch, which names the metric 2; `count` of them are said to follow.
void AddCounters(TestChunk& chunk, uint32_t correlation, uint64_t count,
                 std::initializer_list<double> values) {
  std::vector<uint64_t> words = {2'110, 2'950, uint64_t{1} << 32U, 1 | count << 32U};
  for (const double value : values) {
    words.push_back(2);
    words.push_back(std::bit_cast<uint64_t>(value));
  }
  chunk.AddWords(RecordType::kCounters, correlation, words);
}

// By the number of the launch, in whichever order the records come; with the time of the kernel, or
// that of its launch where the kernel has no record.
TEST(RecordingTest, CountersBelongToTheKernelOfTheirLaunch) {
  TestChunk activity(0, 2'500, ChunkKind::kActivity);
  AddCounters(activity, 6, 1, {12.5});
  activity.AddBody(RecordType::kKernel, 5, TestKernel());
  activity.AddBody(RecordType::kKernel, 6, TestKernel());
  activity.AddBody(RecordType::kKernel, 6, TestKernel());
  AddCounters(activity, 7, 2, {1, std::numeric_limits<double>::quiet_NaN()});
  AddCounters(activity, 8, 99, {3});
  TestChunk strings(100, 1'000, ChunkKind::kStrings);
  strings.Add(RecordType::kString, 1, {}, "_Z4gemmv");
  strings.Add(RecordType::kString, 2, {}, "dram__bytes_read.sum");
  const Trace trace = Load(TestLog(TestLogHeader(), {activity, strings}));
  std::string text;
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    if (trace.device().kind[row] != DeviceKind::kRange) continue;
    const uint32_t range = trace.device().detail[row];
    text += fmt::format("{} {} {}", trace.Name(DeviceId{row}), trace.device().dur_ns[row],
                        trace.device().correlation[row]);
    for (uint32_t i = trace.ranges().first_metric[range]; i < trace.ranges().end_metric[range];
         ++i) {
      text += fmt::format(" {}={}", trace.Text(trace.metrics().name[i]), trace.metrics().value[i]);
    }
    text += '\n';
  }
  EXPECT_EQ(text,
            "gemm() 840 7 dram__bytes_read.sum=1\n"
            "gemm() 840 8 dram__bytes_read.sum=3\n"
            "gemm() 400 6 dram__bytes_read.sum=12.5\n");
}

TEST(RecordingTest, OpenRangesEndAtTheLastRecord) {
  TestChunk chunk(101, 2'000);
  chunk.Add(RecordType::kPush, 0, {2'000}, "killed")
      .Add(RecordType::kPush, 0, {2'100}, "inner")
      .Add(RecordType::kPop, 0, {2'600});
  const Trace trace = Load(TestLog(TestLogHeader(), {chunk}));
  EXPECT_EQ(trace.host().dur_ns[static_cast<uint32_t>(RowOf(trace, "killed"))], 600);
  EXPECT_EQ(CountOf(trace, Diag::kOpenRange), 1U);
}

// A fork within a step: the child leaves the ranges and frames that its parent began. What another
// thread of it leaves, and what any process leaves that is no copy, was lost.
TEST(RecordingTest, AChildOfForkMayEndWhatItsParentBegan) {
  const auto missing = [](uint32_t flags, uint32_t thread) {
    TestChunk chunk(thread, 2'000);
    chunk.Add(RecordType::kPush, 0, {2'000}, "own")
        .Add(RecordType::kPop, 0, {2'100})
        .Add(RecordType::kPop, 0, {2'200})
        .Add(RecordType::kPop, 0, {2'300});
    recording::LogHeader header = TestLogHeader();
    header.flags |= flags;
    const Trace trace = Load(TestLog(header, {chunk}));
    EXPECT_EQ(trace.host().dur_ns[static_cast<uint32_t>(RowOf(trace, "own"))], 100);
    return CountOf(trace, Diag::kMissingTimestamp);
  };
  EXPECT_EQ(missing(0, 100), 2U);
  EXPECT_EQ(missing(recording::kIsForked, 100), 0U);
  EXPECT_EQ(missing(recording::kIsForked, 101), 2U);
}

TEST(RecordingTest, OpenRangesEndWithTheirProcess) {
  const TestChunk open = [] {
    TestChunk chunk(101, 2'000);
    return chunk.Add(RecordType::kPush, 0, {2'000}, "killed");
  }();
  // What devices did counts, and what the launcher saw: in any place of the file.
  TestChunk device(102, 3'000, ChunkKind::kActivity);
  device.Add(RecordType::kSync, 0, {3'000, 9'000, 0, 0});
  TestChunk end(7, 9'500, ChunkKind::kSamples);
  constexpr auto kSignal = static_cast<uint64_t>(int64_t{-9});
  end.Add(RecordType::kEnd, static_cast<uint32_t>(recording::EndKind::kParent), {12'000, kSignal});
  const auto duration = [](const Trace& trace) {
    return trace.host().dur_ns[static_cast<uint32_t>(RowOf(trace, "killed"))];
  };
  EXPECT_EQ(duration(Load(TestLog(TestLogHeader(), {open, device}))), 7'000);
  EXPECT_EQ(duration(Load(TestLog(TestLogHeader(), {device, open}))), 7'000);
  EXPECT_EQ(duration(Load(TestLog(TestLogHeader(), {open, device, end}))), 10'000);
  EXPECT_EQ(duration(Load(TestLog(TestLogHeader(), {end, open}))), 10'000);
}

TEST(RecordingTest, ARangeEndsOnAnotherThread) {
  TestChunk ends(102, 2'500);
  ends.Add(RecordType::kRangeEnd, 0, {2'700, 9});
  TestChunk starts(101, 2'000);
  starts.Add(RecordType::kRangeStart, 0, {2'000, 9}, "request");
  const Trace trace = Load(TestLog(TestLogHeader(), {ends, starts}));
  ASSERT_EQ(trace.host().size(), 1U);
  EXPECT_EQ(trace.host().dur_ns[0], 700);
}

int64_t ForwardThreadOf(const Trace& trace, std::string_view name) {
  const auto row = static_cast<uint32_t>(RowOf(trace, name));
  return trace.ops().forward_thread[trace.host().detail[row]];
}

TEST(RecordingTest, BackwardNodesOfPyTorchHaveTheirForwardThread) {
  TestChunk forward(101, 2'000);
  forward.Add(RecordType::kPush, 0, {2'000}, "aten::mm, seq = 7, op_id = 1")
      .Add(RecordType::kPop, 0, {2'100});
  TestChunk backward(102, 3'000);
  backward
      .Add(RecordType::kPush, 0, {3'000},
           "autograd::engine::evaluate_function: MmBackward0, op_id = 2")
      .Add(RecordType::kPush, 0, {3'010}, "MmBackward0, seq = 7, op_id = 3")
      .Add(RecordType::kPush, 0, {3'020}, "aten::t, seq = 0, op_id = 4")
      .Add(RecordType::kPop, 0, {3'030})
      .Add(RecordType::kPop, 0, {3'040})
      .Add(RecordType::kPop, 0, {3'050});
  const Trace trace = Load(TestLog(TestLogHeader(), {backward, forward}));
  EXPECT_EQ(ForwardThreadOf(trace, "MmBackward0"), 101);
  EXPECT_EQ(ForwardThreadOf(trace, "autograd::engine::evaluate_function: MmBackward0"), 101);
  EXPECT_EQ(ForwardThreadOf(trace, "aten::t"), kMissing);
  EXPECT_EQ(ForwardThreadOf(trace, "aten::mm"), kMissing);
}

// record_function has a number, too, and is a range of the program.
TEST(RecordingTest, NumberedRangesOfTheProgramAreNoOperators) {
  TestChunk chunk(101, 2'000);
  chunk.Add(RecordType::kPush, 0, {2'000}, "my forward, op_id = 4")
      .Add(RecordType::kPush, 0, {2'010}, "aten::detach, op_id = 5")
      .Add(RecordType::kPush, 0, {2'020}, "detach, op_id = 6")
      .Add(RecordType::kPop, 0, {2'030})
      .Add(RecordType::kPop, 0, {2'040})
      .Add(RecordType::kPop, 0, {2'050});
  const Trace trace = Load(TestLog(TestLogHeader(), {chunk}));
  const auto kind = [&](std::string_view name) {
    return trace.host().kind[static_cast<uint32_t>(RowOf(trace, name))];
  };
  EXPECT_EQ(kind("my forward"), HostKind::kAnnotation);
  EXPECT_EQ(kind("aten::detach"), HostKind::kOp);
  EXPECT_EQ(kind("detach"), HostKind::kOp);
}

// The profiler of PyTorch is read by one thread for all.
TEST(RecordingTest, AnOperatorMayBeOfAnotherThread) {
  TestChunk strings(100, 1'000, ChunkKind::kStrings);
  strings.Add(RecordType::kString, 1, {}, "aten::mm").Add(RecordType::kString, 2, {}, "mine");
  TestChunk chunk(101, 2'000);
  constexpr uint8_t kRange = recording::kHasThread | recording::kIsRange;
  chunk
      .Add(RecordType::kOperator, 1, {1'000, 1'500, 3, 0, 0, 105}, R"({"Input Dims":[[2]]})",
           recording::kHasThread)
      .Add(RecordType::kOperator, 2, {900, 1'600, ~uint64_t{0}, 0, 0, 105}, "", kRange);
  const Trace trace = Load(TestLog(TestLogHeader(), {chunk, strings}));
  const auto mm = static_cast<uint32_t>(RowOf(trace, "aten::mm"));
  const auto mine = static_cast<uint32_t>(RowOf(trace, "mine"));
  EXPECT_EQ(trace.tracks().tid[trace.host().track[mm].value], 105);
  EXPECT_EQ(trace.host().track[mine].value, trace.host().track[mm].value);
  EXPECT_EQ(trace.host().kind[mine], HostKind::kAnnotation);
  const uint32_t detail = trace.host().detail[mm];
  EXPECT_EQ(trace.Text(trace.ops().input_dims[detail]), "[[2]]");
}

// Zero says that a thread is not known, also where threads are described without their handle.
TEST(RecordingTest, ACallWithoutAThreadIsOfItsWriter) {
  TestChunk calls(101, 2'000);
  calls.Add(RecordType::kCall, 5, {2'100, 2'200, 211 | uint64_t{1} << 32U, 0, 0});
  TestChunk names(102, 2'500);
  names.Add(RecordType::kThread, 102, {0, 0}, "worker");
  const Trace trace = Load(TestLog(TestLogHeader(), {calls, names}));
  ASSERT_EQ(trace.host().size(), 1U);
  EXPECT_EQ(trace.tracks().tid[trace.host().track[0].value], 101);
}

TEST(RecordingTest, OperatorsHaveTheirInputs) {
  TestChunk chunk(101, 2'000);
  chunk.Add(RecordType::kString, 1, {}, "aten::add")
      .Add(RecordType::kOperator, 1, {2'000, 2'400, 11, 0, 5},
           R"({"Input Dims":[[2,3],[2,3]],"Input type":["float","float"]})");
  const Trace trace = Load(TestLog(TestLogHeader(), {chunk}));
  const auto row = static_cast<uint32_t>(RowOf(trace, "aten::add"));
  const uint32_t detail = trace.host().detail[row];
  EXPECT_EQ(trace.ops().sequence[detail], 11);
  EXPECT_EQ(trace.strings().Get(trace.ops().input_dims[detail]), "[[2,3],[2,3]]");
}

TEST(RecordingTest, WhatWasLostIsCounted) {
  TestChunk chunk(101, 2'000);
  chunk.Add(RecordType::kDropped, static_cast<uint32_t>(recording::DropSource::kActivity),
            {12, 0, 2'500});
  const Trace trace = Load(TestLog(TestLogHeader(), {ThreadChunk(), chunk}));
  EXPECT_EQ(CountOf(trace, Diag::kDroppedRecords), 12U);
}

// A damaged record ends its chunk; the next one goes on.
TEST(RecordingTest, ATornChunkLosesNoOther) {
  TestChunk torn(102, 1'500);
  torn.Add(RecordType::kPush, 0, {1'500}, "before").Add(RecordType::kPop, 0, {1'600});
  std::string bytes = TestLog(TestLogHeader(), {torn, ThreadChunk()});
  const size_t second = recording::kLeastHeaderBytes + sizeof(recording::ChunkHeader) +
                        3 * sizeof(uint64_t);  // the pop
  bytes[second + 1] = '\xff';
  bytes[second + 2] = '\xff';
  const Trace trace = Load(bytes);
  EXPECT_EQ(CountOf(trace, Diag::kTornChunk), 1U);
  EXPECT_GE(RowOf(trace, "before"), 0);
  EXPECT_GE(RowOf(trace, "step"), 0);
}

TEST(RecordingTest, ALogOfAnotherVersionIsRefused) {
  recording::LogHeader header = TestLogHeader();
  header.version = 2;
  const Result<Trace> trace = LoadBytes(TestLog(header, {ThreadChunk()}), "new.bsl", {});
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupportedFormat);
  EXPECT_NE(trace.error().Sentence().find("version 2"), std::string::npos);
}

TEST(RecordingTest, EveryPrefixIsReadOrRefused) {
  const std::string whole = WholeLog();
  for (size_t bytes = 0; bytes < whole.size(); bytes += bytes < 600 ? 1 : 8) {
    const Result<Trace> trace = LoadBytes(whole.substr(0, bytes), "cut.bsl", {});
    if (bytes >= recording::kLeastHeaderBytes) {
      ASSERT_TRUE(trace.ok()) << bytes << ": " << trace.error().Sentence();
      EXPECT_LE(trace->host().size(), 4U);
    }
  }
}

TEST(RecordingTest, AnyChangedWordIsReadOrRefused) {
  const std::string whole = WholeLog();
  for (size_t offset = 0; offset < whole.size(); offset += sizeof(uint64_t)) {
    // The rest of the first page is empty.
    if (offset == 160) offset = recording::kLeastHeaderBytes;
    for (const char byte : {'\x00', '\x01', '\x7f', '\xff'}) {
      std::string changed = whole;
      for (size_t i = 0; i < sizeof(uint64_t); ++i) {
        changed[offset + i] = static_cast<char>(changed[offset + i] ^ byte);
      }
      const Result<Trace> trace = LoadBytes(changed, "changed.bsl", {});
      EXPECT_TRUE(trace.ok() || !trace.error().Sentence().empty());
    }
  }
}

}  // namespace
}  // namespace borescope::internal
