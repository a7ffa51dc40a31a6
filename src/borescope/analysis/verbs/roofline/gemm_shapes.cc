// gemm_shapes: how fast the products of each shape were, and how much their calls differ. Until the
// last reduce a row is the calls of one shape that took equally long, so that runs of many ranks
// have exact medians. tensor_core_misses, the products that missed the matrix units, is below.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/roofline/roofline.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/opmodel/op_model.h"
#include "borescope/opmodel/values/op_args.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// m, n and k of a product of matrices, by the arguments of its call.

// `batch` products [m, k] x [k, n].
struct ProductShape {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

// Tensors of at least two dimensions, in the order of the arguments.
std::vector<const OpTensor*> FactorsOf(const CallArgs& args) {
  std::vector<const OpTensor*> factors;
  for (size_t i = 0; i < args.size(); ++i) {
    const OpTensor* tensor = args.Tensor(i);
    if (tensor != nullptr && tensor->rank() >= 2) factors.push_back(tensor);
  }
  return factors;
}

Quantity SizeOf(std::span<const int64_t> dims) {
  Quantity size = 1;
  for (const int64_t dim : dims) size *= dim;
  return size;
}

// Below the last two dimensions.
Quantity BatchOf(const OpTensor& tensor) {
  return SizeOf(std::span(tensor.dims).first(tensor.rank() - 2));
}

// One matrix b for all of a, else one for each. Sizes too large to count are no shape.
std::optional<ProductShape> Multiplied(const OpTensor& a, const OpTensor& b, bool is_transposed) {
  const int64_t k = a.dims.back();
  const int64_t of_b = b.dims[b.rank() - (is_transposed ? 1 : 2)];
  const bool is_one = b.rank() == 2;
  if (of_b != k || (!is_one && BatchOf(a) != BatchOf(b))) return std::nullopt;
  const Quantity batch = is_one ? Quantity(1) : BatchOf(a);
  const Quantity m =
      is_one ? SizeOf(std::span(a.dims).first(a.rank() - 1)) : Quantity(a.dims[a.rank() - 2]);
  if (batch.is_overflow() || m.is_overflow()) return std::nullopt;
  return ProductShape{static_cast<int64_t>(batch.value()), static_cast<int64_t>(m.value()),
                      b.dims[b.rank() - (is_transposed ? 2 : 1)], k};
}

bool IsOf(const ProductShape& shape, const OpCost& cost) {
  const Quantity flops =
      Quantity(shape.batch) * shape.m * shape.n * shape.k * (IsComplex(cost.type) ? 8 : 2);
  return !flops.is_overflow() && flops.value() == cost.matrix_flops;
}

// The first two matrices in a row, of which the second may be transposed, that multiply to the
// FLOPs of the model; nothing if there are none, as for sparse or packed operands and for experts.
std::optional<ProductShape> ProductShapeOf(const CallArgs& args, const OpCost& cost) {
  const std::vector<const OpTensor*> factors = FactorsOf(args);
  for (size_t i = 0; i + 1 < factors.size(); ++i) {
    for (const bool is_transposed : {false, true}) {
      const std::optional<ProductShape> shape =
          Multiplied(*factors[i], *factors[i + 1], is_transposed);
      if (shape.has_value() && IsOf(*shape, cost)) return shape;
    }
  }
  return std::nullopt;
}

// The sizes of a matrix operator as matrix units see them, by the arguments of its call.

int64_t FromBack(const OpTensor& tensor, size_t back) {
  return tensor.dims[tensor.dims.size() - back];
}

std::vector<NamedSize> ProductSizes(std::string_view name, const CallArgs& args) {
  // Where the first factor is: addmm and its like have an addend, which may be a matrix, before it.
  const bool has_addend = Contains(name, "add");
  const OpTensor* a = args.Tensor(has_addend ? 1 : 0);
  const OpTensor* b = args.Tensor(has_addend ? 2 : 1);
  if (a == nullptr || b == nullptr || a->rank() < 2 || b->rank() < 2) return {};
  const bool is_linear = name.ends_with("linear");
  return {{"m", FromBack(*a, 2)}, {"n", FromBack(*b, is_linear ? 2 : 1)}, {"k", FromBack(*a, 1)}};
}

// The arguments are two tensors (input, weight); backward has the gradient before them.
std::vector<NamedSize> ConvolutionSizes(std::string_view name, const CallArgs& args) {
  const std::vector<const OpTensor*> tensors = FactorsOf(args);
  const size_t weight = Contains(name, "backward") ? 2 : 1;
  if (tensors.size() <= weight) return {};
  return {{"channels in", tensors[weight]->dims[1]}, {"channels out", tensors[weight]->dims[0]}};
}

// m, n and k of a product, the channels of a convolution; empty where the arguments do not tell.
// `name` is that of the operator, whose model is of `family`.
std::vector<NamedSize> MatrixSizesOf(std::string_view name, OpFamily family, const CallArgs& args) {
  if (family == OpFamily::kGemm) return ProductSizes(name, args);
  if (family == OpFamily::kConvolution) return ConvolutionSizes(name, args);
  return {};
}

constexpr size_t kShownShapes = 20;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::optional<ProductShape> ShapeOf(const Trace& trace, const ModelledCall& call) {
  const CallArgs args = CallArgsOf(trace, call.shapes_of);
  if (!args.is_recorded() || args.is_bad()) return std::nullopt;
  return ProductShapeOf(args, call.cost());
}

// Calls that the selection cuts have no rate: their FLOPs belong to all of their kernels.
bool HasRate(const RooflineInput& in, const ModelledCall& call, const CallTotals& totals) {
  return call.cost().family == OpFamily::kGemm && KnowsFlops(call.cost().status) &&
         call.cost().matrix_flops > 0 && totals.total_ns > 0 &&
         static_cast<size_t>(totals.kernels) == in.work.WorksOf(call).size();
}

// The calls of one shape with equal FLOPs and equal times.
struct GemmSample {
  std::vector<int64_t> by = {};  // the values of --by
  std::optional<std::string_view> direction = {};
  std::string_view op = {};
  std::optional<int64_t> m = {};
  std::optional<int64_t> n = {};
  std::optional<int64_t> k = {};
  std::optional<int64_t> batch = {};
  std::string_view dtype = {};
  int64_t call_flops = 0;
  int64_t call_ns = 0;
  int64_t count = 0;

