// Why devices idle against a slow twin: every idle moment looks for its cause by itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/base/text/text.h"
#include "borescope/index/syncs/sync_edges.h"
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

using Works = std::vector<RunWork>;

// A moment of a run lasts as long in the trace, so that some launches are out of the ordinary.
constexpr int64_t kMomentNs = 10'000;
constexpr int64_t kOrdinaryLaunch = kOrdinaryLaunchNs / kMomentNs;
constexpr int64_t kMostSkew = kMostSkewNs / kMomentNs;
constexpr int64_t kWaitingThread = 7;
constexpr int64_t kLoadingThread = 8;
constexpr const char* kUntracedCall = "hipMemcpy";  // no work is ever of it

// Of each moment of a run, and of as many around it as a clock may be off, whether it is so.
class Moments {
 public:
  char& operator[](int64_t ns) { return flags_[static_cast<size_t>(ns + kMostSkew + 2)]; }
  char operator[](int64_t ns) const { return flags_[static_cast<size_t>(ns + kMostSkew + 2)]; }

 private:
  std::vector<char> flags_ = std::vector<char>(kRunEnd + 2 * kMostSkew + 5);
};

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
    run.calls.push_back({random.Chance(0.3) ? kUntracedCall : "cudaDeviceSynchronize",
                         kWaitingThread, time, static_cast<int64_t>(run.calls.size()) + 1});
    now = time.end + random.Between(0, 12);
  }
}

// Work whose number was not recorded either: it may be from before the recording.
void ForgetNumbers(Random& random, RandomRun& run) {
  for (RunWork& work : run.work) {
    work.has_number = work.call != kNoCall || random.Chance(0.3);
  }
  if (random.Chance(0.3)) {  // so that some come first on their stream
    RunWork first{DeviceKind::kKernel, "earlier", random.Between(0, 1), random.Between(7, 8), {}};
    const int64_t begin = random.Between(0, 12);
    first.time = {begin, begin + random.Between(1, 4)};
    first.has_number = false;
    run.work.push_back(first);
  }
}

// When the last work from before the recording ends that comes first on a stream of the device:
// before all work of the stream with a recorded launch. kMissing without such work. Not on the
// clock of the device.
int64_t EndOfInherited(const RandomRun& run, int64_t gpu, int64_t selected_stream) {
  int64_t first_launch = kMissing;
  std::map<int64_t, std::vector<const RunWork*>> streams;
  for (const RunWork& work : run.work) {
    if (work.call != kNoCall) {
      const int64_t begin = run.calls[static_cast<size_t>(work.call)].time.begin;
      first_launch = first_launch == kMissing ? begin : std::min(first_launch, begin);
    }
    if (work.gpu == gpu && (selected_stream == kMissing || work.stream == selected_stream)) {
      streams[work.stream].push_back(&work);
    }
  }
  const auto order = [](const RunWork* one) {
    return std::tuple(one->time.begin, -one->time.length(), one->kind);
  };
  const auto is_launched = [](const RunWork* one) { return one->call != kNoCall; };
  int64_t end = kMissing;
  for (auto& [number, works] : streams) {
    std::stable_sort(works.begin(), works.end(),
                     [&](const RunWork* a, const RunWork* b) { return order(a) < order(b); });
    const auto launched = std::find_if(works.begin(), works.end(), is_launched);
    for (auto at = works.begin(); first_launch != kMissing && at != launched; ++at) {
      const RunWork& one = **at;
      if (!one.has_number && (launched != works.end() || one.time.begin < first_launch)) {
        end = end == kMissing ? one.time.end : std::max(end, one.time.end);
      }
    }
  }
  return end;
}

RandomRun InNanoseconds(RandomRun run) {
  const auto stretch = [](auto& events) {
    for (auto& event : events) {
      event.time = {event.time.begin * kMomentNs, event.time.end * kMomentNs};
    }
  };
  stretch(run.frames);
  stretch(run.calls);
  stretch(run.work);
  stretch(run.notes);
  return run;
}

void Mark(Moments& moments, Time time) {
  for (int64_t ns = time.begin; ns < time.end; ++ns) {
    moments[ns] = 1;
  }
}

