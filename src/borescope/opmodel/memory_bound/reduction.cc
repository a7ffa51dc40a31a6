// Reductions over some or all dimensions. FLOPs are per element of the input; an operation on each
// result (a division, a root) is one more. Also softmax and losses, normalisation, pooling and
// interpolation.
#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

namespace {

using enum ScalarType;

// The number of elements of the result; nullopt if x does not have the dimensions. A single number
// may be given dimension 0.
std::optional<Quantity> Remaining(const OpTensor& x, const std::vector<int64_t>& reduced) {
  if (reduced.empty()) return 1;
  std::vector<int64_t> dims = x.dims;
  if (dims.empty()) dims = {1};
  const auto rank = static_cast<int64_t>(dims.size());
  for (int64_t dim : reduced) {
    dim = dim < 0 && dim >= -rank ? dim + rank : dim;
    if (dim < 0 || dim >= rank) return std::nullopt;
    dims[static_cast<size_t>(dim)] = 1;
  }
  return Product(dims);
}

ScalarType TypeOfResult(const OpCall& call, ScalarType input) {
  if (call.model.variant == kReduceToIndex) return kInt64;
  if (call.model.result == ResultType::kBool) return kBool;
  const bool is_sum = call.model.variant == kReduceSum || call.model.variant == kReduceMean;
  const bool is_integer = input != kUnknown && !IsFloatingPoint(input) && !IsComplex(input);
  return is_sum && is_integer ? kInt64 : input;
}

// The position of the dimensions in the schema.
size_t DimsAt(const OpCall& call) { return call.model.inputs; }

// A single argument after the tensor is a type or a correction, not the dimensions.
bool ReducesAll(const OpCall& call) {
  const size_t at = DimsAt(call);
  return at >= call.args.size() || call.args[at].kind == ArgKind::kAbsent ||
         (at == 1 && call.args.size() == 2);
}

bool HasDivision(const OpCall& call) { return call.model.variant == kReduceMean; }

}  // namespace

OpCost Reduction(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  std::vector<int64_t> reduced;
  if (!ReducesAll(call)) {
    auto dims = call.args.Integers(DimsAt(call));
    if (!dims) return Failure(call, CostStatus::kNeedsValues);
    reduced = std::move(*dims);
  }
  const auto results = Remaining(*x, reduced);
  if (!results) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*x).PerElement(Elements(*x));
  cost.Vector(HasDivision(call) ? *results : Quantity(0));
  cost.Transcendental(call.model.variant == kReduceRoot ? *results : Quantity(0));
  // max and min over one dimension also return the index.
  const bool gives_index = call.model.variant == kReduceMaximum && !reduced.empty();
  cost.Write(gives_index ? *results : Quantity(0), kInt64);
  cost.Write(call.model.variant == kReduceTwo ? *results : Quantity(0), x->type);
  return cost.Write(*results, TypeOfResult(call, x->type)).Finish();
}

// torch.max and torch.min of two tensors are pointwise.
OpCost MaximumOf(const OpCall& call) {
  constexpr size_t kOther = 1;
  if (call.args.Tensor(kOther) == nullptr) return Reduction(call);
  OpModel pointwise = call.model;
  pointwise.inputs = 2;
  return Pointwise({pointwise, call.args, call.options, call.is_in_place});
}

// Softmax and losses. One pass over the data: kernels of several passes move more.

namespace {

constexpr int64_t kNoReduction = 0;  // of at::Reduction

// The number of targets, one for each row of scores.
const OpTensor* TargetsOf(const OpCall& call, size_t index) { return call.args.Tensor(index); }

}  // namespace

OpCost Softmax(const OpCall& call) {
  constexpr size_t kToFloat = 2;
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool to_float = call.args.Value(kToFloat) == "True";
  return CostBuilder(call)
      .Type(x->type)
      .Read(*x)
      .PerElement(Elements(*x))
      .Write(Elements(*x), to_float ? ScalarType::kFloat32 : x->type)
      .Finish();
}

OpCost SoftmaxBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& output) {
  constexpr size_t kInputType = 3;
  const auto number = call.args.Integer(kInputType);
  return CostBuilder(call)
      .Type(output.type)
      .Read(gradient)
      .Read(output)
      .PerElement(Elements(output))
      .Write(Elements(output), number ? ScalarTypeOfNumber(*number) : output.type)
      .Finish();
}