  auto operator<=>(const GemmSample&) const = default;

  static constexpr TableNames kTable{"gemm_shapes", "Products of matrices by shape", kShownShapes};
  static constexpr ColumnOf<GemmSample> kColumns[] = {
      {"direction", &GemmSample::direction, Role::kKey, kDirectionDoc},
      {"op", &GemmSample::op, Role::kKey, "Operator with a model that launched the kernels."},
      {"m", &GemmSample::m, Role::kKey,
       "Rows of the result; of all rows of a batch if they share one right side."},
      {"n", &GemmSample::n, Role::kKey, "Columns of the result."},
      {"k", &GemmSample::k, Role::kKey,
       "Length of the sums. All three are missing where the arguments do not show them: sparse "
       "and packed operands, experts, gradients whose shapes were not recorded."},
      {"batch", &GemmSample::batch, Role::kKey, "How many products one call has."},
      {"dtype", &GemmSample::dtype, Role::kKey, "Type of the operands."},
      Carried<GemmSample>(
          {"call_flops", &GemmSample::call_flops, Unit::kFlops, Role::kKey, "FLOPs of one call."}),
      Carried<GemmSample>(
          {"call_ns", &GemmSample::call_ns, Unit::kNanoseconds, Role::kKey, "Time of one call."}),
      Carried<GemmSample>({"count", &GemmSample::count, Unit::kCount, Role::kSum, "Calls."})};
};

// The calls of one shape, after the last reduce; its keys are those of the samples.
struct GemmRates {
  int64_t count = 0;
  int64_t total_ns = 0;
  double tflops = 0;
  double tflops_min = 0;
  double tflops_median = 0;
  double tflops_max = 0;
  double tflops_spread = 0;

