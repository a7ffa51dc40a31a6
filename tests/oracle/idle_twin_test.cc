// Idle time of streams against a slow twin: every idle nanosecond looks for its cause by itself.

#include <gtest/gtest.h>

#include <map>

#include "borescope/analysis/core/param_specs.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Ask;
using testkit::kNoCall;
using testkit::kRunEnd;
using testkit::Line;
using testkit::Lines;
using testkit::LinesOf;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::RandomSelection;
using testkit::RandomWindows;
using testkit::RunSelection;
using testkit::RunWindow;
using testkit::RunWork;
using testkit::TableOf;
using testkit::TraceOf;

using Stream = std::vector<RunWork>;

bool IsBusy(const Stream& stream, int64_t ns) {
  return std::any_of(stream.begin(), stream.end(), [ns](const RunWork& work) {
    return work.time.begin <= ns && ns < work.time.end;
  });
}

// Work without length fills no time, but it ends a gap and begins the next.
std::string CauseAt(const RandomRun& run, const Stream& stream, int64_t ns, int64_t kernel_wait) {
  int64_t gap_begin = kMissing;
  int64_t gap_end = kMissing;
  for (const RunWork& work : stream) {
    if (work.time.begin <= ns) {
      gap_begin = std::max(gap_begin, work.time.end);
    } else {
      gap_end = gap_end == kMissing ? work.time.begin : std::min(gap_end, work.time.begin);
    }
  }
  if (gap_begin == kMissing) {
    return "head";
  }
  if (gap_end == kMissing) {
    return "tail";
  }
  int64_t launched = kMissing;
  for (const RunWork& work : stream) {
    if (work.time.begin == gap_end && work.call != kNoCall) {
      const int64_t begin = RequestTime(run, work);
      launched = launched == kMissing ? begin : std::min(launched, begin);
    }
  }
  if (launched == kMissing) {
    return "unlinked";
  }
  if (ns < launched) {
    return "host_wait";
  }
  return gap_end - std::max(gap_begin, launched) < kernel_wait ? "kernel_wait" : "other";
}

using Times = std::map<std::string, int64_t>;

Times TimesOf(const RandomRun& run, const Stream& stream, const RunSelection& selection,
              int64_t kernel_wait) {
  Times times;
  for (int64_t ns = 0; ns < kRunEnd; ++ns) {
    if (selection.inside[static_cast<size_t>(ns)] == 0) {
      continue;
    }
    ++times["span"];
    if (IsBusy(stream, ns)) {
      ++times["busy"];
      continue;
    }
    ++times["idle"];
    ++times[CauseAt(run, stream, ns, kernel_wait)];
  }
  return times;
}

TEST(IdleTwinTest, EveryIdleNanosecondHasItsCause) {
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = MakeRandomRun(random);
    Params params;
    const RunSelection selection = RandomSelection(random, run, params);
    const int64_t kernel_wait = random.Between(0, 12);
    params.values.push_back({kKernelWaitParam.name, kernel_wait, ""});
    std::map<std::pair<int64_t, int64_t>, Stream> streams;
    for (const RunWork& work : run.work) {
      if (selection.Keeps(work)) {
        streams[{work.gpu, work.stream}].push_back(work);
      }
    }
    if (streams.empty()) {
      continue;  // nothing to ask about
    }
    const std::vector<RunWindow> windows = RandomWindows(random, run, selection, params);
    Lines want;
    for (const RunWindow& window : windows) {
      for (const auto& [key, stream] : streams) {
        Times times = TimesOf(run, stream, window.selection, kernel_wait);
        want.insert(Line(window.step, key.first, key.second, times["span"], times["busy"],
                         times["idle"], times["host_wait"], times["kernel_wait"], times["other"],
                         times["unlinked"], times["head"], times["tail"]));
      }
    }
    const Tables found = Ask("idle", TraceOf(run), params);
    EXPECT_EQ(LinesOf(TableOf(found, "idle"),
                      {"step", "gpu", "stream", "span_ns", "busy_ns", "idle_ns", "host_wait_ns",
                       "kernel_wait_ns", "other_ns", "unlinked_ns", "head_ns", "tail_ns"}),
              want);
  }
}

}  // namespace
}  // namespace borescope::internal