// Reads one score of every row, that of its target.
OpCost NllLoss(const OpCall& call) {
  const OpTensor* scores = call.args.Tensor(0);
  const OpTensor* targets = TargetsOf(call, 1);
  if (scores == nullptr || targets == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool is_reduced = call.args.Integer(3).value_or(1) != kNoReduction;
  const Quantity rows = Elements(*targets);
  return CostBuilder(call)
      .Type(scores->type)
      .Read(rows, scores->type)
      .Read(*targets)
      .PerElement(rows)
      .Write(is_reduced ? Quantity(1) : rows, scores->type)
      .Write(1, scores->type)  // the total weight
      .Finish();
}

// Writes one element of every row, that of its target: the zeros of all others are the work of
// aten::zero_, which is an operator within it.
OpCost NllLossBackward(const OpCall& call) {
  const OpTensor* scores = call.args.Tensor(1);
  const OpTensor* targets = TargetsOf(call, 2);
  if (scores == nullptr || targets == nullptr) return Failure(call, CostStatus::kMissingShapes);
  return CostBuilder(call)
      .Type(scores->type)
      .Read(call.args.Tensor(0))
      .Read(*targets)
      .PerElement(Elements(*targets))
      .Write(Elements(*targets), scores->type)
      .Finish();
}

// log_softmax, and the selection of the targets' scores.
OpCost CrossEntropy(const OpCall& call) {
  const OpTensor* scores = call.args.Tensor(0);
  const OpTensor* targets = TargetsOf(call, 1);
  if (scores == nullptr || targets == nullptr) return Failure(call, CostStatus::kMissingShapes);
  return CostBuilder(call)
      .Type(scores->type)
      .Read(*scores)
      .Read(*targets)
      .PerElement(Elements(*scores))
      .Write(1, scores->type)
      .Finish();
}

// A loss of two tensors of one shape. variant: the position of the kind of reduction
OpCost PairLoss(const OpCall& call, const OpTensor& x, const OpTensor& y) {
  const auto reduction = call.args.Integer(call.model.variant);
  if (!reduction) return Failure(call, CostStatus::kNeedsValues);
  const bool is_reduced = *reduction != kNoReduction;
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .Read(y)
      .PerElement(Elements(x))
      .Write(is_reduced ? Quantity(1) : Elements(x), x.type)
      .Finish();
}

OpCost PairLossBackward(const OpCall& call, const OpTensor& x, const OpTensor& y) {
  return CostBuilder(call)
      .Type(x.type)
      .Read(call.args.Tensor(0))
      .Read(x)
      .Read(y)
      .PerElement(Elements(x))
      .Write(x)
      .Finish();
}

// Normalisation: FLOPs per element of the row, and one reciprocal root per group of elements that
// is normalised together. Every input is read once; a kernel of two passes reads it twice.

namespace {

constexpr ScalarType kStatistics = ScalarType::kFloat32;

// The number of elements that share one mean; nullopt if it was not recorded.
std::optional<Quantity> GroupSize(const OpCall& call, size_t shape_at, size_t weight_at) {
  if (const auto shape = call.args.Integers(shape_at)) return Product(*shape);
  if (const OpTensor* weight = call.args.Tensor(weight_at)) return Elements(*weight);
  return std::nullopt;
}

Quantity Groups(const OpTensor& x, Quantity group_size) {
  const Quantity elements = Elements(x);
  if (group_size == Quantity(0) || group_size.is_overflow()) return 0;
  return elements.DividedUp(group_size.value());
}

// The gradients of weight and bias.
void WriteParameters(const OpTensor* weight, CostBuilder& cost) {
  if (weight != nullptr) {
    cost.Write(*weight).Write(*weight);
  }
}

}  // namespace

OpCost LayerNorm(const OpCall& call) {
  constexpr size_t kShape = 1;
  constexpr size_t kWeight = 2;
  const bool is_rms = call.model.variant == kRmsNorm;
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto group = GroupSize(call, kShape, kWeight);
  if (!group) return Failure(call, CostStatus::kNeedsValues);
  const Quantity groups = Groups(*x, *group);
  const OpTensor* weight = call.args.Tensor(kWeight);
  const OpTensor* bias = is_rms ? nullptr : call.args.Tensor(kWeight + 1);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*x).Read(weight).Read(bias).PerElement(Elements(*x));
  cost.Vector(weight == nullptr ? Quantity(0) : Elements(*x));
  cost.Vector(bias == nullptr ? Quantity(0) : Elements(*x));
  return cost.Transcendental(groups)
      .Write(*x)
      .Write(is_rms ? groups : groups * 2, kStatistics)
      .Finish();
}

