// Convolutions of one to three dimensions. Forward, the gradient of the input and that of the
// weights are the same multiply-adds in another order:
//   N * K * prod(O) * C / g * prod(F)
// for x [N, C, I...], w [K, C / g, F...] and y [N, K, O...]; a transposed convolution changes the
// roles of x and y. Products with padding count, as in PyTorch's FlopCounterMode.
#include <algorithm>
#include <array>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

constexpr int kNotTaken = -1;

// The positions of the arguments in a schema.
struct ConvLayout {
  ConvArgs schema;
  int bias = kNotTaken, stride = kNotTaken, padding = kNotTaken, dilation = kNotTaken;
  int transposed = kNotTaken, output_padding = kNotTaken, groups = kNotTaken;
  bool is_transposed = false;  // if no argument says it
};

constexpr ConvLayout kConvLayouts[] = {
    {.schema = kConvGeneral,
     .bias = 2,
     .stride = 3,
     .padding = 4,
     .dilation = 5,
     .transposed = 6,
     .output_padding = 7,
     .groups = 8},
    {.schema = kConvPlain, .bias = 2, .stride = 3, .padding = 4, .dilation = 5, .groups = 6},
    {.schema = kConvTransposePlain,
     .bias = 2,
     .stride = 3,
     .padding = 4,
     .dilation = 7,
     .output_padding = 5,
     .groups = 6,
     .is_transposed = true},
    {.schema = kConvCudnn, .stride = 3, .padding = 2, .dilation = 4, .groups = 5},
    {.schema = kConvCudnnTranspose,
     .stride = 4,
     .padding = 2,
     .dilation = 5,
     .output_padding = 3,
     .groups = 6,
     .is_transposed = true},
    {.schema = kConvMiopen, .bias = 2, .stride = 4, .padding = 3, .dilation = 5, .groups = 6},
    {.schema = kConvMiopenTranspose,
     .bias = 2,
     .stride = 5,
     .padding = 3,
     .dilation = 6,
     .output_padding = 4,
     .groups = 7,
     .is_transposed = true},
    {.schema = kConvWithKernelSize, .bias = 3, .stride = 4, .padding = 5, .dilation = 6},
    {.schema = kConvAddRelu, .bias = 4, .stride = 5, .padding = 6, .dilation = 7, .groups = 8},
};

const ConvLayout& ConvLayoutOf(const OpCall& call) {
  return *std::ranges::find(kConvLayouts, static_cast<ConvArgs>(call.model.variant),
                            &ConvLayout::schema);
}

constexpr size_t kMostDimensions = 3;
using Sizes = std::array<int64_t, kMostDimensions>;

// One number for each dimension, or one for all.
std::optional<Sizes> SizesOf(const CallArgs& args, int index, int64_t otherwise, size_t rank) {
  Sizes sizes;
  sizes.fill(otherwise);
  if (index == kNotTaken || static_cast<size_t>(index) >= args.size()) return sizes;
  const auto values = args.Integers(static_cast<size_t>(index));
  if (!values || (values->size() != 1 && values->size() != rank)) return std::nullopt;
  for (size_t i = 0; i < rank; ++i) {
    sizes[i] = (*values)[values->size() == 1 ? 0 : i];
  }
  return sizes;
}

// Padding by name, which may be in quotes.
std::string_view PaddingName(const CallArgs& args, int index) {
  constexpr std::string_view kQuotes = R"(\"')";
  std::string_view name = args.Value(static_cast<size_t>(index));
  name.remove_prefix(std::min(name.find_first_not_of(kQuotes), name.size()));
  return name.substr(0, name.find_first_of(kQuotes));
}

// The hyperparameters of a call, or which one is not recorded.
struct ConvValues {
  Sizes stride, padding, dilation, output_padding;
  bool is_transposed = false;
  bool keeps_size = false;  // padding 'same': the amount is not used, and may be uneven
};

std::optional<ConvValues> ValuesOf(const CallArgs& args, const ConvLayout& layout, size_t rank) {
  const auto stride = SizesOf(args, layout.stride, 1, rank);
  const std::string_view padding_name = PaddingName(args, layout.padding);
  const bool keeps_size = padding_name == "same";
  const auto padding =
      keeps_size || padding_name == "valid" ? Sizes{} : SizesOf(args, layout.padding, 0, rank);
  const auto dilation = SizesOf(args, layout.dilation, 1, rank);
  const auto output_padding = SizesOf(args, layout.output_padding, 0, rank);
  if (!stride || !padding || !dilation || !output_padding) return std::nullopt;
  ConvValues values{*stride,   *padding, *dilation, *output_padding, layout.is_transposed,
                    keeps_size};
  if (layout.transposed != kNotTaken) {
    const auto transposed = args.Bool(static_cast<size_t>(layout.transposed));
    if (!transposed) return std::nullopt;
    values.is_transposed = *transposed;
  }
  return values;
}

