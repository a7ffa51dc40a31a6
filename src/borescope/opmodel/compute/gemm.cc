// Products of matrices. A multiply-add is 2 FLOPs, as PyTorch's FlopCounterMode, TraceLens and
// PyProf count; adding a bias or a matrix is no matrix FLOP but one vector FLOP per element.
#include <algorithm>
#include <optional>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

namespace {

// [batch, m, k] x [batch, k, n]
struct ProductShape {
  int64_t batch = 1, m = 0, n = 0, k = 0;

  Quantity multiply_adds() const { return Quantity(batch) * m * n * k; }
  Quantity outputs() const { return Quantity(batch) * m * n; }
};

std::optional<ProductShape> ShapeOf(const OpTensor& a, const OpTensor& b, size_t rank) {
  if (a.rank() != rank || b.rank() != rank) return std::nullopt;
  const Dims left = a.dims;
  const Dims right = b.dims;
  if (left.back() != right[rank - 2]) return std::nullopt;
  if (rank == 3 && left[0] != right[0]) return std::nullopt;
  return ProductShape{rank == 3 ? left[0] : 1, left[rank - 2], right.back(), left.back()};
}

bool IsZero(std::string_view value) { return value == "0" || value == "0." || value == "0.0"; }

// beta * c + alpha * a * b: adds the FLOPs of vector units, and reading c.
void AddAddend(const OpCall& call, const ProductShape& shape, CostBuilder& cost) {
  constexpr size_t kBeta = 3;
  constexpr size_t kAlpha = 4;
  const OpTensor* addend = call.args.Tensor(0);
  const auto is_factor = [&](size_t index) {
    const std::string_view value = call.args.Value(index);
    return !value.empty() && value != "1" && value != "1." && value != "1.0";
  };
  if (is_factor(kAlpha)) {
    cost.Vector(shape.outputs());
  }
  if (addend == nullptr || IsZero(call.args.Value(kBeta))) return;
  cost.Vector(shape.outputs()).Read(*addend);
  if (is_factor(kBeta)) {
    cost.Vector(Elements(*addend));
  }
}

// Adds the scales of both operands, the bias, and the result in the requested type.
void AddScales(const OpCall& call, const ProductShape& shape, ScalarType type, CostBuilder& cost) {
  constexpr size_t kScaleA = 2;
  constexpr size_t kScaleB = 3;
  constexpr size_t kBias = 4;
  constexpr size_t kOutType = 6;
  cost.Read(call.args.Tensor(kScaleA)).Read(call.args.Tensor(kScaleB));
  if (const OpTensor* bias = call.args.Tensor(kBias)) {
    cost.Vector(shape.outputs()).Read(*bias);
  }
  const auto number = call.args.Integer(kOutType);
  cost.Write(shape.outputs(), number ? ScalarTypeOfNumber(*number) : type);
}

OpCost ProductOfRank(const OpCall& call, size_t rank) {
  const size_t first = call.model.variant == kAddendFirst ? 1 : 0;
  const OpTensor* a = call.args.Tensor(first);
  const OpTensor* b = call.args.Tensor(first + 1);
  if (a == nullptr || b == nullptr) return Failure(call, CostStatus::kMissingShapes);
  auto shape = ShapeOf(*a, *b, rank);
  if (!shape) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  cost.Read(*a).Read(*b);
  if (call.model.variant == kAddendFirst) {
    AddAddend(call, *shape, cost);
  }
  if (call.model.variant == kScaledProduct) {
    AddScales(call, *shape, a->type, cost);
  } else {
    const bool is_integer = call.model.variant == kIntegerProduct;
    cost.Write(shape->outputs(), is_integer ? ScalarType::kInt32 : a->type);
  }
  // A packed pair counts as one in the recorded shapes.
  const Quantity packed = a->type == ScalarType::kFloat4 ? 2 : 1;
  return cost.MultiplyAdds(shape->multiply_adds() * packed, a->type).Finish();
}

// An operand as torch.matmul takes it: a vector is a row on the left, a column on the right.
struct Operand {
  std::vector<int64_t> batch;
  int64_t rows = 1, columns = 1;
};

Operand LeftOperand(const OpTensor& tensor) {
  if (tensor.rank() == 1) return {{}, 1, tensor.dims[0]};
  const Dims batch = Leading(tensor.dims, 2);
  return {{batch.begin(), batch.end()}, tensor.dims[tensor.rank() - 2], tensor.dims.back()};
}

Operand RightOperand(const OpTensor& tensor) {
  if (tensor.rank() == 1) return {{}, tensor.dims[0], 1};
  return LeftOperand(tensor);
}

// The shape of a grouped product. [m, k] x [g, k, n], [g, m, k] x [k, n], [m, k] x [k, n] (k is
// split) and [g, m, k] x [g, k, n] all multiply each row of one operand with one matrix of the
// other.
struct GroupedShape {
  Quantity multiply_adds, outputs;
};

GroupedShape GroupedShapeOf(const OpTensor& a, const OpTensor& b, int64_t groups) {
  const Quantity m = a.dims[a.rank() - 2];
  const Quantity n = b.dims.back();
  const Quantity rows = a.rank() == 3 && b.rank() == 3 ? m * a.dims[0] : m;
  const Quantity outputs = a.rank() == 2 && b.rank() == 2 ? rows * n * groups : rows * n;
  return {rows * n * a.dims.back(), outputs};
}

}  // namespace

