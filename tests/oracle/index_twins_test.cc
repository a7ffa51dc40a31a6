// The indexes against slow twins that follow the documented rules row by row, on thousands of small
// random traces whose times and numbers collide as often as possible.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "borescope/index/call_tree.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/index/steps/steps.h"
#include "borescope/testing/trace_maker.h"
#include "tests/oracle/random.h"
#include "tests/oracle/trace_text.h"

namespace borescope::internal {
namespace {

using testkit::Random;
using testkit::Span;
using testkit::TextOf;
using testkit::TraceMaker;

// --- random traces ---

Span RandomSpan(Random& random) {
  return {random.Between(0, 30), random.Chance(0.3) ? 0 : random.Between(0, 12)};
}

// Few numbers, so that they repeat and miss.
int64_t RandomCorrelation(Random& random) {
  return random.Chance(0.1) ? kMissing : random.Between(-1, 8);
}

void AddHost(Random& random, TraceMaker& maker, const std::string& name, int64_t unit_ns) {
  const int64_t tid = random.Between(1, 2);
  Span span = RandomSpan(random);
  span = {span.ts_ns * unit_ns, span.dur_ns * unit_ns};
  switch (random.Below(6)) {
    case 0:
      return maker.Host(HostKind::kPython, name, tid, span);
    case 1:
      return maker.Host(
          HostKind::kAnnotation,
          random.Chance(0.5) ? "ProfilerStep#" + std::to_string(random.Below(3)) : name, tid, span);
    case 2:
    case 3:
      return maker.Op(name, tid, span,
                      {.external_id = random.Chance(0.2) ? kMissing : random.Between(-1, 8),
                       .sequence = random.Chance(0.4) ? kMissing : random.Between(-1, 3),
                       .forward_thread = random.Chance(0.2) ? kMissing : random.Between(0, 1)});
    default:
      return maker.Call(random.Chance(0.7) ? "cudaLaunchKernel" + name : "cudaEventRecord" + name,
                        tid, span, RandomCorrelation(random));
  }
}

void AddDevice(Random& random, TraceMaker& maker, bool is_old, const std::string& name) {
  static constexpr DeviceKind kKinds[] = {DeviceKind::kKernel, DeviceKind::kKernel,
                                          DeviceKind::kMemcpy, DeviceKind::kMemset,
                                          DeviceKind::kSync,   DeviceKind::kAnnotation};
  const int64_t correlation = RandomCorrelation(random);
  const int64_t external_id = random.Chance(0.2) ? kMissing : random.Between(-1, 8);
  maker.Device(random.Pick(kKinds), name, 0, random.Between(7, 8), RandomSpan(random),
               {.correlation = correlation, .external_id = is_old ? correlation : external_id});
}

Trace RandomTrace(uint64_t seed) {
  Random random(seed);
  TraceMaker maker;
  const bool is_old = random.Chance(0.2);
  const int64_t unit_ns =
      random.Chance(0.3) ? 1000 : 1;  // of the host: whole microseconds are rounded
  for (uint64_t i = random.Below(14); i > 0; --i) {
    AddHost(random, maker, "h" + std::to_string(i), unit_ns);
  }
  for (uint64_t i = random.Below(8); i > 0; --i) {
    AddDevice(random, maker, is_old, "d" + std::to_string(i));
  }
  return maker.Finish();
}

// --- the twins ---

bool CoversTime(const HostEvents& host, uint32_t outer, uint32_t inner) {
  return host.ts_ns[outer] <= host.ts_ns[inner] &&
         host.ts_ns[outer] + host.dur_ns[outer] >= host.ts_ns[inner] + host.dur_ns[inner];
}

// Whether rounding to whole microseconds may be why an event ends after another: it does by no more
// than one, and most of it is inside.
bool IsRoundedInto(const HostEvents& host, uint32_t outer, uint32_t inner) {
  const int64_t end = host.ts_ns[outer] + host.dur_ns[outer];
  const int64_t outside = host.ts_ns[inner] + host.dur_ns[inner] - end;
  const int64_t inside = end - host.ts_ns[inner];
  return std::all_of(host.ts_ns.begin(), host.ts_ns.end(),
                     [](int64_t ts_ns) { return ts_ns % 1000 == 0; }) &&
         outside <= 1000 && outside < inside;
}

// "The parent of an event is the last begun of those whose time covers it"; one of no length at the
// very end of another is inside only if it is of the same or an inner kind.
HostId ParentOf(const HostEvents& host, uint32_t row) {
  for (uint32_t outer = row; outer-- > 0 && host.track[outer] == host.track[row];) {
    const bool starts_at_end = host.ts_ns[outer] + host.dur_ns[outer] == host.ts_ns[row];
    if ((CoversTime(host, outer, row) || IsRoundedInto(host, outer, row)) &&
        !(starts_at_end && host.kind[row] < host.kind[outer])) {
      return {outer};
    }
  }
  return {};
}

// Whether the event begun last before this one, of those that are not over, ends before this one.
bool OutlivesAnother(const HostEvents& host, uint32_t row) {
  const int64_t start = host.ts_ns[row];
  for (uint32_t other = row; other-- > 0 && host.track[other] == host.track[row];) {
    const int64_t end = host.ts_ns[other] + host.dur_ns[other];
    if (end > start) {
      return end < start + host.dur_ns[row];
    }
  }
  return false;
}

CallTree TreeOf(const Trace& trace) {
  const HostEvents& host = trace.host();
  CallTree tree;
  for (uint32_t row = 0; row < host.size(); ++row) {
    tree.parent.push_back(ParentOf(host, row));
  }
  for (uint32_t row = 0; row < host.size(); ++row) {
    uint32_t end = row + 1;
    const auto is_inside = [&](uint32_t other) {
      HostId up{other};
      while (up.valid() && up.value != row) {
        up = tree.parent[up.value];
      }
      return up.valid();
    };
    while (end < host.size() && is_inside(end)) {
      ++end;
    }
    tree.subtree_end.push_back(end);
  }
  return tree;
}

// Of the calls with the number, one that launches, and of those the innermost: the last row.
HostId LaunchOf(const Trace& trace, int64_t correlation) {
  HostId any;
  HostId launch;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    const uint32_t detail = trace.host().detail[row];
    if (trace.host().kind[row] == HostKind::kRuntime && correlation > 0 &&
        trace.runtime_calls().correlation[detail] == correlation) {
      any = {row};
      launch = IsLaunchName(trace.Name(HostId{row})) ? HostId{row} : launch;
    }
  }
  return launch.valid() ? launch : any;
}

// The last begun operator whose time covers the call.
HostId OperatorAround(const Trace& trace, HostId launch) {
  for (uint32_t row = launch.value;
       row-- > 0 && trace.host().track[row] == trace.host().track[launch.value];) {
    if (trace.host().kind[row] == HostKind::kOp && CoversTime(trace.host(), row, launch.value)) {
      return {row};
    }
  }
  return {};
}

HostId OperatorWithId(const Trace& trace, int64_t external_id) {
  HostId found;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    if (trace.host().kind[row] == HostKind::kOp && external_id != 0 && external_id != kMissing &&
        trace.ops().external_id[trace.host().detail[row]] == external_id) {
      found = {row};
    }
  }
  return found;
}