// What copied without a call may be what these calls copied.
bool MayBeUntraced(const RandomRun& run) {
  return std::none_of(run.work.begin(), run.work.end(), [](const RunWork& work) {
    return work.kind == DeviceKind::kMemcpy && work.call == kNoCall;
  });
}

// Whether a call, or one inside it, started work.
bool HasWork(const RandomRun& run, size_t call) {
  const testkit::RunCall& around = run.calls[call];
  return std::any_of(run.work.begin(), run.work.end(), [&](const RunWork& work) {
    if (work.call == kNoCall) {
      return false;
    }
    const testkit::RunCall& own = run.calls[static_cast<size_t>(work.call)];
    return own.thread == around.thread && around.time.begin <= own.time.begin &&
           own.time.end <= around.time.end;
  });
}

// The next call of the thread after another one has ended, of several the longest, if it waits.
std::optional<size_t> WaitAfter(const RandomRun& run, size_t call) {
  const auto place = [&](size_t i) {
    return std::pair(run.calls[i].time.begin, -run.calls[i].time.length());
  };
  std::optional<size_t> next;
  for (size_t i = 0; i < run.calls.size(); ++i) {
    const bool is_after = run.calls[i].thread == run.calls[call].thread && i != call &&
                          run.calls[i].time.begin >= run.calls[call].time.end;
    if (is_after && (!next || place(i) < place(*next))) {
      next = i;
    }
  }
  return next && Contains(run.calls[*next].name, "Synchronize") ? next : std::nullopt;
}

// In how much of a time no device works.
int64_t IdleMoments(const RandomRun& run, Time time) {
  int64_t idle = 0;
  for (int64_t ns = time.begin; ns < time.end; ++ns) {
    idle += std::none_of(run.work.begin(), run.work.end(),
                         [&](const RunWork& work) {
                           return IsDeviceWork(work.kind) && work.time.begin <= ns &&
                                  ns < work.time.end;
                         })
                ? 1
                : 0;
  }
  return idle;
}

// Asynchronous copies without a record that, with the wait after them, last a hundred microseconds
// or more in which no device works are as calls that wait for their copy; the wait is none of its
// own then.
RandomRun WithCopiesThatBlock(const RandomRun& run) {
  constexpr int64_t kLeastMoments = 10;
  constexpr int64_t kNoThread = 99;
  RandomRun blocking = run;
  for (size_t i = 0; i < run.calls.size(); ++i) {
    if (run.calls[i].name != "cudaMemcpyAsync" || HasWork(run, i) || !MayBeUntraced(run)) {
      continue;
    }
    const std::optional<size_t> wait = WaitAfter(run, i);
    const Time time{run.calls[i].time.begin, run.calls[wait.value_or(i)].time.end};
    if (IdleMoments(run, time) < kLeastMoments) {
      continue;
    }
    blocking.calls[i].name = kUntracedCall;
    blocking.calls[i].time = time;
    if (wait) {
      blocking.calls[*wait].name = "ignored";
      blocking.calls[*wait].thread = kNoThread;
    }
  }
  return blocking;
}

Moments UntracedIn(const RandomRun& run) {
  Moments untraced;
  for (const testkit::RunCall& call : run.calls) {
    if (call.name == kUntracedCall && MayBeUntraced(run)) {
      Mark(untraced, call.time);
    }
  }
  return untraced;
}

Moments BlockedIn(const RandomRun& run) {
  Moments blocked;
  for (const testkit::RunCall& call : run.calls) {
    const bool is_untraced = call.name == kUntracedCall && MayBeUntraced(run);
    if ((call.name == "cudaStreamSynchronize" || call.thread == kWaitingThread) && !is_untraced) {
      Mark(blocked, call.time);
    }
  }
  return blocked;
}

Moments LoadingIn(const RandomRun& run) {
  Moments loading;
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
    count += moments[ns];
  }
  return count;
}