// Larger sizes are damaged; below this the arithmetic of one dimension cannot overflow.
constexpr int64_t kMostExtent = int64_t{1} << 30;

bool IsSane(const ConvValues& values, size_t rank) {
  for (size_t i = 0; i < rank; ++i) {
    const bool is_sane = values.stride[i] >= 1 && values.stride[i] < kMostExtent &&
                         values.padding[i] >= 0 && values.padding[i] < kMostExtent &&
                         values.dilation[i] >= 1 && values.dilation[i] < kMostExtent &&
                         values.output_padding[i] >= 0 && values.output_padding[i] < kMostExtent;
    if (!is_sane) return false;
  }
  return true;
}

// The size of one dimension of the result; negative if the window does not fit.
int64_t OutputSize(const ConvValues& values, size_t i, int64_t input, int64_t window) {
  if (values.keeps_size) return values.stride[i] == 1 ? input : -1;
  const int64_t reach = values.dilation[i] * (window - 1);
  if (values.is_transposed) {
    return (input - 1) * values.stride[i] - 2 * values.padding[i] + reach +
           values.output_padding[i] + 1;
  }
  const int64_t room = input + 2 * values.padding[i] - reach - 1;
  return room < 0 ? -1 : room / values.stride[i] + 1;
}

// x and w without a batch ([C, I...]) are a batch of one.
struct ConvShape {
  Quantity batch, outputs, out_spatial, multiply_adds;
  Quantity out_channels;
};

size_t SpatialRank(const OpTensor& weight) { return weight.rank() - 2; }

bool Fits(const OpTensor& x, const OpTensor& weight) {
  return weight.rank() >= 3 && weight.rank() <= 2 + kMostDimensions &&
         (x.rank() == weight.rank() || x.rank() + 1 == weight.rank()) &&
         std::ranges::all_of(x.dims, [](int64_t dim) { return dim < kMostExtent; }) &&
         std::ranges::all_of(weight.dims, [](int64_t dim) { return dim < kMostExtent; });
}

// The number of groups, from the channels of both; nullopt if they do not fit.
std::optional<int64_t> Groups(const OpTensor& x, const OpTensor& weight, bool is_transposed,
                              std::optional<int64_t> recorded) {
  const int64_t channels = x.dims[x.rank() - SpatialRank(weight) - 1];
  if (!is_transposed) {
    const int64_t per_group = weight.dims[1];
    if (per_group == 0 || channels % per_group != 0) return std::nullopt;
    return channels / per_group;
  }
  const int64_t groups = recorded.value_or(1);
  return groups >= 1 && groups < kMostExtent && weight.dims[0] == channels ? std::optional(groups)
                                                                           : std::nullopt;
}

std::optional<ConvShape> ForwardShape(const OpTensor& x, const OpTensor& weight,
                                      const ConvValues& values, int64_t groups) {
  const size_t rank = SpatialRank(weight);
  const size_t first = x.rank() - rank;
  ConvShape shape;
  shape.batch = first == 2 ? x.dims[0] : 1;
  shape.out_spatial = 1;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = OutputSize(values, i, x.dims[first + i], weight.dims[2 + i]);
    if (size < 0) return std::nullopt;
    shape.out_spatial *= size;
  }
  const Quantity window = Product(Dims(weight.dims).subspan(2));
  shape.out_channels =
      values.is_transposed ? Quantity(weight.dims[1]) * groups : Quantity(weight.dims[0]);
  shape.outputs = shape.batch * shape.out_channels * shape.out_spatial;
  // If transposed, every element of x is multiplied with a whole row of w; else every element of y
  // is the result of one.
  shape.multiply_adds = values.is_transposed ? Elements(x) * weight.dims[1] * window
                                             : shape.outputs * weight.dims[1] * window;
  return shape;
}

std::optional<int64_t> RecordedGroups(const OpCall& call, const ConvLayout& layout) {
  if (layout.groups == kNotTaken) return std::nullopt;
  return call.args.Integer(static_cast<size_t>(layout.groups));
}

}  // namespace

