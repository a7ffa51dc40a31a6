// The phases of calls, repeated forward among them, against a slow twin: every call looks for the
// calls around it, and every pass of backward for the passes that differentiate it.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "borescope/analysis/core/selection/phases.h"
#include "borescope/testing/test_trace.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using testkit::Random;

// Calls within calls, some of which run backward, some with the number of an earlier call.
void AddCalls(Random& random, Span span, int depth, TestTrace& trace) {
  int64_t at = span.ts_ns + 1;
  for (int64_t i = random.Between(1, 4); i > 0 && at + 4 < span.ts_ns + span.dur_ns; --i) {
    const Span inner{at, random.Between(4, span.ts_ns + span.dur_ns - at - 1)};
    OpArgs args;
    if (random.Chance(0.4)) args.sequence = random.Between(0, 8);
    if (random.Chance(0.15)) args.forward_thread = 1;
    switch (random.Below(6)) {
      case 0:
        trace.Op("autograd::engine::evaluate_function: MmBackward0", inner, args);
        break;
      case 1:
        trace.Annotation("Optimizer.step#SGD.step", inner);
        break;
      case 2:
        trace.Python("train.py(1): step", inner);
        break;
      default:
        trace.Op("aten::mm", inner, args);
    }
    if (depth > 0) AddCalls(random, inner, depth - 1, trace);
    at = inner.ts_ns + inner.dur_ns + random.Between(0, 20);
  }
}

class Twin {
 public:
  explicit Twin(const RankView& view) : view_(view), host_(view.trace.host()) {}

  Phase PhaseOf(HostId row) const {
    const std::string_view name = view_.trace.Name(row);
    const HostId parent = Parent(row);
    const Phase around = parent.valid() ? PhaseOf(parent) : Phase::kForward;
    if (RunsBackward(row)) return Phase::kBackward;
    if (name.starts_with("Optimizer.step")) return Phase::kOptimizer;
    const bool is_repeated = IsRepeated(row) && around != Phase::kOptimizer;
    return is_repeated ? Phase::kRecompute : around;
  }

 private:
  HostId Parent(HostId row) const { return view_.index.tree.parent[row.value]; }

  int64_t Detail(HostId row, const ColumnData<SeldomNumber>& column) const {
    const uint32_t detail = host_.detail[row.value];
    return host_.kind[row.value] == HostKind::kOp && detail != kNoDetail ? int64_t{column[detail]}
                                                                         : -1;
  }

  bool RunsBackward(HostId row) const {
    return view_.trace.Name(row).starts_with("autograd::engine") ||
           Detail(row, view_.trace.ops().forward_thread) > 0;
  }

  // The outermost call around it that runs backward.
  HostId PassOf(HostId row) const {
    HostId pass;
    for (; row.valid(); row = Parent(row)) {
      pass = RunsBackward(row) ? row : pass;
    }
    return pass;
  }

  // A later pass runs backward what this pass, or one that began before it, did.
  bool IsDifferentiated(HostId pass) const {
    for (uint32_t row = 0; row <= pass.value; ++row) {
      const HostId before{row};
      const bool is_pass = PassOf(before) == before;
      if (is_pass && host_.track[row] == host_.track[pass.value] &&
          host_.ts_ns[pass.value] < FirstUseOf(before)) {
        return true;
      }
    }
    return false;
  }

  // When the first backward of a call in the pass begins in another one.
  int64_t FirstUseOf(HostId pass) const {
    int64_t first_ns = std::numeric_limits<int64_t>::max();
    bool is_used = false;
    for (const ForwardBackwardLink& link : view_.index.forward_backward) {
      if (PassOf(link.forward) == pass && PassOf(link.backward) != pass) {
        first_ns = std::min(first_ns, host_.ts_ns[link.backward.value]);
        is_used = true;
      }
    }
    return is_used ? first_ns : std::numeric_limits<int64_t>::min();
  }

  // Inside backward, it or a call between it and the innermost one that runs backward has a number.
  bool IsRepeated(HostId row) const {
    const HostId pass = PassOf(row);
    if (!pass.valid() || IsDifferentiated(pass)) return false;
    for (; row.valid() && !RunsBackward(row); row = Parent(row)) {
      if (Detail(row, view_.trace.ops().sequence) >= 0) return true;
    }
    return false;
  }

  const RankView& view_;
  const HostEvents& host_;
};

TEST(RecomputeTwin, EveryCallHasItsPhase) {
  int repeated = 0;
  int with_links = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    TestTrace trace;
    AddCalls(random, {0, 4000}, 3, trace);
    AddCalls(random, {5000, 4000}, 3, trace);
    const RankView& view = trace.View();
    const std::vector<Phase> phases = HostPhases(view);
    for (uint32_t row = 0; row < view.trace.host().size(); ++row) {
      const Phase expected = Twin(view).PhaseOf(HostId{row});
      EXPECT_EQ(PhaseName(phases[row]), PhaseName(expected)) << "row " << row;
      repeated += expected == Phase::kRecompute ? 1 : 0;
    }
    with_links += view.index.forward_backward.empty() ? 0 : 1;
  }
  EXPECT_GT(repeated, 100);
  EXPECT_GT(with_links, 10);
}

}  // namespace
}  // namespace borescope::internal
