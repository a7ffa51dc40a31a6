// Launches and delays against slow twins: every launch looks for its work and its operator among
// everything that was planted.

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "borescope/analysis/core/param_specs.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Ask;
using testkit::Innermost;
using testkit::kNoCall;
using testkit::Line;
using testkit::Lines;
using testkit::LinesOf;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::RandomSelection;
using testkit::RunCall;
using testkit::RunFrame;
using testkit::RunSelection;
using testkit::RunWork;
using testkit::TableOf;
using testkit::TraceOf;

// A selected launch with what was selected of the work it started, by start, and the place of each
// piece among all that the launch started.
struct Launch {
  int call = kNoCall;
  std::vector<const RunWork*> works;
  std::vector<int64_t> ordinals;
  int64_t all_works = 0;
};

std::vector<Launch> LaunchesOf(const RandomRun& run, const RunSelection& selection) {
  std::vector<Launch> launches;
  for (const auto& [call, works] : testkit::WorkOfCalls(run)) {
    Launch launch{call, {}, {}, static_cast<int64_t>(works.size())};
    for (size_t ordinal = 0; ordinal < works.size(); ++ordinal) {
      if (selection.Keeps(run.work[works[ordinal]])) {
        launch.works.push_back(&run.work[works[ordinal]]);
        launch.ordinals.push_back(static_cast<int64_t>(ordinal));
      }
    }
    const int64_t begin = run.calls[static_cast<size_t>(call)].time.begin;
    if (selection.KeepsTime(begin) && !launch.works.empty()) {
      launches.push_back(launch);
    }
  }
  return launches;
}

// Work without a launch, where it is selected.
std::vector<const RunWork*> LonelyWork(const RandomRun& run, const RunSelection& selection) {
  std::vector<const RunWork*> lonely;
  for (const RunWork& work : run.work) {
    if (work.call == kNoCall && selection.Keeps(work) && selection.KeepsTime(work.time.begin)) {
      lonely.push_back(&work);
    }
  }
  return lonely;
}

struct Limits {
  int64_t call = 0;
  int64_t delay = 0;
  int64_t kernel = 0;
};

struct Counts {
  int64_t count = 0;
  int64_t calls = 0;
  int64_t short_kernels = 0;
  int64_t long_kernels = 0;
  int64_t long_calls = 0;
  int64_t long_delays = 0;
  int64_t host = 0;
  int64_t device = 0;
  int64_t delay = 0;
};

struct LaunchAnswer {
  Lines rows;
  Lines summary;
};

LaunchAnswer TwinOfLaunches(const RandomRun& run, const std::vector<Launch>& launches,
                            const Limits& limits) {
  LaunchAnswer answer;
  std::map<std::string, Counts> kernels;
  for (const Launch& launch : launches) {
    const RunCall& call = run.calls[static_cast<size_t>(launch.call)];
    const int64_t host = call.time.length();
    for (size_t i = 0; i < launch.works.size(); ++i) {
      const RunWork& work = *launch.works[i];
      const int64_t ordinal = launch.ordinals[i];
      const int64_t device = work.time.length();
      const int64_t delay = std::max<int64_t>(0, work.time.begin - call.time.end);
      answer.rows.insert(Line(work.gpu, work.stream, call.correlation, call.name, work.name,
                              ordinal, launch.all_works, host, device, delay));
      Counts& counts = kernels[work.name];
      ++counts.count;
      counts.device += device;
      counts.short_kernels += device * launch.all_works < host ? 1 : 0;
      counts.long_kernels += device > limits.kernel ? 1 : 0;
      if (i == 0) {  // the first selected piece of work counts for its call
        ++counts.calls;
        counts.host += host;
        counts.delay += delay;
        counts.long_calls += host > limits.call ? 1 : 0;
        counts.long_delays += delay > limits.delay ? 1 : 0;
      }
    }
  }
  for (const auto& [name, counts] : kernels) {
    answer.summary.insert(Line(name, counts.count, counts.calls, counts.short_kernels,
                               counts.long_kernels, counts.long_calls, counts.long_delays,
                               counts.host, counts.device, counts.delay));
  }
  return answer;
}

std::string LinksOf(const RandomRun& run, const std::vector<Launch>& launches,
                    const RunSelection& selection) {
  const auto all = testkit::WorkOfCalls(run);
  int64_t without_work = 0;
  for (size_t i = 0; i < run.calls.size(); ++i) {
    const RunCall& call = run.calls[i];
    const bool is_launch = call.name != "cudaStreamSynchronize";
    without_work +=
        is_launch && selection.KeepsTime(call.time.begin) && all.count(static_cast<int>(i)) == 0
            ? 1
            : 0;
  }
  int64_t linked_works = 0;
  for (const Launch& launch : launches) {
    linked_works += static_cast<int64_t>(launch.works.size());
  }
  const auto linked = static_cast<int64_t>(launches.size());
  const auto lonely = static_cast<int64_t>(LonelyWork(run, selection).size());
  return Line(linked + without_work, linked, without_work, linked_works + lonely, linked_works,
              lonely);
}

