#include "borescope/ingest/recording/recording_tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/ingest/recording/recording.h"
#include "borescope/ingest/recording/recording_test_log.h"

namespace borescope::internal {
namespace {

using recording::ChunkKind;
using recording::RecordType;

// What happened: begin, length and name of each event of the host and of devices.
using Happened = std::multiset<std::tuple<int64_t, int64_t, std::string>>;

Happened EventsFrom(const Trace& trace, int64_t from_ns) {
  Happened found;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    if (trace.host().ts_ns[row] >= from_ns) {
      found.emplace(trace.host().ts_ns[row], trace.host().dur_ns[row],
                    std::string(trace.Name(HostId{row})));
    }
  }
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    if (trace.device().ts_ns[row] >= from_ns) {
      found.emplace(trace.device().ts_ns[row], trace.device().dur_ns[row],
                    std::string(trace.Name(DeviceId{row})));
    }
  }
  return found;
}

class RecordingTailTest : public testing::Test {
 protected:
  // Of the log, as far as it is written.
  void Write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  Tail Read(RecordingTail& tail, int64_t from_ns = 0) const {
    Result<Tail> read = tail.Read({&path_, 1}, from_ns, {});
    EXPECT_TRUE(read.ok()) << read.error().Sentence();
    return std::move(*read);
  }
  Trace Whole() const {
    Result<Trace> trace = LoadRecording({&path_, 1}, {});
    EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
    return std::move(*trace);
  }

  const TemporaryFolder folder_ = TemporaryFolder::Make().value();
  const std::string path_ = folder_.path() + "/a.bsl";
};

recording::KernelBody KernelAt(uint64_t begin, uint64_t end, uint32_t name) {
  recording::KernelBody kernel{};
  kernel.start_ns = begin;
  kernel.end_ns = end;
  kernel.stream = 7;
  kernel.name = name;
  return kernel;
}

// Threads that push and pop, and a thread that delivers kernels, in chunks of some records each, in
// the order in which they begin. The names of kernels are written once, by whoever needs them
// first.
std::vector<TestChunk> RandomChunks(std::mt19937& dice, size_t count) {
  std::vector<TestChunk> chunks;
  uint64_t now = 10'000;
  uint32_t correlation = 0;
  std::set<uint32_t> named;
  for (size_t i = 0; i < count; ++i) {
    const auto writer = static_cast<uint32_t>(dice() % 3);
    TestChunk chunk(101 + writer, now, writer == 2 ? ChunkKind::kActivity : ChunkKind::kThread);
    for (size_t record = 0; record < 1 + dice() % 40; ++record) {
      const auto name = static_cast<uint32_t>(1 + dice() % 5);
      if (writer != 2) {
        chunk.Add(RecordType::kPush, 0, {now}, "part " + std::to_string(name))
            .Add(RecordType::kPop, 0, {now + 50});
        now += 100;
        continue;
      }
      if (named.insert(name).second) {
        chunk.Add(RecordType::kString, name, {}, "kernel " + std::to_string(name));
      }
      chunk.AddBody(RecordType::kKernel, ++correlation, KernelAt(now, now + 30, name));
      now += 50;
    }
    chunks.push_back(chunk);
  }
  return chunks;
}

