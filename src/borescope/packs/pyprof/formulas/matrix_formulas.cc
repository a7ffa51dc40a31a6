// Products of matrices, convolutions and cells of recurrent networks. M and N are swapped, because
// BLAS stores by columns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "borescope/base/text/text.h"
#include "borescope/opmodel/cost_builder.h"
#include "borescope/packs/pyprof/formulas/formula.h"

namespace borescope::internal::pyprof {

namespace {

// [m, k] x [k, n]
struct Product {
  int64_t m = 1, n = 1, k = 1;
  Quantity batch = 1;

  Quantity multiply_adds() const { return Quantity(m) * n * k; }
  // Elements of the operands and of the result, without the batch.
  Quantity elements() const { return Quantity(m) * n + Quantity(m) * k + Quantity(k) * n; }
};

constexpr std::string_view kMatmulKernels[] = {"kernelPointwiseApply2",
                                               "reduce_1Block_kernel",
                                               "elementwise_kernel",
                                               "dot_kernel",
                                               "gemm",
                                               "gemv"};
// Those of the kernels above that compute no product. The whole name is compared.
constexpr std::string_view kNoProduct[] = {"kernelPointwiseApply2", "reduce_1Block_kernel",
                                           "elementwise_kernel"};
constexpr std::string_view kLinearKernels[] = {
    "gemm", "gemv", "dot_kernel", "splitKreduce_kernel", "reduce_1Block_kernel", "cutlass"};
constexpr std::string_view kBiasKernels[] = {
    "kernelReduceContigDim", "kernelReduceNoncontigDim_shared", "elementwise_kernel",
    "reduce_kernel",         "kernelPointwiseApply2",           "2d_grouped_direct_kernel"};

// The last two dimensions of both. REQUIRES: both have `rank` >= 2 dimensions.
std::optional<Product> ProductOf(const Operand& a, const Operand& b, size_t rank) {
  if (a.shape.size() != rank || b.shape.size() != rank || a.dtype != b.dtype) return std::nullopt;
  if (a.shape.back() != b.shape[rank - 2]) return std::nullopt;
  return Product{a.shape[rank - 2], b.shape.back(), a.shape.back()};
}

PyProfWork MatrixWork(const Case& one, const Product& product, const Operand& a,
                      const std::string& front) {
  return {.op = one.call.op,
          .params = fmt::format("{}M={},N={},K={},{},", front, product.n, product.m, product.k,
                                ShortType(a.dtype)),
          .flops = Quantity(2) * product.batch * product.multiply_adds(),
          .bytes = Quantity(a.size) * product.batch * product.elements(),
          .tc = TensorCores(one.kernel.name)};
}

std::optional<PyProfWork> TwoDimensional(const Case& one, const PyProfArg* left,
                                         const PyProfArg* right) {
  const auto a = TensorOf(left);
  const auto b = TensorOf(right);
  if (!a || !b) return std::nullopt;
  const auto product = ProductOf(*a, *b, 2);
  if (!product) return std::nullopt;
  return MatrixWork(one, *product, *a, "");
}

// A vector on the left is a row, on the right a column.
std::optional<Product> BroadcastProduct(const Operand& a, const Operand& b) {
  const size_t left = a.shape.size();
  const size_t right = b.shape.size();
  if (left == 0 || right == 0) return std::nullopt;
  Product product;
  product.m = left == 1 ? 1 : a.shape[left - 2];
  product.k = a.shape.back();
  product.n = right == 1 ? 1 : b.shape.back();
  const auto batch = opmodel::Broadcast(a.shape.first(left - std::min<size_t>(left, 2)),
                                        b.shape.first(right - std::min<size_t>(right, 2)));
  if (!batch || product.k != b.shape[right == 1 ? 0 : right - 2]) return std::nullopt;
  product.batch = opmodel::Product(*batch);
  return product;
}

struct LinearShape {
  int64_t m = 0, k = 0;
  std::span<const int64_t> n;  // all but the last dimension of the input

