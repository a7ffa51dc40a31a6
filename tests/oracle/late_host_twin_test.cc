// What the host did while it was late against a slow twin: every moment looks for what explains it
// by itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/idle/late_host.h"
#include "borescope/testing/test_trace.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using testkit::Random;

constexpr int64_t kEnd = 400;
constexpr int64_t kThread = 1;

// Activity, name, caller, operation.
using Key = std::tuple<HostActivity, std::string, std::string, std::string>;
using Sums = std::map<Key, int64_t>;

std::string Numbered(std::string_view name, uint64_t number) {
  return std::string(name) + std::to_string(number);
}

// Of functions, what is passed over, and what is named like calls; outermost first.
std::vector<std::string> RandomStack(Random& random) {
  constexpr const char* kFrames[] = {"main",   "grow", "[libcuda.so]",
                                     "_start", "os1",  "int cuda1<a>(b)"};
  std::vector<std::string> stack;
  for (int64_t i = random.Between(0, 6); i > 0; --i) {
    stack.emplace_back(kFrames[random.Below(std::size(kFrames))]);
  }
  return stack;
}

void AddCallStack(Random& random, TestTrace& trace) {
  if (random.Chance(0.6)) {
    trace.CalledFrom(RandomStack(random));
  }
}

void AddEvents(Random& random, TestTrace& trace) {
  for (int64_t i = random.Between(0, 25); i > 0; --i) {
    const int64_t begin = random.Between(0, kEnd - 1);
    const Span span{begin, random.Between(0, random.Chance(0.3) ? 200 : 30)};
    switch (random.Below(5)) {
      case 0:
        trace.Op(Numbered("op", random.Below(3)), span);
        break;
      case 1:
        trace.Python(Numbered("frame", random.Below(3)), span);
        break;
      case 2:
        trace.Annotation(Numbered("range", random.Below(3)), span);
        break;
      case 3:
        trace.LibraryCall(Numbered("os", random.Below(3)), span);
        AddCallStack(random, trace);
        break;
      default:
        trace.Runtime(Numbered("cuda", random.Below(3)), span);
        AddCallStack(random, trace);
    }
  }
}

void AddThread(Random& random, TestTrace& trace) {
  for (int64_t now = random.Between(0, 60); now < kEnd; now += random.Between(1, 90)) {
    const int64_t length = random.Between(1, 25);
    trace.Pause({now, length}, kThread);
    now += length;
  }
  for (int64_t now = random.Between(0, 90); now < kEnd; now += random.Between(0, 40)) {
    const std::string outer = random.Chance(0.5) ? "main" : "[libcuda.so]";
    const std::string inner = Numbered(random.Chance(0.5) ? "f" : "[m", 1);
    std::vector<std::string> stack;
    if (!random.Chance(0.1)) {
      stack = {outer, inner};
    }
    trace.Sample(now, stack, kThread);
  }
}

// Disjoint times in which the last call of the trace was late.
std::vector<Interval> RandomTimes(Random& random) {
  std::vector<Interval> times;
  for (int64_t now = random.Between(0, 50); now < kEnd; now += random.Between(0, 60)) {
    times.push_back({now, now + random.Between(1, 80)});
    now = times.back().end;
  }
  return times;
}

class Twin {
 public:
  explicit Twin(const RankView& view) : view_(view), host_(view.trace.host()) {}

  Key At(int64_t ns) const {
    HostId call;
    HostId op;
    const HostId innermost = Innermost(ns);
    for (HostId row = innermost; row.valid(); row = Parent(row)) {
      const HostKind kind = host_.kind[row.value];
      call = kind == HostKind::kRuntime || kind == HostKind::kOther ? row : call;
      op = !op.valid() && kind == HostKind::kOp ? row : op;
    }
    const std::string in = Name(op);
    if (call.valid()) {
      return {HostActivity::kCall, Name(call), Caller(call), in};
    }
    if (IsPaused(ns)) {
      return {HostActivity::kNoProcessor, "", "", in};
    }
    const StackSamples& samples = view_.trace.stack_samples();
    size_t last = samples.size();
    for (size_t i = 0; i < samples.size(); ++i) {
      last = samples.ts_ns[i] <= ns ? i : last;
    }
    if (last < samples.size() && ns - samples.ts_ns[last] < 2 * SamplingPeriod(view_.trace)) {
      return {HostActivity::kSampled, Function(last), "", in};
    }
    return {innermost.valid() ? HostActivity::kEvent : HostActivity::kUnknown, Name(innermost), "",
            in};
  }

