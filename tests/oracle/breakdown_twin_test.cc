// The breakdown of device time against a slow twin: one flag per nanosecond and activity, set
// straight from what was planted.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <tuple>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/testing/trace_maker.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using testkit::Random;
using testkit::Span;
using testkit::TraceMaker;

constexpr int64_t kEnd = 40;  // no event reaches further
using Flags = std::array<bool, kEnd>;

struct Work {
  Activity activity;
  int64_t gpu;
  int64_t stream;
  Span span;
  bool is_inherited = false;  // launched before the recording
};

struct Planted {
  std::vector<Work> work;
  std::vector<std::pair<int64_t, Span>> steps;  // number, window
  Span all;                                     // of every event
};

Span RandomSpan(Random& random) {
  const int64_t begin = random.Between(0, 25);
  return {begin, random.Chance(0.15) ? 0 : random.Between(1, 14)};
}

void Cover(Planted& planted, Span span, bool is_first) {
  const int64_t end = std::max(planted.all.ts_ns + planted.all.dur_ns, span.ts_ns + span.dur_ns);
  const int64_t begin = std::min(planted.all.ts_ns, span.ts_ns);
  planted.all = is_first ? span : Span{begin, end - begin};
}

void PlantWork(Random& random, TraceMaker& maker, Planted& planted) {
  struct Kind {
    DeviceKind kind;
    const char* name;
    Activity activity;
  };
  static constexpr Kind kKinds[] = {
      {DeviceKind::kKernel, "ampere_sgemm_128x64_nn", Activity::kCompute},
      {DeviceKind::kKernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", Activity::kCommunication},
      {DeviceKind::kKernel, "__amd_rocclr_copyBuffer", Activity::kCopy},
      {DeviceKind::kMemcpy, "Memcpy HtoD (Pinned -> Device)", Activity::kCopy},
      {DeviceKind::kMemset, "Memset (Device)", Activity::kCopy}};
  const Kind& kind = random.Pick(kKinds);
  const Work work{kind.activity, random.Between(0, 1), random.Between(7, 8), RandomSpan(random),
                  false};
  maker.Device(kind.kind, kind.name, work.gpu, work.stream, work.span);
  planted.work.push_back(work);
}

// Waits and frames cover idle time and must count for nothing.
void PlantNoise(Random& random, TraceMaker& maker, Span span) {
  static constexpr DeviceKind kKinds[] = {DeviceKind::kSync, DeviceKind::kAnnotation,
                                          DeviceKind::kOther};
  maker.Device(random.Pick(kKinds), "noise", random.Between(0, 2), random.Between(7, 9), span);
}

// A launch that was recorded, of work after all other: what comes before that on its stream, or
// before the call on others, was launched before the recording.
void PlantLaunch(Random& random, TraceMaker& maker, Planted& planted) {
  constexpr Span kLaunched{30, 3};
  constexpr int64_t kNumber = 9;
  const Span call{random.Between(5, 29), 1};
  for (Work& work : planted.work) {
    work.is_inherited = (work.gpu == 0 && work.stream == 7) || work.span.ts_ns < call.ts_ns;
  }
  maker.Call("cudaLaunchKernel", 1, call, kNumber);
  maker.Kernel("ampere_sgemm_128x64_nn", 7, kLaunched, {.correlation = kNumber});
  Cover(planted, call, false);
  planted.work.push_back({Activity::kCompute, 0, 7, kLaunched});
  Cover(planted, kLaunched, false);
}

Planted Plant(Random& random, TraceMaker& maker) {
  Planted planted;
  const uint64_t events = random.Below(12);
  for (uint64_t i = 0; i < events; ++i) {
    Span span = RandomSpan(random);
    switch (random.Below(5)) {
      case 0:
        PlantNoise(random, maker, span);
        break;
      case 1: {
        const auto number = static_cast<int64_t>(planted.steps.size());
        span.dur_ns = std::max<int64_t>(span.dur_ns, 1);
        maker.Host(HostKind::kAnnotation, "ProfilerStep#" + std::to_string(number), 1, span);
        planted.steps.emplace_back(number, span);
        break;
      }
      default:
        PlantWork(random, maker, planted);
        span = planted.work.back().span;
    }
    Cover(planted, span, i == 0);
  }
  if (events > 0 && random.Chance(0.5)) {
    PlantLaunch(random, maker, planted);
  }
  return planted;
}

Flags FlagsOf(Span span) {
  Flags flags{};
  for (int64_t ns = span.ts_ns; ns < span.ts_ns + span.dur_ns; ++ns) {
    flags[static_cast<size_t>(ns)] = true;
  }
  return flags;
}

// step (or -1), gpu, stream (or -1)
using Key = std::tuple<int64_t, int64_t, int64_t>;
using Times = std::map<std::string, int64_t>;

Times TimesOf(const std::vector<Work>& work, const Flags& inside) {
  std::array<Flags, 3> activity{};
  Flags inherited{};
  for (const Work& one : work) {
    for (int64_t ns = one.span.ts_ns; ns < one.span.ts_ns + one.span.dur_ns; ++ns) {
      activity[static_cast<size_t>(one.activity)][static_cast<size_t>(ns)] = true;
      inherited[static_cast<size_t>(ns)] |= one.is_inherited;
    }
  }
  Times times{{"span_ns", 0},         {"busy_ns", 0},      {"compute_ns", 0},      {"comm_ns", 0},
              {"exposed_comm_ns", 0}, {"copy_ns", 0},      {"exposed_copy_ns", 0}, {"idle_ns", 0},
              {"head_idle_ns", 0},    {"tail_idle_ns", 0}, {"inherited_ns", 0}};
  int64_t idle_since_busy = 0;
  for (size_t ns = 0; ns < inside.size(); ++ns) {
    if (!inside[ns]) {
      continue;
    }
    const bool compute = activity[static_cast<size_t>(Activity::kCompute)][ns];
    const bool comm = activity[static_cast<size_t>(Activity::kCommunication)][ns];
    const bool copy = activity[static_cast<size_t>(Activity::kCopy)][ns];
    const bool busy = compute || comm || copy;
    times["span_ns"] += 1;
    times["busy_ns"] += busy;
    times["inherited_ns"] += inherited[ns];
    times["compute_ns"] += compute;
    times["comm_ns"] += comm;
    times["copy_ns"] += copy;
    times["exposed_comm_ns"] += comm && !compute;
    times["exposed_copy_ns"] += copy && !comm && !compute;
    times["idle_ns"] += !busy;
    idle_since_busy = busy ? 0 : idle_since_busy + 1;
    times["head_idle_ns"] += times["busy_ns"] == 0;
  }
  times["tail_idle_ns"] = times["busy_ns"] == 0 ? 0 : idle_since_busy;
  return times;
}

std::map<Key, Times> TwinOf(const Planted& planted, bool by_step, bool by_stream) {
  std::map<std::pair<int64_t, int64_t>, std::vector<Work>> groups;
  for (const Work& work : planted.work) {
    groups[{work.gpu, by_stream ? work.stream : -1}].push_back(work);
  }
  if (groups.empty()) {
    groups[{kMissing, by_stream ? kMissing : -1}] = {};
  }
  // The rows of a step, and one for the time in no step; or one for everything. Of the steps around
  // a moment it belongs to the one that begins last, of those to the one with the largest number.
  std::vector<std::pair<int64_t, Flags>> windows;
  Flags rest = FlagsOf(planted.all);
  std::vector<std::pair<int64_t, Span>> steps = planted.steps;
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.ts_ns, a.first) > std::pair(b.second.ts_ns, b.first);
  });
  for (const auto& [number, span] : steps) {
    Flags inside = FlagsOf(span);
    for (size_t ns = 0; ns < inside.size(); ++ns) {
      inside[ns] = inside[ns] && rest[ns];
      rest[ns] = rest[ns] && !inside[ns];
    }
    if (std::find(inside.begin(), inside.end(), true) != inside.end()) {
      windows.emplace_back(number, inside);
    }
  }
  if (!by_step) {
    windows = {{-1, FlagsOf(planted.all)}};
  } else if (std::find(rest.begin(), rest.end(), true) != rest.end()) {
    windows.emplace_back(kMissing, rest);
  }
  std::map<Key, Times> rows;
  for (const auto& [number, window] : windows) {
    for (const auto& [group, work] : groups) {
      rows[{number, group.first, group.second}] = TimesOf(work, window);
    }
  }
  return rows;
}

