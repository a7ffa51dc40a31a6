// Operators that read or write by an index or a mask.
#include <fmt/format.h>

#include "borescope/packs/pyprof/formulas/formula.h"

namespace borescope::internal::pyprof {
namespace {

constexpr int64_t kIndexBytes = 8;

bool IsMask(const Operand& operand) { return operand.dtype == "uint8"; }

}  // namespace

std::optional<PyProfWork> Embedding(const Case& one) {
  const auto indices = Argument(one, 0);
  const auto weight = Argument(one, 1);
  if (!indices || !weight || weight->shape.size() != 2) return std::nullopt;
  PyProfWork work{.op = one.call.op,
                  .params = TensorText(indices->shape, indices->dtype) + ";" +
                            TensorText(weight->shape, weight->dtype)};
  const Quantity rows = indices->elements() * weight->shape[1] * weight->size;
  if (!one.kernel.is_backward) {
    work.bytes = indices->bytes() + Quantity(2) * rows;
  } else if (one.kernel.sub == 0) {
    work.bytes = Quantity(3) * rows;
  }
  return work;
}

std::optional<PyProfWork> Gather(const Case& one) {
  const auto x = Argument(one, 0);
  if (!x || one.call.args.size() != 3) return std::nullopt;
  return PyProfWork{
      .op = one.call.op, .params = TypedTuple("T", *x), .bytes = Quantity(2) * x->bytes()};
}

std::optional<PyProfWork> IndexSelect(const Case& one) {
  const auto& args = one.call.args;
  if (args.size() != 3 || args[1].value.kind != PythonValue::Kind::kInt) return std::nullopt;
  const auto x = Argument(one, 0);
  const auto index = Argument(one, 2);
  const int64_t dim = args[1].value.number;
  if (!x || !index || index->dtype != "int64" || index->shape.size() != 1 || dim < 0 ||
      dim >= static_cast<int64_t>(x->shape.size())) {
    return std::nullopt;
  }
  std::vector<int64_t> out(x->shape.begin(), x->shape.end());
  out[static_cast<size_t>(dim)] = index->shape[0];
  const Operand result{out, x->dtype, x->size};
  return PyProfWork{.op = one.call.op,
                    .params = fmt::format("T={},D={},I={},{},", TupleText(x->shape), dim,
                                          index->shape[0], ShortType(x->dtype)),
                    .bytes = Quantity(2) * result.bytes() + index->elements() * kIndexBytes};
}

std::optional<PyProfWork> MaskedSelect(const Case& one) {
  const auto x = Argument(one, 0);
  const auto mask = Argument(one, 1);
  if (!x || !mask || !IsMask(*mask) || !BroadcastShapes(x->shape, mask->shape)) {
    return std::nullopt;
  }
  return PyProfWork{.op = one.call.op,
                    .params = fmt::format("T={},M={},{},", TupleText(x->shape),
                                          TupleText(mask->shape), ShortType(x->dtype)),
                    .bytes = Quantity(2) * x->bytes() + mask->elements()};
}

std::optional<PyProfWork> MaskedScatter(const Case& one) {
  const auto to = Argument(one, 0);
  const auto mask = Argument(one, 1);
  const auto from = Argument(one, 2);
  if (!to || !mask || !from || !IsMask(*mask) || TupleText(to->shape) != TupleText(mask->shape) ||
      TupleText(to->shape) != TupleText(from->shape)) {
    return std::nullopt;
  }
  PyProfWork work{.op = one.call.op, .params = TypedTuple("T", *to)};
  if (one.kernel.sub == 0) work.bytes = Quantity(2) * to->bytes() + to->elements();
  return work;
}

std::optional<PyProfWork> NonZero(const Case& one) {
  const auto x = Argument(one, 0);
  if (!x) return std::nullopt;
  PyProfWork work{.op = one.call.op, .params = TypedTuple("T", *x)};
  const auto rank = static_cast<int64_t>(x->shape.size());
  if (one.kernel.sub == 0) work.bytes = x->bytes() + x->elements() * rank * kIndexBytes;
  return work;
}

}  // namespace borescope::internal::pyprof
