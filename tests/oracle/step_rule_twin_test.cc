// The steps of device work and device time against slow twins: every nanosecond of a device is
// given to a step straight from what was planted, for one and for two processes, for both rules.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/testing/trace_maker.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using testkit::Random;
using testkit::Span;
using testkit::TraceMaker;

constexpr int64_t kEnd = 60;   // no event reaches further
constexpr int64_t kNone = -1;  // no step

struct PlantedStep {
  int64_t process;
  int64_t number;
  Span window;
};

struct PlantedWork {
  int64_t gpu;
  int64_t stream;
  Span span;
  bool is_kernel;
  std::optional<int64_t> launch_ns;
  int64_t process;  // that launched it, or would have
};

struct Planted {
  std::vector<PlantedStep> steps;  // in the order of their begins
  std::vector<PlantedWork> works;
  Span all;
};

bool Holds(Span span, int64_t ns) { return span.ts_ns <= ns && ns < span.ts_ns + span.dur_ns; }

void HostOf(TraceMaker& maker, int64_t process) {
  maker.part().data.host.track.back() = maker.part().Track(TrackKind::kHost, process, 1);
}

// Steps begin at times of their own, so that their order is known.
void PlantSteps(Random& random, TraceMaker& maker, int64_t processes, Planted& planted) {
  std::set<int64_t> begins;
  std::map<int64_t, int64_t> next;
  for (int64_t i = random.Between(0, 5); i > 0; --i) {
    begins.insert(random.Between(0, 40));
  }
  for (const int64_t begin : begins) {
    const int64_t process = random.Between(1, processes);
    const PlantedStep step{process, next[process]++, {begin, random.Between(1, 15)}};
    maker.Host(HostKind::kAnnotation, "ProfilerStep#" + std::to_string(step.number), 1,
               step.window);
    HostOf(maker, process);
    planted.steps.push_back(step);
  }
}

void PlantWork(Random& random, TraceMaker& maker, int64_t processes, Planted& planted) {
  const int64_t process = random.Between(1, processes);
  const bool is_kernel = random.Chance(0.7);
  const int64_t begin = random.Between(0, 45);
  const Span span{begin, random.Chance(0.15) ? 0 : random.Between(1, 14)};
  PlantedWork work{process - 1, random.Between(7, 8), span, is_kernel, {}, process};
  const auto correlation = static_cast<int64_t>(planted.works.size()) + 1;
  if (random.Chance(0.75)) {
    work.launch_ns = random.Between(0, begin);
    maker.Call("cudaLaunchKernel", 1, {*work.launch_ns, 0}, correlation);
    HostOf(maker, process);
  }
  maker.Device(is_kernel ? DeviceKind::kKernel : DeviceKind::kMemset, is_kernel ? "gemm" : "Memset",
               work.gpu, work.stream, span, {.correlation = correlation});
  planted.works.push_back(work);
}

Planted Plant(Random& random, TraceMaker& maker) {
  const int64_t processes = random.Between(1, 2);
  Planted planted;
  PlantSteps(random, maker, processes, planted);
  for (uint64_t i = random.Below(12); i > 0; --i) {
    PlantWork(random, maker, processes, planted);
  }
  return planted;
}

// Whether a single process has steps, which are those of the file then.
bool HasOneProcess(const Planted& planted) {
  return std::all_of(planted.steps.begin(), planted.steps.end(), [&](const PlantedStep& step) {
    return step.process == planted.steps.front().process;
  });
}

// The step of a process at a time: of several the last to begin. kNone or an index.
int64_t StepAt(const Planted& planted, int64_t process, int64_t ns) {
  int64_t found = kNone;
  for (size_t i = 0; i < planted.steps.size(); ++i) {
    const PlantedStep& step = planted.steps[i];
    const bool is_own = step.process == process || HasOneProcess(planted);
    found = is_own && Holds(step.window, ns) ? static_cast<int64_t>(i) : found;
  }
  return found;
}