TEST(LaunchTwinsTest, EveryLaunchBesideItsWork) {
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = MakeRandomRun(random);
    Params params;
    const RunSelection selection = RandomSelection(random, run, params);
    const Limits limits{random.Between(0, 9), random.Between(0, 20), random.Between(0, 9)};
    params.values = {{kLongCallParam.name, limits.call, ""},
                     {kLongDelayParam.name, limits.delay, ""},
                     {kLongKernelParam.name, limits.kernel, ""}};
    const std::vector<Launch> launches = LaunchesOf(run, selection);
    const LaunchAnswer want = TwinOfLaunches(run, launches, limits);
    const Tables found = Ask("launches", TraceOf(run), params);
    EXPECT_EQ(LinesOf(TableOf(found, "launches"),
                      {"gpu", "stream", "correlation", "api", "kernel", "ordinal", "works",
                       "host_ns", "device_ns", "delay_ns"}),
              want.rows);
    EXPECT_EQ(LinesOf(TableOf(found, "launch_summary"),
                      {"kernel", "count", "calls", "short_kernels", "long_kernels", "long_calls",
                       "long_delays", "host_ns", "device_ns", "delay_ns"}),
              want.summary);
    EXPECT_EQ(
        LinesOf(TableOf(found, "launch_links"), {"launches", "linked", "launches_without_work",
                                                 "works", "linked_works", "works_without_launch"}),
        Lines{LinksOf(run, launches, selection)});
  }
}

// --- delays ---

const RunFrame* OperatorOf(const RandomRun& run, const RunCall& call) {
  const RunFrame* aten = Innermost(run, call, [](const RunFrame& frame) {
    return frame.kind == HostKind::kOp && frame.name.starts_with("aten::");
  });
  return aten != nullptr ? aten : Innermost(run, call, [](const RunFrame& frame) {
    return frame.kind == HostKind::kOp;
  });
}

struct Delays {
  int64_t count = 0;
  int64_t works = 0;
  int64_t launch_delay = kMissing;  // where there is an operator
  int64_t runtime = kMissing;       // where there is a launch
};

void Add(int64_t ns, int64_t& sum) { sum = (sum == kMissing ? 0 : sum) + ns; }

using DelayTable = std::map<std::pair<std::string, std::string>, Delays>;

// What one call of an operator launched, in launch order.
void AddCall(const RandomRun& run, const RunFrame* op, std::vector<Launch> launches,
             DelayTable& table) {
  const auto begin = [&](const Launch& launch) {
    const RunCall& call = run.calls[static_cast<size_t>(launch.call)];
    return std::tuple(call.time.begin, -call.time.end, launch.call);
  };
  std::sort(launches.begin(), launches.end(),
            [&](const Launch& a, const Launch& b) { return begin(a) < begin(b); });
  std::string kernels;
  int64_t works = 0;
  for (const Launch& launch : launches) {
    for (const RunWork* work : launch.works) {
      kernels += (kernels.empty() ? "" : " -> ") + work->name;
      ++works;
    }
  }
  const int64_t first_launch = std::get<0>(begin(launches.front()));
  const int64_t first_work = launches.front().works.front()->time.begin;
  Delays& row = table[{op == nullptr ? "(no operator)" : op->name, kernels}];
  row.count += 1;
  row.works += works;
  if (op != nullptr) {
    Add(first_launch - op->time.begin, row.launch_delay);
  }
  Add(std::max<int64_t>(0, first_work - first_launch), row.runtime);
}

DelayTable TwinOfDelays(const RandomRun& run, const RunSelection& selection) {
  DelayTable table;
  std::map<const RunFrame*, std::vector<Launch>> calls;
  for (const Launch& launch : LaunchesOf(run, selection)) {
    const RunFrame* op = OperatorOf(run, run.calls[static_cast<size_t>(launch.call)]);
    if (op == nullptr) {
      AddCall(run, nullptr, {launch}, table);
    } else {
      calls[op].push_back(launch);
    }
  }
  for (const auto& [op, launches] : calls) {
    AddCall(run, op, launches, table);
  }
  for (const RunWork* work : LonelyWork(run, selection)) {
    Delays& row = table[{"(launch not recorded)", work->name}];
    ++row.count;
    ++row.works;
  }
  return table;
}

TEST(DelayTwinTest, EveryOperatorThatLaunches) {
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = MakeRandomRun(random);
    Params params;
    const RunSelection selection = RandomSelection(random, run, params);
    Lines want;
    for (const auto& [key, row] : TwinOfDelays(run, selection)) {
      want.insert(Line(key.first, key.second, row.count, row.works, row.launch_delay, row.runtime));
    }
    const Tables found = Ask("delays", TraceOf(run), params);
    EXPECT_EQ(LinesOf(TableOf(found, "delays"),
                      {"op", "kernels", "count", "works", "launch_delay_ns", "runtime_ns"}),
              want);
  }
}

}  // namespace
}  // namespace borescope::internal
