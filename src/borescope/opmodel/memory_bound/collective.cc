// Collectives: what the device reads and writes of its own tensors. What goes over the wires, and
// the additions, depend on the size of the group, which is no argument: see the verb `collectives`.
#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

namespace {

// Which arguments they are.
struct Places {
  size_t input;
  size_t output;
};

Places PlacesOf(const OpCall& call) {
  const size_t last = std::max<size_t>(call.args.size(), 1) - 1;
  switch (call.model.variant) {
    case kOutputFirst:
      return {1, 0};
    case kOutputLast:
      return {0, last};
    case kBehindHandle:
      return {1, 2};
    default:
      return {0, 0};
  }
}

}  // namespace

OpCost Collective(const OpCall& call) {
  if (call.model.variant == kRecordedSizes) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  if (call.model.variant == kInPlaceList) {
    const bool has_shapes = call.args.size() > 0 && !call.args[0].tensors.empty();
    if (!has_shapes) return Failure(call, CostStatus::kMissingShapes);
    const ScalarType type = call.options.list_type;
    for (const OpTensor& tensor : call.args[0].tensors) {
      cost.Read(Elements(tensor), type).Write(Elements(tensor), type);
    }
    return cost.Type(type).Finish();
  }
  const Places at = PlacesOf(call);
  const OpTensor* output = call.args.Tensor(at.output);
  const OpTensor* input = call.args.Tensor(at.input);
  if (output == nullptr || input == nullptr) return Failure(call, CostStatus::kMissingShapes);
  return cost.Type(output->type).Read(*input).Write(*output).Finish();
}

OpCost CollectiveOfSizes(const OpCall& call, int64_t read, int64_t written, ScalarType type) {
  if (read < 0 || written < 0) return Failure(call, CostStatus::kMissingShapes);
  return CostBuilder(call)
      .Type(type)
      .Read(static_cast<uint64_t>(read), type)
      .Write(static_cast<uint64_t>(written), type)
      .Finish();
}

}  // namespace borescope::internal::opmodel
