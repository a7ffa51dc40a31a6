// counter_ops: of each operator what its kernels did, as counters measured it in another run,
// against what its model says. Sums are of the calls all of whose kernels have counters: both sides
// are of the same calls.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/counter_join/counted_work.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/verbs/counters/counter_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

struct CounterOpRow {
  int64_t rank = 0;
  std::string_view op = {};
  int64_t calls = 0;
  int64_t kernels = 0;
  int64_t total_ns = 0;
  double valued = 0;
  std::optional<int64_t> matrix_flops = {};
  std::optional<int64_t> vector_flops = {};
  std::optional<int64_t> tensor_flops = {};
  std::optional<int64_t> vector_ops = {};
  std::optional<double> flops_ratio = {};
  std::optional<int64_t> model_read = {};
  std::optional<int64_t> dram_read = {};
  std::optional<double> read_ratio = {};
  std::optional<int64_t> model_written = {};
  std::optional<int64_t> dram_written = {};
  std::optional<int64_t> l2_bytes = {};
  std::optional<double> tflops = {};
  std::optional<double> dram_gbps = {};
  std::optional<double> intensity = {};
  std::optional<std::string_view> flops_verdict = {};
  std::optional<std::string_view> bytes_verdict = {};
  std::optional<std::string> not_counted = {};

  static constexpr TableNames kTable{"counter_ops", "Operators: measured against modelled", 20};
  static constexpr ColumnOf<CounterOpRow> kColumns[] = {
      {"rank", &CounterOpRow::rank, Role::kKey, kRankDoc},
      {"op", &CounterOpRow::op, Role::kKey,
       "Operator: that with a model which launched the kernels, else the innermost one."},
      {"calls", &CounterOpRow::calls, Unit::kCount, Role::kDerived, "Calls with kernels."},
      {"kernels", &CounterOpRow::kernels, Unit::kCount, Role::kDerived, "Their kernels."},
      {"total_ns", &CounterOpRow::total_ns, Unit::kNanoseconds, Role::kDerived,
       "Sum of the durations of the kernels in the trace."},
      {"valued", &CounterOpRow::valued, Unit::kShare, Role::kDerived,
       "Part of that time in calls all of whose kernels have counters. All that follows is of "
       "these calls alone."},
      {"matrix_flops", &CounterOpRow::matrix_flops, Unit::kFlops, Role::kDerived,
       "Matrix FLOPs by the model of the operator."},
      {"vector_flops", &CounterOpRow::vector_flops, Unit::kFlops, Role::kDerived,
       "Vector FLOPs by the model."},
      {"tensor_flops", &CounterOpRow::tensor_flops, Unit::kFlops, Role::kDerived,
       "Measured operations of matrix units; missing if they were not counted for the type of "
       "the operands."},
      {"vector_ops", &CounterOpRow::vector_ops, Unit::kFlops, Role::kDerived,
       "Measured floating-point additions, products and multiply-adds (two each) of vector units: "
       "exponentials, comparisons and selections count otherwise than in the model."},
      {"flops_ratio", &CounterOpRow::flops_ratio, Role::kDerived,
       "Measured / modelled FLOPs of matrix operators; of those that ran on vector units, vector "
       "operations / all modelled FLOPs."},
      {"model_read", &CounterOpRow::model_read, Unit::kBytes, Role::kDerived,
       "Every input read once, by the model."},
      {"dram_read", &CounterOpRow::dram_read, Unit::kBytes, Role::kDerived,
       "Measured bytes that were read from device memory."},
      {"read_ratio", &CounterOpRow::read_ratio, Role::kDerived, "dram_read / model_read."},
      {"model_written", &CounterOpRow::model_written, Unit::kBytes, Role::kDerived,
       "Every output written once, by the model."},
      {"dram_written", &CounterOpRow::dram_written, Unit::kBytes, Role::kDerived,
       "Measured bytes that were written to device memory until the kernels ended; the rest is "
       "still in the L2 cache."},
      {"l2_bytes", &CounterOpRow::l2_bytes, Unit::kBytes, Role::kDerived,
       "Measured traffic of the L2 cache: what SMs asked for, where that was counted, else on "
       "both sides of it."},
      {"tflops", &CounterOpRow::tflops, Role::kDerived,
       "Measured FLOPs / time in the trace, in 1e12 operations per second: of matrix units, where "
       "the operator used them."},
      {"dram_gbps", &CounterOpRow::dram_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Measured bytes of device memory / time in the trace."},
      {"intensity", &CounterOpRow::intensity, Role::kDerived,
       "Measured FLOPs / measured bytes of device memory."},
      {"flops_verdict", &CounterOpRow::flops_verdict, Role::kDerived,
       "Of matrix operators: equal (within 0.5 %), close (within the share of disagree), more "
       "work, less work, not measured."},
      {"bytes_verdict", &CounterOpRow::bytes_verdict, Role::kDerived,
       "more traffic or less traffic, where reads differ by more than the share of disagree; "
       "writes differ, where they are more than modelled or fewer than cannot be left in L2; else "
       "ok. 64 KiB a call are no difference."},
      {"not_counted", &CounterOpRow::not_counted, Role::kDerived,
       "Types of operands whose operations were not counted: measure "
       "sm__ops_path_tensor_src_TYPE_dst_*.sum."}};
};

// What a group of calls adds up to.
struct OpSums {
  CounterOpRow row = {};
  int64_t valued_ns = 0;
  int64_t valued_calls = 0;
  CountedSums counted = {};
  // By models, of the calls with counters; missing if one of them is not known.
  std::optional<double> matrix_flops = 0;
  std::optional<double> vector_flops = 0;
  std::optional<double> read = 0;
  std::optional<double> written = 0;
  double least_written = 0;  // what cannot be left in L2
  // FLOPs of matrix operators, on the units that they ran on.
  std::optional<double> matrix_measured = 0;
  double matrix_modelled = 0;
  bool has_matrix = false;  // a call of a matrix operator, with counters or without
};

void AddKnown(std::optional<double>& sum, std::optional<double> more) {
  sum = sum.has_value() && more.has_value() ? std::optional(*sum + *more) : std::nullopt;
}

constexpr double kSlackBytes = 65536;  // a kernel that does nothing reads 4096

// The operators of one rank.
class CounterOps {
 public:
  CounterOps(const CountersInput& in, std::span<const std::string> by, double disagree)
      : in_(in),
        disagree_(disagree),
        counted_(in.view, in.counters, in.work),
        keys_(in.view, ShapeKeys(by), in.selected.step_rule()),
        groups_(keys_.size() + 1) {}

