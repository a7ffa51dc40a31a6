// gemm_shapes: how fast the products of each shape were, and how much their calls differ. Until the
// last reduce a row is the calls of one shape that took equally long, so that runs of many ranks
// have exact medians.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/roofline/product_shape.h"
#include "borescope/analysis/verbs/roofline/roofline.h"
#include "borescope/base/stop.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

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
                std::max<int64_t>(Ints(samples, "count")[row], 0));  // damaged: below 0
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

}  // namespace borescope::internal
