// gemm_shapes: how fast the products of each shape were, and how much their calls differ. Until the
// last reduce a row is the calls of one shape that took equally long, so that runs of many ranks
// have exact medians.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/roofline/roofline.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/opmodel/op_cost.h"
#include "borescope/opmodel/values/op_args.h"
#include "borescope/opmodel/values/quantity.h"
#include "borescope/table/table_ops.h"

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

// Of two tensors (input, weight), backward of three, the gradient in front.
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
constexpr std::string_view kFlopsColumn = "call_flops";
constexpr std::string_view kTimeColumn = "call_ns";
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

void AddShapeColumns(Table& table) {
  AddString(table, "op", Role::kKey, "Operator with a model that launched the kernels.");
  const auto size = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNone, Role::kKey, doc);
  };
  size("m", "Rows of the result; of all rows of a batch if they share one right side.");
  size("n", "Columns of the result.");
  size("k",
       "Length of the sums. All three are missing where the arguments do not show them: sparse "
       "and packed operands, experts, gradients whose shapes were not recorded.");
  size("batch", "How many products one call has.");
  AddString(table, "dtype", Role::kKey, "Type of the operands.");
}

// The key of a row before the statistics, after the values of --by: calls with equal FLOPs and
// equal times are one row.
using Sample = std::tuple<std::vector<int64_t>, std::string_view, std::optional<int64_t>,
                          std::optional<int64_t>, std::optional<int64_t>, std::optional<int64_t>,
                          ScalarType, int64_t, int64_t>;