  static constexpr TableNames kTable{"gemm_shapes", ""};
  static constexpr ColumnOf<GemmRates> kColumns[] = {
      {"count", &GemmRates::count, Unit::kCount, Role::kDerived,
       "Calls all of whose kernels are selected."},
      {"total_ns", &GemmRates::total_ns, Unit::kNanoseconds, Role::kDerived,
       "Time of their kernels."},
      {"tflops", &GemmRates::tflops, Role::kDerived,
       "FLOPs of all calls / their time, in 1e12 operations per second."},
      {"tflops_min", &GemmRates::tflops_min, Role::kDerived, "FLOPs / time of the slowest call."},
      {"tflops_median", &GemmRates::tflops_median, Role::kDerived,
       "FLOPs / time of the call in the middle; of an even number, the mean of the two."},
      {"tflops_max", &GemmRates::tflops_max, Role::kDerived, "FLOPs / time of the fastest call."},
      {"tflops_spread", &GemmRates::tflops_spread, Unit::kShare, Role::kDerived,
       "(max - min) / median: 0 if all calls were equally fast."}};
};

GemmSample SampleOf(const RooflineInput& in, const ModelledCall& call, int64_t total_ns) {
  GemmSample sample{
      .op = in.view.trace.Name(call.op),
      .dtype = ScalarTypeName(call.cost().type),
      .call_flops = static_cast<int64_t>(std::min<uint64_t>(call.cost().matrix_flops, kMost)),
      .call_ns = total_ns};
  if (const std::optional<ProductShape> shape = ShapeOf(in.view.trace, call)) {
    sample.m = shape->m;
    sample.n = shape->n;
    sample.k = shape->k;
    sample.batch = shape->batch;
  }
  return sample;
}

// REQUIRES: neither is negative
int64_t Times(int64_t amount, int64_t times) {
  int64_t product = 0;
  return __builtin_mul_overflow(amount, times, &product) ? kMost : product;
}

// The calls of one shape: how many had which rate, in 1e12 operations per second.
struct Rates {
  std::vector<std::pair<double, int64_t>> calls;
  int64_t count = 0;
  int64_t total_ns = 0;
  double flops = 0;

  void Add(const GemmSample& sample) {
    const int64_t times = std::max<int64_t>(sample.count, 0);  // damaged: below 0
    calls.emplace_back(1e-3 * ShareOf(sample.call_flops, sample.call_ns), times);
    AddSaturatingTo(count, times);
    AddSaturatingTo(total_ns, Times(sample.call_ns, times));
    flops += static_cast<double>(sample.call_flops) * static_cast<double>(times);
  }
  // The rate of call `number` in ascending order. REQUIRES: sorted, number < count
  double At(int64_t number) const {
    size_t i = 0;
    for (int64_t before = calls[0].second; before <= number && i + 1 < calls.size();) {
      before = AddSaturating(before, calls[++i].second);
    }
    return calls[i].first;
  }
  double Median() const { return (At((count - 1) / 2) + At(count / 2)) / 2; }
};

GemmRates RatesOf(Rates& rates) {
  std::sort(rates.calls.begin(), rates.calls.end());
  const double least = rates.calls.front().first;
  const double most = rates.calls.back().first;
  const double median = rates.Median();
  return {.count = rates.count,
          .total_ns = rates.total_ns,
          .tflops = 1e-3 * (rates.flops / static_cast<double>(rates.total_ns)),
          .tflops_min = least,
          .tflops_median = median,
          .tflops_max = most,
          .tflops_spread = (most - least) / median};
}

// Compares two rows by all columns. `keys`: those of the finished table, of --by and of shapes.
int CompareRows(const Table& keys, uint32_t a, uint32_t b) {
  for (const Column& key : keys.columns) {
    if (const int sign = CompareCells(key, a, b); sign != 0) return sign;
  }
  return 0;
}

// The keys of --by that add to shapes and types, by which rows differ always.
std::vector<std::string> KeysBeside(std::span<const std::string> by) {
  std::vector<std::string> keys(by.begin(), by.end());
  std::erase_if(keys, [](const std::string& key) { return key == "shape" || key == "dtype"; });
  return keys;
}

}  // namespace