OpCost ConvForward(const OpCall& call) {
  const ConvLayout& layout = ConvLayoutOf(call);
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* weight = call.args.Tensor(1);
  if (x == nullptr || weight == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (!Fits(*x, *weight)) return Failure(call, CostStatus::kBadShapes);
  const auto values = ValuesOf(call.args, layout, SpatialRank(*weight));
  if (!values) return Failure(call, CostStatus::kNeedsValues);
  if (!IsSane(*values, SpatialRank(*weight))) return Failure(call, CostStatus::kBadShapes);
  const auto groups = Groups(*x, *weight, values->is_transposed, RecordedGroups(call, layout));
  if (!groups) return Failure(call, CostStatus::kBadShapes);
  const auto shape = ForwardShape(*x, *weight, *values, *groups);
  if (!shape) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  const OpTensor* bias =
      layout.bias == kNotTaken ? nullptr : call.args.Tensor(static_cast<size_t>(layout.bias));
  if (bias != nullptr) {
    cost.Vector(shape->outputs).Read(*bias);
  }
  if (layout.schema == kConvAddRelu) {
    cost.Vector(shape->outputs).Read(call.args.Tensor(2));
  }
  return cost.Read(*x)
      .Read(*weight)
      .PerElement(shape->outputs)
      .Write(shape->outputs, x->type)
      .MultiplyAdds(shape->multiply_adds, x->type)
      .Finish();
}

namespace {

// Which gradients a call computes: output_mask, "[True, True, False]".
struct Gradients {
  bool input = false, weight = false, bias = false;
};

std::optional<Gradients> MaskOf(std::string_view text) {
  std::array<bool, 3> mask{};
  size_t count = 0;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins_word = is_letter(text[i]) && (i == 0 || !is_letter(text[i - 1]));
    if (!begins_word) continue;
    if (count == mask.size()) return std::nullopt;
    mask[count++] = text[i] == 'T' || text[i] == 't';
  }
  if (count < 2) return std::nullopt;
  return Gradients{mask[0], mask[1], mask[2]};
}

// Multiply-adds of each of the two gradients, from the shapes alone: dy has the spatial size.
std::optional<Quantity> GradientProducts(const OpTensor& dy, const OpTensor& x,
                                         const OpTensor& weight, bool is_transposed) {
  if (!Fits(x, weight) || dy.rank() != x.rank()) return std::nullopt;
  const Quantity window = Product(Dims(weight.dims).subspan(2));
  return Elements(is_transposed ? x : dy) * weight.dims[1] * window;
}

OpCost Gradient(const OpCall& call, const OpTensor& dy, const OpTensor& x, const OpTensor& weight,
                Quantity products, Gradients gradients) {
  CostBuilder cost(call);
  cost.Type(x.type).Read(dy);
  if (gradients.input) {
    cost.Read(weight).Write(x).MultiplyAdds(products, x.type).InputGradient(products);
  }
  if (gradients.weight) {
    cost.Read(x).Write(weight).MultiplyAdds(products, x.type).WeightGradient(products);
  }
  if (gradients.bias) {
    const size_t channels = dy.rank() - SpatialRank(weight) - 1;
    cost.Vector(Elements(dy)).Write(dy.dims[channels], dy.type);
  }
  return cost.Finish();
}

}  // namespace

OpCost ConvBackward(const OpCall& call) {
  const bool is_general = call.model.variant == kConvGeneral;
  const OpTensor* dy = call.args.Tensor(is_general ? 0 : 1);
  const OpTensor* x = call.args.Tensor(is_general ? 1 : 0);
  const OpTensor* weight = call.args.Tensor(2);
  if (dy == nullptr || x == nullptr || weight == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  constexpr size_t kTransposed = 7;
  constexpr size_t kGeneralMask = 10;
  const auto transposed = is_general ? call.args.Bool(kTransposed) : false;
  const std::string_view mask_text = is_general || call.args.size() == 0
                                         ? call.args.Value(kGeneralMask)
                                         : call.args.Value(call.args.size() - 1);
  const auto mask = MaskOf(mask_text);
  if (!transposed || !mask) return Failure(call, CostStatus::kNeedsValues);
  const auto products = GradientProducts(*dy, *x, *weight, *transposed);
  if (!products) return Failure(call, CostStatus::kBadShapes);
  return Gradient(call, *dy, *x, *weight, *products, *mask);
}

}  // namespace borescope::internal::opmodel