 private:
  bool IsOpen(uint32_t row, int64_t ns) const {
    return host_.ts_ns[row] <= ns && ns < host_.end_ns(HostId{row});
  }

  HostId Innermost(int64_t ns) const {
    HostId found;
    for (uint32_t row = 0; row < host_.size(); ++row) {
      found = host_.track[row] == host_.track[0] && IsOpen(row, ns) ? HostId{row} : found;
    }
    return found;
  }

  HostId Parent(HostId inner) const {
    HostId found;
    for (uint32_t row = 0; row < inner.value; ++row) {
      const bool covers = host_.ts_ns[row] <= host_.ts_ns[inner.value] &&
                          host_.end_ns(HostId{row}) >= host_.end_ns(inner);
      found = host_.track[row] == host_.track[0] && covers ? HostId{row} : found;
    }
    return found;
  }

  bool IsPaused(int64_t ns) const {
    const Pauses& pauses = view_.trace.pauses();
    bool is_paused = false;
    for (size_t i = 0; i < pauses.size(); ++i) {
      is_paused = is_paused || (pauses.ts_ns[i] <= ns && ns < pauses.end_ns[i]);
    }
    return is_paused;
  }

  std::string Function(size_t sample) const {
    const StackFrames& frames = view_.trace.stack_frames();
    std::vector<std::string> names;  // innermost first
    for (uint32_t frame = view_.trace.stack_samples().frame[sample]; frame != kNoDetail;
         frame = frames.parent[frame]) {
      names.emplace_back(view_.trace.Text(frames.name[frame]));
    }
    for (const std::string& name : names) {
      if (name.front() != '[') {
        return name;
      }
    }
    return names.empty() ? "" : names.front();
  }

  // Of the rows of a call and inside it the first stack that says something.
  std::string Caller(HostId call) const {
    for (uint32_t row = call.value; row < host_.size(); ++row) {
      const bool is_inside = row == call.value || IsInside(HostId{row}, call);
      const std::string caller = is_inside ? CallerInStack(HostId{row}, call) : "";
      if (!caller.empty()) {
        return caller;
      }
    }
    return "";
  }

  bool IsInside(HostId row, HostId call) const {
    while (row.valid() && row.value != call.value) {
      row = Parent(row);
    }
    return row.valid();
  }

  std::string CallerInStack(HostId row, HostId call) const {
    const HostKind kind = host_.kind[row.value];
    std::vector<std::string> names;  // innermost first
    const CallStacks& stacks = view_.trace.call_stacks();
    for (size_t i = 0; i < stacks.size(); ++i) {
      const bool is_of_row = (kind == HostKind::kRuntime || kind == HostKind::kOther) &&
                             stacks.call[i] == host_.detail[row.value];
      const StackFrames& frames = view_.trace.stack_frames();
      for (uint32_t frame = is_of_row ? stacks.frame[i] : kNoDetail; frame != kNoDetail;
           frame = frames.parent[frame]) {
        names.emplace_back(view_.trace.Text(frames.name[frame]));
      }
    }
    const auto is_of_call = [&](const std::string& name) {
      return name == Name(call) || name == "int " + Name(call) + "<a>(b)";
    };
    const auto first = std::find_if(names.begin(), names.end(), is_of_call);
    if (first == names.end() && row.value != call.value) {
      return "";
    }
    const auto begin = first == names.end() ? names.begin() : first;
    const auto caller = std::find_if(begin, names.end(), [&](const std::string& name) {
      return !is_of_call(name) && name[0] != '_' && name[0] != '[';
    });
    return caller == names.end() ? "" : *caller;
  }

  std::string Name(HostId id) const {
    return id.valid() ? std::string(view_.trace.Name(id)) : std::string();
  }

  const RankView& view_;
  const HostEvents& host_;
};

std::string TextIn(const RankView& view, StringId id) {
  return id.valid() ? std::string(view.trace.Text(id)) : std::string();
}

int64_t LargestOf(const std::map<std::string, int64_t>& sums) {
  int64_t largest = 0;
  for (const auto& [name, ns] : sums) {
    largest = std::max(largest, ns);
  }
  return largest;
}

