// Attention: two products for each pair of query and key forward, five backward (one recomputes the
// scores). Pairs that a causal mask or a window excludes are not counted, unless the options count
// them.
#include <algorithm>
#include <array>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

constexpr int kNoArgument = -1;

enum class HeadOrder : uint8_t {
  kHeadsFirst,     // [batch, heads, sequence, size]
  kSequenceFirst,  // [batch, sequence, heads, size]; [tokens, heads, size] of many lengths
};

enum class CausalRule : uint8_t { kTopLeft, kBottomRight };

// The positions of the arguments in a schema.
struct AttentionLayout {
  AttentionArgs schema;
  HeadOrder order;
  CausalRule rule;
  int query, causal;
  int bias = kNoArgument, lengths = kNoArgument, longest = kNoArgument, window = kNoArgument;
  bool causal_is_mask_type = false;  // 0 none, 1 top left, 2 bottom right
  // Tensors that, if given, make the lengths of the keys unknown: pages, used lengths, new keys.
  std::array<int, 3> hiding = {kNoArgument, kNoArgument, kNoArgument};
};

using enum HeadOrder;
using enum CausalRule;
// schema, order, rule, and positions of: query, causal flag, bias, cumulative lengths, longest
// lengths, window
constexpr AttentionLayout kAttentionLayouts[] = {
    {kSdpa, kHeadsFirst, kTopLeft, 0, 5, 3},
    {kSdpaFlash, kHeadsFirst, kTopLeft, 0, 4},
    {kSdpaEfficient, kHeadsFirst, kTopLeft, 0, 6, 3},
    {kFlash, kSequenceFirst, kBottomRight, 0, 8, kNoArgument, 3, 5, 11},
    {kEfficient, kSequenceFirst, kTopLeft, 0, 9, 3, 4, 6, kNoArgument, true},
    {kCudnn, kHeadsFirst, kTopLeft, 0, 10, 3, 4, 6},
    {kSdpaOnCpu, kHeadsFirst, kTopLeft, 0, 4, 5},
    {kSdpaFlashBackward, kHeadsFirst, kTopLeft, 1, 11},
    {kSdpaEfficientBackward, kHeadsFirst, kTopLeft, 1, 11, 4},
    {kSdpaCudnnBackward, kHeadsFirst, kTopLeft, 1, 14, 8},
    {kSdpaOnCpuBackward, kHeadsFirst, kTopLeft, 1, 7, 8},
    {kSdpaOtherBackward, kHeadsFirst, kTopLeft, 1, 13, 4},
    {kFlashBackward, kSequenceFirst, kBottomRight, 1, 11, kNoArgument, 6, 8, 15},
    {kEfficientBackward, kSequenceFirst, kTopLeft, 1, 14, 4, 6, 8, kNoArgument, true},
    {kFlashAttn, kSequenceFirst, kBottomRight, 0, 5, kNoArgument, kNoArgument, kNoArgument, 6},
    {kFlashAttnVarlen, kSequenceFirst, kBottomRight, 0, 9, kNoArgument, 3, 5, 10},
    {kAiterVarlen,
     kSequenceFirst,
     kBottomRight,
     0,
     12,
     kNoArgument,
     3,
     5,
     13,
     false,
     {18, 19, kNoArgument}},
    {kFlashAttnBackward, kSequenceFirst, kBottomRight, 1, 11, kNoArgument, kNoArgument, kNoArgument,
     12},
    {kFlashAttnVarlenBackward, kSequenceFirst, kBottomRight, 1, 15, kNoArgument, 9, 11, 16},
    {kXformersFlash,
     kSequenceFirst,
     kBottomRight,
     0,
     10,
     kNoArgument,
     3,
     6,
     11,
     false,
     {5, kNoArgument, kNoArgument}},
    {kFlashAttn3, kSequenceFirst, kBottomRight, 0, 24, kNoArgument, 7, 12, 25, false, {3, 11, 14}},
    {kFlashAttn3Backward,
     kSequenceFirst,
     kBottomRight,
     1,
     16,
     kNoArgument,
     9,
     13,
     17,
     false,
     {11, 12, kNoArgument}},
};

