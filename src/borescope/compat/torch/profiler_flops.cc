#include "borescope/compat/torch/profiler_flops.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {
namespace {

using Dims = std::span<const int64_t>;

Quantity Product(Dims dims) {
  Quantity product = 1;
  for (const int64_t dim : dims) {
    product *= dim;
  }
  return product;
}

Dims DimsOf(const CallArgs& args, size_t index) {
  const OpTensor* tensor = args.Tensor(index);
  return tensor == nullptr ? Dims() : Dims(tensor->dims);
}

// Two per product: of rows x inner in argument `first` with inner x columns in the next one, once
// for each batch if the leading dimension is one.
Quantity MatrixFlops(const CallArgs& args, size_t first, bool is_batched) {
  const Dims left = DimsOf(args, first);
  const Dims right = DimsOf(args, first + 1);
  const size_t rank = is_batched ? 3 : 2;
  if (left.size() != rank || right.size() != rank || left.back() == 0) {
    return 0;
  }
  const int64_t rows = left[rank - 2];
  return Quantity(2) * rows * Product(right);
}

Quantity MmFlops(const CallArgs& args) { return MatrixFlops(args, 0, false); }
Quantity AddmmFlops(const CallArgs& args) { return MatrixFlops(args, 1, false); }
Quantity BmmFlops(const CallArgs& args) { return MatrixFlops(args, 0, true); }
Quantity BaddbmmFlops(const CallArgs& args) { return MatrixFlops(args, 1, true); }

// One for each element of the first argument, whatever the result's shape.
Quantity ElementFlops(const CallArgs& args) {
  return args.Tensor(0) == nullptr ? Quantity(0) : Product(DimsOf(args, 0));
}

// Positions of a window along one dimension; nothing where it does not fit.
std::optional<int64_t> Positions(Quantity padded, Quantity window, int64_t stride) {
  if (padded.is_overflow() || window.is_overflow() || stride <= 0 ||
      padded.value() < window.value()) {
    return std::nullopt;
  }
  return static_cast<int64_t>((padded.value() - window.value()) / static_cast<uint64_t>(stride)) +
         1;
}

Quantity Conv2dFlops(const CallArgs& args) {
  constexpr size_t kDims = 2;
  const Dims input = DimsOf(args, 0);
  const Dims weight = DimsOf(args, 1);
  const auto stride = args.Integers(3);
  const auto padding = args.Integers(4);
  const auto dilation = args.Integers(5);
  const auto groups = args.Integer(6);
  const auto is_pair = [](const auto& list) { return list && list->size() == kDims; };
  if (input.size() != kDims + 2 || weight.size() != kDims + 2 || !is_pair(stride) ||
      !is_pair(padding) || !is_pair(dilation) || !groups || *groups <= 0) {
    return 0;
  }
  Quantity flops = Quantity(2) * Product(input.first(2)) * weight[0] * Product(weight.last(kDims));
  for (size_t i = 0; i < kDims; ++i) {
    const Quantity window = Quantity((*dilation)[i]) * std::max<int64_t>(0, weight[i + 2] - 1) + 1;
    const auto positions =
        Positions(Quantity(input[i + 2]) + Quantity(2) * (*padding)[i], window, (*stride)[i]);
    if (!positions) {
      return 0;
    }
    flops *= *positions;
  }
  return flops.is_overflow() ? flops : flops.value() / static_cast<uint64_t>(*groups);
}

struct FlopsRow {
  std::string_view op;
  Quantity (*flops)(const CallArgs&);
};
constexpr FlopsRow kFlops[] = {
    {"aten::conv2d", Conv2dFlops}, {"aten::mm", MmFlops},           {"aten::addmm", AddmmFlops},
    {"aten::bmm", BmmFlops},       {"aten::baddbmm", BaddbmmFlops}, {"aten::mul", ElementFlops},
    {"aten::add", ElementFlops},
};

const FlopsRow* Find(std::string_view op) {
  const auto* found = std::find_if(std::begin(kFlops), std::end(kFlops),
                                   [op](const FlopsRow& row) { return row.op == op; });
  return found == std::end(kFlops) ? nullptr : found;
}

}  // namespace

bool HasProfilerFlops(std::string_view op) { return Find(op) != nullptr; }

int64_t ProfilerFlops(std::string_view op, const CallArgs& args) {
  const FlopsRow* row = Find(op);
  if (row == nullptr || !args.is_recorded() || args.is_bad()) {
    return 0;
  }
  const Quantity flops = row->flops(args);
  constexpr auto kLargest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return flops.is_overflow() || flops.value() > kLargest ? 0 : static_cast<int64_t>(flops.value());
}

}  // namespace borescope::internal