int64_t StepOfWork(const Planted& planted, const PlantedWork& work, StepRule rule) {
  if (work.launch_ns.has_value()) {
    return StepAt(planted, work.process, *work.launch_ns);
  }
  return rule == StepRule::kTime ? StepAt(planted, work.process, work.span.ts_ns) : kNone;
}

// The first of two steps, any step before none.
int64_t FirstOf(int64_t a, int64_t b) { return a == kNone || (b != kNone && b < a) ? b : a; }

// By launch: to which step one nanosecond of a line belongs. `works` are those of the line.
int64_t OwnerByLaunch(const Planted& planted, const std::vector<PlantedWork>& works, int64_t ns) {
  const auto first_of = [&](const auto& counts) {
    std::optional<int64_t> first;
    for (const PlantedWork& work : works) {
      if (counts(work)) {
        const int64_t step = StepOfWork(planted, work, StepRule::kLaunch);
        first = first.has_value() ? FirstOf(*first, step) : step;
      }
    }
    return first;
  };
  const auto running = first_of([ns](const PlantedWork& work) { return Holds(work.span, ns); });
  if (running.has_value()) {
    return *running;
  }
  int64_t next = kEnd + 1;
  for (const PlantedWork& work : works) {
    next = work.span.ts_ns > ns ? std::min(next, work.span.ts_ns) : next;
  }
  const auto begins = [next](const PlantedWork& work) { return work.span.ts_ns == next; };
  return first_of(begins).value_or(kNone);
}

int64_t OwnerOf(const Planted& planted, const std::vector<PlantedWork>& works, StepRule rule,
                int64_t ns) {
  return rule == StepRule::kLaunch ? OwnerByLaunch(planted, works, ns)
                                   : StepAt(planted, works.front().process, ns);
}

bool IsBusy(const std::vector<PlantedWork>& works, int64_t ns) {
  return std::any_of(works.begin(), works.end(),
                     [ns](const PlantedWork& work) { return Holds(work.span, ns); });
}

// A device, kMissing or a stream.
using Line = std::pair<int64_t, int64_t>;

std::map<Line, std::vector<PlantedWork>> WorksByLine(const Planted& planted, bool by_stream) {
  std::map<Line, std::vector<PlantedWork>> works;
  for (const PlantedWork& work : planted.works) {
    works[{work.gpu, by_stream ? work.stream : kMissing}].push_back(work);
  }
  return works;
}

// Whether some launch on each device was recorded, so that its process is known.
bool IsWellKnown(const Planted& planted) {
  const auto by_gpu = WorksByLine(planted, false);
  return std::all_of(by_gpu.begin(), by_gpu.end(), [](const auto& entry) {
    return std::any_of(entry.second.begin(), entry.second.end(),
                       [](const PlantedWork& work) { return work.launch_ns.has_value(); });
  });
}

int64_t Cell(const Table& table, const std::string& name, size_t row) {
  const Column* column = table.Find(name);
  EXPECT_NE(column, nullptr) << name;
  return column->IsMissing(row) ? kMissing : std::get<IntValues>(column->values)[row];
}

std::string TextCell(const Table& table, const std::string& name, size_t row) {
  return std::string(std::get<StringValues>(table.Find(name)->values)[row]);
}

// (step number or kMissing, line) -> span, busy
using Sums = std::map<std::pair<int64_t, Line>, std::pair<int64_t, int64_t>>;

Sums TwinOfBreakdown(const Planted& planted, const Trace& trace, StepRule rule, bool by_stream) {
  Sums sums;
  for (const auto& [line, works] : WorksByLine(planted, by_stream)) {
    for (int64_t ns = trace.begin_ns(); ns < trace.end_ns(); ++ns) {
      const int64_t owner = OwnerOf(planted, works, rule, ns);
      const int64_t number =
          owner == kNone ? kMissing : planted.steps[static_cast<size_t>(owner)].number;
      auto& [span_ns, busy_ns] = sums[{number, line}];
      ++span_ns;
      busy_ns += IsBusy(works, ns) ? 1 : 0;
    }
  }
  return sums;
}