OpCost MatrixProduct(const OpCall& call) { return ProductOfRank(call, 2); }

OpCost BatchedProduct(const OpCall& call) { return ProductOfRank(call, 3); }

OpCost BroadcastProduct(const OpCall& call) {
  const size_t first = call.model.variant == kAddendFirst ? 1 : 0;
  const OpTensor* a = call.args.Tensor(first);
  const OpTensor* b = call.args.Tensor(first + 1);
  if (a == nullptr || b == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (a->rank() == 0 || b->rank() == 0) return Failure(call, CostStatus::kBadShapes);
  const Operand left = LeftOperand(*a);
  const Operand right = RightOperand(*b);
  const auto batch = Broadcast(left.batch, right.batch);
  if (!batch || left.columns != right.rows) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = opmodel::Product(*batch) * left.rows * right.columns;
  CostBuilder cost(call);
  if (call.model.variant == kAddendFirst) {
    cost.Vector(outputs).Read(call.args.Tensor(0));
  }
  return cost.Read(*a)
      .Read(*b)
      .Write(outputs, a->type)
      .MultiplyAdds(outputs * left.columns, a->type)
      .Finish();
}

OpCost LinearLayer(const OpCall& call, const OpTensor& x, const OpTensor& weight) {
  const bool fits = x.rank() >= 1 && weight.rank() >= 1 && weight.rank() <= 2 &&
                    x.dims.back() == weight.dims.back();
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs =
      opmodel::Product(Leading(x.dims, 1)) * opmodel::Product(Leading(weight.dims, 1));
  CostBuilder cost(call);
  if (const OpTensor* bias = call.args.Tensor(2)) {
    cost.Vector(outputs).Read(*bias);
  }
  return cost.Read(x)
      .Read(weight)
      .Write(outputs, x.type)
      .MultiplyAdds(outputs * x.dims.back(), x.type)
      .Finish();
}

OpCost GroupedProduct(const OpCall& call) {
  const bool is_scaled = call.model.variant == kScaledProduct;
  const size_t offsets_at = is_scaled ? 4 : 2;
  const OpTensor* a = call.args.Tensor(0);
  const OpTensor* b = call.args.Tensor(1);
  const OpTensor* offsets = call.args.Tensor(offsets_at);
  if (a == nullptr || b == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto is_matrix = [](const OpTensor& t) { return t.rank() == 2 || t.rank() == 3; };
  if (!is_matrix(*a) || !is_matrix(*b) || a->dims.back() != b->dims[b->rank() - 2]) {
    return Failure(call, CostStatus::kBadShapes);
  }
  const int64_t groups = offsets != nullptr && offsets->rank() == 1 ? offsets->dims[0] : 1;
  const GroupedShape shape = GroupedShapeOf(*a, *b, groups);
  CostBuilder cost(call);
  cost.Read(*a).Read(*b).Read(offsets);
  if (is_scaled) {
    cost.Read(call.args.Tensor(2)).Read(call.args.Tensor(3));
  }
  const ScalarType type = is_scaled ? ScalarType::kBFloat16 : a->type;
  return cost.Write(shape.outputs, type).MultiplyAdds(shape.multiply_adds, a->type).Finish();
}

OpCost SparseProduct(const OpCall& call, const OpTensor& a, const OpTensor& b) {
  const OpTensor* meta = call.args.Tensor(1);
  const bool fits = a.rank() == 2 && b.rank() == 2 && a.dims[1] == b.dims[0] / 2;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(a.dims[0]) * b.dims[1];
  return CostBuilder(call)
      .Read(a)
      .Read(meta)
      .Read(b)
      .Write(outputs, a.type)
      .MultiplyAdds(outputs * b.dims[0], a.type)
      .Finish();
}

OpCost SparseLinear(const OpCall& call, const OpTensor& x, const OpTensor& weight) {
  const bool fits = x.rank() >= 1 && weight.rank() == 2 && weight.dims[1] == x.dims.back() / 2;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = opmodel::Product(Leading(x.dims, 1)) * weight.dims[0];
  CostBuilder cost(call);
  if (const OpTensor* bias = call.args.Tensor(3)) {
    cost.Vector(outputs).Read(*bias);
  }
  return cost.Read(x)
      .Read(weight)
      .Read(call.args.Tensor(2))
      .Write(outputs, x.type)
      .MultiplyAdds(outputs * x.dims.back(), x.type)
      .Finish();
}

OpCost PackedLinear(const OpCall& call, const OpTensor& x, const OpTensor& weight) {
  constexpr uint8_t kFourBits = 4;
  const bool is_tiled = call.model.variant == kFourBits;
  if (x.rank() != 2 || weight.rank() != (is_tiled ? 4U : 2U)) {
    return Failure(call, CostStatus::kBadShapes);
  }
  // [n / 8][k / (tiles * 16)][32][tiles / 2] words of eight elements
  constexpr int64_t kTileRows = 8;
  const Quantity outputs = Quantity(x.dims[0]) * weight.dims[0] * (is_tiled ? kTileRows : 1);
  return CostBuilder(call)
      .Read(x)
      .Read(weight)
      .Read(call.args.Tensor(is_tiled ? 3 : 2))
      .Write(outputs, x.type)
      .MultiplyAdds(outputs * x.dims[1], x.type)
      .Finish();
}

// Products of quantized matrices of libraries on top of PyTorch.

namespace {

// Reads the arguments after the operands: scales, zero points, bias.
void ReadRest(const OpCall& call, size_t first, CostBuilder& cost) {
  for (size_t i = first; i < call.args.size(); ++i) {
    cost.Read(call.args.Tensor(i));
  }
}

}  // namespace

// (result, a [m, k], b [k, n], scales, ..., bias)
OpCost ProductInto(const OpCall& call, const OpTensor& result, const OpTensor& a,
                   const OpTensor& b) {
  const bool fits = a.rank() == 2 && b.rank() == 2 && a.dims[1] == b.dims[0];
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  ReadRest(call, 3, cost);
  return cost.Read(a)
      .Read(b)
      .Write(result)
      .MultiplyAdds(Quantity(a.dims[0]) * b.dims[1] * a.dims[1], a.type)
      .Finish();
}

// (x [..., k], w [n, k] or as many matrices, scales, ...). variant: the number of the type of the
// result
OpCost QuantizedLinear(const OpCall& call, const OpTensor& x, const OpTensor& weight) {
  const bool is_batched = weight.rank() == 3;
  const bool fits = x.rank() >= 2 && (weight.rank() == 2 || is_batched) &&
                    x.dims.back() == weight.dims.back() &&
                    (!is_batched || (x.rank() == 3 && x.dims[0] == weight.dims[0]));
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = opmodel::Product(Leading(x.dims, 1)) * weight.dims[weight.rank() - 2];
  CostBuilder cost(call);
  ReadRest(call, 2, cost);
  return cost.Read(x)
      .Read(weight)
      .Write(outputs, ScalarTypeOfNumber(call.model.variant))
      .MultiplyAdds(outputs * x.dims.back(), x.type)
      .Finish();
}

// (x [m, k], w of packed words, ...): n are the columns of the scales (AWQ) or of w (GPTQ).
// variant: where n is
OpCost PackedProduct(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* columns = call.args.Tensor(call.model.variant);
  if (x == nullptr || columns == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (x->rank() != 2 || columns->rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(x->dims[0]) * columns->dims[1];
  CostBuilder cost(call);
  ReadRest(call, 1, cost);
  return cost.Read(*x).Write(outputs, x->type).MultiplyAdds(outputs * x->dims[1], x->type).Finish();
}

// Transformer Engine: (a, its scales, ..., 4: whether it is transposed, 5: b, ..., 9: whether it is
// transposed, 10: result, ..., 14: bias), in column-major order: a is [k, m], or transposed [m, k].
OpCost TransformerEngineProduct(const OpCall& call, const OpTensor& a, const OpTensor& b,
                                const OpTensor& result) {
  const auto is_transposed = call.args.Bool(4);
  if (!is_transposed) return Failure(call, CostStatus::kNeedsValues);
  if (a.rank() != 2 || b.rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const int64_t k = a.dims[*is_transposed ? 1 : 0];
  if (b.dims[0] != k && b.dims[1] != k) return Failure(call, CostStatus::kBadShapes);
  return CostBuilder(call)
      .Read(a)
      .Read(b)
      .Write(result)
      .MultiplyAdds(Elements(result) * k, a.type)
      .Finish();
}

// (a, b, scales of a, ..., type): scales are in lists without recorded types, so they count no
// bytes. variant: where the bias is, before the type
OpCost ProductScaledByLists(const OpCall& call) {
  const size_t bias_at = call.model.variant;
  const OpTensor* a = call.args.Tensor(0);
  const OpTensor* b = call.args.Tensor(1);
  if (a == nullptr || b == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool fits = a->rank() == 2 && b->rank() == 2 && a->dims[1] == b->dims[0];
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(a->dims[0]) * b->dims[1];
  const auto number = call.args.Integer(bias_at + 1);
  const Quantity packed = a->type == ScalarType::kFloat4 ? 2 : 1;
  CostBuilder cost(call);
  if (const OpTensor* bias = call.args.Tensor(bias_at)) {
    cost.Vector(outputs).Read(*bias);
  }
  return cost.Read(*a)
      .Read(*b)
      .Write(outputs, number ? ScalarTypeOfNumber(*number) : a->type)
      .MultiplyAdds(outputs * a->dims[1] * packed, a->type)
      .Finish();
}

// Products of matrices as servers of language models call them: with results among the arguments,
// and mixtures of experts.

namespace {

// The weights of experts, [experts, hidden, k] and [experts, k, half or all of hidden].
struct ExpertSizes {
  int64_t experts = 0;
  Quantity multiply_adds = 0;  // of one token in one expert
  bool is_packed = false;      // an element of their tensors holds two numbers
};

std::optional<ExpertSizes> ExpertSizesOf(const OpTensor& x, const OpTensor& up,
                                         const OpTensor& down) {
  if (x.rank() != 2 || up.rank() != 3 || down.rank() != 3) return std::nullopt;
  const Quantity k = x.dims[1];
  if (up.dims[0] != down.dims[0] || k != Quantity(down.dims[1])) return std::nullopt;
  for (const int64_t packed : {1, 2}) {
    const Quantity inner = Quantity(down.dims[2]) * packed;
    const Quantity hidden = up.dims[1];
    const bool fits =
        Quantity(up.dims[2]) * packed == k && (hidden == inner || hidden == inner * 2);
    if (fits) return ExpertSizes{up.dims[0], (hidden + inner) * k, packed == 2};
  }
  return std::nullopt;
}

bool IsIndex(ScalarType type) { return type == ScalarType::kInt32 || type == ScalarType::kInt64; }

// Whether there is a map of experts: with experts on several devices it says which ones are on this
// one, so an unknown part of the chosen experts is here. It is a list of integers, one for each
// expert of all devices.
bool HasMapOfExperts(const OpCall& call, size_t first, int64_t experts) {
  for (size_t i = first; i < call.args.size(); ++i) {
    const OpTensor* tensor = call.args.Tensor(i);
    if (tensor != nullptr && tensor->rank() == 1 && tensor->dims[0] > experts &&
        IsIndex(tensor->type)) {
      return true;
    }
  }
  return false;
}

// Reads the weights of as many experts as one token has, the least that can be read.
void ReadWeights(const OpTensor& weights, int64_t experts, int64_t read, CostBuilder& cost) {
  cost.Read((Elements(weights) * read).DividedUp(static_cast<uint64_t>(experts)), weights.type);
}

// The n of three numbers m, n, k that follow each other, for x [..., k] with m rows.
std::optional<Quantity> ColumnsByNumbers(const OpCall& call, const OpTensor& x) {
  const Quantity rows = Product(Leading(x.dims, 1));
  for (size_t i = 1; i + 2 < call.args.size(); ++i) {
    const auto m = call.args.Integer(i);
    const auto n = call.args.Integer(i + 1);
    const auto k = call.args.Integer(i + 2);
    if (m && n && k && *n > 0 && Quantity(*m) == rows && *k == x.dims.back()) return Quantity(*n);
  }
  return std::nullopt;
}

}  // namespace

// (x [m, k], w [n, k], scales, ..., result [m, n], ...). variant: where the result is
OpCost ProductOfRowsInto(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* weight = call.args.Tensor(1);
  const OpTensor* result = call.args.Tensor(call.model.variant);
  if (x == nullptr || weight == nullptr || result == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  const bool fits = x->rank() == 2 && weight->rank() == 2 && x->dims[1] == weight->dims[1];
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(x->dims[0]) * weight->dims[0];
  CostBuilder cost(call);
  for (size_t i = 2; i < call.args.size(); ++i) {
    if (i != call.model.variant) cost.Read(call.args.Tensor(i));
  }
  return cost.Read(*x)
      .Read(*weight)
      .Write(*result)
      .MultiplyAdds(outputs * x->dims[1], x->type)
      .Finish();
}

// (w [n, k], x [m, k], result [m, n], scales, ...), in later versions with a bias before the
// result.
OpCost ProductOfFewRowsInto(const OpCall& call, const OpTensor& weight, const OpTensor& x) {
  const bool fits = x.rank() == 2 && weight.rank() == 2 && x.dims[1] == weight.dims[1];
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(x.dims[0]) * weight.dims[0];
  const auto is_result = [&](size_t i) {
    const OpTensor* tensor = call.args.Tensor(i);
    return tensor != nullptr && tensor->rank() == 2 && Elements(*tensor) == outputs;
  };
  const size_t result = is_result(3) ? 3 : 2;
  if (!is_result(result)) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  if (const OpTensor* bias = result == 3 ? call.args.Tensor(2) : nullptr) {
    cost.Vector(outputs).Read(*bias);
  }
  return cost.Read(x)
      .Read(weight)
      .Write(*call.args.Tensor(result))
      .MultiplyAdds(outputs * x.dims[1], x.type)
      .Finish();
}

// (x [m, k], perhaps the result, packed weights, scales, ..., m, n, k, ...): packings differ, so
// the sizes are read from the three numbers m, n, k that follow each other.
OpCost MarlinProduct(const OpCall& call, const OpTensor& x) {
  if (x.rank() < 2) return Failure(call, CostStatus::kBadShapes);
  const std::optional<Quantity> columns = ColumnsByNumbers(call, x);
  if (!columns.has_value()) return Failure(call, CostStatus::kNeedsValues);
  const Quantity outputs = Product(Leading(x.dims, 1)) * *columns;
  CostBuilder cost(call);
  for (size_t i = 1; i < call.args.size(); ++i) {
    const OpTensor* tensor = call.args.Tensor(i);
    const bool is_result = i == 1 && tensor != nullptr && tensor->rank() >= 2 &&
                           Elements(*tensor) == outputs &&
                           Quantity(tensor->dims.back()) == *columns;
    if (!is_result) cost.Read(tensor);
  }
  return cost.Read(x).Write(outputs, x.type).MultiplyAdds(outputs * x.dims.back(), x.type).Finish();
}

// (x [m, k], result [..., n], packed weights [experts, ...], scales [experts, ...], ...): each row
// of the result is one token in one of its experts.
OpCost PackedExpertsInto(const OpCall& call, const OpTensor& x, const OpTensor& result,
                         const OpTensor& weight) {
  const bool fits = x.rank() == 2 && result.rank() >= 2 && weight.rank() == 3 && weight.dims[0] > 0;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  ReadWeights(weight, weight.dims[0], x.dims[0] == 0 ? 0 : 1, cost);
  return cost.Read(x)
      .Write(result)
      .MultiplyAdds(Elements(result) * x.dims[1], x.type)
      .LowerBound()
      .Finish();
}

// (a [m, k], b [k, n], scales of a, of b, type of the result, bias)
OpCost ScaledProductOfType(const OpCall& call, const OpTensor& a, const OpTensor& b) {
  constexpr size_t kType = 4;
  constexpr size_t kBias = 5;
  const bool fits = a.rank() == 2 && b.rank() == 2 && a.dims[1] == b.dims[0];
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(a.dims[0]) * b.dims[1];
  const auto number = call.args.Integer(kType);
  CostBuilder cost(call);
  if (const OpTensor* bias = call.args.Tensor(kBias)) {
    cost.Vector(outputs).Read(*bias);
  }
  return cost.Read(a)
      .Read(b)
      .Read(call.args.Tensor(2))
      .Read(call.args.Tensor(3))
      .Write(outputs, number ? ScalarTypeOfNumber(*number) : ScalarType::kUnknown)
      .MultiplyAdds(outputs * a.dims[1], a.type)
      .Finish();
}

// (x [m, k], w1 [experts, n or 2n, k], w2 [experts, k, n], weights [m, t], experts [m, t], ...):
// every token goes through t experts. The result has the shape of x.
OpCost FusedExperts(const OpCall& call, const OpTensor& x, const OpTensor& up, const OpTensor& down,
                    const OpTensor& chosen) {
  constexpr size_t kChosen = 4;
  const std::optional<ExpertSizes> sizes = ExpertSizesOf(x, up, down);
  const bool fits = sizes.has_value() && sizes->experts > 0 && chosen.rank() == 2 &&
                    chosen.dims[0] == x.dims[0] && chosen.dims[1] <= sizes->experts;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  if (HasMapOfExperts(call, kChosen + 1, sizes->experts)) {
    return Failure(call, CostStatus::kDependsOnData);
  }
  const int64_t read = x.dims[0] == 0 ? 0 : chosen.dims[1];
  // Integers and packed numbers are decompressed; fp8 is multiplied as such.
  const bool is_plain = IsFloatingPoint(up.type) && !sizes->is_packed;
  const ScalarType type = is_plain ? up.type : x.type;
  CostBuilder cost(call);
  ReadWeights(up, sizes->experts, read, cost);
  ReadWeights(down, sizes->experts, read, cost);
  return cost.Read(x)
      .Read(call.args.Tensor(3))
      .Read(chosen)
      .Write(Elements(x), x.type)
      .MultiplyAdds(Elements(chosen) * sizes->multiply_adds, type)
      .LowerBound()
      .Finish();
}

// (result [m, n], a [m, k], b [experts, k, n] or [experts, n, k], ...): the rows of a are sorted by
// expert, and every row is multiplied with the weights of one.
OpCost ExpertsProductInto(const OpCall& call, const OpTensor& result, const OpTensor& a,
                          const OpTensor& b) {
  if (result.rank() != 2 || a.rank() != 2 || b.rank() != 3 || b.dims[0] == 0) {
    return Failure(call, CostStatus::kBadShapes);
  }
  const int64_t k = a.dims[1];
  const int64_t n = result.dims[1];
  const bool fits = result.dims[0] == a.dims[0] &&
                    ((b.dims[1] == k && b.dims[2] == n) || (b.dims[1] == n && b.dims[2] == k));
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  ReadWeights(b, b.dims[0], a.dims[0] == 0 ? 0 : 1, cost);
  return cost.Read(a)
      .Read(call.args.Tensor(3))
      .Read(call.args.Tensor(4))
      .Write(result)
      .MultiplyAdds(Elements(result) * k, a.type)
      .LowerBound()
      .Finish();
}

// Recurrent layers: per step, layer and direction the products of the input and of the hidden state
// with the weights of all gates.

namespace {

// The positions of the arguments in a schema. After the mode come the hidden size, the size of a
// projection if the schema has one, the number of layers and, four later, whether there are two
// directions.
struct RnnLayout {
  RnnArgs schema;
  size_t hx, cx, mode;
  bool has_projection;
  int64_t passes;  // backward: one product for each of two gradients
};

constexpr RnnLayout kRnnLayouts[] = {
    {kRnnCudnn, 4, 5, 6, true, 1},
    {kRnnMiopen, 3, 4, 5, false, 1},
    {kRnnCudnnBackward, 4, 5, 10, true, 2},
};

struct Mode {
  int64_t gates, elementwise;  // FLOPs per element of the hidden state
};
constexpr Mode kModes[] = {{1, 2}, {1, 2}, {4, 10}, {3, 9}};  // relu, tanh, lstm, gru

struct RnnShape {
  Mode mode;
  int64_t hidden, layers, directions;
};

// Multiply-adds per token and numbers of weights, of all layers.
struct RnnSize {
  Quantity multiply_adds, weights;
};

RnnSize SizeOf(const RnnShape& shape, int64_t input) {
  const Quantity rows = Quantity(shape.mode.gates) * shape.hidden * shape.directions;
  const Quantity deeper = Quantity(shape.hidden) * shape.directions + shape.hidden;
  const Quantity columns = Quantity(input) + shape.hidden + deeper * (shape.layers - 1);
  constexpr int kBiases = 2;
  return {rows * columns, rows * (columns + Quantity(shape.layers) * kBiases)};
}

std::optional<RnnShape> ShapeOf(const OpCall& call, const RnnLayout& layout) {
  const size_t layers_at = layout.mode + (layout.has_projection ? 3 : 2);
  const auto mode = call.args.Integer(layout.mode);
  const auto hidden = call.args.Integer(layout.mode + 1);
  const auto layers = call.args.Integer(layers_at);
  const auto is_bidirectional = call.args.Bool(layers_at + 4);
  if (!mode || !hidden || !layers || !is_bidirectional) return std::nullopt;
  if (*mode < 0 || *mode >= static_cast<int64_t>(std::size(kModes))) return std::nullopt;
  return RnnShape{kModes[*mode], *hidden, *layers, *is_bidirectional ? 2 : 1};
}

}  // namespace

OpCost RecurrentLayers(const OpCall& call) {
  const RnnLayout& layout =
      *std::ranges::find(kRnnLayouts, static_cast<RnnArgs>(call.model.variant), &RnnLayout::schema);
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto shape = ShapeOf(call, layout);
  if (!shape) return Failure(call, CostStatus::kNeedsValues);
  const bool has_projection =
      layout.has_projection && call.args.Integer(layout.mode + 2).value_or(0) != 0;
  if (x->rank() < 2 || shape->layers < 1 || shape->hidden < 1 || has_projection) {
    return Failure(call, CostStatus::kBadShapes);
  }
  const Quantity tokens = Product(Leading(x->dims, 1));
  const Quantity states = tokens * shape->directions * shape->hidden;
  const RnnSize size = SizeOf(*shape, x->dims.back());
  CostBuilder cost(call);
  cost.Read(*x).Read(size.weights, x->type);
  cost.Read(call.args.Tensor(layout.hx)).Read(call.args.Tensor(layout.cx));
  if (layout.passes == 2) {
    cost.Read(states * 2, x->type).Write(*x).Write(size.weights, x->type);
  } else {
    cost.Write(states, x->type);
  }
  return cost.MultiplyAdds(tokens * size.multiply_adds * layout.passes, x->type)
      .Vector(states * shape->layers * shape->mode.elementwise * layout.passes)
      .Finish();
}

// (products of input, products of hidden state, state, bias, bias): the rest of a cell.
OpCost RecurrentCell(const OpCall& call, const OpTensor& input, const OpTensor& hidden,
                     const OpTensor& state) {
  const bool is_lstm = call.model.variant == kLstmCell;
  const Quantity states = Elements(state);
  return CostBuilder(call)
      .Type(state.type)
      .Read(input)
      .Read(hidden)
      .Read(state)
      .Read(call.args.Tensor(3))
      .Read(call.args.Tensor(4))
      .PerElement(states)
      .Write(states * (is_lstm ? 2 : 1), state.type)
      .Write(states * (is_lstm ? 4 : 5), state.type)  // for backward
      .Finish();
}

}  // namespace borescope::internal::opmodel