bool IsNewFile(const DeviceEvents& device) {
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (IsDeviceWork(device.kind[row]) && device.external_id[row] != kMissing &&
        device.external_id[row] != device.correlation[row]) {
      return true;
    }
  }
  return false;
}

struct DeviceLink {
  HostId launch;
  HostId op;
  LinkRule rule = LinkRule::kNone;
};

DeviceLink LinkOf(const Trace& trace, uint32_t row) {
  DeviceLink link;
  link.launch = LaunchOf(trace, trace.device().correlation[row]);
  if (link.launch.valid()) {
    link.op = OperatorAround(trace, link.launch);
    link.rule = link.op.valid() ? LinkRule::kLaunchNesting : LinkRule::kLaunchOnly;
  }
  if (!link.op.valid() && IsNewFile(trace.device())) {
    link.op = OperatorWithId(trace, trace.device().external_id[row]);
    link.rule = link.op.valid() ? LinkRule::kExternalId : link.rule;
  }
  return link;
}

// Whether the number is that of several launches, none in another, or of one that starts one kernel
// and has several: what then belongs to which call is planted in correlation_test.cc.
bool IsContested(const Trace& trace, int64_t correlation) {
  const HostEvents& host = trace.host();
  const HostId known = LaunchOf(trace, correlation);
  if (!known.valid()) {
    return false;
  }
  for (uint32_t row = 0; row < host.size(); ++row) {
    const bool is_same_thread = host.track[row] == host.track[known.value];
    const bool is_nested = is_same_thread && (CoversTime(host, row, known.value) ||
                                              CoversTime(host, known.value, row));
    if (host.kind[row] == HostKind::kRuntime && !is_nested &&
        IsLaunchName(trace.Name(HostId{row})) &&
        trace.runtime_calls().correlation[host.detail[row]] == correlation) {
      return true;
    }
  }
  int kernels = 0;
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    kernels += trace.device().kind[row] == DeviceKind::kKernel &&
                       trace.device().correlation[row] == correlation
                   ? 1
                   : 0;
  }
  return kernels > 1 && IsLaunchOfOneKernel(trace.Name(known));
}