TEST_F(RecordingTailTest, HasAllFromItsMomentOnThatTheWholeLogHas) {
  std::mt19937 dice(7);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const std::string whole = TestLog(TestLogHeader(), RandomChunks(dice, 30));
    const TailLimits limits{.window_bytes = 2000 + dice() % 20'000,
                            .scan_bytes = 4000 + dice() % 40'000};
    RecordingTail tail(limits);
    uint64_t read_bytes = 0;
    for (size_t bytes = recording::kLeastHeaderBytes; bytes < whole.size();) {
      bytes = std::min(whole.size(), bytes + 1 + dice() % 60'000);
      Write(whole.substr(0, bytes / 8 * 8));
      const Tail part = Read(tail);
      read_bytes += part.new_bytes;
      EXPECT_LE(part.new_bytes, limits.scan_bytes + recording::kMostChunkBytes);
      if (part.new_bytes != 0 && part.unread_bytes == 0) {
        EXPECT_EQ(EventsFrom(part.trace, part.complete_from_ns),
                  EventsFrom(Whole(), part.complete_from_ns));
      }
    }
    // What limits left for later is come to, and then nothing is looked at twice.
    for (int i = 0; i < 30; ++i) read_bytes += Read(tail).new_bytes;
    EXPECT_EQ(Read(tail).new_bytes, 0U);
    EXPECT_LE(read_bytes, whole.size());
    RecordingTail fresh;
    const Tail all = Read(fresh);
    EXPECT_EQ(all.complete_from_ns, 0);
    EXPECT_EQ(EventsFrom(all.trace, 0), EventsFrom(Whole(), 0));
    EXPECT_EQ(read_bytes, all.new_bytes);
  }
}

TEST_F(RecordingTailTest, RecordsThatComeIntoAChunkAreRead) {
  TestChunk chunk(101, 2'000);
  chunk.Add(RecordType::kPush, 3, {2'000}, "ProfilerStep#1");
  Write(TestLog(TestLogHeader(), {chunk}));
  RecordingTail tail;
  const Tail first = Read(tail);
  EXPECT_EQ(first.open_begins, std::vector<int64_t>{2'000});
  EXPECT_EQ(first.last_ns, 2'000);
  EXPECT_EQ(Read(tail).new_bytes, 0U);
  chunk.Add(RecordType::kPop, 3, {2'500});
  Write(TestLog(TestLogHeader(), {chunk}));
  const Tail second = Read(tail);
  EXPECT_EQ(second.new_bytes, 16U);
  EXPECT_TRUE(second.open_begins.empty());
  EXPECT_EQ(second.last_ns, 2'500);
  EXPECT_EQ(EventsFrom(second.trace, 0), (Happened{{2'000, 500, "ProfilerStep#1"}}));
}

// A name is written once, long before the window.
TEST_F(RecordingTailTest, NamesFromBeforeTheWindowAreKnown) {
  TestChunk names(103, 2'000, ChunkKind::kActivity);
  names.Add(RecordType::kString, 1, {}, "the kernel")
      .AddBody(RecordType::kKernel, 1, KernelAt(2'000, 2'100, 1));
  TestChunk next(103, 5'000, ChunkKind::kActivity);
  next.AddBody(RecordType::kKernel, 2, KernelAt(5'000, 5'100, 1));
  Write(TestLog(TestLogHeader(), {names, next}));
  RecordingTail tail;
  const Tail read = Read(tail, 4'000);
  EXPECT_EQ(read.complete_from_ns, 2'101);
  EXPECT_EQ(EventsFrom(read.trace, 0), (Happened{{5'000, 100, "the kernel"}}));
}

TEST_F(RecordingTailTest, NoMoreNamesThanTheLimitAreKept) {
  TestChunk names(103, 2'000, ChunkKind::kActivity);
  for (uint32_t i = 1; i < 50; ++i) {
    names.Add(RecordType::kString, i, {}, "kernel " + std::to_string(i));
  }
  Write(TestLog(TestLogHeader(), {names, TestChunk(103, 9'000, ChunkKind::kActivity)}));
  RecordingTail few({.name_bytes = 200});
  EXPECT_TRUE(Read(few).are_names_left_out);
  RecordingTail all;
  EXPECT_FALSE(Read(all).are_names_left_out);
}

TEST_F(RecordingTailTest, SaysHowTheProcessEnded) {
  TestChunk chunk(101, 2'000);
  chunk.Add(RecordType::kEnd, static_cast<uint32_t>(recording::EndKind::kParent),
            {3'000, static_cast<uint64_t>(int64_t{-9})});
  Write(TestLog(TestLogHeader(), {chunk}));
  RecordingTail tail;
  const Tail read = Read(tail);
  ASSERT_EQ(read.ends.size(), 1U);
  EXPECT_EQ(read.ends[0].pid, 100U);
  EXPECT_EQ(read.ends[0].status, -9);
}

TEST_F(RecordingTailTest, AnyBytesAreRead) {
  std::mt19937 dice(3);
  const std::string whole = TestLog(TestLogHeader(), RandomChunks(dice, 8));
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole.substr(0, 4096 + dice() % (whole.size() - 4096));
    for (int i = 0; i < 6; ++i) {
      damaged[4096 + dice() % (damaged.size() - 4095) - 1] = static_cast<char>(dice());
    }
    Write(damaged);
    RecordingTail tail;
    Read(tail, static_cast<int64_t>(dice() % 30'000));
    Write(whole);
    Read(tail);
  }
}

TEST_F(RecordingTailTest, WhatIsNoLogIsAnError) {
  Write("no log");
  RecordingTail tail;
  EXPECT_FALSE(tail.Read({&path_, 1}, 0, {}).ok());
}

}  // namespace
}  // namespace borescope::internal
