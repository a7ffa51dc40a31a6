#include "borescope/packs/pyprof/formulas/formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "borescope/base/text/text.h"
#include "borescope/opmodel/cost_builder.h"

namespace borescope::internal::pyprof {
namespace {

struct TypeRow {
  std::string_view name;
  std::string_view short_name;
  int64_t size;
  bool is_known = true;  // to PyProf
};
constexpr TypeRow kTypes[] = {{"float16", "fp16", 2},
                              {"half", "fp16", 2},
                              {"float32", "fp32", 4},
                              {"float", "fp32", 4},
                              {"float64", "fp64", 8},
                              {"double", "fp64", 8},
                              {"int16", "int16", 2},
                              {"short", "int16", 2},
                              {"int32", "int32", 4},
                              {"int", "int32", 4},
                              {"int64", "int64", 8},
                              {"long", "int64", 8},
                              {"uint8", "uint8", 1},
                              {"int8", "int8", 1},
                              {"byte", "byte", 1},
                              {"char", "char", 1},
                              {"bool", "bool", 1},
                              {"bfloat16", "bf16", 2, false},
                              {"float8_e4m3fn", "e4m3", 1, false},
                              {"float8_e5m2", "e5m2", 1, false},
                              {"complex64", "complex64", 8, false},
                              {"complex128", "complex128", 16, false},
                              {"", "", 1, false}};

const TypeRow* FindType(std::string_view dtype) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeRow& row) { return row.name == dtype; });
  return found == std::end(kTypes) ? nullptr : found;
}

// Of the short names of kernels.
constexpr std::string_view kTensorCorePatterns[] = {"h884",
                                                    "s884",
                                                    "h1688",
                                                    "s1688",
                                                    "hmma",
                                                    "i8816",
                                                    "16816",
                                                    "dgrad_1x1_stride_2x2",
                                                    "first_layer_wgrad_kernel",
                                                    "conv1x1",
                                                    "conv2d_c1_k1",
                                                    "direct_group",
                                                    "xmma_implicit_gemm",
                                                    "xmma_sparse_conv",
                                                    "xmma_warp_specialized_implicit_gemm",
                                                    "xmma_gemm",
                                                    "xmma_sparse_gemm",
                                                    "c1688"};

}  // namespace

Quantity Operand::elements() const { return opmodel::Product(shape); }

std::string_view ShortType(std::string_view dtype) {
  const TypeRow* row = FindType(dtype);
  return row == nullptr ? dtype : row->short_name;
}

int64_t TypeSize(std::string_view dtype) {
  const TypeRow* row = FindType(dtype);
  return row == nullptr ? 0 : row->size;
}

bool IsKnownType(std::string_view dtype) {
  const TypeRow* row = FindType(dtype);
  return row != nullptr && row->is_known;
}

std::optional<Operand> TensorOf(const PyProfArg* arg) {
  if (arg == nullptr || !arg->is_tensor() || TypeSize(arg->dtype) == 0) return std::nullopt;
  return Operand{arg->shape, arg->dtype, TypeSize(arg->dtype)};
}

std::optional<Operand> Argument(const Case& one, size_t index) {
  return index < one.call.args.size() ? TensorOf(&one.call.args[index]) : std::nullopt;
}

std::optional<Operand> TensorOrNumber(const PyProfArg* arg) {
  constexpr int64_t kNumberBytes = 4;
  if (arg == nullptr || arg->is_tensor()) return TensorOf(arg);
  if (arg->type != "int" && arg->type != "float") return std::nullopt;
  return Operand{{}, arg->type, kNumberBytes};
}

std::vector<const PyProfArg*> Positional(const PyProfCall& call) {
  std::vector<const PyProfArg*> found;
  found.reserve(call.args.size());
  for (const PyProfArg& arg : call.args) {
    if (arg.name.empty()) found.push_back(&arg);
  }
  return found;
}

const PyProfArg* FindArg(const PyProfCall& call, size_t index, std::string_view name) {
  if (index < call.args.size() && call.args[index].name.empty()) return &call.args[index];
  const auto found = std::find_if(call.args.begin(), call.args.end(),
                                  [&](const PyProfArg& arg) { return arg.name == name; });
  return found == call.args.end() ? nullptr : &*found;
}

std::string TupleText(std::span<const int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ","), shape.size() == 1 ? "," : "");
}

std::string TensorText(std::span<const int64_t> shape, std::string_view dtype) {
  return fmt::format("[{}]{}", fmt::join(shape, ","), ShortType(dtype));
}

std::string TypedTuple(std::string_view key, const Operand& operand) {
  return fmt::format("{}={},{},", key, TupleText(operand.shape), ShortType(operand.dtype));
}

bool ContainsAny(std::string_view name, std::span<const std::string_view> patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](std::string_view pattern) { return Contains(name, pattern); });
}

std::string_view TensorCores(std::string_view kernel) {
  return ContainsAny(kernel, kTensorCorePatterns) ? "1" : "0";
}

std::optional<std::vector<int64_t>> BroadcastShapes(std::span<const int64_t> a,
                                                    std::span<const int64_t> b) {
  return opmodel::Broadcast(a, b);
}

PyProfWork Unsupported(const PyProfCall& call) {
  std::vector<std::string> shapes;
  std::vector<std::string> types;
  for (const PyProfArg& arg : call.args) {
    if (arg.is_tensor()) {
      shapes.push_back(TupleText(arg.shape));
      types.push_back("'" + arg.dtype + "'");
    }
  }
  return {.op = call.op,
          .params = fmt::format("T=[{}],[{}]", fmt::join(shapes, ","), fmt::join(types, ","))};
}

}  // namespace borescope::internal::pyprof