const AttentionLayout& AttentionLayoutOf(const OpCall& call) {
  return *std::ranges::find(kAttentionLayouts, static_cast<AttentionArgs>(call.model.variant),
                            &AttentionLayout::schema);
}

const OpTensor* TensorAt(const CallArgs& args, int index) {
  return index == kNoArgument ? nullptr : args.Tensor(static_cast<size_t>(index));
}

// Longer sequences are damaged; below this sums of their pairs fit into 64 bits.
constexpr int64_t kMostLength = int64_t{1} << 31;

struct AttentionShape {
  int64_t batch = 1, heads = 0, kv_heads = 0, queries = 0, keys = 0;
  int64_t qk_size = 0, v_size = 0;
  bool has_many_lengths = false;  // the tokens of all sequences are concatenated
};

// Dimensions of q, k or v by name.
struct HeadDims {
  int64_t batch, heads, length, size;
};

std::optional<HeadDims> HeadDimsOf(const OpTensor& tensor, HeadOrder order) {
  const Dims dims = tensor.dims;
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim >= kMostLength; })) {
    return std::nullopt;
  }
  const bool is_batched = dims.size() == 4;
  if (!is_batched && dims.size() != 3) return std::nullopt;
  const Dims inner = dims.last(3);
  const bool heads_first = order == kHeadsFirst;
  return HeadDims{is_batched ? dims[0] : 1, inner[heads_first ? 0 : 1], inner[heads_first ? 1 : 0],
                  inner[2]};
}

std::optional<AttentionShape> ShapeOf(const OpCall& call, const AttentionLayout& layout) {
  const auto at = static_cast<size_t>(layout.query);
  const auto q = HeadDimsOf(*call.args.Tensor(at), layout.order);
  const auto k = HeadDimsOf(*call.args.Tensor(at + 1), layout.order);
  const auto v = HeadDimsOf(*call.args.Tensor(at + 2), layout.order);
  if (!q || !k || !v) return std::nullopt;
  const bool fits = q->batch == k->batch && k->batch == v->batch && k->length == v->length &&
                    k->heads == v->heads && k->heads > 0 && q->heads % k->heads == 0 &&
                    q->size == k->size;
  if (!fits) return std::nullopt;
  return AttentionShape{
      q->batch,  q->heads, k->heads, q->length,
      k->length, q->size,  v->size,  TensorAt(call.args, layout.lengths) != nullptr};
}

// Which keys a query sees: at most `left` before and `right` after its own key, which is its number
// + shift. Without limits: all.
struct Mask {
  bool is_causal = false;
  bool is_bottom_right = false;
  int64_t left = -1;  // -1: no limit
  int64_t right = -1;
};

std::optional<Mask> MaskOf(const OpCall& call, const AttentionLayout& layout) {
  const auto causal_at = static_cast<size_t>(layout.causal);
  Mask mask;
  mask.is_bottom_right = layout.rule == kBottomRight;
  if (layout.causal_is_mask_type) {
    constexpr int64_t kTypeBottomRight = 2;
    const auto type = call.args.Integer(causal_at);
    if (!type) return std::nullopt;
    mask.is_causal = *type != 0;
    mask.is_bottom_right = *type == kTypeBottomRight;
  } else {
    const auto causal = call.args.Bool(causal_at);
    if (!causal) return std::nullopt;
    mask.is_causal = *causal;
  }
  if (layout.window != kNoArgument) {
    const auto window_at = static_cast<size_t>(layout.window);
    mask.left = std::clamp(call.args.Integer(window_at).value_or(-1), int64_t{-1}, kMostLength);
    mask.right =
        std::clamp(call.args.Integer(window_at + 1).value_or(-1), int64_t{-1}, kMostLength);
  }
  return mask;
}

