// TraceIndex: data derived from a recording, built once per trace and immutable afterwards.
//
//   operators       which host events are operators
//   call tree       which host event contains which, per thread
//   correlation     launch -> device events (one to many), device event -> launch -> operator
//   steps           windows of steps; the step of any host row and, by launch, of device rows
//   links           backward operator -> forward operator
//   kernel classes  gemm, collective, ... per distinct kernel name
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/base/column_data.h"
#include "borescope/base/diagnostics.h"
#include "borescope/base/id.h"
#include "borescope/index/launches/operator_rule.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Host rows are in preorder, so the descendants of row r are the rows (r, subtree_end[r]).
struct CallTree {
  ColumnData<HostId> parent;         // invalid for roots
  ColumnData<uint32_t> subtree_end;  // one past the last descendant
};

// The rule that linked a device event to its operator, or why there is none. Kept per event.
enum class LinkRule : uint8_t {
  kLaunchNesting,  // launch by correlation, operator by nesting around the launch
  kExternalId,     // operator by "External id" (launch not recorded, or outside any operator)
  kLaunchOnly,     // launch found; no operator around it
  kCapture,        // a kernel of a graph: operator by nesting in the capture of the graph
  kNone,           // neither launch nor operator
  kAmbiguous,      // the same: several launches share its number, and nothing shows which it is of
};
std::string_view LinkRuleName(LinkRule rule);

struct Correlation {
  ColumnData<HostId> launch_of;  // per device row: the runtime call that started it
  ColumnData<HostId> op_of;      // per device row: its innermost operator
  // Per device row: the call in the capture of its graph that requested it, a captured row of the
  // host events; empty without captures.
  ColumnData<HostId> captured_call_of;
  ColumnData<LinkRule> rule;  // per device row
  // Device rows started by a runtime call, in row order: compressed sparse rows over the
  // runtime_calls detail table (NOT over host rows).
  ColumnData<uint32_t> device_begin;  // runtime_calls.size() + 1
  ColumnData<DeviceId> device_rows;

  HostId CapturedCallOf(DeviceId id) const {
    return captured_call_of.empty() ? HostId{} : captured_call_of[id.value];
  }
  // Where the surroundings of device work begin: the call in the capture of its graph, else its
  // launch, else its operator.
  HostId OriginOf(DeviceId id) const {
    const HostId captured = CapturedCallOf(id);
    const HostId launch = launch_of[id.value];
    return captured.valid() ? captured : launch.valid() ? launch : op_of[id.value];
  }

  // Device events started by the runtime call whose detail row is `runtime_detail`.
  std::span<const DeviceId> DevicesOf(uint32_t runtime_detail) const {
    return {device_rows.data() + device_begin[runtime_detail],
            device_begin[runtime_detail + 1] - device_begin[runtime_detail]};
  }
};

inline constexpr uint32_t kNoStep = ~uint32_t{0};
inline constexpr uint32_t kNoProcess = ~uint32_t{0};       // none with steps
inline constexpr uint32_t kAnyProcess = ~uint32_t{0} - 1;  // several, or nothing shows which

struct Step {
  int64_t number = 0;    // N of ProfilerStep#N, of other annotations counted from 0 per process
  int64_t begin_ns = 0;  // host window
  int64_t end_ns = 0;
  HostId annotation;
  uint32_t process = 0;  // index into Steps::processes
};

// Every process has windows of its own: work of one is never in a step of another.
struct Steps {
  // From begin_ns to where the next piece begins all times belong to one step, or to none.
  struct Piece {
    int64_t begin_ns = 0;
    uint32_t step = kNoStep;
  };

  std::vector<Step> steps;           // by begin_ns; numbers may repeat across processes
  ColumnData<uint32_t> device_step;  // per device row: index into steps by launch; kNoStep outside
                                     // and without a recorded launch; empty if there are no steps
  std::vector<int64_t> processes;    // pids of the processes with steps, ascending
  // Per process: by begin_ns, at most two per step; last those of all processes together.
  std::vector<std::vector<Piece>> pieces;
  // Per track: the process whose steps its events may belong to. If a single process has steps,
  // that one; else of a thread its own, of a stream the one whose it is, else the one that launched
  // all work on its device, else any.
  std::vector<uint32_t> process_of;

  // Index into steps of the window that contains `ts_ns`, of several the one that begins last, else
  // kNoStep. O(log steps), even if windows overlap.
  uint32_t At(TrackId track, int64_t ts_ns) const;
};

struct ForwardBackwardLink {
  HostId backward;  // outermost operator of the backward call
  HostId forward;
};

struct TraceIndex {
  // What columns that are views show; empty where all have memory of their own.
  std::shared_ptr<const void> viewed;
  OperatorRule operators;
  CallTree tree;
  Correlation correlation;
  Steps steps;
  ColumnData<ForwardBackwardLink> forward_backward;  // by backward row
  ColumnData<KernelClass> class_of_name;             // per StringId; kOther for host names
  Diagnostics diagnostics;                           // diagnostics of indexing

  KernelClass ClassOf(const Trace& trace, DeviceId id) const {
    return class_of_name[trace.device().name[id.value].value];
  }
  bool IsOperator(const Trace& trace, HostId id) const { return operators.IsOperator(trace, id); }
  // The forward operator that a row of forward_backward links to this one; invalid without one.
  HostId ForwardOf(HostId backward) const;
};

// Builds all indexes with up to `threads` threads; the result does not depend on their number.
TraceIndex BuildIndex(const Trace& trace, int threads);

}  // namespace borescope::internal