Table GemmShapesTable(const RooflineInput& in, std::span<const std::string> by) {
  const GroupKeys keys(in.view, KeysBeside(by), in.selected.step_rule());
  const bool by_direction = HasKey(by, "direction");
  std::map<GemmSample, int64_t> counts;
  for (size_t i = 0; i < in.work.calls.size(); ++i) {
    CheckStopAt(i);
    const ModelledCall& call = in.work.calls[i];
    const CallTotals totals = TotalsOf(in, call);
    if (!HasRate(in, call, totals)) continue;
    GemmSample sample = SampleOf(in, call, totals.total_ns);
    keys.Append(call.op, sample.by);
    if (by_direction) sample.direction = WorkDirectionName(call.direction);
    ++counts[std::move(sample)];
  }
  std::vector<GemmSample> samples;
  samples.reserve(counts.size());
  for (const auto& [sample, count] : counts) {
    samples.push_back(sample);
    samples.back().count = count;
  }
  Table table = MakeTable(samples);
  if (!by_direction) DropColumn(table, "direction");
  InsertKeys(table, "op", keys,
             [&](size_t row) -> std::span<const int64_t> { return samples[row].by; });
  return table;
}

Table FinishGemmShapes(const Table& table) {
  const std::vector<GemmSample> samples = ReadRows<GemmSample>(table);
  Table keys = table;
  DropCarried<GemmSample>(keys);
  std::vector<uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return CompareRows(keys, a, b) < 0; });
  std::vector<uint32_t> shapes;  // the first row of each
  std::vector<GemmRates> rows;
  for (size_t next = 0; next < order.size();) {
    const uint32_t first = order[next];
    Rates rates;
    for (; next < order.size() && CompareRows(keys, first, order[next]) == 0; ++next) {
      rates.Add(samples[order[next]]);
    }
    shapes.push_back(first);
    rows.push_back(RatesOf(rates));
  }
  Table finished = TakeRows(keys, shapes);
  for (Column& column : MakeTable(rows).columns) {
    finished.columns.push_back(std::move(column));
  }
  return Sorted(finished, "total_ns");
}

namespace {

// tensor_core_misses: matrix operators on short numbers, which matrix units are made for, whose
// main kernels did not use them, and the sizes that may be why.

constexpr int kMostBits = 16;
constexpr int64_t kFirstWithTensorCores = 7;  // NVIDIA's compute capability of Volta

struct MissRow {
  std::string_view op = {};
  std::optional<std::string_view> shapes = {};
  std::string_view dtype = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  std::optional<int64_t> at_stake_ns = {};
  std::optional<std::string_view> misaligned = {};