  Table Build();

 private:
  static std::vector<std::string> ShapeKeys(std::span<const std::string> by);
  std::vector<DeviceId> SelectedOf(std::span<const DeviceId> works) const;
  void AddCalls();
  void AddOthers();
  OpSums& SumsOf(HostId op);
  void AddCall(const ModelledCall* call, HostId op, std::span<const DeviceId> works);
  void AddModel(const ModelledCall& call, const CountedSums& counted, OpSums& sums) const;
  double LeastWritten(double written, std::span<const DeviceId> works) const;
  CounterOpRow Finished(const OpSums& sums) const;
  std::string_view FlopsVerdict(const OpSums& sums) const;
  std::string_view BytesVerdict(const OpSums& sums) const;

  const CountersInput& in_;
  double disagree_;
  CountedWork counted_;
  GroupKeys keys_;
  Grouper groups_;  // key values, name
  std::vector<int64_t> key_;
  std::vector<OpSums> sums_;
};

std::vector<std::string> CounterOps::ShapeKeys(std::span<const std::string> by) {
  std::vector<std::string> keys;
  for (const std::string_view key : {"shape", "dtype"}) {
    if (HasKey(by, key)) keys.emplace_back(key);
  }
  return keys;
}

std::vector<DeviceId> CounterOps::SelectedOf(std::span<const DeviceId> works) const {
  std::vector<DeviceId> selected;
  for (const DeviceId id : works) {
    const bool is_kernel = in_.view.trace.device().kind[id.value] == DeviceKind::kKernel;
    if (is_kernel && in_.selected.Keeps(id)) selected.push_back(id);
  }
  return selected;
}

OpSums& CounterOps::SumsOf(HostId op) {
  key_.clear();
  if (op.valid()) {
    keys_.Append(op, key_);
  } else {
    key_.resize(keys_.size(), kMissing);
  }
  const std::string_view name = op.valid() ? in_.view.trace.Name(op) : kNoOperator;
  key_.push_back(op.valid() ? in_.view.trace.host().name[op.value].value : kMissing);
  const uint32_t group = groups_.Find(key_);
  if (group == sums_.size()) {
    OpSums& sums = sums_.emplace_back();
    sums.row.rank = in_.view.rank;
    sums.row.op = name;
  }
  return sums_[group];
}

// At least this of what is written has left an L2 cache that was flushed before.
double CounterOps::LeastWritten(double written, std::span<const DeviceId> works) const {
  for (const DeviceId id : works) {
    const CounterGroup* const group = in_.counters.GroupOf(id);
    if (group == nullptr) continue;
    const bool is_flushed =
        in_.counters.reports[group->report]->caches_flushed == CounterSetting::kYes;
    return is_flushed && group->measured.l2_size.has_value()
               ? std::max(0.0, written - *group->measured.l2_size)
               : 0;
  }
  return 0;
}

void CounterOps::AddModel(const ModelledCall& call, const CountedSums& counted,
                          OpSums& sums) const {
  const OpCost& cost = call.cost();
  const bool knows_flops = KnowsFlops(cost.status);
  const auto matrix = static_cast<double>(cost.matrix_flops);
  const auto vector = static_cast<double>(cost.vector_flops);
  AddKnown(sums.matrix_flops, knows_flops ? std::optional(matrix) : std::nullopt);
  AddKnown(sums.vector_flops, knows_flops ? std::optional(vector) : std::nullopt);
  const bool knows_bytes = KnowsBytes(cost.status);
  const auto bytes = [&](uint64_t amount) {
    return knows_bytes ? std::optional(static_cast<double>(amount)) : std::nullopt;
  };
  AddKnown(sums.read, bytes(cost.read_bytes));
  AddKnown(sums.written, bytes(cost.written_bytes));
  if (!knows_flops || cost.matrix_flops == 0) return;
  const bool ran_on_vector_units = counted.tensor_flops == 0;
  sums.matrix_modelled += matrix + (ran_on_vector_units ? vector : 0);
  AddKnown(sums.matrix_measured, ran_on_vector_units ? counted.vector_flops : counted.tensor_flops);
}

void CounterOps::AddCall(const ModelledCall* call, HostId op, std::span<const DeviceId> works) {
  if (works.empty()) return;
  OpSums& sums = SumsOf(op);
  ++sums.row.calls;
  sums.row.kernels += static_cast<int64_t>(works.size());
  int64_t total_ns = 0;
  for (const DeviceId id : works) {
    AddSaturatingTo(total_ns, in_.view.trace.device().dur_ns[id.value]);
  }
  AddSaturatingTo(sums.row.total_ns, total_ns);
  sums.has_matrix |=
      call != nullptr && KnowsFlops(call->cost().status) && call->cost().matrix_flops > 0;
  const std::optional<CountedSums> counted = counted_.SumsOf(works);
  if (!counted.has_value()) return;
  ++sums.valued_calls;
  AddSaturatingTo(sums.valued_ns, total_ns);
  sums.counted.Add(*counted);
  if (call != nullptr) {
    AddModel(*call, *counted, sums);
    sums.least_written += LeastWritten(static_cast<double>(call->cost().written_bytes), works);
  } else {
    sums.matrix_flops = sums.vector_flops = sums.read = sums.written = std::nullopt;
  }
}

void CounterOps::AddCalls() {
  for (const ModelledCall& call : in_.work.calls) {
    AddCall(&call, call.op, SelectedOf(in_.work.WorksOf(call)));
  }
}

// Kernels of no call with a model, by the operator around their launch.
void CounterOps::AddOthers() {
  std::map<uint32_t, std::vector<DeviceId>> by_op;
  for (const DeviceId id : in_.counters.kernels) {
    if (in_.work.info[id.value].call != kNoCall || !in_.selected.Keeps(id)) continue;
    by_op[in_.view.index.correlation.op_of[id.value].value].push_back(id);
  }
  for (const auto& [op, works] : by_op) {
    AddCall(nullptr, HostId{op}, works);
  }
}

std::optional<int64_t> Rounded(const std::optional<double>& value) {
  constexpr double kMost = 9.2e18;
  return value.has_value() && std::abs(*value) < kMost ? std::optional(std::llround(*value))
                                                       : std::nullopt;
}

std::optional<double> Ratio(const std::optional<double>& part, const std::optional<double>& whole) {
  return part.has_value() && whole.has_value() && *whole > 0 ? std::optional(*part / *whole)
                                                             : std::nullopt;
}

std::string_view CounterOps::FlopsVerdict(const OpSums& sums) const {
  constexpr double kEqual = 0.005;
  if (!sums.has_matrix) return "";
  if (sums.matrix_modelled == 0 || !sums.matrix_measured.has_value()) return "not measured";
  const double ratio = *sums.matrix_measured / sums.matrix_modelled;
  if (std::abs(ratio - 1) <= kEqual) return "equal";
  if (std::abs(ratio - 1) <= disagree_) return "close";
  return ratio > 1 ? "more work" : "less work";
}

std::string_view CounterOps::BytesVerdict(const OpSums& sums) const {
  const std::optional<double>& read = sums.counted.dram_read;
  if (sums.valued_calls == 0 || !read.has_value() || !sums.read.has_value()) return "";
  const double slack = kSlackBytes * static_cast<double>(sums.valued_calls);
  if (*read > *sums.read * (1 + disagree_) && *read - *sums.read > slack) return "more traffic";
  if (*read < *sums.read * (1 - disagree_) && *sums.read - *read > slack) return "less traffic";
  const std::optional<double>& written = sums.counted.dram_written;
  if (!written.has_value() || !sums.written.has_value()) return "ok";
  const bool is_ok =
      *written <= *sums.written * (1 + disagree_) + slack && *written >= sums.least_written - slack;
  return is_ok ? "ok" : "writes differ";
}

std::optional<std::string> Joined(const std::set<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    text.append(text.empty() ? "" : ", ").append(name);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

CounterOpRow CounterOps::Finished(const OpSums& sums) const {
  CounterOpRow row = sums.row;
  row.valued = row.total_ns == 0
                   ? 0
                   : static_cast<double>(sums.valued_ns) / static_cast<double>(row.total_ns);
  row.flops_verdict = Recorded(FlopsVerdict(sums));
  row.bytes_verdict = Recorded(BytesVerdict(sums));
  if (sums.valued_calls == 0) return row;
  const CountedSums& counted = sums.counted;
  row.matrix_flops = Rounded(sums.matrix_flops);
  row.vector_flops = Rounded(sums.vector_flops);
  row.tensor_flops = Rounded(counted.tensor_flops);
  row.vector_ops = Rounded(counted.vector_flops);
  if (sums.has_matrix) row.flops_ratio = Ratio(sums.matrix_measured, sums.matrix_modelled);
  row.model_read = Rounded(sums.read);
  row.dram_read = Rounded(counted.dram_read);
  row.read_ratio = Ratio(counted.dram_read, sums.read);
  row.model_written = Rounded(sums.written);
  row.dram_written = Rounded(counted.dram_written);
  row.l2_bytes = Rounded(counted.l2_bytes);
  const std::optional<double> flops =
      sums.matrix_modelled > 0 ? sums.matrix_measured : counted.vector_flops;
  const auto ns = static_cast<double>(sums.valued_ns);
  row.tflops = Ratio(flops, ns * 1e3);
  row.dram_gbps = Ratio(counted.dram_bytes, ns);
  row.intensity = Ratio(flops, counted.dram_bytes);
  row.not_counted = Joined(counted.not_counted);
  return row;
}

Table CounterOps::Build() {
  if (!in_.counters.empty()) {
    AddCalls();
    AddOthers();
  }
  std::vector<CounterOpRow> rows;
  std::vector<uint32_t> order(sums_.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return sums_[a].row.total_ns > sums_[b].row.total_ns;
  });
  rows.reserve(order.size());
  for (const uint32_t i : order) {
    rows.push_back(Finished(sums_[i]));
  }
  Table table = MakeTable(rows);
  InsertKeys(table, "op", keys_, [&](size_t row) { return groups_.key(order[row]); });
  return table;
}

}  // namespace

Table CounterOpsTable(const CountersInput& in, std::span<const std::string> by, double disagree) {
  return CounterOps(in, by, disagree).Build();
}

}  // namespace borescope::internal