Sums RowsOfBreakdown(const Table& table, int64_t step = kMissing) {
  Sums sums;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int64_t span_ns = Cell(table, "span_ns", row);
    if (span_ns > 0) {
      const int64_t number = table.Find("step") == nullptr ? step : Cell(table, "step", row);
      const bool by_stream = table.Find("stream") != nullptr;
      const Line line{Cell(table, "gpu", row), by_stream ? Cell(table, "stream", row) : kMissing};
      sums[{number, line}] = {span_ns, Cell(table, "busy_ns", row)};
    }
  }
  return sums;
}

struct OwnTime {
  int64_t begin_ns = kMissing;
  int64_t end_ns = kMissing;
  int64_t busy_ns = 0;
  int64_t shared_ns = 0;
  int64_t kernels = 0;
  int64_t copies = 0;

  bool operator==(const OwnTime&) const = default;
};

// (step number or kMissing, name, gpu)
using OwnKey = std::tuple<int64_t, std::string, int64_t>;

// The place of work in the order in which instants go to steps: steps, work launched in none, work
// without a launch.
int64_t PlaceOf(const Planted& planted, const PlantedWork& work) {
  const int64_t step = StepOfWork(planted, work, StepRule::kLaunch);
  const auto steps = static_cast<int64_t>(planted.steps.size());
  return step != kNone ? step : work.launch_ns.has_value() ? steps : steps + 1;
}

OwnKey KeyOf(const Planted& planted, int64_t place, int64_t gpu, bool has_processes) {
  const auto steps = static_cast<int64_t>(planted.steps.size());
  if (place >= steps) {
    return {kMissing, place == steps ? "(no step)" : "(no launch)", gpu};
  }
  const PlantedStep& step = planted.steps[static_cast<size_t>(place)];
  std::string name = "ProfilerStep#" + std::to_string(step.number);
  name += has_processes ? " (process " + std::to_string(step.process) + ")" : "";
  return {step.number, std::move(name), gpu};
}

std::map<OwnKey, OwnTime> TwinOfSteps(const Planted& planted, bool has_processes) {
  std::map<OwnKey, OwnTime> rows;
  for (const auto& [line, works] : WorksByLine(planted, false)) {
    for (int64_t place = 0; place < static_cast<int64_t>(planted.steps.size()) + 2; ++place) {
      OwnTime own;
      for (const PlantedWork& work : works) {
        if (PlaceOf(planted, work) == place) {
          const int64_t end_ns = work.span.ts_ns + work.span.dur_ns;
          own.begin_ns =
              own.begin_ns == kMissing ? work.span.ts_ns : std::min(own.begin_ns, work.span.ts_ns);
          own.end_ns = std::max(own.end_ns, end_ns);
          ++(work.is_kernel ? own.kernels : own.copies);
        }
      }
      for (int64_t ns = 0; ns <= kEnd; ++ns) {
        const auto runs = [&](bool is_own) {
          return std::any_of(works.begin(), works.end(), [&](const PlantedWork& work) {
            const int64_t other = PlaceOf(planted, work);
            return Holds(work.span, ns) && (is_own ? other == place : other < place);
          });
        };
        own.busy_ns += runs(true) ? 1 : 0;
        own.shared_ns += runs(true) && runs(false) ? 1 : 0;
      }
      if (own.kernels + own.copies > 0) {
        rows[KeyOf(planted, place, line.first, has_processes)] = own;
      }
    }
  }
  return rows;
}

