// Convolutions, by kernel names of the time of Volta: those of newer libraries count nothing.
#include <fmt/format.h>

#include <array>

#include "borescope/base/text/text.h"
#include "borescope/packs/pyprof/formulas/formula.h"

namespace borescope::internal::pyprof {
namespace {

constexpr std::string_view kAuxiliary[] = {
    "nchwToNhwc",        "nhwcToNchw",          "OffsetsKernel",      "generateWinogradTilesKernel",
    "winogradWgradData", "winogradWgradOutput", "winogradWgradDelta", "compute_gemm_pointers",
    "flip_filter",       "fft2d_r2c_",          "fft2d_c2r_",         "fft1d_r2c",
    "fft1d_c2r",         "scaleTensor_kernel"};
constexpr std::string_view kMain[] = {"_s884cudnn_",
                                      "_s1688cudnn_",
                                      "_scudnn_",
                                      "2d_grouped_direct_kernel",
                                      "cudnn::detail::implicit_convolve_sgemm",
                                      "cudnn::detail::dgrad2d_alg1_1",
                                      "cudnn::detail::wgrad_alg0_engine",
                                      "cudnn::detail::dgrad_engine",
                                      "dgrad_1x1_stride_2x2",
                                      "spatialDepthwiseConvolutionUpdateOutput",
                                      "winograd3x3Kernel",
                                      "_sgemm_",
                                      "fermiPlusCgemmLDS128_batched",
                                      "_gcgemm_"};
// One launch for all groups; all other kernels are taken to have one per group.
constexpr std::string_view kAllGroups[] = {"2d_grouped_direct_kernel",
                                           "spatialDepthwiseConvolutionUpdateOutput"};

// Along height and width.
using Pair = std::array<int64_t, 2>;

struct ConvShape {
  int64_t n = 0, c = 0, k = 0, groups = 1;
  Pair in{}, filter{}, out{}, stride{}, padding{}, dilation{};

