// Between calls of Python, as PyProf's markers have them, and operators of ATen, which the cost
// models (opmodel/) are written for.
#pragma once

#include "borescope/opmodel/op_model.h"
#include "borescope/packs/pyprof/markers.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What a call of Python costs by the model of the operator it runs. The status says what is
// missing.
OpCost CostOfCall(const PyProfCall& call, const OpModelOptions& options);

// An operator of the trace as a call of Python: its tensors and, of convolutions, its numbers.
PyProfCall CallOfOperator(const Trace& trace, HostId op);

}  // namespace borescope::internal
