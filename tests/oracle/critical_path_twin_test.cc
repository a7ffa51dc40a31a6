// The critical path of small random runs against a slow twin: a clock that goes from nanosecond to
// nanosecond and knows, for every thread and stream, how much of the time so far is explained.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Ask;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::RunCall;
using testkit::RunWork;
using testkit::TableOf;
using testkit::Time;
using testkit::TraceOf;

// --- laws on any run ---

int64_t Sum(const Table& table, std::string_view column) {
  const IntValues& values = Ints(table, column);
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

TEST(CriticalPathTwinTest, ThePathHasNoGapAndAddsUp) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Trace trace = TraceOf(MakeRandomRun(random));
    const Tables tables = Ask("critical-path", trace);
    const Table& path = TableOf(tables, "critical_path");
    int64_t now = trace.begin_ns();
    for (size_t row = 0; row < path.rows(); ++row) {
      ASSERT_EQ(Ints(path, "begin_ns")[row], now) << "seed " << seed << " row " << row;
      ASSERT_GE(Ints(path, "duration_ns")[row], 0) << "seed " << seed;
      now += Ints(path, "duration_ns")[row];
    }
    ASSERT_EQ(now, trace.end_ns()) << "seed " << seed;
    ASSERT_EQ(Sum(TableOf(tables, "critical_path_summary"), "total_ns"), trace.span_ns());
    for (const int64_t slack : Ints(TableOf(tables, "slack"), "slack_ns")) {
      ASSERT_GE(slack, 0) << "seed " << seed;
    }
    for (const int64_t saved : Ints(TableOf(tables, "what_if"), "saved_ns")) {
      ASSERT_GE(saved, 0) << "seed " << seed;
    }
  }
}

// --- the twin: one thread, some streams, a device synchronisation; no two times are equal ---

// Launches and their work, operators between them, and one call that waits for all of it.
RandomRun PlantRun(Random& random) {
  std::vector<int64_t> moments(200);
  std::iota(moments.begin(), moments.end(), int64_t{1});
  std::vector<int64_t> drawn;
  for (int i = 0; i < 30; ++i) {
    const size_t at = random.Below(moments.size());
    drawn.push_back(moments[at]);
    moments.erase(moments.begin() + static_cast<std::ptrdiff_t>(at));
  }
  std::sort(drawn.begin(), drawn.begin() + 14);
  RandomRun run;
  for (size_t i = 0; i < 7; ++i) {
    const Time time{drawn[2 * i], drawn[2 * i + 1]};
    if (i < 4) {
      run.calls.push_back({"cudaLaunchKernel", 1, time, static_cast<int64_t>(i) + 1});
    } else if (i == 5) {
      run.calls.push_back({"cudaDeviceSynchronize", 1, time, 99});
    } else {
      run.frames.push_back({HostKind::kOp, "aten::op", 1, time});
    }
  }
  std::map<int64_t, int64_t> free_at;  // per stream
  size_t next = 14;
  for (int call = 0; call < 4; ++call) {
    const int64_t stream = 7 + random.Between(0, 1);
    const int64_t ready =
        std::max(run.calls[static_cast<size_t>(call)].time.begin, free_at[stream]);
    const int64_t begin = ready + 1 + drawn[next++] % 7;
    const int64_t end = begin + 1 + drawn[next++] % 40;
    run.work.push_back({DeviceKind::kKernel, "kernel", 0, stream, {begin, end}, call});
    free_at[stream] = end;
  }
  return run;
}

// How long the thread has run from `begin` to `end`: always, but in a call that waits.
int64_t RunsFrom(int64_t begin, int64_t end, Time waits) {
  int64_t ns = 0;
  for (int64_t at = begin; at < end; ++at) {
    ns += waits.begin <= at && at < waits.end ? 0 : 1;
  }
  return ns;
}

// Of each stream the last work that was issued before the call that waits for all of it.
std::vector<size_t> AwaitedWork(const RandomRun& run) {
  std::map<int64_t, size_t> last;
  for (size_t i = 0; i < run.work.size(); ++i) {
    if (run.calls[static_cast<size_t>(run.work[i].call)].time.begin < run.calls.back().time.begin) {
      last[run.work[i].stream] = i;
    }
  }
  std::vector<size_t> awaited;
  for (const auto& [stream, work] : last) {
    awaited.push_back(work);
  }
  return awaited;
}

