// Fused operators of libraries that serve models: every tensor they are given is read or written
// once, as a table says.
#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

// Of each argument: 'r' read, 'w' written, 'u' both, '-' neither.
struct StreamLayout {
  StreamArgs schema;
  std::string_view arguments;
  size_t counted;          // whose elements the FLOPs of the row are of
  size_t new_results = 0;  // written, and no arguments; like the counted tensor
};

constexpr StreamLayout kLayouts[] = {
    {kResultAndInput, "wr", 1},        {kResultInputScale, "wrr", 1},
    {kResultInputNewScale, "wrwr", 1}, {kHalfInputScale, "wrr", 0},
    {kHalfInputNewScale, "wrw", 0},    {kInputResultNewScale, "rww", 0},
    {kNormScale, "wrrr", 1},           {kAddNormScale, "wrurr", 1},
    {kNormNewScale, "wrrw-ru", 1},     {kExpertsOfTokens, "wwwr", 3},
    {kInputAndResult, "rw", 0},        {kBlocksOfExperts, "r--www", 0},
    {kExpertsWithoutRows, "wwr", 2},   {kAddNormInto, "wrrwr", 1},
    {kAddNormIntoScale, "wrrwwr", 1},  {kNormScaleWeight, "wrwr", 1},
    {kNormToNew, "rr", 0, 1},          {kAddNormToNew, "rrr", 0, 2},
    {kMergeInto, "wwrrrr", 0},         {kMergeOf, "rrrrww", 0},
};

const StreamLayout& LayoutOf(const OpCall& call) {
  return *std::ranges::find(kLayouts, static_cast<StreamArgs>(call.model.variant),
                            &StreamLayout::schema);
}

void AddStream(char access, const OpTensor& tensor, CostBuilder& cost) {
  if (access == 'r' || access == 'u') cost.Read(tensor);
  if (access == 'w' || access == 'u') cost.Write(tensor);
}

}  // namespace

OpCost Streams(const OpCall& call) {
  const StreamLayout& layout = LayoutOf(call);
  const OpTensor* counted = call.args.Tensor(layout.counted);
  if (counted == nullptr || call.args.Tensor(0) == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  CostBuilder cost(call);
  for (size_t i = 0; i < layout.arguments.size(); ++i) {
    if (const OpTensor* tensor = call.args.Tensor(i)) {
      AddStream(layout.arguments[i], *tensor, cost);
    }
  }
  for (size_t i = 0; i < layout.new_results; ++i) {
    cost.Write(*counted);
  }
  return cost.Type(counted->type).PerElement(Elements(*counted)).Finish();
}

// (positions, query, key, size of a head, cosines and sines [most positions, rotated size], ...):
// query and key are overwritten, as far as they are rotated.
OpCost RotaryEmbedding(const OpCall& call) {
  const OpTensor* positions = call.args.Tensor(0);
  const OpTensor* query = call.args.Tensor(1);
  const OpTensor* key = call.args.Tensor(2);
  const OpTensor* angles = call.args.Tensor(4);
  if (positions == nullptr || query == nullptr || angles == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  const auto head = call.args.Integer(3);
  if (!head) return Failure(call, CostStatus::kNeedsValues);
  if (*head < 1 || angles->rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const Quantity elements = Elements(*query) + (key == nullptr ? Quantity(0) : Elements(*key));
  const auto size = static_cast<uint64_t>(*head);
  const Quantity rotated = (elements * std::min(angles->dims[1], *head)).DividedUp(size);
  CostBuilder cost(call);
  return cost.Type(query->type)
      .Read(*positions)
      .Read(Elements(*positions) * angles->dims[1], angles->type)
      .Read(rotated, query->type)
      .PerElement(rotated)
      .Write(rotated, query->type)
      .Finish();
}

// (x, weight [channels, width], bias, sequences, first states, result, ...): every channel by
// itself, which is nothing for matrix units.
OpCost CausalConvolution(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* weight = call.args.Tensor(1);
  const OpTensor* result = call.args.Tensor(5);
  if (x == nullptr || weight == nullptr || result == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  if (weight->rank() == 0) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .Read(*weight)
      .Read(call.args.Tensor(2))
      .Vector(Elements(*x) * weight->dims.back() * 2)
      .Write(*result)
      .Finish();
}

// (keys, values, their caches, places, ...): what new tokens have goes to its places, in the type
// of the cache. variant: how many caches there are
OpCost CacheWrite(const OpCall& call) {
  constexpr size_t kCache = 2;
  const OpTensor* first = call.args.Tensor(0);
  const OpTensor* second = call.args.Tensor(1);
  const OpTensor* cache = call.args.Tensor(kCache);
  if (first == nullptr || second == nullptr || cache == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  CostBuilder cost(call);
  return cost.Type(first->type)
      .Read(*first)
      .Read(*second)
      .Read(call.args.Tensor(kCache + call.model.variant))
      .Write(Elements(*first) + Elements(*second), cache->type)
      .Finish();
}

}  // namespace borescope::internal::opmodel