struct Gap {
  int64_t begin = kMissing;            // kMissing: nothing ran before
  int64_t end = kMissing;              // kMissing: nothing follows
  Time launch = {kMissing, kMissing};  // of what follows; kMissing: not recorded
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
      const Time call = run.calls[static_cast<size_t>(work.call)].time;
      if (gap.launch.begin == kMissing || call.begin < gap.launch.begin ||
          (call.begin == gap.launch.begin && call.end < gap.launch.end)) {
        gap.launch = call;
      }
    }
  }
  return gap;
}

// The work of threads that launch a tenth or more of what the busiest one does, and of unknown
// ones.
Works OfMainThreads(const RandomRun& run, const Works& works) {
  const auto thread_of = [&](const RunWork& work) {
    return run.calls[static_cast<size_t>(work.call)].thread;
  };
  std::map<int64_t, int64_t> times;
  int64_t longest = 0;
  for (const RunWork& work : works) {
    if (work.call != kNoCall) {
      int64_t& time = times[thread_of(work)];
      time += work.time.length() * kMomentNs;
      longest = std::max(longest, time);
    }
  }
  Works kept;
  for (const RunWork& work : works) {
    if (work.call == kNoCall || times[thread_of(work)] >= longest / 10) {
      kept.push_back(work);
    }
  }
  return kept;
}

// Since when the host had been blocked where the gap began, or a moment before; kMissing: it was
// not.
int64_t BlockedSince(const Moments& blocked, int64_t ns) {
  static_assert(kClockDoubtNs == kMomentNs);
  for (int64_t at = ns - 2; at <= ns; ++at) {
    if (blocked[at] != 0) {
      while (at > -kMostSkew && blocked[at - 1] != 0) {
        --at;
      }
      return at;
    }
  }
  return kMissing;
}

// Of a moment between the launch, or the begin of the gap where that is later, and the end.
std::string CauseAfterLaunch(const Gap& gap, int64_t ns, const std::string& held) {
  const bool is_long = gap.launch.length() >= kOrdinaryLaunch;
  if (is_long && ns < gap.launch.end) {
    return "launch_call";
  }
  const int64_t ready = is_long ? gap.launch.end : gap.launch.begin;
  if (gap.end - ready < kOrdinaryLaunch) {
    return "latency";
  }
  return gap.end - std::max(gap.begin, ready) < kOrdinaryLaunch ? "device" : held;
}

// What the host did, and what the device had at the begin.
struct HostMoments {
  Moments blocked;
  Moments loading;
  Moments untraced;
  bool has_inherited = false;
  int64_t cut = kMissing;  // when all inherited work of the device has ended
};

// The time around `ns` within `late` in which no copy may have run unrecorded.
Time PieceAround(const Moments& untraced, int64_t ns, Time late) {
  Time piece{ns, ns + 1};
  while (piece.begin > late.begin && untraced[piece.begin - 1] == 0) {
    --piece.begin;
  }
  while (piece.end < late.end && untraced[piece.end] == 0) {
    ++piece.end;
  }
  return piece;
}

std::string CauseOfHead(const Gap& gap, int64_t ns, int64_t run_begin, int64_t first_work,
                        const HostMoments& host) {
  if (gap.launch.begin == kMissing) {
    return host.has_inherited ? "before_recording" : "head";
  }
  const Gap head{run_begin, gap.end, gap.launch};
  if (ns >= gap.launch.begin) {
    return CauseAfterLaunch(head, ns, host.has_inherited ? "before_recording" : "unrecorded");
  }
  if (host.untraced[ns] != 0) {
    return "unrecorded";
  }
  if (host.has_inherited && host.blocked[ns] != 0 && ns < first_work) {
    return "before_recording";
  }
  const Time late =
      PieceAround(host.untraced, ns, {run_begin, std::min(gap.launch.begin, gap.end)});
  return 2 * CountIn(host.loading, late) >= late.length() ? "data" : "head";
}