OpCost LayerNormBackward(const OpCall& call) {
  const bool is_rms = call.model.variant == kRmsNorm;
  const OpTensor* gradient = call.args.Tensor(0);
  const OpTensor* x = call.args.Tensor(1);
  if (gradient == nullptr || x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const OpTensor* weight = call.args.Tensor(is_rms ? 4 : 5);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*gradient).Read(*x).Read(call.args.Tensor(3)).Read(weight);
  if (is_rms) {
    cost.Write(weight == nullptr ? Quantity(0) : Elements(*weight), x->type);
  } else {
    cost.Read(call.args.Tensor(4));
    WriteParameters(weight, cost);
  }
  return cost.PerElement(Elements(*x)).Write(*x).Finish();
}

OpCost BatchNorm(const OpCall& call, const OpTensor& x) {
  constexpr size_t kTraining = 5;
  constexpr int kEvalFlops = 2;
  if (x.rank() < 2) return Failure(call, CostStatus::kBadShapes);
  const auto is_training = call.args.Bool(kTraining);
  if (!is_training) return Failure(call, CostStatus::kNeedsValues);
  CostBuilder cost(call);
  cost.Type(x.type).Read(x).Write(x);
  for (size_t i = 1; i < kTraining; ++i) {
    cost.Read(call.args.Tensor(i));
  }
  if (!*is_training) return cost.Vector(Elements(x) * kEvalFlops).Finish();
  for (const size_t running : {size_t{3}, size_t{4}}) {
    if (const OpTensor* statistic = call.args.Tensor(running)) {
      cost.Write(*statistic);
    }
  }
  const Quantity channels = x.dims[1];
  return cost.PerElement(Elements(x))
      .Transcendental(channels)
      .Write(channels * 2, kStatistics)
      .Finish();
}

OpCost BatchNormBackward(const OpCall& call, const OpTensor& a, const OpTensor& b) {
  const OpTensor* weight = call.args.Tensor(2);
  CostBuilder cost(call);
  cost.Type(a.type).Read(a).Read(b).Read(weight);
  cost.Read(call.args.Tensor(5)).Read(call.args.Tensor(6));
  WriteParameters(weight, cost);
  return cost.PerElement(Elements(a)).Write(a).Finish();
}

// variant: the positions of the number of groups and of the weight
OpCost GroupNorm(const OpCall& call) {
  const bool is_native = call.model.variant == kNativeGroupNorm;
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto per_sample = call.args.Integer(is_native ? 6 : 1);
  if (!per_sample) return Failure(call, CostStatus::kNeedsValues);
  if (x->rank() < 2 || *per_sample < 1) return Failure(call, CostStatus::kBadShapes);
  const size_t weight_at = is_native ? 1 : 2;
  const Quantity groups = Quantity(x->dims[0]) * *per_sample;
  return CostBuilder(call)
      .Type(x->type)
      .Read(*x)
      .Read(call.args.Tensor(weight_at))
      .Read(call.args.Tensor(weight_at + 1))
      .PerElement(Elements(*x))
      .Transcendental(groups)
      .Write(*x)
      .Write(groups * 2, kStatistics)
      .Finish();
}

OpCost GroupNormBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& x) {
  const OpTensor* weight = call.args.Tensor(4);
  CostBuilder cost(call);
  cost.Type(x.type).Read(gradient).Read(x).Read(call.args.Tensor(2)).Read(call.args.Tensor(3));
  cost.Read(weight);
  WriteParameters(weight, cost);
  return cost.PerElement(Elements(x)).Write(x).Finish();
}

// vLLM: (result, x, weight), or with addition of the residual (x, residual, weight), of which x and
// residual are overwritten.
OpCost RmsNormInto(const OpCall& call, const OpTensor& first, const OpTensor& x,
                   const OpTensor& weight) {
  CostBuilder cost(call);
  if (call.model.variant == kAddRmsNorm) {
    cost.Read(first).Write(x);
  }
  return cost.Type(x.type)
      .Read(x)
      .Read(weight)
      .PerElement(Elements(x))
      .Transcendental(Groups(x, Elements(weight)))
      .Write(first)
      .Finish();
}

// Pooling and interpolation over the last one to three dimensions.

