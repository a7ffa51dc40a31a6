// Operators that compute every element of the result from the elements of the inputs at the same
// place. FLOPs per element are those of the row; values that are not tensors count no bytes. Also
// kernels that TorchInductor generated, updates of parameters, quantization, fused operators of
// serving engines, and collectives.
#include <algorithm>
#include <optional>
#include <vector>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

namespace {

using enum ScalarType;

ScalarType TypeOfValue(std::string_view value) {
  if (value.empty()) return kUnknown;
  if (value == "True" || value == "False") return kBool;
  const bool is_integer = value.find_first_not_of("-0123456789") == std::string_view::npos;
  return is_integer ? kInt64 : kFloat32;
}

// c10::result_type: the type of tensors with dimensions counts; one without dimensions, or a value,
// only raises the kind (bool, integer, float, complex).
ScalarType Raise(ScalarType type, ScalarType by) {
  if (type == kUnknown) return by;
  if (by == kUnknown || IsComplex(type)) return type;
  if (IsFloatingPoint(type) && !IsComplex(by)) return type;
  const bool is_higher = IsFloatingPoint(by) || IsComplex(by) || type == kBool;
  return is_higher ? Promote(type, by) : type;
}

// The inputs of a call combined.
struct Inputs {
  std::vector<int64_t> shape;
  ScalarType with_dims = kUnknown, single = kUnknown, value = kUnknown;
  bool has_tensor = false, has_unknown_type = false;

  ScalarType type() const {
    return has_unknown_type ? kUnknown : Raise(with_dims, Raise(single, value));
  }
};

void Include(ScalarType type, ScalarType& into) {
  into = into == kUnknown ? type : Promote(into, type);
}

// False if the shapes do not fit.
bool AddInput(const OpTensor& tensor, Inputs& inputs) {
  auto shape = Broadcast(inputs.shape, tensor.dims);
  if (!shape) return false;
  inputs.shape = std::move(*shape);
  inputs.has_tensor = true;
  inputs.has_unknown_type |= tensor.type == kUnknown;
  Include(tensor.type, tensor.rank() == 0 ? inputs.single : inputs.with_dims);
  return true;
}

std::optional<Inputs> InputsOf(const OpCall& call, CostBuilder& cost) {
  Inputs inputs;
  for (size_t i = 0; i < call.model.inputs; ++i) {
    if (const OpTensor* tensor = call.args.Tensor(i)) {
      if (!AddInput(*tensor, inputs)) return std::nullopt;
      cost.Read(*tensor);
    } else if (const ScalarType type = TypeOfValue(call.args.Value(i)); type != kUnknown) {
      Include(type, inputs.value);
    }
  }
  return inputs;
}

const OpTensor* GivenOutput(const OpCall& call) {
  for (size_t i = call.model.inputs; i < call.args.size(); ++i) {
    if (const OpTensor* tensor = call.args.Tensor(i)) return tensor;
  }
  return nullptr;
}

ScalarType ResultOf(const OpCall& call, ScalarType inputs) {
  const OpTensor* first = call.args.Tensor(0);
  const bool is_first = call.is_in_place || call.model.result == ResultType::kFirst;
  if (is_first && first != nullptr) return first->type;
  if (const OpTensor* output = GivenOutput(call)) return output->type;
  if (call.model.result == ResultType::kBool) return kBool;
  const bool becomes_float = call.model.result == ResultType::kFloat && inputs != kUnknown &&
                             !IsFloatingPoint(inputs) && !IsComplex(inputs);
  return becomes_float ? kFloat32 : inputs;
}

}  // namespace

OpCost Pointwise(const OpCall& call) {
  CostBuilder cost(call);
  const auto inputs = InputsOf(call, cost);
  if (!inputs) return Failure(call, CostStatus::kBadShapes);
  if (!inputs->has_tensor) return Failure(call, CostStatus::kMissingShapes);
  const Quantity elements = Product(inputs->shape);
  const ScalarType type = inputs->type();
  return cost.Type(type).PerElement(elements).Write(elements, ResultOf(call, type)).Finish();
}

// The last dimension, or the given one, has two halves a and b; the result is a * f(b).
OpCost GatedHalf(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(call.model.variant);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const Quantity half = Elements(*x).DividedUp(2);
  return CostBuilder(call).Type(x->type).Read(*x).PerElement(half).Write(half, x->type).Finish();
}

OpCost GatedHalfBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& x) {
  return CostBuilder(call)
      .Type(x.type)
      .Read(gradient)
      .Read(x)
      .PerElement(Elements(gradient))
      .Write(x)
      .Finish();
}

OpCost Dropout(const OpCall& call, const OpTensor& x) {
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .PerElement(Elements(x))
      .Write(x)
      .Write(Elements(x), kBool)
      .Finish();
}

// Kernels that TorchInductor generated. Their arguments are the buffers that they read or write,
// then the numbers of elements that they process. Only their code says what they compute.
//
// The buffers have this order: those that are read and written ("in_out_ptr0" in the code), those
// that are read, those that are written. The names are not recorded, but every kernel writes
// something: if the last buffer cannot be the result, the first one is read and written.

