#include "borescope/opmodel/values/list_type.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <utility>

namespace borescope::internal {
namespace {

using enum ScalarType;

// What stands behind `mark`; empty if it is not there.
std::string_view Behind(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

std::string_view FirstArgument(std::string_view arguments) {
  std::string_view first = arguments.substr(0, arguments.find_first_of(",<>()"));
  while (first.ends_with(' ')) {
    first.remove_suffix(1);
  }
  return first;
}

// "OpaqueType<4u>", "OpaqueType<(unsigned int)4>": elements of so many bytes.
ScalarType OpaqueOf(std::string_view arguments) {
  constexpr std::string_view kCast = "(unsigned int)";
  if (arguments.starts_with(kCast)) {
    arguments.remove_prefix(kCast.size());
  }
  int bytes = 0;
  std::from_chars(arguments.data(), arguments.data() + arguments.size(), bytes);
  constexpr std::pair<int, ScalarType> kSizes[] = {
      {1, kOpaque8}, {2, kOpaque16}, {4, kOpaque32}, {8, kOpaque64}, {16, kOpaque128}};
  const auto* found = std::ranges::find(kSizes, bytes, &std::pair<int, ScalarType>::first);
  return found == std::end(kSizes) ? kUnknown : found->second;
}

// Of "CatArrayBatchedCopy_vectorized<at::native::OpaqueType<2u>, unsigned int, 4, 64, 64>".
ScalarType OfConcatenation(std::string_view kernel) {
  const std::string_view name = Behind(kernel, "CatArrayBatchedCopy");
  const std::string_view arguments = Behind(name, "<");
  const size_t end = arguments.find(',');
  const std::string_view opaque = Behind(arguments.substr(0, end), "OpaqueType<");
  return opaque.empty() ? ParseScalarType(FirstArgument(arguments)) : OpaqueOf(opaque);
}

// Of "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float, 2, ...>".
// A copy has the type of the target and that of the source.
ScalarType OfListKernel(std::string_view kernel) {
  const std::string_view list = Behind(kernel, "multi_tensor_apply_kernel<");
  const std::string_view arguments = Behind(list, "Functor<");
  const ScalarType type = ParseScalarType(FirstArgument(arguments));
  const size_t copy = list.find("CopyFunctor<");
  if (copy == std::string_view::npos) return type;
  std::string_view second = Behind(arguments, ",");
  second.remove_prefix(std::min(second.find_first_not_of(' '), second.size()));
  return ParseScalarType(FirstArgument(second)) == type ? type : kUnknown;
}

// Of "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)".
ScalarType OfReduction(std::string_view kernel) {
  constexpr std::pair<std::string_view, ScalarType> kTokens[] = {
      {"f16", kFloat16},  {"bf16", kBFloat16},     {"f32", kFloat32},       {"f64", kFloat64},
      {"i8", kInt8},      {"u8", kUInt8},          {"i32", kInt32},         {"u32", kUInt32},
      {"i64", kInt64},    {"u64", kUInt64},        {"f8e4m3", kFloat8E4M3}, {"f8e5m2", kFloat8E5M2},
      {"half", kFloat16}, {"bfloat16", kBFloat16}, {"float", kFloat32},     {"double", kFloat64}};
  std::string_view name = kernel.substr(0, kernel.find('('));
  while (!name.empty()) {
    const size_t end = std::min(name.find('_'), name.size());
    const auto* found = std::ranges::find(kTokens, name.substr(0, end),
                                          &std::pair<std::string_view, ScalarType>::first);
    if (found != std::end(kTokens)) return found->second;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return kUnknown;
}

}  // namespace

ScalarType ListTypeOfKernel(std::string_view kernel) {
  if (kernel.find("CatArrayBatchedCopy") != std::string_view::npos) return OfConcatenation(kernel);
  if (kernel.find("multi_tensor_apply_kernel<") != std::string_view::npos) {
    return OfListKernel(kernel);
  }
  const bool is_collective =
      kernel.starts_with("ncclKernel_") || kernel.starts_with("ncclDevKernel_");
  return is_collective ? OfReduction(kernel) : kUnknown;
}

}  // namespace borescope::internal
