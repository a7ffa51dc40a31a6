// Operators with one result per element, and norms, softmax and losses; reductions, copies, fills,
// and the optimizer; operators that read or write by an index or a mask.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/packs/pyprof/formulas/formula.h"

namespace borescope::internal::pyprof {

namespace {

constexpr int64_t kFunctionFlops = 20;
constexpr size_t kMostArguments = 4;

// The backward pass of a sum passes the gradient on; that of a product multiplies it.
constexpr std::string_view kBackwardSums[] = {"add", "__add__", "sub", "__sub__", "__isub__"};
constexpr std::string_view kBackwardProducts[] = {"__mul__", "__imul__", "__rmul__",
                                                  "mul",     "div",      "__truediv__"};

struct Operands {
  std::vector<Operand> all;
  std::vector<int64_t> out_shape;
  std::string params;

  const Operand& first() const { return all.front(); }
  Quantity out() const { return opmodel::Product(out_shape); }
  Quantity out_bytes() const { return out() * first().size; }
  Quantity in_bytes() const {
    Quantity bytes = 0;
    for (const Operand& operand : all) {
      bytes += operand.bytes();
    }
    return bytes;
  }
};

std::string TensorsText(const std::vector<Operand>& operands) {
  std::vector<std::string> texts;
  texts.reserve(operands.size());
  for (const Operand& operand : operands) {
    texts.push_back(TensorText(operand.shape, operand.dtype));
  }
  return fmt::format("{}", fmt::join(texts, ";"));
}

std::optional<Operands> OperandsOf(const PyProfCall& call, bool with_numbers) {
  Operands operands;
  const std::vector<const PyProfArg*> args = Positional(call);
  if (args.empty() || args.size() > kMostArguments) return std::nullopt;
  for (const PyProfArg* arg : args) {
    const auto operand = TensorOrNumber(arg);
    if (!operand) return std::nullopt;
    if (arg->is_tensor() || with_numbers) operands.all.push_back(*operand);
  }
  if (operands.all.empty()) return std::nullopt;
  for (const Operand& operand : operands.all) {
    const auto shape = BroadcastShapes(operands.out_shape, operand.shape);
    if (!shape) return std::nullopt;
    operands.out_shape = *shape;
  }
  operands.params = TensorsText(operands.all);
  return operands;
}

bool IsAny(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<PyProfWork> BackwardBinary(const Operands& operands, PyProfWork work) {
  if (IsAny(work.op, kBackwardSums)) {
    work.bytes = Quantity(2) * operands.out_bytes();
    return work;
  }
  if (!IsAny(work.op, kBackwardProducts)) return std::nullopt;
  work.flops = operands.out();
  work.bytes = Quantity(3) * operands.out_bytes();
  return work;
}

std::optional<PyProfWork> Binary(const Case& one, const Operands& operands, PyProfWork work) {
  if (operands.all.size() != 2) return std::nullopt;
  if (one.kernel.is_backward) return BackwardBinary(operands, std::move(work));
  const bool gives_bool = one.variant == kComparison;
  work.flops = operands.out();
  work.bytes = operands.in_bytes() + (gives_bool ? operands.out() : operands.out_bytes());
  return work;
}

// The first argument, the tensor on which everything depends.
std::optional<Operand> FirstTensor(const PyProfCall& call) {
  return call.args.empty() ? std::nullopt : TensorOf(call.args.data());
}

// `flops` per element; `reads` + 1 passes over memory.
std::optional<PyProfWork> Elementwise(const Case& one, int64_t flops, int64_t forward_passes,
                                      int64_t backward_passes) {
  const auto x = FirstTensor(one.call);
  if (!x) return std::nullopt;
  return PyProfWork{
      .op = one.call.op,
      .params = TensorText(x->shape, x->dtype),
      .flops = Quantity(flops) * x->elements(),
      .bytes = Quantity(one.kernel.is_backward ? backward_passes : forward_passes) * x->bytes()};
}

}  // namespace

std::optional<PyProfWork> Pointwise(const Case& one) {
  const auto operands = OperandsOf(one.call, one.variant != kTernary);
  if (!operands) return std::nullopt;
  PyProfWork work{.op = one.call.op, .params = operands->params};
  switch (one.variant) {
    case kUnary:
    case kFunction:
      if (one.variant == kFunction && operands->all.size() != 1) return std::nullopt;
      work.flops = operands->first().elements() * (one.variant == kUnary ? 1 : kFunctionFlops);
      work.bytes = Quantity(2) * operands->first().bytes();
      return work;
    case kBinary:
    case kComparison:
      return Binary(one, *operands, std::move(work));
    case kPower:
    case kTernary:
      if (operands->all.size() != (one.variant == kPower ? 2U : 3U)) return std::nullopt;
      work.flops = operands->out() * (one.variant == kPower ? kFunctionFlops : 3);
      work.bytes = operands->in_bytes() + operands->out_bytes();
      return work;
    default:
      return std::nullopt;
  }
}

std::optional<PyProfWork> Activation(const Case& one) { return Elementwise(one, 1, 2, 3); }

std::optional<PyProfWork> Dropout(const Case& one) { return Elementwise(one, 5, 2, 2); }

std::optional<PyProfWork> Softmax(const Case& one) {
  if (Positional(one.call).size() > 2) return std::nullopt;
  return Elementwise(one, one.variant, 3, 5);
}

std::optional<PyProfWork> BatchNorm(const Case& one) {
  auto work = Elementwise(one, 8, 4, 5);
  if (work && one.kernel.sub > 0) work->bytes = 0;
  return work;
}

std::optional<PyProfWork> MseLoss(const Case& one) {
  const auto& args = one.call.args;
  if (args.size() != 3) return std::nullopt;
  const auto x = TensorOf(args.data());
  const auto y = TensorOf(&args[1]);
  const std::string& reduction = args[2].value.text;
  if (!x || !y || TypedTuple("", *x) != TypedTuple("", *y)) return std::nullopt;
  const bool is_none = reduction == "none";
  if (!is_none && reduction != "mean" && reduction != "sum") return std::nullopt;
  const int64_t tensors = one.kernel.is_backward ? (is_none ? 4 : 3) : (is_none ? 3 : 2);
  const Quantity moved = x->elements() * tensors;
  return PyProfWork{.op = one.call.op,
                    .params = TypedTuple("T", *x) + "red=" + reduction + ",",
                    .flops = Quantity(2) * moved + 1,
                    .bytes = moved * x->size};
}

namespace {

constexpr int64_t kFloatBytes = 4;

// Sizes as in the arguments of torch.zeros: one list, or numbers.
std::optional<std::vector<int64_t>> SizesOf(const PyProfCall& call) {
  std::vector<int64_t> sizes;
  const auto add = [&](const PythonValue& value) {
    const bool is_size = value.kind == PythonValue::Kind::kInt && value.number >= 0;
    if (is_size) sizes.push_back(value.number);
    return is_size;
  };
  for (const PyProfArg* arg : Positional(call)) {
    const bool is_read = arg->value.IsSequence()
                             ? std::all_of(arg->value.items.begin(), arg->value.items.end(), add)
                             : add(arg->value);
    if (!is_read) return std::nullopt;
    if (arg->value.IsSequence()) break;
  }
  return sizes;
}

// PyProf assumes that new tensors are fp32, whatever was requested.
std::optional<PyProfWork> NewTensor(const Case& one) {
  const auto sizes = SizesOf(one.call);
  if (!sizes || one.call.args.empty()) return std::nullopt;
  return PyProfWork{.op = one.call.op,
                    .params = TensorText(*sizes, "float32"),
                    .bytes = opmodel::Product(*sizes) * kFloatBytes};
}

int64_t TargetSize(std::string_view op, const Operand& from) {
  return op == "to" ? from.size : TypeSize(op);
}

}  // namespace

std::optional<PyProfWork> Reduction(const Case& one) {
  const auto x = Argument(one, 0);
  if (!x) return std::nullopt;
  const bool is_first = one.kernel.sub == 0;
  const Quantity elements = x->elements();
  const bool is_mean = one.variant == kMean;
  if (is_mean && Positional(one.call).size() > 2) return std::nullopt;
  PyProfWork work{
      .op = one.call.op,
      .params = is_mean ? TensorText(x->shape, x->dtype) : TypedTuple("T", *x),
      .bytes = is_first || one.variant == kAny ? x->bytes() + (is_mean ? x->size : 0) : 0};
  if (one.variant == kSum) {
    work.flops = elements;
  } else if (is_first && one.variant != kAny) {
    work.flops = elements * (is_mean ? 1 : 2) + 1;
  }
  return work;
}

std::optional<PyProfWork> Convert(const Case& one) {
  const auto& args = one.call.args;
  const auto x = args.size() == 1 ? TensorOrNumber(args.data()) : std::nullopt;
  if (!x) return std::nullopt;
  return PyProfWork{.op = one.call.op,
                    .params = TensorText(x->shape, x->dtype),
                    .bytes = x->elements() * (x->size + TargetSize(one.call.op, *x))};
}

std::optional<PyProfWork> CopyInto(const Case& one) {
  const auto to = Argument(one, 0);
  const auto from = Argument(one, 1);
  if (one.call.args.size() != 2 || !to || !from || TupleText(to->shape) != TupleText(from->shape)) {
    return std::nullopt;
  }
  return PyProfWork{.op = one.call.op,
                    .params = fmt::format("T={},{},{},", TupleText(to->shape),
                                          ShortType(from->dtype), ShortType(to->dtype)),
                    .bytes = to->elements() * (to->size + from->size)};
}

std::optional<PyProfWork> Copy(const Case& one) {
  const auto x = Argument(one, 0);
  if (one.call.args.size() != 1 || !x) return std::nullopt;
  return PyProfWork{
      .op = one.call.op, .params = TypedTuple("T", *x), .bytes = Quantity(2) * x->bytes()};
}

std::optional<PyProfWork> Reshape(const Case& one) {
  const auto x = Argument(one, 0);
  if (!x) return std::nullopt;
  return PyProfWork{.op = one.call.op, .params = TypedTuple("T", *x)};
}

std::optional<PyProfWork> Cat(const Case& one) {
  PyProfWork work{.op = one.call.op};
  std::vector<std::string> texts;
  for (const PyProfArg& arg : one.call.args) {
    const auto x = TensorOf(&arg);
    if (!x) continue;  // the dimension
    texts.push_back(TensorText(x->shape, x->dtype));
    if (one.kernel.sub == 0) work.bytes += Quantity(2) * x->bytes();
  }
  if (texts.size() < 2) return std::nullopt;
  work.params = fmt::format("{}", fmt::join(texts, ";"));
  return work;
}

// The weights, their copy in half precision, both moments, and the gradient.
std::optional<PyProfWork> Adam(const Case& one) {
  const size_t count = one.call.args.size();
  const auto w = Argument(one, 0);
  const auto g = Argument(one, 4);
  if ((count != 12 && count != 14) || !w || !g || w->size != kFloatBytes) return std::nullopt;
  PyProfWork work{.op = one.call.op,
                  .params = fmt::format("T={},{},{},", TupleText(w->shape), ShortType(w->dtype),
                                        ShortType(g->dtype))};
  if (one.kernel.sub == 0) {
    const int64_t gradients = w->dtype == g->dtype ? 1 : 2;  // the copy is written too
    work.bytes = w->elements() * (6 * kFloatBytes + gradients * g->size);
  }
  return work;
}

std::optional<PyProfWork> RandPerm(const Case& one) {
  const auto& args = one.call.args;
  if (args.size() != 1 || args[0].value.kind != PythonValue::Kind::kInt) return std::nullopt;
  const int64_t n = args[0].value.number;
  return PyProfWork{.op = one.call.op,
                    .params = fmt::format("N={},", n),
                    .flops = Quantity(3) * n,
                    .bytes = Quantity(8) * n};
}

std::optional<PyProfWork> Fill(const Case& one) {
  const auto& args = one.call.args;
  if (one.variant == kNew) return NewTensor(one);
  if (one.variant == kFull) {
    return !args.empty() && args[0].value.IsSequence() ? NewTensor(one) : std::nullopt;
  }
  const auto x = Argument(one, 0);
  if (!x || args.size() != (one.variant == kFill ? 2U : 1U)) return std::nullopt;
  return PyProfWork{
      .op = one.call.op, .params = TensorText(x->shape, x->dtype), .bytes = x->bytes()};
}

// Operators that read or write by an index or a mask.

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
