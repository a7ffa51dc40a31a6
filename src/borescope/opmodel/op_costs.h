// The costs of the operator calls of a trace. Every distinct call (name, shapes, types, strides,
// values) is computed once: most calls of a training run repeat others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/id.h"
#include "borescope/opmodel/op_model.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// The arguments of a call as recorded: views into `trace`, which must outlive them. Empty for rows
// without arguments.
CallArgs CallArgsOf(const Trace& trace, HostId call);

// Not thread-safe. The trace must outlive it.
class OpCosts {
 public:
  explicit OpCosts(const Trace& trace, OpModelOptions options = {})
      : trace_(trace), options_(options), names_(trace.strings().size()) {}
  // Not copied, as names point to costs.
  OpCosts(const OpCosts&) = delete;
  OpCosts& operator=(const OpCosts&) = delete;

  // nullptr if the row is no operator or annotation, or its name has no model.
  const OpModel* ModelOf(HostId call);

  // The reference stays valid. Rows without a model have the status kUnknownOp.
  const OpCost& Of(HostId call) { return Of(call, options_.list_type); }
  // The cost with this type for the tensors in its lists, which was not recorded.
  const OpCost& Of(HostId call, ScalarType list_type);

 private:
  using Key = std::array<uint32_t, 6>;  // name, list type, dims, types, strides, values

  // What is known about the calls of one name. Consecutive calls are often equal, so the last
  // answer saves most look-ups.
  struct Name {
    bool is_known = false;
    const OpModel* model = nullptr;
    const OpCost* last = nullptr;
    Key last_key{};
  };

  Key KeyOf(HostId call, const OpModel& model, ScalarType list_type) const;
  static Key KeyOfRecorded(uint32_t name, int64_t bytes, int64_t flops);
  OpCost Compute(HostId call, const OpModel& model, ScalarType list_type) const;

  const Trace& trace_;
  OpModelOptions options_;
  OpCost unknown_;
  std::vector<Name> names_;  // by StringId
  HashMap<Key, OpCost> costs_;
};

}  // namespace borescope::internal
