// Communication beside compute against a slow twin that looks at every nanosecond.

#include <gtest/gtest.h>

#include <map>

#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Ask;
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

std::string RowOf(int64_t gpu, const std::vector<RunWork>& all, const RunSelection& selection) {
  const auto runs = [&](int64_t ns, bool (*is_kind)(const RunWork&)) {
    return std::any_of(all.begin(), all.end(), [&](const RunWork& work) {
      return is_kind(work) && work.time.begin <= ns && ns < work.time.end;
    });
  };
  int64_t comm = 0;
  int64_t overlapped = 0;
  for (int64_t ns = 0; ns < kRunEnd; ++ns) {
    if (selection.inside[static_cast<size_t>(ns)] != 0 && runs(ns, testkit::IsCommunication)) {
      ++comm;
      overlapped += runs(ns, testkit::IsCompute) ? 1 : 0;
    }
  }
  const std::string share =
      comm == 0 ? "-" : testkit::Cell(static_cast<double>(overlapped) / static_cast<double>(comm));
  return Line(gpu, comm, overlapped, comm - overlapped, share);
}

TEST(OverlapTwinTest, EveryNanosecondOfCommunication) {
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = MakeRandomRun(random);
    Params params;
    const RunSelection selection = RandomSelection(random, run, params);
    std::map<int64_t, std::vector<RunWork>> gpus;
    for (const RunWork& work : run.work) {
      if (selection.Keeps(work)) {
        gpus[work.gpu].push_back(work);
      }
    }
    if (gpus.empty()) {
      continue;  // nothing to ask about
    }
    const std::vector<RunWindow> windows = RandomWindows(random, run, selection, params);
    Lines want;
    for (const RunWindow& window : windows) {
      for (const auto& [gpu, work] : gpus) {
        want.insert(Line(window.step, RowOf(gpu, work, window.selection)));
      }
    }
    const Tables found = Ask("overlap", TraceOf(run), params);
    EXPECT_EQ(LinesOf(TableOf(found, "overlap"),
                      {"step", "gpu", "comm_ns", "overlapped_ns", "exposed_ns", "overlap_share"}),
              want);
  }
}

}  // namespace
}  // namespace borescope::internal
