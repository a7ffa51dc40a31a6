// Kernels that TorchInductor generated. Their arguments are the buffers that they read or write,
// then the numbers of elements that they go through; only their code says what they compute.
//
// The buffers have this order: those that are read and written ("in_out_ptr0" in the code),
// those that are read, those that are written. The names are not recorded, but a kernel writes
// something: where the last buffer cannot be what it writes, the first is read and written.
#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

bool HasAny(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

// Operators that touch a part of a buffer, which the shape of the whole does not tell.
bool TouchesParts(std::string_view name) {
  constexpr std::string_view kWords[] = {"_embedding", "_index", "_gather", "_scatter",   "_slice",
                                         "_select",    "_split", "_unbind", "_as_strided"};
  return HasAny(name, kWords);
}

std::vector<const OpTensor*> TensorsOf(const CallArgs& args) {
  std::vector<const OpTensor*> tensors;
  for (size_t i = 0; i < args.size(); ++i) {
    if (const OpTensor* tensor = args.Tensor(i)) tensors.push_back(tensor);
  }
  return tensors;
}

// Whether the numbers at the end (one, or one per dimension of a grid of two) say that the kernel
// goes through so many elements.
bool GoesThrough(const CallArgs& args, Quantity elements) {
  if (args.size() < 2) return false;
  const auto last = args.Integer(args.size() - 1);
  const auto before = args.Integer(args.size() - 2);
  if (!last || *last < 0) return false;
  if (elements == Quantity(*last)) return true;
  return before && *before >= 0 && elements == Quantity(*before) * *last;
}

// What a pointwise kernel writes has all elements that it goes through. A join of buffers writes a
// part of one with each.
bool IsTooSmallForTheResult(const OpCall& call, const OpTensor& first, const OpTensor& last) {
  return call.name.starts_with("triton_poi_") &&
         call.name.find("_cat_") == std::string_view::npos &&
         GoesThrough(call.args, Elements(first)) &&
         Elements(last).value() < Elements(first).value();
}

// A product of matrices leaves a matrix, which "_unsafe_view" gives back the dimensions of the
// model; results have these. (With a copy to a new layout the view is of the result.)
bool IsAResultOfAProduct(const OpCall& call, const OpTensor& first, const OpTensor& last) {
  constexpr std::string_view kCopies[] = {"_clone", "_copy_", "_contiguous"};
  return call.name.starts_with("triton_poi_") && !HasAny(call.name, kCopies) &&
         call.name.find("__unsafe_view") != std::string_view::npos && last.rank() == 2 &&
         first.rank() > 2 && Elements(first) == Elements(last) &&
         first.dims.back() == last.dims.back() && first.type == last.type;
}

bool WritesItsFirst(const OpCall& call, const OpTensor& first, const OpTensor& last) {
  return IsTooSmallForTheResult(call, first, last) || IsAResultOfAProduct(call, first, last);
}

}  // namespace

OpCost GeneratedKernel(const OpCall& call) {
  if (TouchesParts(call.name)) return Failure(call, CostStatus::kDependsOnData);
  const std::vector<const OpTensor*> tensors = TensorsOf(call.args);
  if (tensors.empty()) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  cost.Type(tensors.front()->type);
  for (const OpTensor* tensor : tensors) {
    cost.Read(*tensor);
  }
  if (tensors.size() > 1 && WritesItsFirst(call, *tensors.front(), *tensors.back())) {
    cost.Write(*tensors.front());
  }
  return cost.FinishBytes();
}

}  // namespace borescope::internal::opmodel