std::string CauseOfGap(const Gap& gap, int64_t ns, const HostMoments& host) {
  if (gap.launch.begin == kMissing) {
    return "unknown";
  }
  if (ns >= gap.launch.begin) {
    return CauseAfterLaunch(gap, ns, "unrecorded");
  }
  if (host.untraced[ns] != 0) {
    return "unrecorded";
  }
  const Time late =
      PieceAround(host.untraced, ns, {gap.begin, std::min(gap.launch.begin, gap.end)});
  int64_t sync_end = late.begin;
  if (const int64_t since = BlockedSince(host.blocked, late.begin); since != kMissing) {
    sync_end = std::min(late.end, late.begin + CountIn(host.blocked, {since, late.end}));
  }
  if (ns < sync_end) {
    return "sync";
  }
  const int64_t loaded = CountIn(host.loading, {sync_end, late.end});
  return 2 * loaded >= late.end - sync_end ? "data" : "host";
}

// Of a moment in a gap that small work of other threads may have cut out of one of the main
// threads.
std::string CauseWithin(Gap gap, const Gap& main, bool after_small, int64_t ns,
                        const HostMoments& host) {
  const bool is_cut = main.begin != gap.begin || main.end != gap.end;
  if (!is_cut || main.begin == kMissing || main.end == kMissing) {
    return CauseOfGap(gap, ns, host);
  }
  const bool is_long = main.launch.length() >= kOrdinaryLaunch;
  const int64_t ready = is_long ? main.launch.end : main.launch.begin;
  if (ns < ready || !after_small || main.launch.begin == kMissing) {
    return CauseOfGap(main, ns, host);
  }
  gap.begin = std::max(gap.begin, ready);
  return CauseOfGap(gap, ns, host);
}

// Whether work that is not of the main threads ended in the gap, and shortly before its end.
bool IsAfterSmall(const Works& works, const Works& main_works, const Gap& gap) {
  const auto is_shortly_before = [&](const RunWork& work) {
    return work.time.end > gap.begin && work.time.end <= gap.end &&
           (gap.end - work.time.end) * kMomentNs <= 20'000;
  };
  const auto is_main = [&](const RunWork& work) {
    return std::any_of(main_works.begin(), main_works.end(), [&](const RunWork& main) {
      return main.call == work.call && main.time.begin == work.time.begin &&
             main.stream == work.stream;
    });
  };
  return gap.begin != kMissing && gap.end != kMissing &&
         std::any_of(works.begin(), works.end(), [&](const RunWork& work) {
           return is_shortly_before(work) && !is_main(work);
         });
}

using Times = std::map<std::string, int64_t>;

// The selected idle time of a gap.
struct GapMoments {
  int64_t first = kMissing;
  int64_t count = 0;
  std::vector<std::pair<std::string, int64_t>> causes;  // in the order of their first times

  void Add(int64_t ns, const std::string& cause) {
    first = first == kMissing ? ns : first;
    ++count;
    for (auto& [name, times] : causes) {
      if (name == cause) {
        ++times;
        return;
      }
    }
    causes.emplace_back(cause, 1);
  }