// How far times of the device have to be moved so that the call ends after what it waits for, as
// far as no work then begins before its launch.
int64_t SlowSkew(const RandomRun& run) {
  int64_t lowest = kMissing;
  for (const RunWork& work : run.work) {
    lowest =
        std::max(lowest, run.calls[static_cast<size_t>(work.call)].time.begin - work.time.begin);
  }
  int64_t skew = 0;
  for (const size_t work : AwaitedWork(run)) {
    const int64_t bound = run.calls.back().time.end - run.work[work].time.end;
    skew = bound >= lowest ? std::min(skew, bound) : skew;
  }
  return skew;
}

// The run with times of the device on the clock of the host, within the recording.
RandomRun OnOneClock(RandomRun run, Time recording) {
  const int64_t skew = SlowSkew(run);
  for (RunWork& work : run.work) {
    work.time.begin = std::clamp(work.time.begin + skew, recording.begin, recording.end);
    work.time.end = std::clamp(work.time.end + skew, recording.begin, recording.end);
  }
  return run;
}

// The explained length by the definition, moment by moment.
int64_t SlowLength(const RandomRun& run, int64_t last_ns) {
  const RunCall& sync = run.calls.back();
  int64_t released = kMissing;
  const std::vector<size_t> sources = AwaitedWork(run);
  for (const size_t work : sources) {
    if (run.work[work].time.end > sync.time.begin) {
      released = std::max(released, run.work[work].time.end);
    }
  }
  const Time waits = released == kMissing ? Time{0, 0} : sync.time;
  const int64_t first =
      std::min(run.calls.front().time.begin,
               run.frames.empty() ? run.calls.front().time.begin : run.frames.front().time.begin);
  // Until the sync returns, the thread depends on nothing else.
  const auto before = [&](int64_t at) { return RunsFrom(first, at, waits); };
  std::vector<int64_t> ends;
  std::map<int64_t, size_t> behind;
  int64_t after_sync = before(sync.time.end);
  int64_t longest = 0;
  for (size_t i = 0; i < run.work.size(); ++i) {
    const RunWork& work = run.work[i];
    const int64_t launch = run.calls[static_cast<size_t>(work.call)].time.begin;
    const auto front = behind.find(work.stream);
    const int64_t front_end = front == behind.end() ? -1 : run.work[front->second].time.end;
    const bool by_launch = launch > front_end;
    int64_t start = before(launch) + (by_launch ? work.time.begin - launch : 0);
    if (front != behind.end()) {
      start = std::max(start, ends[front->second] + (by_launch ? 0 : work.time.begin - front_end));
    }
    ends.push_back(start + work.time.length());
    behind[work.stream] = i;
    longest = std::max(longest, ends.back());
  }
  for (const size_t source : sources) {
    const int64_t end = run.work[source].time.end;
    const int64_t returning =
        end > sync.time.begin ? std::max(sync.time.end - released, int64_t{0}) : 0;
    // What still ends after the call, because clocks drift, counts up to its end.
    after_sync = std::max(after_sync, ends[source] + std::min(returning, sync.time.end - end));
  }
  return std::max(longest, after_sync + RunsFrom(sync.time.end, last_ns, waits));
}

TEST(CriticalPathTwinTest, WhatIsExplained) {
  int waited = 0;
  int skewed = 0;
  int drifted = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const RandomRun run = PlantRun(random);
    const Trace trace = TraceOf(run);
    const Tables tables = Ask("critical-path", trace);
    const Table& summary = TableOf(tables, "critical_path_summary");
    const int64_t wait_ns = Ints(summary, "total_ns").back();
    const int64_t thread_end = std::max(run.frames.back().time.end, run.calls.back().time.end);
    const RandomRun on_one_clock = OnOneClock(run, {trace.begin_ns(), trace.end_ns()});
    ASSERT_EQ(trace.span_ns() - wait_ns, SlowLength(on_one_clock, thread_end)) << "seed " << seed;
    ASSERT_EQ(Ints(TableOf(tables, "clock_skew"), "skew_ns")[0], SlowSkew(run)) << "seed " << seed;
    waited += TableOf(tables, "sync_edges").rows() > 0 ? 1 : 0;
    skewed += SlowSkew(run) != 0 ? 1 : 0;
    drifted += Ints(TableOf(tables, "clock_skew"), "contradicting")[0] != 0 ? 1 : 0;
  }
  EXPECT_GT(waited, 200);
  EXPECT_GT(skewed, 20);
  EXPECT_GT(drifted, 50);
}

}  // namespace
}  // namespace borescope::internal