// What a thread did in a time, moment by moment.
struct SlowTime {
  std::map<std::string, int64_t> by_name;  // of what says something, with its activity
  std::map<std::string, int64_t> by_op;
  int64_t unknown = 0;

  SlowTime(const Twin& twin, Interval time) {
    for (int64_t ns = time.begin; ns < time.end; ++ns) {
      const auto [activity, name, caller, op] = twin.At(ns);
      const bool says_something = activity == HostActivity::kNoProcessor || !name.empty();
      by_name[Numbered(name, static_cast<uint64_t>(activity))] += says_something ? 1 : 0;
      unknown += says_something ? 0 : 1;
      by_op[op] += op.empty() ? 0 : 1;
    }
  }
};

void ExpectMain(const RankView& view, const LateTime& late, const MainActivity& found) {
  const SlowTime slow(Twin(view), late.time);
  const int64_t length = late.time.length();
  const std::string op = TextIn(view, found.op);
  EXPECT_EQ(!op.empty(), 2 * LargestOf(slow.by_op) >= length && !slow.by_op.empty());
  EXPECT_TRUE(op.empty() || 2 * slow.by_op.at(op) >= length) << op;
  const HostId event = MainEventIn(view.trace, late.launch, late.time);
  if (event.valid()) {
    EXPECT_EQ(TextIn(view, found.name), view.trace.Name(event));
    const HostEvents& host = view.trace.host();
    EXPECT_EQ(found.ns, std::min(host.end_ns(event), late.time.end) -
                            std::max(host.ts_ns[event.value], late.time.begin));
    return;
  }
  const int64_t largest = LargestOf(slow.by_name);
  EXPECT_EQ(found.ns, largest >= slow.unknown ? largest : 0);
  const std::string name =
      Numbered(TextIn(view, found.name), static_cast<uint64_t>(found.activity));
  EXPECT_TRUE(found.ns == 0 || slow.by_name.at(name) == found.ns) << name;
}

// Of a thread that is asked about for the first time, and of one that was prepared for it.
TEST(LateHostTwinTest, TheMainActivityOfEachTimeIsFound) {
  constexpr int kAskedBefore = 70;
  int64_t events = 0;
  int64_t pieces = 0;
  for (uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    TestTrace trace;
    AddEvents(random, trace);
    AddThread(random, trace);
    trace.Runtime("cudaLaunchKernel", {kEnd + 200, 5});
    const RankView& view = trace.View();
    const HostId launch{static_cast<uint32_t>(view.trace.host().size() - 1)};
    std::vector<LateTime> late;
    for (const Interval& time : RandomTimes(random)) {
      late.push_back({time, launch});
    }
    LateHost host(view);
    for (int asked = 0; asked < kAskedBefore; ++asked) {
      const std::vector<MainActivity> found = host.MainActivities(late);
      ASSERT_EQ(found.size(), late.size());
      for (size_t i = 0; i < late.size() && (asked == 0 || asked + 1 == kAskedBefore); ++i) {
        ExpectMain(view, late[i], found[i]);
        const bool is_event = MainEventIn(view.trace, launch, late[i].time).valid();
        events += is_event ? 1 : 0;
        pieces += !is_event && found[i].ns > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(events, 500);
  EXPECT_GT(pieces, 500);
}

TEST(LateHostTwinTest, EveryMomentIsExplained) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    TestTrace trace;
    AddEvents(random, trace);
    AddThread(random, trace);
    trace.Runtime("cudaLaunchKernel", {kEnd + 200, 5});
    const RankView& view = trace.View();
    const HostId launch{static_cast<uint32_t>(view.trace.host().size() - 1)};
    Sums expected;
    std::vector<LateTime> late;
    for (const Interval& time : RandomTimes(random)) {
      late.push_back({time, launch});
      for (int64_t ns = time.begin; ns < time.end; ++ns) {
        ++expected[Twin(view).At(ns)];
      }
    }
    Sums found;
    for (const LateHostSum& sum : ExplainLateHost(view, late)) {
      const auto text = [&](StringId id) {
        return id.valid() ? std::string(view.trace.Text(id)) : std::string();
      };
      found[{sum.activity, text(sum.name), text(sum.caller), text(sum.operation)}] += sum.ns;
    }
    ASSERT_EQ(found, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace borescope::internal
