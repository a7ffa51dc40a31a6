// Converts between calls of Python, as in PyProf's markers, and operators of ATen, for which the
// cost models are written (opmodel/).
#pragma once

#include "borescope/opmodel/op_model.h"
#include "borescope/packs/pyprof/markers.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// The cost of a call of Python by the model of the operator that it runs. The status says what is
// missing.
OpCost CostOfCall(const PyProfCall& call, const OpModelOptions& options);

// An operator of the trace as a call of Python: its tensors and, for convolutions, its numbers.
PyProfCall CallOfOperator(const Trace& trace, HostId op);

}  // namespace borescope::internal
