// Reductions, copies, fills, and the optimizer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/packs/pyprof/formulas/formula.h"

namespace borescope::internal::pyprof {
namespace {

constexpr int64_t kFloatBytes = 4;

// Sizes as the arguments of torch.zeros: one list, or numbers.
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

// New tensors are taken to be fp32, whatever was asked for.
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

// Weights, their copy in half precision, both moments, the gradient.
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

}  // namespace borescope::internal::pyprof
