// Why devices idle against a slow twin: every idle nanosecond looks for its cause by itself.

#include <gtest/gtest.h>

#include <map>

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
using testkit::RunFrame;
using testkit::RunSelection;
using testkit::RunWork;
using testkit::TableOf;
using testkit::Time;
using testkit::TraceOf;

using Moments = std::vector<char>;  // by ns: whether it is so
using Works = std::vector<RunWork>;

constexpr int64_t kWaitingThread = 7;
constexpr int64_t kLoadingThread = 8;

// Frames of a loader, one after the other; as Python frames they do not count.
void AddLoading(Random& random, RandomRun& run) {
  static constexpr HostKind kKinds[] = {HostKind::kOp, HostKind::kAnnotation, HostKind::kPython};
  int64_t now = random.Between(0, 20);
  while (now < kRunEnd - 1) {
    const Time time{now, std::min(kRunEnd, now + random.Between(1, 16))};
    const HostKind kind = random.Pick(kKinds);
    run.frames.push_back({kind, "enumerate(DataLoader)#__next__", kLoadingThread, time});
    now = time.end + random.Between(0, 12);
  }
}

// More calls that block than runs have by themselves, one after the other.
void AddWaits(Random& random, RandomRun& run) {
  int64_t now = random.Between(0, 30);
  while (now < kRunEnd - 1 && random.Chance(0.8)) {
    const Time time{now, std::min(kRunEnd, now + random.Between(1, 16))};
    run.calls.push_back({"cudaDeviceSynchronize", kWaitingThread, time,
                         static_cast<int64_t>(run.calls.size()) + 1});
    now = time.end + random.Between(0, 12);
  }
}

void Mark(Moments& moments, Time time) {
  for (int64_t ns = time.begin; ns < time.end; ++ns) {
    moments[static_cast<size_t>(ns)] = 1;
  }
}

Moments BlockedIn(const RandomRun& run) {
  Moments blocked(kRunEnd + 1, 0);
  for (const testkit::RunCall& call : run.calls) {
    if (call.name == "cudaStreamSynchronize" || call.thread == kWaitingThread) {
      Mark(blocked, call.time);
    }
  }
  return blocked;
}

Moments LoadingIn(const RandomRun& run) {
  Moments loading(kRunEnd + 1, 0);
  for (const RunFrame& frame : run.frames) {
    if (frame.thread == kLoadingThread && frame.kind != HostKind::kPython) {
      Mark(loading, frame.time);
    }
  }
  return loading;
}

int64_t CountIn(const Moments& moments, Time time) {
  int64_t count = 0;
  for (int64_t ns = time.begin; ns < time.end; ++ns) {
    count += moments[static_cast<size_t>(ns)];
  }
  return count;
}

struct Gap {
  int64_t begin = kMissing;   // kMissing: nothing ran before
  int64_t end = kMissing;     // kMissing: nothing follows
  int64_t launch = kMissing;  // of what follows; kMissing: not recorded
};

Gap GapAt(const RandomRun& run, const Works& works, int64_t ns) {
  Gap gap;
  for (const RunWork& work : works) {
    if (work.time.begin <= ns) {
      gap.begin = std::max(gap.begin, work.time.end);
    } else {
      gap.end = gap.end == kMissing ? work.time.begin : std::min(gap.end, work.time.begin);
    }
  }
  for (const RunWork& work : works) {
    if (work.time.begin == gap.end && work.call != kNoCall) {
      const int64_t launch = RequestTime(run, work);
      gap.launch = gap.launch == kMissing ? launch : std::min(gap.launch, launch);
    }
  }
  return gap;
}

// Since when the host had been blocked where the gap began; kMissing: it was not.
int64_t BlockedSince(const Moments& blocked, int64_t ns) {
  const auto is_blocked = [&](int64_t at) {
    return at >= 0 && blocked[static_cast<size_t>(at)] != 0;
  };
  if (!is_blocked(ns) && !is_blocked(ns - 1)) {
    return kMissing;
  }
  while (is_blocked(ns - 1)) {
    --ns;
  }
  return ns;
}

std::string CauseAt(const Gap& gap, int64_t ns, const Moments& blocked, const Moments& loading) {
  if (gap.begin == kMissing) {
    return "head";
  }
  if (gap.end == kMissing) {
    return "tail";
  }
  if (gap.launch == kMissing) {
    return "unknown";
  }
  if (gap.launch <= gap.begin) {
    return "device";
  }
  const int64_t late = std::min(gap.launch, gap.end);
  int64_t sync_end = gap.begin;
  if (const int64_t since = BlockedSince(blocked, gap.begin); since != kMissing) {
    const int64_t sync = CountIn(blocked, {since, late});
    sync_end = sync >= late - gap.begin ? gap.end : gap.begin + sync;
  }
  if (ns < sync_end) {
    return "sync";
  }
  const int64_t loaded = CountIn(loading, {sync_end, late});
  return 2 * loaded >= late - sync_end ? "data" : "host";
}

using Times = std::map<std::string, int64_t>;

Times TimesOf(const RandomRun& run, const Works& works, const RunSelection& selection) {
  const Moments blocked = BlockedIn(run);
  const Moments loading = LoadingIn(run);
  Moments busy(kRunEnd + 1, 0);
  for (const RunWork& work : works) {
    Mark(busy, work.time);
  }
  Times times;
  for (int64_t ns = 0; ns < kRunEnd; ++ns) {
    const auto at = static_cast<size_t>(ns);
    if (selection.inside[at] != 0 && busy[at] == 0) {
      ++times["idle"];
      ++times[CauseAt(GapAt(run, works, ns), ns, blocked, loading)];
    }
  }
  return times;
}

TEST(IdleCausesTwinTest, EveryIdleNanosecondHasItsCause) {
  Times all;
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    RandomRun run = MakeRandomRun(random);
    AddLoading(random, run);
    AddWaits(random, run);
    Params params;
    const RunSelection selection = RandomSelection(random, run, params);
    std::map<int64_t, Works> works_of;
    for (const RunWork& work : run.work) {
      if (selection.Keeps(work)) {
        works_of[work.gpu].push_back(work);
      }
    }
    if (works_of.empty()) {
      continue;  // nothing to ask about
    }
    Lines want;
    for (const auto& [gpu, works] : works_of) {
      Times times = TimesOf(run, works, selection);
      want.insert(Line(gpu, times["idle"], times["head"], times["tail"], times["sync"],
                       times["data"], times["host"], times["device"], times["unknown"]));
      for (const auto& [cause, ns] : times) {
        all[cause] += ns;
      }
    }
    const Tables found = Ask("idle", TraceOf(run), params);
    EXPECT_EQ(
        LinesOf(TableOf(found, "idle_causes"), {"gpu", "idle_ns", "head_ns", "tail_ns", "sync_ns",
                                                "data_ns", "host_ns", "device_ns", "unknown_ns"}),
        want);
  }
  for (const auto& [cause, ns] : all) {
    RecordProperty(cause, std::to_string(ns));
    EXPECT_GT(ns, 1000) << cause << " was hardly asked about";
  }
  EXPECT_EQ(all.size(), 8U);
}

}  // namespace
}  // namespace borescope::internal
