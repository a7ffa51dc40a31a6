// Links device events to the runtime calls that started them and to the operators of those calls.
#pragma once

#include <string_view>

#include "borescope/base/diagnostics.h"
#include "borescope/index/id_map.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

// Whether a correlation number is valid: zero and below mean "none" for every known producer.
inline bool IsCorrelation(int64_t number) { return number != kMissing && number > 0; }

// What is known about runtime calls before device work is linked to them.
struct CallLinks {
  IdMap64 launches;              // the host row of the call of each correlation number
  ColumnData<HostId> repeats;    // other calls with one of these numbers
  ColumnData<HostId> operators;  // the innermost operator around each call, by detail row
};

// Maps each number to its call; if several calls have it, to the innermost of those that launch.
// Counts numbers with several calls. Fills `launches` and `repeats`.
void MapLaunches(const Trace& trace, CallLinks& calls, Diagnostics& diagnostics);

// One pass over the rows, however deep they nest. A call may be covered by an operator that is not
// around it in the call tree: where a frame begins in the operator, outlives it and contains the
// call. `rule` says which host events are operators.
ColumnData<HostId> OperatorsAroundCalls(const Trace& trace, const OperatorRule& rule);

// device event -> launch: the runtime call with the same correlation number. launch -> operator:
// the innermost operator whose time covers it. Fills `launch_of`, `op_of` and `rule`.
Correlation LinkLaunches(const Trace& trace, const CallLinks& calls, int threads);

// Finds operators of work whose launch has none. Files since early 2024 also have the operator's id
// on the device event, used if the launch is missing or not inside an operator; older files repeat
// the correlation there, which is ignored. Kernels of graphs have the operator of their call in the
// capture, if there is one. Changes `op_of` and `rule`, and fills `captured_call_of`.
void LinkOperators(const Trace& trace, Correlation& result);

// The device events of each launch, as the inverse of `launch_of`. Fills `device_begin` and
// `device_rows`.
void CollectDevices(const Trace& trace, Correlation& result);

// Counts device work without a launch or an operator, or before its launch.
void CountLinkFaults(const Trace& trace, const OperatorRule& rule, const Correlation& result,
                     Diagnostics& diagnostics);

// All of the above, one after the other.
Correlation BuildCorrelation(const Trace& trace, const OperatorRule& rule,
                             Diagnostics& diagnostics);

// Whether a runtime call of this name starts device work: kernel, copy, set or graph launches of
// CUDA, HIP, Level Zero and MTIA.
bool IsLaunchName(std::string_view name);

// Whether a call of this name starts exactly one kernel. Launches of graphs start many, and
// cooperative ones of AMD a second kernel that prepares the first.
bool IsLaunchOfOneKernel(std::string_view name);

// Profilers give kernels of concurrent launches the number of one of them, and count again from 1.
// A number is contested if it is that of several calls none of which is in another, or of a call
// that starts one kernel but has several, while other launches near it have none or the kernels
// are on several streams. Each kernel of a contested number then gets a launch of its own:
//
//  - one that begins before the kernel does, and names this kernel, if it names one;
//  - of calls that follow each other, the earlier one for the earlier kernel of a stream;
//  - by what the rest of the recording shows: of which thread the work of a stream is, and which
//    kernels an operator of that name starts, or is named like.
//
// Where that leaves several answers the work has neither a launch nor an operator
// (LinkRule::kAmbiguous), unless all answers have the same operator: then calls and kernels are
// paired in their order. Changes `launch_of`, `op_of` and `rule`. Counts numbers that
// only device work repeats (kDuplicateCorrelation); MapLaunches counted the others. O(rows) if
// nothing is contested.
void SettleContestedLaunches(const Trace& trace, const CallLinks& calls, Correlation& result,
                             Diagnostics& diagnostics);

}  // namespace borescope::internal