// The sum over i in [0, rows) of clamp(i + shift, 0, limit). REQUIRES: absolute values below 2^33.
Quantity ClampedSum(int64_t rows, int64_t shift, int64_t limit) {
  const int64_t first = std::clamp(-shift, int64_t{0}, rows);   // the first above 0
  const int64_t last = std::clamp(limit - shift, first, rows);  // the first at the limit
  const Quantity count = last - first;
  const Quantity ramp =
      last == first ? Quantity(0) : count * ((first + shift) + (last - 1 + shift));
  return ramp.DividedUp(2) + Quantity(rows - last) * limit;
}

// The multiplied pairs of query and key of one head.
Quantity Pairs(const Mask& mask, CausalMode mode, int64_t queries, int64_t keys) {
  const Quantity all = Quantity(queries) * keys;
  const bool has_window = mask.left >= 0 || (!mask.is_causal && mask.right >= 0);
  if ((!mask.is_causal && !has_window) || mode == CausalMode::kFull) return all;
  if (mode == CausalMode::kHalf && !has_window) return all.DividedUp(2);
  const int64_t shift = mask.is_bottom_right ? keys - queries : 0;
  const int64_t right = mask.is_causal ? 0 : mask.right;
  const Quantity up_to = right < 0 ? all : ClampedSum(queries, shift + right + 1, keys);
  const Quantity before =
      mask.left < 0 ? Quantity(0) : ClampedSum(queries, shift - mask.left, keys);
  return up_to - before;
}

// Pairs over the whole batch. If only the sum and the maximum of lengths are known, one sequence is
// taken to have the maximum, and the others share the rest evenly. If queries and keys have the
// same lengths, no distribution has fewer pairs; else it is an estimate.
struct BatchPairs {
  Quantity count;
  bool is_lower_bound = false;
};

// The pairs of `sequences` that share queries and keys evenly; remainders go to the first ones.
Quantity PairsOfEqual(const Mask& mask, CausalMode mode, int64_t queries, int64_t keys,
                      int64_t sequences) {
  if (sequences == 0) return 0;
  const int64_t more_queries = queries % sequences;
  const int64_t more_keys = keys % sequences;
  const int64_t steps[] = {std::min(more_queries, more_keys), std::max(more_queries, more_keys),
                           sequences};
  Quantity pairs = 0;
  int64_t done = 0;
  for (const int64_t step : steps) {
    const int64_t queries_each = queries / sequences + (done < more_queries ? 1 : 0);
    const int64_t keys_each = keys / sequences + (done < more_keys ? 1 : 0);
    pairs += Pairs(mask, mode, queries_each, keys_each) * (step - done);
    done = step;
  }
  return pairs;
}

BatchPairs PairsOfMany(const OpCall& call, const AttentionLayout& layout,
                       const AttentionShape& shape, const Mask& mask) {
  const OpTensor& lengths = *TensorAt(call.args, layout.lengths);
  const int64_t sequences = lengths.rank() == 1 ? std::max<int64_t>(lengths.dims[0] - 1, 1) : 1;
  const auto longest_at = static_cast<size_t>(layout.longest);
  const auto longest = [&](size_t index, int64_t total) {
    const int64_t mean = total / sequences + (total % sequences != 0 ? 1 : 0);
    return std::clamp(call.args.Integer(index).value_or(mean), mean, total);
  };
  const int64_t most_queries = longest(longest_at, shape.queries);
  const int64_t most_keys = longest(longest_at + 1, shape.keys);
  const CausalMode mode = call.options.causal;
  const Quantity pairs =
      Pairs(mask, mode, most_queries, most_keys) +
      PairsOfEqual(mask, mode, shape.queries - most_queries, shape.keys - most_keys, sequences - 1);
  return {pairs, sequences > 1};
}

BatchPairs PairsOfBatch(const OpCall& call, const AttentionLayout& layout,
                        const AttentionShape& shape, const Mask& mask) {
  if (shape.has_many_lengths) return PairsOfMany(call, layout, shape, mask);
  return {Pairs(mask, call.options.causal, shape.queries, shape.keys) * shape.batch};
}