  Quantity rows() const { return opmodel::Product(n); }
  std::string n_text() const { return n.size() == 1 ? std::to_string(n[0]) : TupleText(n); }
};

PyProfWork LinearWork(const Case& one, const LinearShape& shape, const Operand& x) {
  const Quantity rows = shape.rows();
  // Only the last term is multiplied by the size of an element, which is a mistake of PyProf.
  PyProfWork work{
      .op = one.call.op,
      .flops = Quantity(2) * shape.m * rows * shape.k,
      .bytes = Quantity(shape.m) * rows + Quantity(shape.m) * shape.k + rows * shape.k * x.size,
      .tc = TensorCores(one.kernel.name)};
  const auto params = [&](auto m, auto n, auto k) {
    work.params = fmt::format("M={},N={},K={},{},", m, n, k, ShortType(x.dtype));
  };
  if (!one.kernel.is_backward) {
    params(shape.m, shape.n_text(), shape.k);
  } else if (one.kernel.sub == 0) {
    params(shape.k, shape.n_text(), shape.m);
  } else {
    params(shape.k, shape.m, shape.n_text());
  }
  return work;
}

PyProfWork BiasWork(const LinearShape& shape, const Operand& x) {
  const Quantity elements = Quantity(shape.m) * shape.rows();
  return {.op = "bias",
          .params = fmt::format("M={},N={},{},", shape.m, shape.n_text(), ShortType(x.dtype)),
          .flops = elements,
          .bytes = Quantity(2) * elements * x.size};
}

}  // namespace

std::optional<PyProfWork> Addmm(const Case& one) {
  const std::vector<const PyProfArg*> args = Positional(one.call);
  if (args.size() < 3 || !TensorOf(args[0]) || args[0]->dtype != args[1]->dtype) {
    return std::nullopt;
  }
  return TwoDimensional(one, args[1], args[2]);
}

std::optional<PyProfWork> Mm(const Case& one) {
  const auto& args = one.call.args;
  return args.size() == 2 ? TwoDimensional(one, args.data(), &args[1]) : std::nullopt;
}

std::optional<PyProfWork> Bmm(const Case& one) {
  const auto& args = one.call.args;
  if (args.size() != 2) return std::nullopt;
  const auto a = TensorOf(args.data());
  const auto b = TensorOf(&args[1]);
  if (!a || !b) return std::nullopt;
  auto product = ProductOf(*a, *b, 3);
  if (!product || a->shape[0] != b->shape[0]) return std::nullopt;
  product->batch = a->shape[0];
  return MatrixWork(one, *product, *a, fmt::format("B={},", a->shape[0]));
}

std::optional<PyProfWork> Matmul(const Case& one) {
  const auto& args = one.call.args;
  if (args.size() != 2 || !ContainsAny(one.kernel.name, kMatmulKernels)) return std::nullopt;
  const auto a = TensorOf(args.data());
  const auto b = TensorOf(&args[1]);
  if (!a || !b || a->dtype != b->dtype) return std::nullopt;
  const auto product = BroadcastProduct(*a, *b);
  if (!product) return std::nullopt;
  PyProfWork work{.op = one.call.op,
                  .params = fmt::format("A={},B={},{},", TupleText(a->shape), TupleText(b->shape),
                                        ShortType(a->dtype))};
  const std::string_view name = one.kernel.name;
  if (std::find(std::begin(kNoProduct), std::end(kNoProduct), name) != std::end(kNoProduct)) {
    work.bytes = Quantity(2) * a->bytes();
    return work;
  }
  work.flops = Quantity(2) * product->batch * product->multiply_adds();
  work.bytes = Quantity(a->size) * product->elements();  // without the batch
  work.tc = name == "dot_kernel" ? "-" : TensorCores(name);
  return work;
}

std::optional<PyProfWork> Linear(const Case& one) {
  const auto& args = one.call.args;
  if (args.size() != 2 && args.size() != 3) return std::nullopt;
  const auto x = TensorOf(args.data());
  const auto w = TensorOf(&args[1]);
  if (!x || !w || x->dtype != w->dtype || x->shape.empty() || w->shape.size() != 2 ||
      w->shape[1] != x->shape.back()) {
    return std::nullopt;
  }
  const LinearShape shape{w->shape[0], w->shape[1], x->shape.first(x->shape.size() - 1)};
  if (!ContainsAny(one.kernel.name, kLinearKernels)) {
    if (!ContainsAny(one.kernel.name, kBiasKernels)) return std::nullopt;
    return BiasWork(shape, *x);
  }
  if (one.kernel.is_backward && one.kernel.sub > 1) {
    return PyProfWork{.op = one.call.op,
                      .params = fmt::format("X={},W={},{},", TupleText(x->shape),
                                            TupleText(w->shape), ShortType(x->dtype)),
                      .tc = TensorCores(one.kernel.name)};
  }
  return LinearWork(one, shape, *x);
}

// Convolutions, recognised by kernel names of the Volta generation; those of newer libraries count
// nothing.

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
// Kernels with one launch for all groups; all others are assumed to have one launch per group.
constexpr std::string_view kAllGroups[] = {"2d_grouped_direct_kernel",
                                           "spatialDepthwiseConvolutionUpdateOutput"};

// Values along height and width.
using Pair = std::array<int64_t, 2>;

struct ConvShape {
  int64_t n = 0, c = 0, k = 0, groups = 1;
  Pair in{}, filter{}, out{}, stride{}, padding{}, dilation{};

  Quantity outputs() const { return Quantity(n) * k * out[0] * out[1]; }
};

constexpr int64_t kLargestSize = int64_t{1}
                                 << 31;  // largest number that enters the arithmetic of sizes

bool IsSane(int64_t value) { return value >= 0 && value < kLargestSize; }

// One number for both, or a tuple of `rank` numbers (for one dimension, the first of any number).
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

// Cells of recurrent networks: x[B,X], h[B,H]; an LSTM has 4 gates, a GRU 3.

namespace {

constexpr std::string_view kCellGemms[] = {"sgemm", "884gemm", "hgemm"};

struct Cell {
  int64_t b = 0, x = 0, h = 0, gates = 0;
  Operand operand;  // for its type

