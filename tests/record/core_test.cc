// Parts of the library that is loaded into programs, compiled into a test so that sanitizers see
// them.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "core/collector.h"
#include "core/options.h"
#include "core/ranges.h"
#include "core/ring.h"
#include "core/state.h"
#include "core/strings.h"
#include "core/text.h"
#include "core/thread.h"

namespace borescope::inject {
namespace {

namespace fs = std::filesystem;

TEST(TextBuilder, EscapesAndReplaces) {
  char buffer[64];
  TextBuilder json(buffer, sizeof(buffer));
  json.AddJson("a\"\\\n\xc3\xa9\xff\xed\xa0\x80", 10);
  EXPECT_STREQ(json.text(),
               "\"a\\\"\\\\\\u000a\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(TextBuilder, CutsWhatDoesNotFit) {
  char buffer[6];
  TextBuilder text(buffer, sizeof(buffer));
  text.Add("abc").Add(uint64_t{18446744073709551615U});
  EXPECT_STREQ(text.text(), "abc18");
  EXPECT_TRUE(text.is_cut());
}

TEST(Text, IsNeverCutWithinASequence) {
  const std::string text = "ab\xf0\x9f\x98\x80z";
  for (size_t most = 0; most < text.size(); ++most) {
    const size_t kept = CutLength(text.data(), most);
    EXPECT_EQ(kept, most < 2 ? most : most < 6 ? 2 : most) << most;
  }
}

TEST(Text, WideBecomesUtf8) {
  char buffer[16];
  const wchar_t wide[] = {L'a', 0xe9, 0x20ac, 0x1f600, 0xd800, 0};
  EXPECT_EQ(std::string(buffer, FromWide(wide, buffer, sizeof(buffer))),
            "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd");
  EXPECT_EQ(FromWide(wide, buffer, 5), 3U);
  bool is_whole = true;
  EXPECT_EQ(FromWide(wide, buffer, 12, &is_whole), 10U);
  EXPECT_FALSE(is_whole);
  EXPECT_EQ(FromWide(wide, buffer, 13, &is_whole), 13U);
  EXPECT_TRUE(is_whole);
}

TEST(Options, AreReadAndUnknownOnesIgnored) {
  const Options options = ParseOptions(
      "max-bytes=12;;no-cuda;new=3;flush-ms=7;api=launch;graphs=node;sync;children=none");
  EXPECT_EQ(options.most_bytes, 12U);
  EXPECT_EQ(options.flush_ms, 7U);
  EXPECT_EQ(options.api, ApiCalls::kLaunch);
  EXPECT_TRUE(options.has_nvtx && options.has_graph_nodes && options.has_sync);
  EXPECT_FALSE(options.has_cuda || options.has_memory);
  EXPECT_EQ(options.children, Children::kNone);
  EXPECT_EQ(ParseOptions("flush-ms=0;max-bytes=x").flush_ms, 100U);
  EXPECT_EQ(ParseOptions(nullptr).most_bytes, 0U);
}

TEST(Options, Counters) {
  const Options options = ParseOptions(
      "counters=a__b.sum,c__d.avg;counters-kernels=*%3bgemm[a-z];counters-skip=7;counters-count=9");
  EXPECT_STREQ(options.counters, "a__b.sum,c__d.avg");
  EXPECT_STREQ(options.counters_pattern, "*;gemm[a-z]");
  EXPECT_EQ(options.counters_skip, 7U);
  EXPECT_EQ(options.counters_count, 9U);
  const Options none = ParseOptions("counters-count=1001;counters-skip=x");
  EXPECT_STREQ(none.counters, "");
  EXPECT_EQ(none.counters_count, 100U);
  EXPECT_EQ(none.counters_skip, 0U);
}

TEST(Options, GpusAreReadAsFarAsTheyAreWhole) {
  const Options options = ParseOptions("rocm;rocm-gpus=2:90402:304:64,10:90010:104:32,3:1:2");
  EXPECT_TRUE(options.has_rocm);
  ASSERT_EQ(options.gpu_count, 2U);
  EXPECT_EQ(options.gpus[0].node, 2U);
  EXPECT_EQ(options.gpus[1].target, 90010U);
  EXPECT_EQ(options.gpus[1].compute_units, 104U);
  EXPECT_EQ(options.gpus[1].warp, 32U);
  std::string many = "rocm-gpus=";
  for (int i = 0; i < 100; ++i) many += std::to_string(i) + ":1:2:3,";
  EXPECT_EQ(ParseOptions(many.c_str()).gpu_count, kMostGpus);
}

std::atomic<int> switched;  // on, less how often off
std::atomic<int> fetches;
void CountSwitch(bool is_on) { switched += is_on ? 1 : -1; }
void CountFetch() { ++fetches; }
constinit Collector collector({CountSwitch, CountFetch, CountFetch});
void FollowCollector(bool is_recording) { collector.FollowAtOnce(is_recording); }

// Without a run the page of the library's own says that nothing is recorded.
TEST(Collector, FetchesForWhoWaitsAndEndsOnce) {
  ASSERT_TRUE(collector.Begin(FollowCollector));
  EXPECT_TRUE(collector.IsHere());
  EXPECT_FALSE(collector.is_on());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int turn = 0; turn < 50; ++turn) {
        const int before = fetches.load();
        collector.FetchOnThread();
        EXPECT_GT(fetches.load(), before);
        collector.FollowAtOnce(turn % 2 == 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(switched.load(), 0);
  EXPECT_LE(switched.load(), 1);
  collector.EndOnThread();
  EXPECT_EQ(switched.load(), 0);
  EXPECT_FALSE(collector.IsHere());
  const int before = fetches.load();
  collector.FetchOnThread();
  collector.FollowAtOnce(true);
  collector.EndOnThread();
  EXPECT_EQ(fetches.load(), before);
  EXPECT_EQ(switched.load(), 0);
}

TEST(Ring, GivesBackInOrderWhatIsOldEnough) {
  Ring* ring = MakeRing();
  ASSERT_NE(ring, nullptr);
  FullChunk chunk = {};
  EXPECT_FALSE(PopFull(ring, ~uint64_t{0}, &chunk));
  // More than it has places, so that it goes round.
  for (uint64_t i = 1; i <= 200'000; ++i) {
    ASSERT_TRUE(PushFull(ring, {i * 4096, i, 4096, static_cast<uint32_t>(i)}));
    if (i < 100) continue;
    const uint64_t oldest = i - 99;
    EXPECT_FALSE(PopFull(ring, oldest, &chunk)) << "it was released at that time, not before";
    ASSERT_TRUE(PopFull(ring, oldest + 1, &chunk));
    ASSERT_EQ(chunk.offset, oldest * 4096);
    ASSERT_EQ(chunk.generation, oldest);
  }
  EXPECT_FALSE(IsCrowded(ring));
}

TEST(Ring, SaysThatItIsFull) {
  Ring* ring = MakeRing();
  ASSERT_NE(ring, nullptr);
  uint64_t count = 0;
  while (PushFull(ring, {count, 1, 64, 0})) ++count;
  EXPECT_EQ(count, 65'536U);
  EXPECT_TRUE(IsCrowded(ring));
  FullChunk chunk = {};
  ASSERT_TRUE(PopFull(ring, 2, &chunk));
  EXPECT_EQ(chunk.offset, 0U);
  EXPECT_TRUE(PushFull(ring, {count, 1, 64, 0}));
}

// Each chunk is given out once, whoever asks at the same time.
TEST(Ring, ThreadsLoseAndRepeatNothing) {
  Ring* ring = MakeRing();
  ASSERT_NE(ring, nullptr);
  constexpr uint64_t kCount = 50'000;
  constexpr size_t kThreads = 4;
  std::vector<std::atomic<int>> seen(kThreads * kCount);
  std::atomic<uint64_t> popped = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kCount; ++i) {
        while (!PushFull(ring, {t * kCount + i, 1, 64, 0})) std::this_thread::yield();
        FullChunk chunk = {};
        if (PopFull(ring, 2, &chunk)) {
          seen[chunk.offset].fetch_add(1);
          popped.fetch_add(1);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  FullChunk chunk = {};
  while (PopFull(ring, 2, &chunk)) {
    seen[chunk.offset].fetch_add(1);
    popped.fetch_add(1);
  }
  EXPECT_EQ(popped.load(), kThreads * kCount);
  for (const std::atomic<int>& times : seen) ASSERT_EQ(times.load(), 1);
}

TEST(Options, Ranks) {
  const Options some = ParseOptions("ranks=0,12;sync");
  EXPECT_TRUE(IsWantedRank(some, 0));
  EXPECT_TRUE(IsWantedRank(some, 12));
  EXPECT_FALSE(IsWantedRank(some, 1));
  EXPECT_FALSE(IsWantedRank(some, -1));
  EXPECT_TRUE(some.has_sync);
  EXPECT_TRUE(IsWantedRank(ParseOptions(""), -1));
  std::string many = "ranks=";
  for (int i = 0; i < 100; ++i) many += std::to_string(i) + ",";
  EXPECT_EQ(ParseOptions(many.c_str()).rank_count, kMostRanks);
}

std::string ReadAll(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  return {};
}

template <typename Value>
Value At(const std::string& data, size_t at) {
  Value value;
  memcpy(&value, data.data() + at, sizeof(value));
  return value;
}

// How many records of each type are in the log.
std::map<int, size_t> CountRecords(const std::string& data) {
  std::map<int, size_t> counts;
  const auto header = At<recording::LogHeader>(data, 0);
  for (size_t chunk = header.header_bytes; chunk + 64 <= data.size();) {
    const auto head = At<recording::ChunkHeader>(data, chunk);
    if (head.magic != recording::kChunkMagic) {
      chunk += header.chunk_alignment;
      continue;
    }
    for (size_t at = chunk + 64; at < chunk + head.bytes;) {
      const auto record = recording::UnpackHead(At<uint64_t>(data, at));
      if (record.type == 0) break;
      ++counts[record.type];
      at += size_t{record.words} * 8;
    }
    chunk += head.bytes;
  }
  return counts;
}

// All threads open the log at once, intern the same strings, and end while others write.
TEST(RecorderThreads, RecordTogether) {
  constexpr int kThreads = 16;
  constexpr int kRanges = 500;
  const fs::path folder =
      fs::temp_directory_path() / ("borescope-core-" + std::to_string(getpid()));
  fs::create_directory(folder);
  BeginRecording(folder.c_str(), "");
  std::vector<std::thread> threads;
  std::vector<uint32_t> ids(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i, &ids] {
      for (int range = 0; range < kRanges; ++range) {
        const std::string name = "string " + std::to_string(range % 50);
        const Entry* entry = InternString(name.data(), name.size());
        if (range == 49) ids[static_cast<size_t>(i)] = entry->id;
        EXPECT_EQ(Push(recording::kDefaultDomain, true, PlainMessage(name.c_str())), 0);
        EXPECT_EQ(Pop(recording::kDefaultDomain), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const uint32_t id : ids) EXPECT_EQ(id, ids[0]);
  const std::map<int, size_t> counts = CountRecords(ReadAll(folder));
  fs::remove_all(folder);
  EXPECT_EQ(counts.at(static_cast<int>(recording::RecordType::kPush)), size_t{kThreads} * kRanges);
  EXPECT_EQ(counts.at(static_cast<int>(recording::RecordType::kPop)), size_t{kThreads} * kRanges);
  EXPECT_GE(counts.at(static_cast<int>(recording::RecordType::kString)), 50U);
}

std::atomic<int> seen_signals;

void* CountBlockedSignals(void*) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  int count = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGPROF}) {
    count += sigismember(&blocked, signal);
  }
  seen_signals.store(count);
  return nullptr;
}

TEST(StartThread, BlocksSignalsInTheThreadAlone) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  ASSERT_TRUE(StartThread(CountBlockedSignals));
  while (seen_signals.load() == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(seen_signals.load(), 5);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
}

}  // namespace
}  // namespace borescope::inject