// What holds for contested work whoever started it.
void ExpectContested(const Trace& trace, const Correlation& links, uint32_t row) {
  const HostId launch = links.launch_of[row];
  if (!launch.valid()) {
    EXPECT_FALSE(links.op_of[row].valid()) << "device row " << row;
    EXPECT_EQ(links.rule[row], LinkRule::kAmbiguous) << "device row " << row;
  } else if (links.rule[row] != LinkRule::kExternalId) {
    EXPECT_EQ(links.op_of[row], OperatorAround(trace, launch)) << "device row " << row;
  }
}

int64_t ProcessOfTrack(const Trace& trace, TrackId track) {
  return trace.tracks().pid[track.value];
}

uint32_t StepAt(const Trace& trace, const Steps& steps, TrackId thread, int64_t ts_ns) {
  uint32_t found = kNoStep;
  for (uint32_t i = 0; i < steps.steps.size(); ++i) {
    const TrackId track = trace.host().track[steps.steps[i].annotation.value];
    const bool is_own = steps.processes.size() == 1 ||
                        ProcessOfTrack(trace, track) == ProcessOfTrack(trace, thread);
    if (is_own && steps.steps[i].begin_ns <= ts_ns && ts_ns < steps.steps[i].end_ns) {
      found = i;  // of several, the one that begins last
    }
  }
  return found;
}

// (number, begin) of every step annotation, each once.
std::set<std::pair<int64_t, int64_t>> StepsOf(const Trace& trace) {
  std::set<std::pair<int64_t, int64_t>> steps;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    const std::optional<int64_t> number = StepNumber(trace.Name(HostId{row}));
    const bool may_be_step =
        trace.host().kind[row] == HostKind::kAnnotation || trace.host().kind[row] == HostKind::kOp;
    if (number.has_value() && may_be_step) {
      steps.emplace(*number, trace.host().ts_ns[row]);
    }
  }
  return steps;
}

struct OpNumbers {
  int64_t sequence = kMissing;  // >= 0 where there is one
  bool is_backward = false;
};

OpNumbers NumbersOf(const Trace& trace, HostId id) {
  if (trace.host().kind[id.value] != HostKind::kOp) {
    return {};
  }
  const uint32_t detail = trace.host().detail[id.value];
  const int64_t sequence = trace.ops().sequence[detail];
  return {sequence >= 0 ? sequence : kMissing, trace.ops().forward_thread[detail] > 0};
}

// The nearest operator around a row, of whatever number.
HostId OperatorAbove(const Trace& trace, const CallTree& tree, HostId id) {
  do {
    id = tree.parent[id.value];
  } while (id.valid() && trace.host().kind[id.value] != HostKind::kOp);
  return id;
}

std::map<uint32_t, uint32_t> LinksOf(const Trace& trace, const CallTree& tree) {
  std::map<uint32_t, uint32_t> links;
  const HostEvents& host = trace.host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    const OpNumbers backward = NumbersOf(trace, {row});
    const HostId above = OperatorAbove(trace, tree, {row});
    const bool is_nested = above.valid() && NumbersOf(trace, above).sequence == backward.sequence;
    if (!backward.is_backward || backward.sequence == kMissing || is_nested) {
      continue;
    }
    HostId best;
    for (uint32_t other = 0; other < host.size(); ++other) {
      const OpNumbers forward = NumbersOf(trace, {other});
      const auto place = [&](uint32_t r) { return std::pair(host.ts_ns[r], r); };
      if (!forward.is_backward && forward.sequence == backward.sequence &&
          place(other) < place(row) && (!best.valid() || place(best.value) < place(other))) {
        best = {other};
      }
    }
    if (best.valid()) {
      links[row] = best.value;
    }
  }
  return links;
}

// --- the comparison ---

void ExpectTree(const Trace& trace, const CallTree& tree) {
  const CallTree want = TreeOf(trace);
  EXPECT_EQ(tree.parent, want.parent);
  EXPECT_EQ(tree.subtree_end, want.subtree_end);
}