  int64_t gate_rows() const { return gates * h; }
};

struct Gemm {
  std::string_view name;  // "layer": of the input; "recur": of the state
  int64_t m = 0, n = 0, k = 0;
};

std::optional<Cell> CellOf(const PyProfCall& call) {
  constexpr int64_t kLargest = int64_t{1} << 31;
  if (call.args.size() < 2) return std::nullopt;
  const auto x = TensorOf(call.args.data());
  const auto h = TensorOf(&call.args[1]);
  if (!x || !h || x->shape.size() != 2 || h->shape.size() != 2) return std::nullopt;
  const Cell cell{x->shape[0], x->shape[1], h->shape[1], call.mod == "LSTMCell" ? 4 : 3, *x};
  const bool is_sane = cell.b < kLargest && cell.x < kLargest && cell.h < kLargest;
  return is_sane && h->shape[0] == cell.b ? std::optional(cell) : std::nullopt;
}

// "AxB", the tile of a block of threads: the only part between underscores that contains an x.
std::optional<std::pair<int64_t, int64_t>> TileOf(std::string_view kernel) {
  while (!kernel.empty()) {
    const size_t end = std::min(kernel.find('_'), kernel.size());
    const std::string_view part = kernel.substr(0, end);
    kernel.remove_prefix(std::min(end + 1, kernel.size()));
    const size_t x = part.find('x');
    if (x == std::string_view::npos || Contains(part, "slice")) continue;
    const auto a = ParseNumber<int32_t>(part.substr(0, x));
    const auto b = ParseNumber<int32_t>(part.substr(x + 1));
    return a && b ? std::optional(std::pair(*a, *b)) : std::nullopt;
  }
  return std::nullopt;
}

// The product that a backward kernel computes, by the rows that its grid covers.
std::optional<Gemm> BackwardGemm(const Cell& cell, const PyProfKernel& kernel) {
  const auto tile = TileOf(kernel.name);
  if (!tile || kernel.grid_x < 0 || kernel.grid_y < 0) return std::nullopt;
  const Quantity rows = Quantity(tile->first) * kernel.grid_x;
  const bool is_recurrent = rows == Quantity(cell.h);
  if (!is_recurrent && rows != Quantity(cell.x)) return std::nullopt;
  const std::string_view name = is_recurrent ? "recur" : "layer";
  const int64_t m = is_recurrent ? cell.h : cell.x;
  if (kernel.name.ends_with("_nn")) return Gemm{name, m, cell.b, cell.gate_rows()};
  const Quantity columns = Quantity(tile->second) * kernel.grid_y;
  if (!kernel.name.ends_with("_nt") || columns != Quantity(cell.gate_rows())) return std::nullopt;
  return Gemm{name, m, cell.gate_rows(), cell.b};
}

PyProfWork GemmWork(const Case& one, const Cell& cell, const Gemm& gemm) {
  return {
      .op = one.call.op,
      .params = fmt::format("gemm={},M={},N={},K={},{},", gemm.name, gemm.m, gemm.n, gemm.k,
                            ShortType(cell.operand.dtype)),
      .flops = Quantity(2) * gemm.m * gemm.n * gemm.k,
      .bytes = Quantity(cell.operand.size) *
               (Quantity(gemm.m) * gemm.k + Quantity(gemm.k) * gemm.n + Quantity(gemm.m) * gemm.n)};
}

PyProfWork CellWork(const Case& one, const Cell& cell) {
  PyProfWork work{.op = one.call.op,
                  .params = fmt::format("cell={},X={},H={},B={},{},", one.call.mod, cell.x, cell.h,
                                        cell.b, ShortType(cell.operand.dtype))};
  if (!one.kernel.is_backward) {
    const Quantity state = Quantity(cell.h) * cell.b;
    work.bytes =
        Quantity(cell.operand.size) * (Quantity(2) * cell.gates * state + Quantity(3) * state);
  }
  return work;
}

}  // namespace

std::optional<PyProfWork> RnnCell(const Case& one) {
  const auto cell = CellOf(one.call);
  if (!cell) return std::nullopt;
  std::optional<PyProfWork> work;
  const PyProfKernel& kernel = one.kernel;
  const bool has_gemm = Contains(kernel.name, "gemm");
  if (!kernel.is_backward && kernel.sub % 3 < 2) {
    const bool is_layer = kernel.sub % 3 == 0;
    work = GemmWork(
        one, *cell,
        {is_layer ? "layer" : "recur", cell->gate_rows(), cell->b, is_layer ? cell->x : cell->h});
  } else if (kernel.is_backward && ContainsAny(kernel.name, kCellGemms)) {
    const auto gemm = BackwardGemm(*cell, kernel);
    if (!gemm) return std::nullopt;
    work = GemmWork(one, *cell, *gemm);
  } else {
    work = CellWork(one, *cell);
  }
  work->tc = has_gemm ? TensorCores(kernel.name) : "-";
  return work;
}

}  // namespace borescope::internal::pyprof
