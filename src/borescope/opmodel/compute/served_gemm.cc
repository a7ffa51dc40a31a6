// Products of matrices as servers of language models call them: with results among the arguments,
// and mixtures of experts.
#include <algorithm>
#include <optional>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
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

// With experts on several devices, a map says which of them are here: of the chosen experts an
// unknown part. It is a list of integers, one for each expert of all devices.
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

// The weights of as many experts as one token has: fewer cannot be read.
void ReadWeights(const OpTensor& weights, int64_t experts, int64_t read, CostBuilder& cost) {
  cost.Read((Elements(weights) * read).DividedUp(static_cast<uint64_t>(experts)), weights.type);
}

// The n of three numbers m, n, k that follow each other, where x is [..., k] with m rows.
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
OpCost ProductOfFewRowsInto(const OpCall& call) {
  const OpTensor* weight = call.args.Tensor(0);
  const OpTensor* x = call.args.Tensor(1);
  if (weight == nullptr || x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool fits = x->rank() == 2 && weight->rank() == 2 && x->dims[1] == weight->dims[1];
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(x->dims[0]) * weight->dims[0];
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
  return cost.Read(*x)
      .Read(*weight)
      .Write(*call.args.Tensor(result))
      .MultiplyAdds(outputs * x->dims[1], x->type)
      .Finish();
}

// (x [m, k], perhaps the result, packed weights, scales, ..., m, n, k, ...): packings differ, so
// the sizes are read from the three numbers m, n, k that follow each other.
OpCost MarlinProduct(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (x->rank() < 2) return Failure(call, CostStatus::kBadShapes);
  const std::optional<Quantity> columns = ColumnsByNumbers(call, *x);
  if (!columns.has_value()) return Failure(call, CostStatus::kNeedsValues);
  const Quantity outputs = Product(Leading(x->dims, 1)) * *columns;
  CostBuilder cost(call);
  for (size_t i = 1; i < call.args.size(); ++i) {
    const OpTensor* tensor = call.args.Tensor(i);
    const bool is_result = i == 1 && tensor != nullptr && tensor->rank() >= 2 &&
                           Elements(*tensor) == outputs &&
                           Quantity(tensor->dims.back()) == *columns;
    if (!is_result) cost.Read(tensor);
  }
  return cost.Read(*x)
      .Write(outputs, x->type)
      .MultiplyAdds(outputs * x->dims.back(), x->type)
      .Finish();
}

// (x [m, k], result [..., n], packed weights [experts, ...], scales [experts, ...], ...): each row
// of the result is one token in one of its experts.
OpCost PackedExpertsInto(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* result = call.args.Tensor(1);
  const OpTensor* weight = call.args.Tensor(2);
  if (x == nullptr || result == nullptr || weight == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  const bool fits =
      x->rank() == 2 && result->rank() >= 2 && weight->rank() == 3 && weight->dims[0] > 0;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  ReadWeights(*weight, weight->dims[0], x->dims[0] == 0 ? 0 : 1, cost);
  return cost.Read(*x)
      .Write(*result)
      .MultiplyAdds(Elements(*result) * x->dims[1], x->type)
      .LowerBound()
      .Finish();
}

// (a [m, k], b [k, n], scales of a, of b, type of the result, bias)
OpCost ScaledProductOfType(const OpCall& call) {
  constexpr size_t kType = 4;
  constexpr size_t kBias = 5;
  const OpTensor* a = call.args.Tensor(0);
  const OpTensor* b = call.args.Tensor(1);
  if (a == nullptr || b == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool fits = a->rank() == 2 && b->rank() == 2 && a->dims[1] == b->dims[0];
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(a->dims[0]) * b->dims[1];
  const auto number = call.args.Integer(kType);
  CostBuilder cost(call);
  if (const OpTensor* bias = call.args.Tensor(kBias)) {
    cost.Vector(outputs).Read(*bias);
  }
  return cost.Read(*a)
      .Read(*b)
      .Read(call.args.Tensor(2))
      .Read(call.args.Tensor(3))
      .Write(outputs, number ? ScalarTypeOfNumber(*number) : ScalarType::kUnknown)
      .MultiplyAdds(outputs * a->dims[1], a->type)
      .Finish();
}

// (x [m, k], w1 [experts, n or 2n, k], w2 [experts, k, n], weights [m, t], experts [m, t], ...):
// every token goes through t experts, whichever they are. The result is like x.
OpCost FusedExperts(const OpCall& call) {
  constexpr size_t kChosen = 4;
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* up = call.args.Tensor(1);
  const OpTensor* down = call.args.Tensor(2);
  const OpTensor* chosen = call.args.Tensor(kChosen);
  if (x == nullptr || up == nullptr || down == nullptr || chosen == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  const std::optional<ExpertSizes> sizes = ExpertSizesOf(*x, *up, *down);
  const bool fits = sizes.has_value() && sizes->experts > 0 && chosen->rank() == 2 &&
                    chosen->dims[0] == x->dims[0] && chosen->dims[1] <= sizes->experts;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  if (HasMapOfExperts(call, kChosen + 1, sizes->experts)) {
    return Failure(call, CostStatus::kDependsOnData);
  }
  const int64_t read = x->dims[0] == 0 ? 0 : chosen->dims[1];
  // Integers and packed numbers are decompressed; what is stored as fp8 is multiplied so.
  const bool is_plain = IsFloatingPoint(up->type) && !sizes->is_packed;
  const ScalarType type = is_plain ? up->type : x->type;
  CostBuilder cost(call);
  ReadWeights(*up, sizes->experts, read, cost);
  ReadWeights(*down, sizes->experts, read, cost);
  return cost.Read(*x)
      .Read(call.args.Tensor(3))
      .Read(*chosen)
      .Write(Elements(*x), x->type)
      .MultiplyAdds(Elements(*chosen) * sizes->multiply_adds, type)
      .LowerBound()
      .Finish();
}

// (result [m, n], a [m, k], b [experts, k, n] or [experts, n, k], ...): the rows of a are sorted by
// expert, and every row is multiplied with the weights of one.
OpCost ExpertsProductInto(const OpCall& call) {
  const OpTensor* result = call.args.Tensor(0);
  const OpTensor* a = call.args.Tensor(1);
  const OpTensor* b = call.args.Tensor(2);
  if (result == nullptr || a == nullptr || b == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  if (result->rank() != 2 || a->rank() != 2 || b->rank() != 3 || b->dims[0] == 0) {
    return Failure(call, CostStatus::kBadShapes);
  }
  const int64_t k = a->dims[1];
  const int64_t n = result->dims[1];
  const bool fits = result->dims[0] == a->dims[0] &&
                    ((b->dims[1] == k && b->dims[2] == n) || (b->dims[1] == n && b->dims[2] == k));
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  ReadWeights(*b, b->dims[0], a->dims[0] == 0 ? 0 : 1, cost);
  return cost.Read(*a)
      .Read(call.args.Tensor(3))
      .Read(call.args.Tensor(4))
      .Write(*result)
      .MultiplyAdds(Elements(*result) * k, a->type)
      .LowerBound()
      .Finish();
}

}  // namespace borescope::internal::opmodel
