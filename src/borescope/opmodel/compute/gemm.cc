// Products of matrices. A multiply-add is 2 FLOPs, as PyTorch's FlopCounterMode, TraceLens and
// PyProf count; adding a bias or a matrix is no matrix FLOP but one vector FLOP per element.
#include <algorithm>

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

// beta * c + alpha * a * b: what is left of it for the vector units, and reading c.
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

// Scales of both operands, the bias, and the result in the type that was asked for.
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

// Vectors as torch.matmul takes them: a row in front, a column behind.
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

// What the last dimensions of the operands of a grouped product multiply to: [m, k] x [g, k, n],
// [g, m, k] x [k, n], [m, k] x [k, n] (k is split) and [g, m, k] x [g, k, n] all take each row of
// one operand to one matrix of the other.
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

OpCost LinearLayer(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* weight = call.args.Tensor(1);
  if (x == nullptr || weight == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool fits = x->rank() >= 1 && weight->rank() >= 1 && weight->rank() <= 2 &&
                    x->dims.back() == weight->dims.back();
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs =
      opmodel::Product(Leading(x->dims, 1)) * opmodel::Product(Leading(weight->dims, 1));
  CostBuilder cost(call);
  if (const OpTensor* bias = call.args.Tensor(2)) {
    cost.Vector(outputs).Read(*bias);
  }
  return cost.Read(*x)
      .Read(*weight)
      .Write(outputs, x->type)
      .MultiplyAdds(outputs * x->dims.back(), x->type)
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

OpCost SparseProduct(const OpCall& call) {
  const OpTensor* a = call.args.Tensor(0);
  const OpTensor* meta = call.args.Tensor(1);
  const OpTensor* b = call.args.Tensor(2);
  if (a == nullptr || b == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool fits = a->rank() == 2 && b->rank() == 2 && a->dims[1] == b->dims[0] / 2;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(a->dims[0]) * b->dims[1];
  CostBuilder cost(call);
  return cost.Read(*a)
      .Read(meta)
      .Read(*b)
      .Write(outputs, a->type)
      .MultiplyAdds(outputs * b->dims[0], a->type)
      .Finish();
}

OpCost SparseLinear(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* weight = call.args.Tensor(1);
  if (x == nullptr || weight == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool fits = x->rank() >= 1 && weight->rank() == 2 && weight->dims[1] == x->dims.back() / 2;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = opmodel::Product(Leading(x->dims, 1)) * weight->dims[0];
  CostBuilder cost(call);
  if (const OpTensor* bias = call.args.Tensor(3)) {
    cost.Vector(outputs).Read(*bias);
  }
  return cost.Read(*x)
      .Read(*weight)
      .Read(call.args.Tensor(2))
      .Write(outputs, x->type)
      .MultiplyAdds(outputs * x->dims.back(), x->type)
      .Finish();
}

OpCost PackedLinear(const OpCall& call) {
  constexpr uint8_t kFourBits = 4;
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* weight = call.args.Tensor(1);
  if (x == nullptr || weight == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool is_tiled = call.model.variant == kFourBits;
  if (x->rank() != 2 || weight->rank() != (is_tiled ? 4U : 2U)) {
    return Failure(call, CostStatus::kBadShapes);
  }
  // [n / 8][k / (tiles * 16)][32][tiles / 2] words of eight elements
  constexpr int64_t kTileRows = 8;
  const Quantity outputs = Quantity(x->dims[0]) * weight->dims[0] * (is_tiled ? kTileRows : 1);
  CostBuilder cost(call);
  return cost.Read(*x)
      .Read(*weight)
      .Read(call.args.Tensor(is_tiled ? 3 : 2))
      .Write(outputs, x->type)
      .MultiplyAdds(outputs * x->dims[1], x->type)
      .Finish();
}

}  // namespace borescope::internal::opmodel