namespace {

constexpr size_t kMostDimensions = 3;
constexpr int64_t kMostSize = int64_t{1} << 30;  // larger sizes are damaged

struct Window {
  int64_t size = 1, stride = 1, padding = 0, dilation = 1;
};
using Windows = std::vector<Window>;

// The number for dimension `i`, from a list with one for each dimension or one for all.
int64_t At(const std::vector<int64_t>& list, size_t i) { return list[list.size() == 1 ? 0 : i]; }

bool IsSane(const Window& window) {
  const auto is_size = [](int64_t value) { return value >= 1 && value < kMostSize; };
  return is_size(window.size) && is_size(window.stride) && is_size(window.dilation) &&
         window.padding >= 0 && window.padding < kMostSize;
}

// kernel size, stride (none: the kernel size), padding and, if there is one, dilation: arguments 1
// to 4. nullopt if they were not recorded.
std::optional<Windows> WindowsOf(const CallArgs& args, bool has_dilation) {
  const auto sizes = args.Integers(1);
  auto strides = args.Integers(2);
  const auto paddings = args.Integers(3);
  const auto dilations = has_dilation ? args.Integers(4) : std::vector<int64_t>{1};
  if (!sizes || !strides || !paddings || !dilations || sizes->empty()) return std::nullopt;
  strides = strides->empty() ? sizes : strides;
  const auto fits = [&](const auto& list) {
    return list->size() == 1 || list->size() == sizes->size();
  };
  if (!fits(strides) || !fits(paddings) || !fits(dilations)) return std::nullopt;
  Windows windows;
  windows.reserve(sizes->size());
  for (size_t i = 0; i < sizes->size(); ++i) {
    windows.push_back({(*sizes)[i], At(*strides, i), At(*paddings, i), At(*dilations, i)});
  }
  return windows;
}

int64_t OutputSize(const Window& window, int64_t input, bool rounds_up) {
  const int64_t room = input + 2 * window.padding - window.dilation * (window.size - 1) - 1;
  if (room < 0) return -1;
  int64_t size = (room + (rounds_up ? window.stride - 1 : 0)) / window.stride + 1;
  // The last window has to begin inside.
  if (rounds_up && (size - 1) * window.stride >= input + window.padding) {
    --size;
  }
  return size;
}

struct Pooled {
  Quantity outputs = 1, window = 1;
};

std::optional<Pooled> PooledBy(const OpTensor& x, const Windows& windows, bool rounds_up) {
  if (windows.size() > kMostDimensions || x.rank() < windows.size()) return std::nullopt;
  Pooled pooled;
  const size_t first = x.rank() - windows.size();
  pooled.outputs = Product(Leading(x.dims, windows.size()));
  for (size_t i = 0; i < windows.size(); ++i) {
    if (!IsSane(windows[i]) || x.dims[first + i] >= kMostSize) return std::nullopt;
    const int64_t size = OutputSize(windows[i], x.dims[first + i], rounds_up);
    if (size < 0) return std::nullopt;
    pooled.outputs *= size;
    pooled.window *= windows[i].size;
  }
  return pooled;
}

OpCost Pool(const OpCall& call, bool is_max) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto windows = WindowsOf(call.args, is_max);
  const auto rounds_up = call.args.Bool(is_max ? 5 : 4);
  if (!windows || !rounds_up) return Failure(call, CostStatus::kNeedsValues);
  const auto pooled = PooledBy(*x, *windows, *rounds_up);
  if (!pooled) return Failure(call, CostStatus::kBadShapes);
  return CostBuilder(call)
      .Type(x->type)
      .Read(*x)
      .Vector(pooled->outputs * (is_max ? pooled->window : pooled->window + 1))
      .Write(pooled->outputs, x->type)
      .Write(is_max ? pooled->outputs : Quantity(0),
             ScalarType::kInt64)  // the indices of the maxima
      .Finish();
}

// The number of elements if the last dimensions become the sizes of argument 1; nullopt if these
// were not recorded.
std::optional<Quantity> Resized(const OpCall& call, const OpTensor& x) {
  const auto sizes = call.args.Integers(1);
  if (!sizes || sizes->empty() || sizes->size() > x.rank()) return std::nullopt;
  return Product(Leading(x.dims, sizes->size())) * Product(*sizes);
}

}  // namespace

OpCost MaxPool(const OpCall& call) { return Pool(call, true); }
OpCost AvgPool(const OpCall& call) { return Pool(call, false); }

OpCost PoolBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& x) {
  const size_t indices = call.model.variant;
  return CostBuilder(call)
      .Type(x.type)
      .Read(gradient)
      .Read(indices == 0 ? nullptr : call.args.Tensor(indices))
      .Vector(Elements(gradient))
      .Write(x)
      .Finish();
}

OpCost AdaptivePool(const OpCall& call, const OpTensor& x) {
  const auto outputs = Resized(call, x);
  if (!outputs) return Failure(call, CostStatus::kNeedsValues);
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .Vector(Elements(x) + *outputs)
      .Write(*outputs, x.type)
      .Finish();
}

OpCost Upsample(const OpCall& call, const OpTensor& x) {
  const auto outputs = Resized(call, x);
  if (!outputs) return Failure(call, CostStatus::kNeedsValues);
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .PerElement(*outputs)
      .Write(*outputs, x.type)
      .Finish();
}

}  // namespace borescope::internal::opmodel