// What forward and backward need to know about a call, or why that is unknown.
struct Attention {
  CostStatus status = CostStatus::kOk;
  AttentionShape shape;
  BatchPairs pairs;
  const OpTensor *q = nullptr, *k = nullptr, *v = nullptr, *bias = nullptr;

  Quantity scores() const { return pairs.count * shape.heads; }
  Quantity rows() const { return Quantity(shape.batch) * shape.heads * shape.queries; }
  Quantity outputs() const { return rows() * shape.v_size; }
};

Attention Understand(const OpCall& call) {
  const AttentionLayout& layout = AttentionLayoutOf(call);
  const auto at = static_cast<size_t>(layout.query);
  Attention attention;
  attention.q = call.args.Tensor(at);
  attention.k = call.args.Tensor(at + 1);
  attention.v = call.args.Tensor(at + 2);
  attention.bias = TensorAt(call.args, layout.bias);
  if (attention.q == nullptr || attention.k == nullptr || attention.v == nullptr) {
    attention.status = CostStatus::kMissingShapes;
    return attention;
  }
  if (std::ranges::any_of(layout.hiding,
                          [&](int hidden) { return TensorAt(call.args, hidden) != nullptr; })) {
    attention.status = CostStatus::kDependsOnData;
    return attention;
  }
  const auto shape = ShapeOf(call, layout);
  const auto mask = MaskOf(call, layout);
  if (!shape || !mask) {
    attention.status = shape ? CostStatus::kNeedsValues : CostStatus::kBadShapes;
    return attention;
  }
  attention.shape = *shape;
  attention.pairs = PairsOfBatch(call, layout, *shape, *mask);
  return attention;
}

constexpr ScalarType kStatistics = ScalarType::kFloat32;  // the sum of exponentials of each row

}  // namespace

OpCost AttentionForward(const OpCall& call) {
  const Attention attention = Understand(call);
  if (attention.status != CostStatus::kOk) return Failure(call, attention.status);
  const AttentionShape& shape = attention.shape;
  constexpr int kSoftmaxArithmetic = 4;  // scale, maximum, difference, sum; and one exp
  CostBuilder cost(call);
  if (attention.pairs.is_lower_bound) {
    cost.LowerBound();
  }
  return cost.Read(*attention.q)
      .Read(*attention.k)
      .Read(*attention.v)
      .Read(attention.bias)
      .Write(attention.outputs(), attention.q->type)
      .Write(attention.rows(), kStatistics)
      .MultiplyAdds(attention.scores() * (Quantity(shape.qk_size) + shape.v_size),
                    attention.q->type)
      .Vector(attention.scores() * kSoftmaxArithmetic)
      .Transcendental(attention.scores())
      .Finish();
}

OpCost AttentionBackward(const OpCall& call) {
  const Attention attention = Understand(call);
  if (attention.status != CostStatus::kOk) return Failure(call, attention.status);
  const AttentionShape& shape = attention.shape;
  // Three products of the size of q: the recomputed scores and the gradients of q and k. Two of the
  // size of v: the gradients of v and of the weights.
  const Quantity sizes = Quantity(shape.qk_size) * 3 + Quantity(shape.v_size) * 2;
  constexpr int kSoftmaxArithmetic = 4;  // scale, difference; difference, product of the gradient
  CostBuilder cost(call);
  if (attention.pairs.is_lower_bound) {
    cost.LowerBound();
  }
  return cost.Read(*attention.q)
      .Read(*attention.k)
      .Read(*attention.v)
      .Read(attention.bias)
      .Read(attention.outputs() * 2, attention.q->type)  // the output and its gradient
      .Read(attention.rows(), kStatistics)
      .Write(attention.rows(), kStatistics)  // sums of gradient times output
      .Write(*attention.q)
      .Write(*attention.k)
      .Write(*attention.v)
      .MultiplyAdds(attention.scores() * sizes, attention.q->type)
      .Vector(attention.scores() * kSoftmaxArithmetic)
      .Transcendental(attention.scores())
      .Finish();
}

}  // namespace borescope::internal::opmodel