  std::string LineOf(int64_t gpu) const {
    const auto most =
        std::max_element(causes.begin(), causes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return Line(gpu, first * kMomentNs, count * kMomentNs, most->first, most->second * kMomentNs);
  }
};
using Gaps = std::map<std::pair<int64_t, int64_t>, GapMoments>;

// `run` is on the clock of the device. Adds the gaps between its work to `gaps`.
Times TimesOf(const RandomRun& run, Time all, const Works& works, const RunSelection& selection,
              bool has_inherited, int64_t cut, Gaps& gaps) {
  const HostMoments host{BlockedIn(run), LoadingIn(run), UntracedIn(run), has_inherited, cut};
  const Works main_works = OfMainThreads(run, works);
  int64_t first_work = kRunEnd;
  for (const RunWork& work : run.work) {
    first_work = std::min(first_work, work.time.begin);
  }
  const auto cause_at = [&](int64_t ns) -> std::string {
    const Gap gap = GapAt(run, works, ns);
    if (gap.begin == kMissing) {
      return CauseOfHead(gap, ns, all.begin, first_work, host);
    }
    if (gap.end != kMissing && host.cut != kMissing && ns < host.cut) {
      return "inherited";
    }
    const Gap main = GapAt(run, main_works, ns);
    return gap.end == kMissing
               ? "tail"
               : CauseWithin(gap, main, IsAfterSmall(works, main_works, main), ns, host);
  };
  Moments busy;
  for (const RunWork& work : works) {
    Mark(busy, work.time);
  }
  Times times;
  for (int64_t ns = 0; ns < kRunEnd; ++ns) {
    const auto at = static_cast<size_t>(ns);
    if (selection.inside[at] != 0 && busy[ns] == 0) {
      const std::string cause = cause_at(ns);
      times["idle"] += kMomentNs;
      times[cause] += kMomentNs;
      if (const Gap gap = GapAt(run, works, ns); gap.begin != kMissing && gap.end != kMissing) {
        gaps[{gap.begin, gap.end}].Add(ns, cause);
      }
    }
  }
  return times;
}

// The run with its host on the clock of a device.
RandomRun OnClock(RandomRun run, int64_t skew) {
  const auto move = [skew](Time& time) { time = {time.begin - skew, time.end - skew}; };
  for (RunFrame& frame : run.frames) {
    move(frame.time);
  }
  for (testkit::RunCall& call : run.calls) {
    move(call.time);
  }
  return run;
}

// Of each device, in units of kMomentNs.
std::map<int64_t, int64_t> SkewsOf(const Trace& trace) {
  std::map<int64_t, int64_t> skews;
  const DeviceClocks clocks = FindSyncsAndClocks(trace, BuildIndex(trace, 1).correlation).clocks;
  for (const DeviceClock& clock : clocks.clocks) {
    skews[clock.device] = clock.skew_ns / kMomentNs;
  }
  return skews;
}

// The clocks have a twin of their own.
TEST(IdleCausesTwinTest, EveryIdleMomentHasItsCause) {
  Times all;
  int64_t skewed = 0;
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    RandomRun run = MakeRandomRun(random);
    AddLoading(random, run);
    AddWaits(random, run);
    ForgetNumbers(random, run);
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
    const Trace trace = TraceOf(InNanoseconds(run));
    std::map<int64_t, int64_t> skews = SkewsOf(trace);
    const RandomRun blocking = WithCopiesThatBlock(run);
    params.values.push_back({kLongestParam.name, 1'000'000, ""});
    Lines want;
    Lines want_gaps;
    for (const auto& [gpu, works] : works_of) {
      Gaps gaps;
      Times times = TimesOf(OnClock(blocking, skews[gpu]), run.all(), works, selection,
                            EndOfInherited(run, gpu, selection.stream) != kMissing,
                            EndOfInherited(run, gpu, kMissing), gaps);
      for (const auto& [ends, moments] : gaps) {
        want_gaps.insert(moments.LineOf(gpu));
      }
      skewed += skews[gpu] == 0 ? 0 : 1;
      want.insert(Line(gpu, times["idle"], times["head"], times["tail"], times["before_recording"],
                       times["inherited"], times["sync"], times["data"], times["host"],
                       times["launch_call"], times["latency"], times["device"], times["unrecorded"],
                       times["unknown"]));
      for (const auto& [cause, ns] : times) {
        all[cause] += ns;
      }
    }
    const Tables found = Ask("idle", trace, params);
    EXPECT_EQ(LinesOf(TableOf(found, "idle_causes"),
                      {"gpu", "idle_ns", "head_ns", "tail_ns", "before_recording_ns",
                       "inherited_ns", "sync_ns", "data_ns", "host_ns", "launch_call_ns",
                       "latency_ns", "device_ns", "unrecorded_ns", "unknown_ns"}),
              want);
    EXPECT_EQ(LinesOf(TableOf(found, "longest_gaps"),
                      {"gpu", "begin_ns", "duration_ns", "cause", "cause_time_ns"}),
              want_gaps);
  }
  for (const auto& [cause, ns] : all) {
    RecordProperty(cause, std::to_string(ns));
    EXPECT_GT(ns, 200 * kMomentNs) << cause << " was hardly asked about";
  }
  EXPECT_EQ(all.size(), 13U);
  EXPECT_GT(skewed, 500);
}

}  // namespace
}  // namespace borescope::internal