  Quantity outputs() const { return Quantity(n) * k * out[0] * out[1]; }
};

constexpr int64_t kLargestSize = int64_t{1} << 31;  // of what enters the arithmetic of sizes

bool IsSane(int64_t value) { return value >= 0 && value < kLargestSize; }

// A number for both, or a tuple of `rank` numbers (of one dimension: the first of any).
std::optional<Pair> PairOf(const PyProfArg* arg, int64_t otherwise, int rank) {
  const int64_t height = rank == 1 ? otherwise : 0;
  if (arg == nullptr) return Pair{otherwise, otherwise};
  const auto pair = [&](int64_t h, int64_t w) -> std::optional<Pair> {
    if (!IsSane(h) || !IsSane(w)) return std::nullopt;
    return rank == 1 ? Pair{height, w} : Pair{h, w};
  };
  using Kind = PythonValue::Kind;
  if (arg->value.kind == Kind::kInt) return pair(arg->value.number, arg->value.number);
  const auto& items = arg->value.items;
  if (!arg->value.IsSequence() || items.empty() || (rank == 2 && items.size() != 2)) {
    return std::nullopt;
  }
  for (const PythonValue& item : items) {
    if (item.kind != Kind::kInt) return std::nullopt;
  }
  return pair(items[0].number, items[rank == 1 ? 0 : 1].number);
}

std::optional<int64_t> GroupsOf(const PyProfCall& call) {
  const PyProfArg* arg = FindArg(call, 6, "groups");
  if (arg == nullptr) return 1;
  const bool is_count = arg->value.kind == PythonValue::Kind::kInt && arg->value.number > 0;
  return is_count ? std::optional(arg->value.number) : std::nullopt;
}

// trunc(1 + (in + 2p - ((filter - 1) d + 1)) / stride). Each factor is below 2^31.
std::optional<int64_t> OutputSize(const ConvShape& shape, size_t axis) {
  if (!IsSane(shape.in[axis]) || !IsSane(shape.filter[axis]) || shape.stride[axis] == 0) {
    return std::nullopt;
  }
  const int64_t span = shape.in[axis] + 2 * shape.padding[axis] -
                       (shape.filter[axis] - 1) * shape.dilation[axis] - 1;
  const int64_t size = (span + shape.stride[axis]) / shape.stride[axis];
  return size < 0 || size >= kLargestSize ? std::nullopt : std::optional(size);
}

bool ReadSteps(const PyProfCall& call, int rank, ConvShape& shape) {
  const auto stride = PairOf(FindArg(call, 3, "stride"), 1, rank);
  const auto padding = PairOf(FindArg(call, 4, "padding"), 0, rank);
  const auto dilation = PairOf(FindArg(call, 5, "dilation"), 1, rank);
  const auto groups = GroupsOf(call);
  if (!stride || !padding || !dilation || !groups || (rank == 1 && *groups != 1)) return false;
  shape.stride = *stride;
  shape.padding = *padding;
  shape.dilation = *dilation;
  shape.groups = *groups;
  return true;
}

std::optional<ConvShape> ShapeOf(const Case& one, const Operand& x, const Operand& w) {
  const auto rank = static_cast<size_t>(one.variant);
  if (x.shape.size() != rank + 2 || w.shape.size() != rank + 2 || x.dtype != w.dtype) {
    return std::nullopt;
  }
  ConvShape shape{.n = x.shape[0], .c = x.shape[1], .k = w.shape[0]};
  shape.in = {rank == 1 ? 1 : x.shape[2], x.shape.back()};
  shape.filter = {rank == 1 ? 1 : w.shape[2], w.shape.back()};
  if (!ReadSteps(one.call, one.variant, shape)) return std::nullopt;
  const bool is_whole = shape.c % shape.groups == 0 && shape.k % shape.groups == 0;
  if (!is_whole || shape.c / shape.groups != w.shape[1]) return std::nullopt;
  const auto p = OutputSize(shape, 0);
  const auto q = OutputSize(shape, 1);
  if (!p || !q) return std::nullopt;
  shape.out = {*p, *q};
  return shape;
}

std::string ParamsOf(const ConvShape& s, std::string_view dtype) {
  return fmt::format(
      "N={},C={},H={},W={},K={},P={},Q={},R={},S={},ph={},pw={},U={},V={},dh={},dw={},g={},{},",
      s.n, s.c, s.in[0], s.in[1], s.k, s.out[0], s.out[1], s.filter[0], s.filter[1], s.padding[0],
      s.padding[1], s.stride[0], s.stride[1], s.dilation[0], s.dilation[1], s.groups,
      ShortType(dtype));
}

void AddBase(const ConvShape& s, int64_t element_bytes, PyProfWork& work) {
  const Quantity filters = Quantity(s.k) * (s.c / s.groups) * s.filter[0] * s.filter[1];
  work.flops = Quantity(2) * s.n * s.out[0] * s.out[1] * filters;
  work.bytes =
      Quantity(element_bytes) * (Quantity(s.n) * s.c * s.in[0] * s.in[1] + filters + s.outputs());
}

}  // namespace

std::optional<PyProfWork> Conv(const Case& one) {
  const auto& args = one.call.args;
  if (args.size() < 2 || args.size() > 7) return std::nullopt;
  const auto x = TensorOf(args.data());
  const auto w = TensorOf(&args[1]);
  if (!x || !w) return std::nullopt;
  auto shape = ShapeOf(one, *x, *w);
  if (!shape) return std::nullopt;
  const std::string_view name = one.kernel.name;
  PyProfWork work{.op = one.call.op, .params = ParamsOf(*shape, x->dtype)};
  work.tc = TensorCores(name) == "1" ? "1" : "-";
  if (ContainsAny(name, kAuxiliary)) return work;
  if (ContainsAny(name, kMain)) {
    if (shape->groups > 1 && !ContainsAny(name, kAllGroups)) {
      shape->c /= shape->groups;
      shape->k /= shape->groups;
      shape->groups = 1;
    }
    AddBase(*shape, x->size, work);
  } else if (Contains(name, "calc_bias_diff")) {
    work.flops = shape->outputs();
    work.bytes = Quantity(2) * x->size * shape->outputs();
  }
  return work;
}

}  // namespace borescope::internal::pyprof
