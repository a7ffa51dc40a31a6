// Pooling and interpolation over the last one to three dimensions.
#include <array>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

constexpr size_t kMostDimensions = 3;
constexpr int64_t kMostSize = int64_t{1} << 30;  // what is larger is damage

struct Window {
  int64_t size = 1, stride = 1, padding = 0, dilation = 1;
};
using Windows = std::vector<Window>;

// One number of the list for every dimension, or one for all.
int64_t At(const std::vector<int64_t>& list, size_t i) { return list[list.size() == 1 ? 0 : i]; }

bool IsSane(const Window& window) {
  const auto is_size = [](int64_t value) { return value >= 1 && value < kMostSize; };
  return is_size(window.size) && is_size(window.stride) && is_size(window.dilation) &&
         window.padding >= 0 && window.padding < kMostSize;
}

// kernel size, stride (none: the kernel size), padding and, if there is one, dilation: arguments 1
// to 4. Nothing if they are not recorded.
std::optional<Windows> WindowsOf(const CallArgs& args, bool has_dilation) {
  const auto sizes = args.Integers(1);
  auto strides = args.Integers(2);
  const auto paddings = args.Integers(3);
  const auto dilations = has_dilation ? args.Integers(4) : std::vector<int64_t>{1};
  if (!sizes || !strides || !paddings || !dilations || sizes->empty()) return std::nullopt;
  strides = strides->empty() ? sizes : strides;
  const auto fits = [&](const auto& list) {
    return list->size() == 1 || list->size() == sizes->size();
  };
  if (!fits(strides) || !fits(paddings) || !fits(dilations)) return std::nullopt;
  Windows windows;
  windows.reserve(sizes->size());
  for (size_t i = 0; i < sizes->size(); ++i) {
    windows.push_back({(*sizes)[i], At(*strides, i), At(*paddings, i), At(*dilations, i)});
  }
  return windows;
}

int64_t OutputSize(const Window& window, int64_t input, bool rounds_up) {
  const int64_t room = input + 2 * window.padding - window.dilation * (window.size - 1) - 1;
  if (room < 0) return -1;
  int64_t size = (room + (rounds_up ? window.stride - 1 : 0)) / window.stride + 1;
  // The last window has to begin inside.
  if (rounds_up && (size - 1) * window.stride >= input + window.padding) {
    --size;
  }
  return size;
}

struct Pooled {
  Quantity outputs = 1, window = 1;
};

std::optional<Pooled> PooledBy(const OpTensor& x, const Windows& windows, bool rounds_up) {
  if (windows.size() > kMostDimensions || x.rank() < windows.size()) return std::nullopt;
  Pooled pooled;
  const size_t first = x.rank() - windows.size();
  pooled.outputs = Product(Leading(x.dims, windows.size()));
  for (size_t i = 0; i < windows.size(); ++i) {
    if (!IsSane(windows[i]) || x.dims[first + i] >= kMostSize) return std::nullopt;
    const int64_t size = OutputSize(windows[i], x.dims[first + i], rounds_up);
    if (size < 0) return std::nullopt;
    pooled.outputs *= size;
    pooled.window *= windows[i].size;
  }
  return pooled;
}

OpCost Pool(const OpCall& call, bool is_max) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto windows = WindowsOf(call.args, is_max);
  const auto rounds_up = call.args.Bool(is_max ? 5 : 4);
  if (!windows || !rounds_up) return Failure(call, CostStatus::kNeedsValues);
  const auto pooled = PooledBy(*x, *windows, *rounds_up);
  if (!pooled) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .Vector(pooled->outputs * (is_max ? pooled->window : pooled->window + 1))
      .Write(pooled->outputs, x->type)
      .Write(is_max ? pooled->outputs : Quantity(0), ScalarType::kInt64)  // where it was
      .Finish();
}

// The last dimensions become the sizes of argument 1; nothing if these are not recorded.
std::optional<Quantity> Resized(const OpCall& call, const OpTensor& x) {
  const auto sizes = call.args.Integers(1);
  if (!sizes || sizes->empty() || sizes->size() > x.rank()) return std::nullopt;
  return Product(Leading(x.dims, sizes->size())) * Product(*sizes);
}

}  // namespace

OpCost MaxPool(const OpCall& call) { return Pool(call, true); }
OpCost AvgPool(const OpCall& call) { return Pool(call, false); }

OpCost PoolBackward(const OpCall& call) {
  const OpTensor* gradient = call.args.Tensor(0);
  const OpTensor* x = call.args.Tensor(1);
  if (gradient == nullptr || x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const size_t indices = call.model.variant;
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*gradient)
      .Read(indices == 0 ? nullptr : call.args.Tensor(indices))
      .Vector(Elements(*gradient))
      .Write(*x)
      .Finish();
}

OpCost AdaptivePool(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto outputs = Resized(call, *x);
  if (!outputs) return Failure(call, CostStatus::kNeedsValues);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .Vector(Elements(*x) + *outputs)
      .Write(*outputs, x->type)
      .Finish();
}

OpCost Upsample(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto outputs = Resized(call, *x);
  if (!outputs) return Failure(call, CostStatus::kNeedsValues);
  CostBuilder cost(call);
  return cost.Type(x->type).Read(*x).PerElement(*outputs).Write(*outputs, x->type).Finish();
}

}  // namespace borescope::internal::opmodel
