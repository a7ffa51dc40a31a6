#include "borescope/analysis/core/selection/phases.h"

#include "borescope/analysis/core/selection/name_flags.h"
#include "borescope/analysis/core/selection/repeated_ops.h"
#include "borescope/base/each_row.h"

namespace borescope::internal {
namespace {

// What a name alone says; kOther: nothing.
std::vector<Phase> PhasesOfNames(const StringPool& strings) {
  std::vector<Phase> phases(strings.size(), Phase::kOther);
  for (uint32_t i = 0; i < strings.size(); ++i) {
    const std::string_view name = strings.Get(StringId{i});
    if (name.starts_with(kBackwardMark)) {
      phases[i] = Phase::kBackward;
    } else if (name.starts_with("Optimizer.step") || name.starts_with("Optimizer.zero_grad")) {
      phases[i] = Phase::kOptimizer;
    }
  }
  return phases;
}

bool HasForwardThread(const Trace& trace, uint32_t row) {
  const uint32_t detail = trace.host().detail[row];
  return trace.host().kind[row] == HostKind::kOp && detail != kNoDetail &&
         trace.ops().forward_thread[detail] > 0;
}

}  // namespace

std::vector<char> BackwardNames(const StringPool& strings) {
  return FlagNames(strings, [](std::string_view name) { return name.starts_with(kBackwardMark); });
}

std::string_view PhaseName(Phase phase) {
  constexpr std::string_view kNames[] = {"forward", "backward", "recompute", "optimizer", "other"};
  return kNames[static_cast<size_t>(phase)];
}

std::vector<Phase> HostPhases(const RankView& view) {
  const HostEvents& host = view.trace.host();
  const std::vector<Phase> by_name = PhasesOfNames(view.trace.strings());
  const std::vector<char> is_repeated = RepeatedOps(view);
  std::vector<Phase> phases(host.all_size());
  for (const uint32_t row : EachRow(phases.size())) {
    const HostId parent = view.index.tree.parent[row];
    const Phase own = by_name[host.name[row].value];
    if (own != Phase::kOther) {
      phases[row] = own;
    } else if (HasForwardThread(view.trace, row)) {
      phases[row] = Phase::kBackward;
    } else if (is_repeated[row] != 0) {
      phases[row] = parent.valid() && phases[parent.value] == Phase::kOptimizer ? Phase::kOptimizer
                                                                                : Phase::kRecompute;
    } else {
      phases[row] = parent.valid() ? phases[parent.value] : Phase::kForward;
    }
  }
  return phases;
}

std::shared_ptr<const std::vector<Phase>> SharedHostPhases(const RankView& view) {
  return view.Shared<Phase>([&] { return HostPhases(view); });
}

Phase PhaseOf(const RankView& view, const std::vector<Phase>& host_phases, DeviceId id) {
  const HostId launch = view.index.correlation.launch_of[id.value];
  const HostId op = view.index.correlation.op_of[id.value];
  if (launch.valid()) {
    return host_phases[launch.value];
  }
  return op.valid() ? host_phases[op.value] : Phase::kOther;
}

}  // namespace borescope::internal