namespace {

bool HasAny(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

// Operators that touch only a part of a buffer, whose size is unknown.
bool TouchesParts(std::string_view name) {
  constexpr std::string_view kWords[] = {"_embedding", "_index", "_gather", "_scatter",   "_slice",
                                         "_select",    "_split", "_unbind", "_as_strided"};
  return HasAny(name, kWords);
}

std::vector<const OpTensor*> TensorsOf(const CallArgs& args) {
  std::vector<const OpTensor*> tensors;
  for (size_t i = 0; i < args.size(); ++i) {
    if (const OpTensor* tensor = args.Tensor(i)) tensors.push_back(tensor);
  }
  return tensors;
}

// Whether the kernel processes `elements` according to the numbers at the end (one, or one for each
// dimension of a grid of two).
bool GoesThrough(const CallArgs& args, Quantity elements) {
  if (args.size() < 2) return false;
  const auto last = args.Integer(args.size() - 1);
  const auto before = args.Integer(args.size() - 2);
  if (!last || *last < 0) return false;
  if (elements == Quantity(*last)) return true;
  return before && *before >= 0 && elements == Quantity(*before) * *last;
}

// The result of a pointwise kernel has all elements that it processes. A kernel that joins buffers
// writes a part with each.
bool IsTooSmallForTheResult(const OpCall& call, const OpTensor& first, const OpTensor& last) {
  return call.name.starts_with("triton_poi_") &&
         call.name.find("_cat_") == std::string_view::npos &&
         GoesThrough(call.args, Elements(first)) &&
         Elements(last).value() < Elements(first).value();
}

// The result of a product is a matrix, to which "_unsafe_view" restores the dimensions of the
// model, which results have. (With a copy to a new layout the view is of the result.)
bool IsAResultOfAProduct(const OpCall& call, const OpTensor& first, const OpTensor& last) {
  constexpr std::string_view kCopies[] = {"_clone", "_copy_", "_contiguous"};
  return call.name.starts_with("triton_poi_") && !HasAny(call.name, kCopies) &&
         call.name.find("__unsafe_view") != std::string_view::npos && last.rank() == 2 &&
         first.rank() > 2 && Elements(first) == Elements(last) &&
         first.dims.back() == last.dims.back() && first.type == last.type;
}

bool WritesItsFirst(const OpCall& call, const OpTensor& first, const OpTensor& last) {
  return IsTooSmallForTheResult(call, first, last) || IsAResultOfAProduct(call, first, last);
}

}  // namespace

OpCost GeneratedKernel(const OpCall& call) {
  if (TouchesParts(call.name)) return Failure(call, CostStatus::kDependsOnData);
  const std::vector<const OpTensor*> tensors = TensorsOf(call.args);
  if (tensors.empty()) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  cost.Type(tensors.front()->type);
  for (const OpTensor* tensor : tensors) {
    cost.Read(*tensor);
  }
  if (tensors.size() > 1 && WritesItsFirst(call, *tensors.front(), *tensors.back())) {
    cost.Write(*tensors.front());
  }
  return cost.FinishBytes();
}

// Operators on lists of tensors: updates of all parameters in one call, and the lists' arithmetic
// that updates are made of. Types of tensors in lists are not recorded, see
// OpModelOptions::list_type.

namespace {

bool IsList(const CallArgs& args, size_t index) {
  return index < args.size() && !args[index].tensors.empty();
}

Quantity ElementsOf(const CallArg& list) {
  Quantity elements = 0;
  for (const OpTensor& tensor : list.tensors) {
    elements += Elements(tensor);
  }
  return elements;
}

void ReadList(const CallArg& list, ScalarType type, CostBuilder& cost) {
  for (const OpTensor& tensor : list.tensors) {
    cost.Read(StoredElements(tensor), tensor.type == ScalarType::kUnknown ? type : tensor.type);
  }
}

}  // namespace

// Reads the lists of the leading arguments from the variant-th on; writes a list with the shapes of
// the first.
OpCost ForEach(const OpCall& call) {
  if (!IsList(call.args, 0)) return Failure(call, CostStatus::kMissingShapes);
  const ScalarType type = call.options.list_type;
  const Quantity elements = ElementsOf(call.args[0]);
  CostBuilder cost(call);
  for (size_t i = call.model.variant; i < std::min<size_t>(call.model.inputs, call.args.size());
       ++i) {
    ReadList(call.args[i], type, cost);
  }
  return cost.Type(type).PerElement(elements).Write(elements, type).Finish();
}

// One norm for each tensor of the list.
OpCost ForEachNorm(const OpCall& call) {
  if (!IsList(call.args, 0)) return Failure(call, CostStatus::kMissingShapes);
  const ScalarType type = call.options.list_type;
  const Quantity norms = call.args[0].tensors.size();
  CostBuilder cost(call);
  ReadList(call.args[0], type, cost);
  return cost.Type(type)
      .PerElement(ElementsOf(call.args[0]))
      .Transcendental(norms)
      .Write(norms, type)
      .Finish();
}

// (parameters, gradients, state, state, ...): reads all, and writes all but the gradients. Lists
// that options leave out are empty.
OpCost FusedUpdate(const OpCall& call) {
  if (!IsList(call.args, 0)) return Failure(call, CostStatus::kMissingShapes);
  const ScalarType type = call.options.list_type;
  CostBuilder cost(call);
  for (size_t i = 0; i < std::min<size_t>(call.model.inputs, call.args.size()); ++i) {
    ReadList(call.args[i], type, cost);
    if (i != 1) {
      cost.Write(ElementsOf(call.args[i]), type);
    }
  }
  return cost.Type(type).PerElement(ElementsOf(call.args[0])).Finish();
}

// Conversion to numbers of few bits and back. A cast is no FLOP; scaling, rounding and the zero
// point are one each.

// (x, scale, zero point, ..., type); scale and zero point may be tensors. variant: the position of
// the number of the type
OpCost Quantize(const OpCall& call, const OpTensor& x) {
  const auto number = call.args.Integer(call.model.variant);
  if (!number) return Failure(call, CostStatus::kNeedsValues);
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .Read(call.args.Tensor(1))
      .Read(call.args.Tensor(2))
      .PerElement(Elements(x))
      .Write(Elements(x), ScalarTypeOfNumber(*number))
      .Finish();
}

OpCost Dequantize(const OpCall& call, const OpTensor& x) {
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .PerElement(Elements(x))
      .Write(Elements(x), ScalarType::kFloat32)
      .Finish();
}

// Quantizes and converts back, with a mask of the elements that were not clamped.
OpCost FakeQuantize(const OpCall& call, const OpTensor& x) {
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .Read(call.args.Tensor(1))
      .Read(call.args.Tensor(2))
      .PerElement(Elements(x))
      .Write(x)
      .Write(Elements(x), ScalarType::kBool)
      .Finish();
}

// (x, ...) -> (x in 8 bits, scales). variant: Float8Scales
OpCost QuantizeToFloat8(const OpCall& call, const OpTensor& x) {
  if (x.rank() == 0) return Failure(call, CostStatus::kBadShapes);
  const bool is_per_row = call.model.variant == kScalePerRow;
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .PerElement(Elements(x))
      .Write(Elements(x), ScalarType::kFloat8E4M3)
      .Write(is_per_row ? Product(Leading(x.dims, 1)) : Quantity(1), ScalarType::kFloat32)
      .Finish();
}

// Fused operators of libraries that serve models: every tensor argument is read or written once, as
// the table says.

namespace {

// For each argument: 'r' read, 'w' written, 'u' both, '-' neither.
struct StreamLayout {
  StreamArgs schema;
  std::string_view arguments;
  size_t counted;          // the argument whose elements count for the FLOPs of the row
  size_t new_results = 0;  // results that are not arguments, each like the counted tensor
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
// the rotated part of query and key is overwritten.
OpCost RotaryEmbedding(const OpCall& call, const OpTensor& positions, const OpTensor& query,
                       const OpTensor& angles) {
  const OpTensor* key = call.args.Tensor(2);
  const auto head = call.args.Integer(3);
  if (!head) return Failure(call, CostStatus::kNeedsValues);
  if (*head < 1 || angles.rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const Quantity elements = Elements(query) + (key == nullptr ? Quantity(0) : Elements(*key));
  const auto size = static_cast<uint64_t>(*head);
  const Quantity rotated = (elements * std::min(angles.dims[1], *head)).DividedUp(size);
  return CostBuilder(call)
      .Type(query.type)
      .Read(positions)
      .Read(Elements(positions) * angles.dims[1], angles.type)
      .Read(rotated, query.type)
      .PerElement(rotated)
      .Write(rotated, query.type)
      .Finish();
}

// (x, weight [channels, width], bias, sequences, first states, result, ...): each channel
// separately, so without matrix units.
OpCost CausalConvolution(const OpCall& call, const OpTensor& x, const OpTensor& weight,
                         const OpTensor& result) {
  if (weight.rank() == 0) return Failure(call, CostStatus::kBadShapes);
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .Read(weight)
      .Read(call.args.Tensor(2))
      .Vector(Elements(x) * weight.dims.back() * 2)
      .Write(result)
      .Finish();
}

// (keys, values, their caches, places, ...): writes keys and values of new tokens to the given
// places, in the type of the cache. variant: the number of caches
OpCost CacheWrite(const OpCall& call, const OpTensor& first, const OpTensor& second,
                  const OpTensor& cache) {
  constexpr size_t kCache = 2;
  return CostBuilder(call)
      .Type(first.type)
      .Read(first)
      .Read(second)
      .Read(call.args.Tensor(kCache + call.model.variant))
      .Write(Elements(first) + Elements(second), cache.type)
      .Finish();
}

// Collectives: the bytes that the device reads and writes of its own tensors. Bytes on links, and
// additions, depend on the size of the group, which is not an argument; see the verb `collectives`.

namespace {

// The positions of input and output.
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