Sample SampleOf(const RooflineInput& in, const ModelledCall& call, std::vector<int64_t> by,
                int64_t total_ns) {
  const Trace& trace = in.view.trace;
  const std::optional<ProductShape> shape = ShapeOf(trace, call);
  const auto size = [&](int64_t ProductShape::* of) {
    return shape.has_value() ? std::optional((*shape).*of) : std::nullopt;
  };
  return {std::move(by),
          trace.Name(call.op),
          size(&ProductShape::m),
          size(&ProductShape::n),
          size(&ProductShape::k),
          size(&ProductShape::batch),
          call.cost().type,
          static_cast<int64_t>(std::min<uint64_t>(call.cost().matrix_flops, kMost)),
          total_ns};
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

  void Add(int64_t call_flops, int64_t call_ns, int64_t times) {
    calls.emplace_back(1e-3 * ShareOf(call_flops, call_ns), times);
    AddSaturatingTo(count, times);
    AddSaturatingTo(total_ns, Times(call_ns, times));
    flops += static_cast<double>(call_flops) * static_cast<double>(times);
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

// The key columns of the finished table: those of --by and of shapes.
std::span<const Column> KeysOf(const Table& samples) {
  const auto end = std::find_if(samples.columns.begin(), samples.columns.end(),
                                [](const Column& column) { return column.name == kFlopsColumn; });
  return {samples.columns.begin(), end};
}

Table NewRatesTable(const Table& samples) {
  Table table{"gemm_shapes", "Products of matrices by shape", {}, kShownShapes};
  for (const Column& key : KeysOf(samples)) {
    table.columns.push_back(EmptyLike(key));
  }
  AddInt(table, "count", Unit::kCount, Role::kDerived, "Calls all of whose kernels are selected.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kDerived, "Time of their kernels.");
  const auto rate = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kNone, Role::kDerived, doc);
  };
  rate("tflops", "FLOPs of all calls / their time, in 1e12 operations per second.");
  rate("tflops_min", "FLOPs / time of the slowest call.");
  rate("tflops_median",
       "FLOPs / time of the call in the middle; of an even number, the mean of the two.");
  rate("tflops_max", "FLOPs / time of the fastest call.");
  AddFloat(table, "tflops_spread", Unit::kShare, Role::kDerived,
           "(max - min) / median: 0 if all calls were equally fast.");
  return table;
}

void PushRates(Row& row, Rates& rates) {
  std::sort(rates.calls.begin(), rates.calls.end());
  const double least = rates.calls.front().first;
  const double most = rates.calls.back().first;
  const double median = rates.Median();
  row.Int(rates.count).Int(rates.total_ns);
  row.Float(1e-3 * (rates.flops / static_cast<double>(rates.total_ns)));
  row.Float(least).Float(median).Float(most).Float((most - least) / median);
}

void CopyCell(const Column& from, size_t index, Row& row) {
  if (from.IsMissing(index)) {
    row.Missing();
  } else if (const auto* numbers = std::get_if<IntValues>(&from.values)) {
    row.Int((*numbers)[index]);
  } else {
    row.Text(std::get<StringValues>(from.values)[index]);
  }
}

// Whether row `a` comes before row `b`, by keys.
int CompareKeys(const Table& samples, uint32_t a, uint32_t b) {
  for (const Column& key : KeysOf(samples)) {
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

void AddDirectionKey(Table& table) {
  AddString(table, "direction", Role::kKey, "forward, backward, recompute or update.");
}

Table GemmShapesTable(const RooflineInput& in, std::span<const std::string> by) {
  const GroupKeys keys(in.view, KeysBeside(by), in.selected.step_rule());
  const bool by_direction = HasKey(by, "direction");
  std::map<Sample, int64_t> samples;
  for (size_t i = 0; i < in.work.calls.size(); ++i) {
    CheckStopAt(i);
    const ModelledCall& call = in.work.calls[i];
    const CallTotals totals = TotalsOf(in, call);
    if (!HasRate(in, call, totals)) continue;
    std::vector<int64_t> values;
    keys.Append(call.op, values);
    values.push_back(by_direction ? static_cast<int64_t>(call.direction) : 0);
    ++samples[SampleOf(in, call, std::move(values), totals.total_ns)];
  }
  Table table{"gemm_shapes", "Products of matrices by shape", {}, kShownShapes};
  keys.AddColumnsBeforeName(table);
  if (by_direction) AddDirectionKey(table);
  AddShapeColumns(table);
  AddInt(table, kFlopsColumn, Unit::kFlops, Role::kKey, "FLOPs of one call.");
  AddInt(table, kTimeColumn, Unit::kNanoseconds, Role::kKey, "Time of one call.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Calls.");
  for (const auto& [sample, count] : samples) {
    const auto& [values, op, m, n, k, batch, type, flops, total_ns] = sample;
    Row row(table);
    keys.PushBeforeName(row, values);
    if (by_direction) row.Text(WorkDirectionName(static_cast<WorkDirection>(values.back())));
    row.Text(op).MaybeInt(m).MaybeInt(n).MaybeInt(k).MaybeInt(batch);
    row.Text(ScalarTypeName(type)).Int(flops).Int(total_ns).Int(count);
  }
  return table;
}

Table FinishGemmShapes(const Table& samples) {
  std::vector<uint32_t> order(samples.rows());
  for (uint32_t row = 0; row < order.size(); ++row) {
    order[row] = row;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return CompareKeys(samples, a, b) < 0; });
  Table table = NewRatesTable(samples);
  for (size_t first = 0; first < order.size();) {
    Rates rates;
    size_t next = first;
    for (; next < order.size() && CompareKeys(samples, order[first], order[next]) == 0; ++next) {
      const uint32_t row = order[next];
      rates.Add(Ints(samples, kFlopsColumn)[row], Ints(samples, kTimeColumn)[row],
                Ints(samples, "count")[row]);
    }
    Row row(table);
    for (const Column& key : KeysOf(samples)) {
      CopyCell(key, order[first], row);
    }
    PushRates(row, rates);
    first = next;
  }
  return Sorted(table, "total_ns");
}

namespace {

// tensor_core_misses: matrix operators on short numbers, which matrix units are made for, whose
// main kernels did not use them, and the sizes that may be why.

constexpr int kMostBits = 16;
constexpr int64_t kFirstWithTensorCores = 7;  // NVIDIA's compute capability of Volta

struct Sums {
  int64_t count = 0;
  int64_t total_ns = 0;
  std::optional<int64_t> lost_ns;
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

Table NewMissesTable() {
  Table table{"tensor_core_misses", "Short numbers that no matrix unit multiplied", {}};
  AddString(table, "op", Role::kKey, "Matrix operator on numbers of at most 16 bits.");
  AddString(table, "shapes", Role::kKey, "Input shapes as recorded.");
  AddString(table, "dtype", Role::kKey, "Type of the operands.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Calls.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Time of their kernels.");
  AddInt(table, "at_stake_ns", Unit::kNanoseconds, Role::kSum,
         "Time beyond what the roof of the matrix units allows; missing if that is not known.");
  AddString(table, "misaligned", Role::kDerived,
            "Sizes that are no multiple of 16 bytes, which may be why; missing if all are.");
  return table;
}

}  // namespace

Table TensorCoreMissesTable(const RooflineInput& in) {
  const Trace& trace = in.view.trace;
  std::map<std::tuple<std::string_view, std::string_view, ScalarType, std::string>, Sums> misses;
  for (size_t i = 0; i < in.work.calls.size(); ++i) {
    CheckStopAt(i);
    const ModelledCall& call = in.work.calls[i];
    if (!IsMiss(call) || !HasMatrixUnits(trace, trace.DeviceOf(in.work.WorksOf(call).front()))) {
      continue;
    }
    const CallTotals totals = TotalsOf(in, call);
    if (totals.kernels == 0) continue;
    Sums& sums = misses[{trace.Name(call.op), TextOf(trace, call.shapes_of, &Ops::input_dims),
                         call.cost().type, MisalignedText(trace, call)}];
    ++sums.count;
    sums.total_ns = AddSaturating(sums.total_ns, totals.total_ns);
    if (in.at_roof[i].has_value()) {
      const int64_t lost_ns = std::max<int64_t>(0, totals.total_ns - in.at_roof[i]->longest());
      sums.lost_ns = AddSaturating(sums.lost_ns.value_or(0), lost_ns);
    }
  }
  Table table = NewMissesTable();
  for (const auto& [key, sums] : misses) {
    const auto& [op, shapes, type, misaligned] = key;
    Row row(table);
    row.Text(op).MaybeText(shapes).Text(ScalarTypeName(type));
    row.Int(sums.count).Int(sums.total_ns).MaybeInt(sums.lost_ns).MaybeText(misaligned);
  }
  return table;
}

}  // namespace borescope::internal