// A cell, kMissing where it is missing, -1 where there is no such column.
int64_t Cell(const Table& table, const std::string& name, size_t row) {
  const Column* column = table.Find(name);
  if (column == nullptr) {
    return -1;
  }
  return column->IsMissing(row) ? kMissing : std::get<IntValues>(column->values)[row];
}

std::map<Key, Times> RowsOf(const Table& table) {
  std::map<Key, Times> rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    Times times;
    for (const Column& column : table.columns) {
      if (column.role == Role::kSum) {
        times[column.name] = Cell(table, column.name, row);
      }
    }
    const Key key{Cell(table, "step", row), Cell(table, "gpu", row), Cell(table, "stream", row)};
    EXPECT_TRUE(rows.emplace(key, times).second) << "a row twice";
  }
  return rows;
}

TEST(BreakdownTwinTest, EveryNanosecondIsCountedOnce) {
  for (uint64_t seed = 0; seed < 4000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    TraceMaker maker;
    const Planted planted = Plant(random, maker);
    const Trace trace = maker.Finish();
    const TraceIndex index = BuildIndex(trace, 1);
    const bool by_step = random.Chance(0.5);
    const bool by_stream = random.Chance(0.5);
    Params params;
    params.selection.step_rule = StepRule::kTime;  // the other: step_rule_twin_test.cc
    if (by_step) {
      params.by.emplace_back("step");
    }
    if (by_stream) {
      params.by.emplace_back("stream");
    }
    const Result<Tables> found = kBreakdownVerb.answer.map({0, trace, index}, params);
    ASSERT_TRUE(found.ok()) << found.error().Sentence();
    EXPECT_EQ(RowsOf(found->front()), TwinOf(planted, by_step, by_stream));
  }
}

}  // namespace
}  // namespace borescope::internal
