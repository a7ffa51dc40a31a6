#include "borescope/index/trace_index.h"

#include <algorithm>
#include <span>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/parallel.h"
#include "borescope/index/call_tree.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/index/steps/steps.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

ColumnData<KernelClass> ClassifyNames(const Trace& trace) {
  ColumnData<KernelClass> classes(trace.strings().size(), KernelClass::kCount);
  const DeviceEvents& device = trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    KernelClass& kind = classes[device.name[row].value];
    if (device.kind[row] == DeviceKind::kKernel && kind == KernelClass::kCount) {
      kind = ClassifyKernel(trace.Name(DeviceId{row}));
    }
  }
  std::replace(classes.begin(), classes.end(), KernelClass::kCount, KernelClass::kOther);
  return classes;
}

namespace {

// Work that starts on a stream before the previous work has ended.
void CountStreamOverlaps(const Trace& trace, Diagnostics& diagnostics) {
  const DeviceEvents& device = trace.device();
  TrackId track;
  int64_t busy_until = 0;
  for (const uint32_t row : EachRow(device.size())) {
    if (!IsDeviceWork(device.kind[row])) {
      continue;
    }
    if (device.track[row] == track && device.ts_ns[row] < busy_until) {
      diagnostics.Count(Diag::kStreamOverlap, Diagnostics::kNoByte, trace.Name(DeviceId{row}));
    }
    busy_until = device.track[row] == track ? std::max(busy_until, device.end_ns({row}))
                                            : device.end_ns({row});
    track = device.track[row];
  }
}

// What is built from the trace and the call tree, and from what is built of them; parts of one list
// are built at once, and each writes members of its own.
struct IndexPart {
  void (*build)(const Trace& trace, TraceIndex& index, CallLinks& calls, Diagnostics& diagnostics);
};

constexpr IndexPart kParts[] = {
    {[](const Trace& trace, TraceIndex&, CallLinks& calls, Diagnostics& diagnostics) {
      MapLaunches(trace, calls, diagnostics);
    }},
    {[](const Trace& trace, TraceIndex& index, CallLinks& calls, Diagnostics&) {
      calls.operators = OperatorsAroundCalls(trace, index.operators);
    }},
    {[](const Trace& trace, TraceIndex& index, CallLinks&, Diagnostics&) {
      index.forward_backward = LinkForwardBackward(trace, index.tree);
    }},
    {[](const Trace& trace, TraceIndex& index, CallLinks&, Diagnostics& diagnostics) {
      index.class_of_name = ClassifyNames(trace);
      CountStreamOverlaps(trace, diagnostics);
    }},
};

// All read which calls launched the device work; the operators of it are for the first one alone.
constexpr IndexPart kPartsOfLinks[] = {
    {[](const Trace& trace, TraceIndex& index, CallLinks&, Diagnostics& diagnostics) {
      LinkOperators(trace, index.correlation);
      CountLinkFaults(trace, index.operators, index.correlation, diagnostics);
      CountUnresolvedWaits(trace, index.correlation, diagnostics);
    }},
    {[](const Trace& trace, TraceIndex& index, CallLinks&, Diagnostics& diagnostics) {
      index.steps = BuildSteps(trace, index.correlation);
      CountSharedSteps(trace, index.steps, diagnostics);
    }},
    {[](const Trace& trace, TraceIndex& index, CallLinks&, Diagnostics&) {
      CollectDevices(trace, index.correlation);
    }},
};

// Faults are counted part by part, so that the first of each kind never depends on threads.
void BuildParts(std::span<const IndexPart> parts, const Trace& trace, int threads,
                TraceIndex& index, CallLinks& calls) {
  std::vector<Diagnostics> found(parts.size());
  ParallelFor(parts.size(), threads,
              [&](size_t part) { parts[part].build(trace, index, calls, found[part]); });
  for (const Diagnostics& one : found) {
    index.diagnostics.Merge(one);
  }
}

}  // namespace

HostId TraceIndex::ForwardOf(HostId backward) const {
  const auto found = std::lower_bound(
      forward_backward.begin(), forward_backward.end(), backward,
      [](const ForwardBackwardLink& link, HostId row) { return link.backward < row; });
  return found != forward_backward.end() && found->backward == backward ? found->forward : HostId{};
}

TraceIndex BuildIndex(const Trace& trace, int threads) {
  TraceIndex index;
  index.operators = OperatorRule(trace);
  index.tree = BuildCallTree(trace, threads, index.diagnostics);
  AppendCaptured(trace, index.tree);
  CallLinks calls;
  BuildParts(kParts, trace, threads, index, calls);
  index.correlation = LinkLaunches(trace, calls, threads);
  SettleContestedLaunches(trace, calls, index.correlation, index.diagnostics);
  BuildParts(kPartsOfLinks, trace, threads, index, calls);
  return index;
}

}  // namespace borescope::internal
