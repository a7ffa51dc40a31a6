// Links device events to the runtime calls that started them and to the operators of those calls.
#pragma once

#include <string_view>

#include "borescope/base/diagnostics.h"
#include "borescope/index/id_map.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

// Whether a correlation number is valid: zero and below mean "none" for every known producer.
inline bool IsCorrelation(int64_t number) { return number != kMissing && number > 0; }

// What is known of runtime calls before device work is linked to them.
struct CallLinks {
  IdMap64 launches;              // the host row of the call of each correlation number
  ColumnData<HostId> repeats;    // other calls with one of these numbers
  ColumnData<HostId> operators;  // the innermost operator around each call, by detail row
};

// Of several calls with one number, the innermost of those that launch. Counts these. Fills
// `launches` and `repeats`.
void MapLaunches(const Trace& trace, CallLinks& calls, Diagnostics& diagnostics);

// One pass over the rows, however deep they nest. A call may be covered by an operator that is not
// around it in the call tree: where a frame begins in the operator, outlives it and contains the
// call. `rule` says which host events are operators.
ColumnData<HostId> OperatorsAroundCalls(const Trace& trace, const OperatorRule& rule);

// device event -> launch: the runtime call with the same correlation number. launch -> operator:
// the innermost operator whose time covers it. Fills `launch_of`, `op_of` and `rule`.
Correlation LinkLaunches(const Trace& trace, const CallLinks& calls, int threads);

// Operators that launches do not tell. Files since early 2024 also carry the operator's id on the
// device event, used if the launch is missing or not inside an operator; older files repeat the
// correlation there, which is ignored. Kernels of graphs have the operator of their call in the
// capture, where there is one. Changes `op_of` and `rule`, and fills `captured_call_of`.
void LinkOperators(const Trace& trace, Correlation& result);

// The device events of each launch, the other way round than `launch_of`, and from it alone. Fills
// `device_begin` and `device_rows`.
void CollectDevices(const Trace& trace, Correlation& result);

// Device work without a launch or an operator, or before its launch.
void CountLinkFaults(const Trace& trace, const OperatorRule& rule, const Correlation& result,
                     Diagnostics& diagnostics);

// All of the above, one after the other.
Correlation BuildCorrelation(const Trace& trace, const OperatorRule& rule,
                             Diagnostics& diagnostics);

// Whether a runtime call of this name starts device work: kernel, copy, set or graph launches of
// CUDA, HIP, Level Zero and MTIA.
bool IsLaunchName(std::string_view name);

}  // namespace borescope::internal