  static constexpr TableNames kTable{"tensor_core_misses",
                                     "Short numbers that no matrix unit multiplied"};
  static constexpr ColumnOf<MissRow> kColumns[] = {
      {"op", &MissRow::op, Role::kKey, "Matrix operator on numbers of at most 16 bits."},
      {"shapes", &MissRow::shapes, Role::kKey, "Input shapes as recorded."},
      {"dtype", &MissRow::dtype, Role::kKey, "Type of the operands."},
      {"count", &MissRow::count, Unit::kCount, Role::kSum, "Calls."},
      {"total_ns", &MissRow::total_ns, Unit::kNanoseconds, Role::kSum, "Time of their kernels."},
      {"at_stake_ns", &MissRow::at_stake_ns, Unit::kNanoseconds, Role::kSum,
       "Time beyond what the roof of the matrix units allows; missing if that is not known."},
      {"misaligned", &MissRow::misaligned, Role::kDerived,
       "Sizes that are no multiple of 16 bytes, which may be why; missing if all are."}};
};

bool HasMatrixUnits(const Trace& trace, int64_t gpu) {
  for (const DeviceInfo& info : trace.meta().devices) {
    if (info.id == gpu && trace.meta().vendor == Vendor::kNvidia && info.compute_major > 0) {
      return info.compute_major >= kFirstWithTensorCores;
    }
  }
  return true;
}

bool IsMiss(const ModelledCall& call) {
  const int bits = BitsPerElement(call.cost().type);
  return call.matrix_use == MatrixUse::kNo && IsFloatingPoint(call.cost().type) && bits > 0 &&
         bits <= kMostBits;
}

std::string_view TextOf(const Trace& trace, HostId op, ColumnData<StringId> Ops::* column) {
  const uint32_t row = trace.host().detail[op.value];
  return row == kNoDetail ? std::string_view() : trace.Text((trace.ops().*column)[row]);
}

// "n = 30522, k = 1001 (not a multiple of 8)".
std::string MisalignedText(const Trace& trace, const ModelledCall& call) {
  const std::string_view dims = TextOf(trace, call.shapes_of, &Ops::input_dims);
  const std::string_view types = TextOf(trace, call.shapes_of, &Ops::input_types);
  const CallArgs args =
      CallArgs::Parse({.dims = dims, .types = types, .strides = {}, .values = {}});
  if (!args.is_recorded() || args.is_bad()) return "";
  const std::vector<NamedSize> sizes =
      MatrixSizesOf(trace.Name(call.shapes_of), call.cost().family, args);
  const int bits = BitsPerElement(call.cost().type);
  std::string text;
  for (const NamedSize& size : MisalignedSizes(sizes, bits)) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", size.name, size.size);
  }
  if (text.empty()) return "";
  return fmt::format("{} (not a multiple of {})", text, MatrixAlignment(bits));
}

}  // namespace

Table TensorCoreMissesTable(const RooflineInput& in) {
  const Trace& trace = in.view.trace;
  std::map<std::tuple<std::string_view, std::string_view, ScalarType, std::string>, MissRow> misses;
  for (size_t i = 0; i < in.work.calls.size(); ++i) {
    CheckStopAt(i);
    const ModelledCall& call = in.work.calls[i];
    if (!IsMiss(call) || !HasMatrixUnits(trace, trace.DeviceOf(in.work.WorksOf(call).front()))) {
      continue;
    }
    const CallTotals totals = TotalsOf(in, call);
    if (totals.kernels == 0) continue;
    MissRow& sums = misses[{trace.Name(call.op), TextOf(trace, call.shapes_of, &Ops::input_dims),
                            call.cost().type, MisalignedText(trace, call)}];
    ++sums.count;
    AddSaturatingTo(sums.total_ns, totals.total_ns);
    if (in.at_roof[i].has_value()) {
      const int64_t lost_ns = std::max<int64_t>(0, totals.total_ns - in.at_roof[i]->longest());
      sums.at_stake_ns = AddSaturating(sums.at_stake_ns.value_or(0), lost_ns);
    }
  }
  std::vector<MissRow> rows;
  for (auto& [key, sums] : misses) {
    const auto& [op, shapes, type, misaligned] = key;
    sums.op = op;
    sums.shapes = Recorded(shapes);
    sums.dtype = ScalarTypeName(type);
    sums.misaligned = Recorded(std::string_view(misaligned));
    rows.push_back(sums);
  }
  return MakeTable(rows);
}

}  // namespace borescope::internal
