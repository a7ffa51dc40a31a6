// counter_rules: what the rules of the tool that counted say about kernels, in its own words, with
// the time that they have in the trace. Of kernels of one name and size those of the longest.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/counters/counter_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

struct CounterRuleRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  std::string_view kernel = {};
  std::string grid = {};
  std::string block = {};
  std::string_view rule = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  std::optional<std::string_view> title = {};
  std::optional<std::string_view> metric = {};
  std::optional<double> value = {};
  std::optional<double> speedup = {};
  std::optional<std::string_view> speedup_of = {};
  std::optional<std::string_view> advice = {};

  static constexpr TableNames kTable{"counter_rules", "What the rules of Nsight Compute say", 10};
  static constexpr ColumnOf<CounterRuleRow> kColumns[] = {
      {"rank", &CounterRuleRow::rank, Role::kKey, kRankDoc},
      {"gpu", &CounterRuleRow::gpu, Role::kKey, kGpuDoc},
      {"kernel", &CounterRuleRow::kernel, Role::kKey, "Name of the kernel."},
      {"grid", &CounterRuleRow::grid, Role::kKey, "Its size in blocks: x, y, z."},
      {"block", &CounterRuleRow::block, Role::kKey, "The size of a block in threads: x, y, z."},
      {"rule", &CounterRuleRow::rule, Role::kKey, "The rule, by the name that it has there."},
      {"count", &CounterRuleRow::count, Unit::kCount, Role::kDerived,
       "Kernels of this name and size that have counters."},
      {"total_ns", &CounterRuleRow::total_ns, Unit::kNanoseconds, Role::kDerived,
       "Sum of their durations in the trace."},
      {"title", &CounterRuleRow::title, Role::kDerived,
       "What it found; missing where it has none."},
      {"metric", &CounterRuleRow::metric, Role::kDerived,
       "The metric that it looked at; of several the first."},
      {"value", &CounterRuleRow::value, Role::kDerived, "The number that the rule gives for it."},
      {"speedup", &CounterRuleRow::speedup, Unit::kShare, Role::kDerived,
       "What following it would save at most, as the tool estimates."},
      {"speedup_of", &CounterRuleRow::speedup_of, Role::kDerived,
       "Of what: kernel, or part: of what the rule is about."},
      {"advice", &CounterRuleRow::advice, Role::kDerived, "Its words."}};
};

// Kernels of one device, name and size.
struct RuledKernels {
  DeviceId longest;  // one of them
  int64_t count = 0;
  int64_t total_ns = 0;
};
using RuleKey = std::tuple<int64_t, std::string_view, std::array<int32_t, 6>>;  // gpu, name, sizes

std::map<RuleKey, RuledKernels> GroupKernels(const CountersInput& in) {
  const DeviceEvents& device = in.view.trace.device();
  const Kernels& sizes = in.view.trace.kernels();
  std::map<RuleKey, RuledKernels> groups;
  size_t looked_at = 0;
  for (const DeviceId id : in.counters.kernels) {
    CheckStopAt(looked_at++);
    if (in.counters.GroupOf(id) == nullptr || !in.selected.Keeps(id)) continue;
    const uint32_t detail = device.detail[id.value];
    RuledKernels& kernels =
        groups[{in.view.trace.DeviceOf(id),
                in.view.trace.Name(id),
                {sizes.grid_x[detail], sizes.grid_y[detail], sizes.grid_z[detail],
                 sizes.block_x[detail], sizes.block_y[detail], sizes.block_z[detail]}}];
    const int64_t dur_ns = device.dur_ns[id.value];
    if (kernels.count++ == 0 || dur_ns > device.dur_ns[kernels.longest.value]) {
      kernels.longest = id;
    }
    AddSaturatingTo(kernels.total_ns, dur_ns);
  }
  return groups;
}

std::string SizeText(int32_t x, int32_t y, int32_t z) { return fmt::format("{}, {}, {}", x, y, z); }

CounterRuleRow RuleRow(int64_t rank, const RuleKey& key, const RuledKernels& kernels,
                       const CountedKernel::Advice& advice) {
  constexpr double kWhole = 100;
  const auto& [gpu, name, sizes] = key;
  CounterRuleRow row;
  row.rank = rank;
  row.gpu = gpu;
  row.kernel = name;
  row.grid = SizeText(sizes[0], sizes[1], sizes[2]);
  row.block = SizeText(sizes[3], sizes[4], sizes[5]);
  row.rule = advice.rule;
  row.count = kernels.count;
  row.total_ns = kernels.total_ns;
  row.title = Recorded(std::string_view(advice.title));
  if (!advice.focus.empty()) {
    row.metric = advice.focus.front().first;
    row.value = advice.focus.front().second;
  }
  if (advice.speedup_percent >= 0) {
    row.speedup = advice.speedup_percent / kWhole;
    row.speedup_of = advice.is_of_part ? "part" : "kernel";
  }
  row.advice = Recorded(std::string_view(advice.text));
  return row;
}

}  // namespace

Table CounterRulesTable(const CountersInput& in) {
  std::vector<CounterRuleRow> rows;
  for (const auto& [key, kernels] : GroupKernels(in)) {
    const CounterGroup& group = *in.counters.GroupOf(kernels.longest);
    const CounterReport& report = *in.counters.reports[group.report];
    for (const CountedKernel::Advice& advice : report.kernels[group.kernels.front()].advice) {
      rows.push_back(RuleRow(in.view.rank, key, kernels, advice));
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.total_ns > b.total_ns;  // then by device, name and size, as the groups are
  });
  return MakeTable(rows);
}

}  // namespace borescope::internal