std::map<OwnKey, OwnTime> RowsOfSteps(const Table& table) {
  std::map<OwnKey, OwnTime> rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    const OwnTime own{Cell(table, "device_begin_ns", row), Cell(table, "device_end_ns", row),
                      Cell(table, "busy_ns", row),         Cell(table, "shared_ns", row),
                      Cell(table, "kernels", row),         Cell(table, "copies", row)};
    const int64_t step = Cell(table, "step", row);
    if (own.kernels + own.copies > 0) {
      rows[{step, TextCell(table, "name", row), Cell(table, "gpu", row)}] = own;
      EXPECT_EQ(Cell(table, "device_span_ns", row), own.end_ns - own.begin_ns);
      EXPECT_EQ(Cell(table, "idle_ns", row), own.end_ns - own.begin_ns - own.busy_ns);
    }
  }
  return rows;
}

class StepRuleTwinTest : public testing::Test {
 protected:
  // Calls `check` with random traces that have steps, and whose devices have known processes.
  template <class Check>
  static void ForEach(const Check& check) {
    for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Random random(seed);
      TraceMaker maker;
      const Planted planted = Plant(random, maker);
      if (planted.steps.empty() || planted.works.empty() || !IsWellKnown(planted)) {
        continue;
      }
      const Trace trace = maker.Finish();
      const TraceIndex index = BuildIndex(trace, 1);
      check(planted, RankView{0, trace, index}, random);
    }
  }
};

TEST_F(StepRuleTwinTest, EveryNanosecondOfADeviceBelongsToOneStep) {
  ForEach([](const Planted& planted, const RankView& view, Random& random) {
    const bool by_stream = random.Chance(0.5);
    for (const StepRule rule : {StepRule::kLaunch, StepRule::kTime}) {
      Params params;
      params.selection.step_rule = rule;
      params.by = {"step"};
      if (by_stream) {
        params.by.emplace_back("stream");
      }
      const Result<Tables> found = kBreakdownVerb.answer.map(view, params);
      ASSERT_TRUE(found.ok());
      EXPECT_EQ(RowsOfBreakdown(found->front()),
                TwinOfBreakdown(planted, view.trace, rule, by_stream));
    }
  });
}

// What --step N selects is what --by step shows of it.
TEST_F(StepRuleTwinTest, AStepHasTheTimeOfItsRow) {
  ForEach([](const Planted& planted, const RankView& view, Random& random) {
    const int64_t number = random.Pick(planted.steps).number;
    Params params;
    params.selection.steps.ranges = {{number, number}};
    const Result<Tables> found = kBreakdownVerb.answer.map(view, params);
    ASSERT_TRUE(found.ok());
    Sums want = TwinOfBreakdown(planted, view.trace, StepRule::kLaunch, false);
    std::erase_if(want, [&](const auto& entry) { return entry.first.first != number; });
    EXPECT_EQ(RowsOfBreakdown(found->front(), number), want);
  });
}

TEST_F(StepRuleTwinTest, AStepHasTheWorkThatItLaunched) {
  ForEach([](const Planted& planted, const RankView& view, Random&) {
    const Result<Tables> found = kStepsVerb.answer.map(view, {});
    ASSERT_TRUE(found.ok());
    const bool has_processes = view.index.steps.processes.size() > 1;
    EXPECT_EQ(RowsOfSteps(found->front()), TwinOfSteps(planted, has_processes));
  });
}

TEST_F(StepRuleTwinTest, SelectedWorkIsThatOfTheStep) {
  ForEach([](const Planted& planted, const RankView& view, Random& random) {
    const int64_t number = random.Pick(planted.steps).number;
    Selection selection;
    selection.steps.ranges = {{number, number}};
    const Result<Selected> selected = Selected::Make(view, selection);
    ASSERT_TRUE(selected.ok());
    int64_t kept = 0;
    for (uint32_t row = 0; row < view.trace.device().size(); ++row) {
      kept += selected->Keeps(DeviceId{row}) ? 1 : 0;
    }
    const auto want =
        std::count_if(planted.works.begin(), planted.works.end(), [&](const PlantedWork& work) {
          const int64_t step = StepOfWork(planted, work, StepRule::kLaunch);
          return step != kNone && planted.steps[static_cast<size_t>(step)].number == number;
        });
    EXPECT_EQ(kept, want);
  });
}

}  // namespace
}  // namespace borescope::internal
