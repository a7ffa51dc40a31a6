// Links device events to the runtime calls that started them and to the operators of those calls.
#pragma once

#include "borescope/base/diagnostics.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

// Whether a correlation number is valid: zero and below mean "none" for every known producer.
inline bool IsCorrelation(int64_t number) { return number != kMissing && number > 0; }

// device event -> launch: the runtime call with the same correlation number; of several, the
// innermost of those that launch. launch -> operator: the innermost operator whose time covers it;
// `rule` says which host events are operators. Files since early 2024 also carry the operator's id
// on the device event, used if the launch is missing or not inside an operator; older files repeat
// the correlation there, which is ignored. Kernels of graphs have the operator of their call in the
// capture, where there is one.
Correlation BuildCorrelation(const Trace& trace, const OperatorRule& rule,
                             Diagnostics& diagnostics);

// Whether a runtime call of this name starts device work: kernel, copy, set or graph launches of
// CUDA, HIP, Level Zero and MTIA.
bool IsLaunchName(std::string_view name);

}  // namespace borescope::internal
