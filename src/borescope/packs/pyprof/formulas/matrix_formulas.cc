// Products of matrices. M and N are swapped: BLAS stores by columns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/packs/pyprof/formulas/formula.h"

namespace borescope::internal::pyprof {
namespace {

// [m, k] x [k, n]
struct Product {
  int64_t m = 1, n = 1, k = 1;
  Quantity batch = 1;

  Quantity multiply_adds() const { return Quantity(m) * n * k; }
  // Of operands and result, without the batch.
  Quantity elements() const { return Quantity(m) * n + Quantity(m) * k + Quantity(k) * n; }
};

constexpr std::string_view kMatmulKernels[] = {"kernelPointwiseApply2",
                                               "reduce_1Block_kernel",
                                               "elementwise_kernel",
                                               "dot_kernel",
                                               "gemm",
                                               "gemv"};
// Of the kernels above, those that compute no product. Compared as a whole.
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
  // Only the last term is scaled by the size of an element: a slip of PyProf.
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

}  // namespace borescope::internal::pyprof