void ExpectCorrelation(const Trace& trace, const TraceIndex& index) {
  std::map<uint32_t, std::vector<DeviceId>> devices;  // by detail of the launch
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    DeviceLink want = LinkOf(trace, row);
    if (IsContested(trace, trace.device().correlation[row])) {
      ExpectContested(trace, index.correlation, row);
      want = {index.correlation.launch_of[row], index.correlation.op_of[row],
              index.correlation.rule[row]};
    }
    EXPECT_EQ(index.correlation.launch_of[row], want.launch) << "device row " << row;
    EXPECT_EQ(index.correlation.op_of[row], want.op) << "device row " << row;
    EXPECT_EQ(index.correlation.rule[row], want.rule) << "device row " << row;
    if (want.launch.valid()) {
      devices[trace.host().detail[want.launch.value]].push_back({row});
    }
  }
  for (uint32_t call = 0; call < trace.runtime_calls().size(); ++call) {
    const std::span<const DeviceId> got = index.correlation.DevicesOf(call);
    EXPECT_EQ(std::vector<DeviceId>(got.begin(), got.end()), devices[call]) << "call " << call;
  }
}

void ExpectSteps(const Trace& trace, const TraceIndex& index) {
  const Steps& steps = index.steps;
  std::set<std::pair<int64_t, int64_t>> got;
  for (const Step& step : steps.steps) {
    EXPECT_TRUE(got.emplace(step.number, step.begin_ns).second);
    EXPECT_EQ(step.end_ns, trace.host().end_ns(step.annotation));
  }
  EXPECT_EQ(got, StepsOf(trace));
  EXPECT_TRUE(std::is_sorted(steps.steps.begin(), steps.steps.end(),
                             [](const Step& a, const Step& b) { return a.begin_ns < b.begin_ns; }));
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    for (int64_t ts_ns = -1; ts_ns < 45 && trace.tracks().kind[track] == TrackKind::kHost;
         ++ts_ns) {
      EXPECT_EQ(steps.At(TrackId{track}, ts_ns), StepAt(trace, steps, TrackId{track}, ts_ns))
          << "at " << ts_ns;
    }
  }
  for (uint32_t row = 0; row < steps.device_step.size(); ++row) {
    const HostId launch = index.correlation.launch_of[row];
    const uint32_t want = launch.valid() ? StepAt(trace, steps, trace.host().track[launch.value],
                                                  trace.host().ts_ns[launch.value])
                                         : kNoStep;
    EXPECT_EQ(steps.device_step[row], want) << "device row " << row;
  }
}

void ExpectLinks(const Trace& trace, const TraceIndex& index) {
  std::map<uint32_t, uint32_t> got;
  for (const ForwardBackwardLink& link : index.forward_backward) {
    EXPECT_TRUE(got.emplace(link.backward.value, link.forward.value).second);
  }
  EXPECT_EQ(got, LinksOf(trace, index.tree));
}

void ExpectCounts(const Trace& trace, const TraceIndex& index) {
  uint64_t not_nested = 0;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    not_nested += OutlivesAnother(trace.host(), row);
  }
  uint64_t unlinked = 0;
  uint64_t early = 0;
  uint64_t without_op = 0;
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    const HostId launch = index.correlation.launch_of[row];
    const bool is_work = IsDeviceWork(trace.device().kind[row]);
    unlinked += is_work && !launch.valid();
    early +=
        is_work && launch.valid() && trace.device().ts_ns[row] < trace.host().ts_ns[launch.value];
    without_op += is_work && launch.valid() && !index.correlation.op_of[row].valid();
  }
  EXPECT_EQ(index.diagnostics.count(Diag::kNotNested), not_nested);
  EXPECT_EQ(index.diagnostics.count(Diag::kInheritedWork) +
                index.diagnostics.count(Diag::kUnlinkedDeviceEvent) +
                index.diagnostics.count(Diag::kAmbiguousLaunch),
            unlinked);
  EXPECT_EQ(index.diagnostics.count(Diag::kDeviceBeforeLaunch), early);
  EXPECT_EQ(index.diagnostics.count(Diag::kUnlinkedOp), without_op);
}

TEST(IndexTwinsTest, EveryIndex) {
  for (uint64_t seed = 0; seed < 20000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trace trace = RandomTrace(seed);
    const TraceIndex index = BuildIndex(trace, 1);
    ExpectTree(trace, index.tree);
    ExpectCorrelation(trace, index);
    ExpectSteps(trace, index);
    ExpectLinks(trace, index);
    ExpectCounts(trace, index);
  }
}

TEST(IndexTwinsThreadsTest, ThreadsChangeNothing) {
  for (uint64_t seed = 7000; seed < 7100; ++seed) {
    const Trace trace = RandomTrace(seed);
    EXPECT_EQ(TextOf(trace, BuildIndex(trace, 1)), TextOf(trace, BuildIndex(trace, 4))) << seed;
  }
}

}  // namespace
}  // namespace borescope::internal
