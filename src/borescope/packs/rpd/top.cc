// The views top and op. Rows of `top` come from a UNION of (name, start, end), so that pieces of
// work alike in all three, as a collective on several devices can be, count as one; `Percentage` is
// of the time of all of them.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/base/check.h"
#include "borescope/base/stop.h"
#include "borescope/packs/rpd/tables.h"

namespace borescope::internal {
namespace {

// Name, start and end.
using Triple = std::tuple<uint32_t, int64_t, int64_t>;

std::vector<Triple> Triples(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  std::vector<Triple> triples;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (IsDeviceWork(device.kind[row])) {
      triples.emplace_back(device.name[row].value, device.ts_ns[row], device.end_ns(DeviceId{row}));
    }
  }
  std::sort(triples.begin(), triples.end());
  return triples;
}

Table TopTable(const RankView& view) {
  Table table{"top", "Device time by name (as rocmProfileData)", {}};
  AddRpdTotals(table);
  const std::vector<Triple> triples = Triples(view);
  RpdTotals totals;
  for (size_t i = 0; i < triples.size(); ++i) {
    const auto [name, begin_ns, end_ns] = triples[i];
    totals.whole_ns = AddSaturating(totals.whole_ns, end_ns - begin_ns);
    if (i + 1 == triples.size() || triples[i + 1] != triples[i]) {
      ++totals.calls;
      totals.total_ns = AddSaturating(totals.total_ns, end_ns - begin_ns);
    }
    if (i + 1 == triples.size() || std::get<0>(triples[i + 1]) != name) {
      PushRpdTotals(table, view.trace.Text(StringId{name}), totals);
      totals = {};
    }
  }
  return table;
}

// Work without a description has the name of its type.
bool IsNamedByType(const RankView& view, DeviceId id) {
  constexpr std::string_view kTypes[] = {"KernelExecution", "Task", "KERNEL_DISPATCH",
                                         "ConcurrentKernel", "Kernel"};
  return view.trace.device().kind[id.value] != DeviceKind::kKernel ||
         std::find(std::begin(kTypes), std::end(kTypes), view.trace.Name(id)) != std::end(kTypes);
}

Table OpTable(const RankView& view) {
  Table table{"op", "Device work (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"gpuId", "queueId", "start", "end"});
  AddString(table, "description", Role::kDerived, "Name of the kernel; empty for copies.");
  AddString(table, "opType", Role::kDerived, "Type of the work; not kept of named kernels.");
  const DeviceEvents& device = view.trace.device();
  for (const DeviceId id : RpdOps(view)) {
    Row row(table);
    row.Int(view.rank).Int(view.trace.DeviceOf(id)).Int(view.trace.StreamOf(id));
    row.Int(device.ts_ns[id.value]).Int(device.end_ns(id));
    const bool by_type = IsNamedByType(view, id);
    row.Text(by_type ? std::string_view() : view.trace.Name(id));
    row.MaybeText(by_type ? view.trace.Name(id) : std::string_view());
  }
  return table;
}

double PercentOf(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) * 100.0 / static_cast<double>(whole);
}

}  // namespace

void AddRpdTotals(Table& table) {
  AddString(table, "Name", Role::kKey, "Name, or the type of what has none.");
  AddInt(table, "calls", Unit::kCount, Role::kSum, "Distinct ones; dropped at the end.");
  AddInt(table, "total", Unit::kNone, Role::kSum, "Their time; dropped at the end.");
  AddInt(table, "whole", Unit::kNone, Role::kSum, "Time of all; dropped at the end.");
}

void PushRpdTotals(Table& table, std::string_view name, const RpdTotals& totals) {
  Row(table).Text(name).Int(totals.calls).Int(totals.total_ns).Int(totals.whole_ns);
}

Table FinishRpdTotals(const Table& merged, RpdRounding rounding) {
  const Table sorted = Sorted(merged, "total");
  const int64_t whole = SumOf(sorted, "whole");
  const bool is_old = rounding == RpdRounding::kOld;
  Table table{merged.name, merged.title, {}};
  AddString(table, "Name", Role::kKey, "Name, or the type of what has none.");
  AddInt(table, "TotalCalls", Unit::kCount, Role::kDerived, "How many.");
  AddInt(table, is_old ? "TotalDuration" : "TotalDuration_us", Unit::kNone, Role::kDerived,
         "Sum of their durations in whole microseconds, cut off.");
  is_old ? AddInt(table, "Ave", Unit::kNone, Role::kDerived, "Mean in whole microseconds, cut off.")
         : AddFloat(table, "Ave_us", Unit::kNone, Role::kDerived,
                    "Mean, cut off to nanoseconds, in microseconds.");
  AddFloat(table, "Percentage", Unit::kNone, Role::kDerived, "Percent of the time of all.");
  for (size_t i = 0; i < sorted.rows(); ++i) {
    const int64_t calls = Ints(sorted, "calls")[i];
    const int64_t total_ns = Ints(sorted, "total")[i];
    const int64_t mean_ns = calls <= 0 ? 0 : total_ns / calls;
    Row row(table);
    row.Text(Texts(sorted, "Name")[i]).Int(calls).Int(total_ns / 1000);
    is_old ? row.Int(mean_ns / 1000) : row.Float(static_cast<double>(mean_ns) / 1000.0);
    row.Float(PercentOf(total_ns, whole));
  }
  return table;
}

std::vector<DeviceId> RpdOps(const RankView& view) {
  const Result<Selected> all = Selected::Make(view, {});
  BS_CHECK(all.ok());  // nothing is selected
  return WorkByStart(view, *all);
}

void AddRpdInts(Table& table, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    AddInt(table, name, Unit::kNone, Role::kDerived, "As in the view.");
  }
}

Result<Tables> MapRpdTop(const RankView& view, const Params&) {
  return Tables{TopTable(view), OpTable(view)};
}

Result<Tables> FinishRpdTop(Tables findings, const Params&) {
  findings[0] = FinishRpdTotals(findings[0], RpdRounding::kNew);
  return findings;
}

}  // namespace borescope::internal
