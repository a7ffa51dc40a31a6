#include "borescope/analysis/measures/collective_calls.h"

#include <algorithm>
#include <array>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/base/stop.h"
#include "borescope/index/steps.h"

namespace borescope::internal {
namespace {

// How far up the call tree operators are looked for. Real stacks are shallower, and damaged files
// must not cost more than a pass.
constexpr int kMostAncestors = 256;

// The host row from which the surroundings of a launch are looked at.
HostId NearestHost(const RankView& view, DeviceId kernel) {
  const Correlation& correlation = view.index.correlation;
  const HostId launch = correlation.launch_of[kernel.value];
  return launch.valid() ? launch : correlation.op_of[kernel.value];
}

// Arguments of an operator that communicates, else kNoDetail.
uint32_t ArgsOf(const Trace& trace, HostId id) {
  const HostEvents& host = trace.host();
  const uint32_t detail = host.detail[id.value];
  const HostKind kind = host.kind[id.value];
  if ((kind != HostKind::kOp && kind != HostKind::kAnnotation) || detail == kNoDetail) {
    return kNoDetail;
  }
  const uint32_t args = trace.ops().collective[detail];
  const bool counts =
      args != kNoDetail && IsCommunication(trace.Text(trace.collectives().collective[args]));
  return counts ? args : kNoDetail;
}

uint32_t ArgsOf(const Trace& trace, DeviceId id) {
  const uint32_t detail = trace.device().detail[id.value];
  return detail == kNoDetail ? kNoDetail : trace.kernels().collective[detail];
}

// Those of the operator, if there is one.
uint32_t ArgsOf(const Trace& trace, HostId op, DeviceId kernel) {
  return op.valid() ? ArgsOf(trace, op) : ArgsOf(trace, kernel);
}

// A barrier may hold the all-reduce it is made of: the outermost operator is what was asked for.
HostId OutermostWithArgs(const RankView& view, HostId id) {
  HostId found;
  for (int i = 0; i < kMostAncestors && id.valid(); ++i, id = view.index.tree.parent[id.value]) {
    if (ArgsOf(view.trace, id) != kNoDetail) {
      found = id;
    }
  }
  return found;
}

CollectiveKind KindFromSurroundings(const RankView& view, DeviceId kernel) {
  HostId id = NearestHost(view, kernel);
  for (int i = 0; i < kMostAncestors && id.valid(); ++i, id = view.index.tree.parent[id.value]) {
    const CollectiveKind kind = KindOfOperatorName(view.trace.Name(id));
    if (kind != CollectiveKind::kUnknown) {
      return kind;
    }
  }
  return KindOfKernelName(view.trace.Name(kernel));
}

bool IsCommunicationKernel(const RankView& view, DeviceId id) {
  return view.trace.device().kind[id.value] == DeviceKind::kKernel &&
         (view.index.ClassOf(view.trace, id) == KernelClass::kCollective ||
          ArgsOf(view.trace, id) != kNoDetail);
}

CollectiveCall NewCall(const RankView& view, HostId op, DeviceId kernel) {
  CollectiveCall call;
  call.op = op;
  call.kernel = kernel;
  call.args = ArgsOf(view.trace, op, kernel);
  if (call.args != kNoDetail) {
    call.kind = KindOfRecordedName(view.trace.Text(view.trace.collectives().collective[call.args]));
  }
  if (call.kind == CollectiveKind::kUnknown && call.args == kNoDetail) {
    call.kind = KindFromSurroundings(view, kernel);
  }
  return call;
}

void AddKernel(const DeviceEvents& device, DeviceId kernel, CollectiveCall& call) {
  ++call.kernels;
  call.dur_ns = AddSaturating(call.dur_ns, device.dur_ns[kernel.value]);
  if (device.ts_ns[kernel.value] < device.ts_ns[call.kernel.value]) {
    call.kernel = kernel;
  }
}

}  // namespace

std::vector<CollectiveCall> CollectiveCalls(const RankView& view) {
  const Trace& trace = view.trace;
  std::vector<CollectiveCall> calls;
  Grouper groups(2);  // 0 and the operator's row, or 1 and the kernel's
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    CheckStopAt(row);
    const DeviceId kernel{row};
    if (!IsCommunicationKernel(view, kernel)) {
      continue;
    }
    const HostId op = OutermostWithArgs(view, NearestHost(view, kernel));
    const std::array<int64_t, 2> key = {op.valid() ? 0 : 1, op.valid() ? op.value : row};
    const uint32_t group = groups.Find(key);
    if (group == calls.size()) {
      calls.push_back(NewCall(view, op, kernel));
    }
    AddKernel(trace.device(), kernel, calls[group]);
  }
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    CheckStopAt(row);
    const HostId op{row};
    if (ArgsOf(trace, op) == kNoDetail || OutermostWithArgs(view, op) != op) {
      continue;
    }
    const std::array<int64_t, 2> key = {0, row};
    if (groups.Find(key) == calls.size()) {
      calls.push_back(NewCall(view, op, {}));
    }
  }
  return calls;
}

uint32_t CollectiveArgsOf(const RankView& view, DeviceId kernel) {
  if (!IsCommunicationKernel(view, kernel)) {
    return kNoDetail;
  }
  return ArgsOf(view.trace, OutermostWithArgs(view, NearestHost(view, kernel)), kernel);
}

std::string_view CallSite(const RankView& view, DeviceId kernel) {
  const HostEvents& host = view.trace.host();
  HostId id = NearestHost(view, kernel);
  for (int i = 0; i < kMostAncestors && id.valid(); ++i, id = view.index.tree.parent[id.value]) {
    const HostKind kind = host.kind[id.value];
    const std::string_view name = view.trace.Name(id);
    if ((kind == HostKind::kOp || kind == HostKind::kAnnotation) &&
        !IsCommunicationOperator(name) && !StepNumber(name).has_value()) {
      return name;
    }
  }
  return {};
}

}  // namespace borescope::internal
