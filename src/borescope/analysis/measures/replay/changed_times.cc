#include "borescope/analysis/measures/replay/changed_times.h"

#include <algorithm>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

ChangeTargets::ChangeTargets(const RankView& view, const ReplayGraph& graph)
    : view_(view),
      graph_(graph),
      phases_(SharedHostPhases(view)),
      aligned_(SharedAlignedWork(view)) {}

std::vector<char> ChangeTargets::NamesWith(std::string_view text, bool is_whole_name) const {
  std::vector<char> has(view_.trace.strings().size());
  for (uint32_t name = 0; name < has.size(); ++name) {
    const std::string_view found = view_.trace.Text({name});
    has[name] = (is_whole_name ? found == text : Contains(found, text)) ? 1 : 0;
  }
  return has;
}

std::vector<char> ChangeTargets::Inherit(std::vector<char> is_marked) const {
  for (uint32_t row = 0; row < is_marked.size(); ++row) {
    CheckStopAt(row);
    const HostId parent = view_.index.tree.parent[row];
    if (parent.valid() && is_marked[parent.value] != 0) {
      is_marked[row] = 1;
    }
  }
  return is_marked;
}

std::vector<char> ChangeTargets::HostIn(std::string_view text, bool is_whole_name) const {
  const std::vector<char> has = NamesWith(text, is_whole_name);
  const HostEvents& host = view_.trace.host();
  std::vector<char> is_marked(host.all_size());
  for (uint32_t row = 0; row < is_marked.size(); ++row) {
    is_marked[row] = has[host.name[row].value];
  }
  return Inherit(std::move(is_marked));
}

std::vector<HostId> ChangeTargets::OutermostOf(std::string_view text) const {
  const std::vector<char> in = HostIn(text);
  std::vector<HostId> outermost;
  for (uint32_t row = 0; row < view_.trace.host().size(); ++row) {
    const HostId parent = view_.index.tree.parent[row];
    if (in[row] != 0 && (!parent.valid() || in[parent.value] == 0)) {
      outermost.push_back({row});
    }
  }
  return outermost;
}

std::vector<char> ChangeTargets::WorkOf(const Change& change) const {
  const Trace& trace = view_.trace;
  const DeviceEvents& device = trace.device();
  const std::vector<char> named = change.target == TargetKind::kKernel
                                      ? NamesWith(change.text, change.is_whole_name)
                                      : std::vector<char>();
  const std::vector<char> in =
      change.target == TargetKind::kOp ? HostIn(change.text) : std::vector<char>();
  const auto is_target = [&](DeviceId id) {
    const KernelClass kind = view_.index.ClassOf(trace, id);
    const bool is_kernel = device.kind[id.value] == DeviceKind::kKernel;
    switch (change.target) {
      case TargetKind::kKernel:
        return named[device.name[id.value].value] != 0;
      case TargetKind::kOp: {
        const HostId origin = view_.index.correlation.OriginOf(aligned_->AsLaunched(id));
        return origin.valid() && in[origin.value] != 0;
      }
      case TargetKind::kClass:
        return is_kernel && KernelClassName(kind) == change.text;
      case TargetKind::kComm:
        return ActivityOf(device.kind[id.value], kind) == Activity::kCommunication;
      case TargetKind::kCopy:
        return ActivityOf(device.kind[id.value], kind) == Activity::kCopy;
      case TargetKind::kPhase:
        return PhaseName(PhaseOf(view_, *phases_, aligned_->AsLaunched(id))) == change.text;
      case TargetKind::kNone:
      case TargetKind::kHost:
        return false;
    }
    return false;
  };
  std::vector<char> work(device.size());
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    work[row] = graph_.IsWork({row}) && is_target({row}) ? 1 : 0;
  }
  return work;
}

std::vector<char> ChangeTargets::LaunchesWithout(const std::vector<char>& removed) const {
  std::vector<char> has_other(view_.trace.host().all_size());
  std::vector<char> has_removed(has_other.size());
  for (uint32_t row = 0; row < removed.size(); ++row) {
    const HostId launch = view_.index.correlation.launch_of[row];
    if (launch.valid() && graph_.IsWork({row})) {
      (removed[row] != 0 ? has_removed : has_other)[launch.value] = 1;
    }
  }
  for (size_t row = 0; row < has_removed.size(); ++row) {
    has_removed[row] = has_removed[row] != 0 && has_other[row] == 0 ? 1 : 0;
  }
  return Inherit(std::move(has_removed));
}

std::vector<char> ChangeTargets::InLaunches() const {
  std::vector<char> launches(view_.trace.host().all_size());
  for (uint32_t row = 0; row < view_.trace.device().size(); ++row) {
    const HostId launch = view_.index.correlation.launch_of[row];
    if (launch.valid() && graph_.IsWork({row})) {
      launches[launch.value] = 1;
    }
  }
  return Inherit(std::move(launches));
}

std::vector<double> ChangeTargets::TakingBatches() const {
  const HostEvents& host = view_.trace.host();
  const std::vector<char>& is_loading = graph_.recording.facts.is_loading;
  std::vector<char> marked(host.all_size());
  for (uint32_t row = 0; row < marked.size(); ++row) {
    marked[row] = is_loading[host.name[row].value];
  }
  const std::vector<char> inside = Inherit(std::move(marked));
  std::vector<char> is_arrival(inside.size());
  for (const BatchArrival& arrival : graph_.arrivals) {
    is_arrival[arrival.event.value] = 1;
  }
  std::vector<double> factor(inside.size(), 1);
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const HostId parent = view_.index.tree.parent[row];
    if (inside[row] == 0) {
      continue;
    }
    if (parent.valid() && inside[parent.value] != 0) {
      factor[row] = factor[parent.value];
    } else if (is_arrival[row] == 0 && host.dur_ns[row] > kTakeBatchNs) {
      factor[row] = static_cast<double>(kTakeBatchNs) / static_cast<double>(host.dur_ns[row]);
    }
  }
  const std::vector<char> launches = InLaunches();
  for (uint32_t row = 0; row < factor.size(); ++row) {
    factor[row] = launches[row] != 0 ? 1 : factor[row];
  }
  return factor;
}

}  // namespace borescope::internal
