// Operators of one result per element, and norms, softmax and losses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/packs/pyprof/formulas/formula.h"

namespace borescope::internal::pyprof {
namespace {

constexpr int64_t kFunctionFlops = 20;
constexpr size_t kMostArguments = 4;

// Backward of a sum passes the gradient on; that of a product multiplies it.
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

// The first argument: the tensor all depends on.
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

}  // namespace borescope::internal::pyprof
