// The report of a module that TorchInductor compiled, `python fwd.py -p`: kernels in five
// categories by the prefix of their names alone, times and counts per run, percent of the wall time
// of a run. Annotations of the device count as kernels of the category "unknown", as they do there,
// although they cover work that is counted already.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/stop.h"
#include "borescope/packs/inductor/inductor.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

// In the order of the report.
constexpr std::string_view kCategories[] = {"triton_pointwise", "triton_reduction",
                                            "triton_persistent_reduction", "triton_unknown",
                                            "unknown"};
constexpr size_t kLongestName = 120;

int64_t CategoryOf(std::string_view kernel) {
  constexpr std::string_view kPrefixes[] = {"triton_poi", "triton_red", "triton_per", "triton_"};
  const auto* found =
      std::find_if(std::begin(kPrefixes), std::end(kPrefixes),
                   [&](std::string_view prefix) { return kernel.starts_with(prefix); });
  return found - std::begin(kPrefixes);
}

bool IsListed(DeviceKind kind) { return IsDeviceWork(kind) || kind == DeviceKind::kAnnotation; }

double PerRun(int64_t value, const Params& params) {
  return static_cast<double>(value) / static_cast<double>(params.Number(kRunsParam));
}

double PercentOf(double part, double whole) { return whole == 0 ? 0.0 : 100.0 * part / whole; }

double Milliseconds(double ns) { return ns / 1e6; }

Table MapKernelRows(const RankView& view) {
  Table table{"kernels", "Kernels", {}};
  AddInt(table, "category", Unit::kNone, Role::kKey, "Number of the category; becomes its name.");
  AddString(table, "name", Role::kKey, "Name as recorded; cut at the end.");
  AddInt(table, "calls", Unit::kCount, Role::kSum, "Dropped at the end.");
  AddInt(table, "total", Unit::kNone, Role::kSum, "Dropped at the end.");
  const DeviceEvents& device = view.trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (IsListed(device.kind[row])) {
      const std::string_view name = view.trace.Name(DeviceId{row});
      Row(table).Int(CategoryOf(name)).Text(name).Int(1).Int(device.dur_ns[row]);
    }
  }
  return MergeByKey(table);
}

Table NewReport(std::string name, std::string title) {
  Table table{std::move(name), std::move(title), {}};
  AddString(table, "category", Role::kKey, "By the prefix of the name.");
  return table;
}

Table KernelReport(const Table& sorted, const Params& params, double wall_ns) {
  Table table = NewReport("kernels", "Kernels by category (as TorchInductor)");
  AddString(table, "Kernel", Role::kKey, "Name, cut to 120 bytes.");
  AddFloat(table, "Self CUDA TIME (ms)", Unit::kNone, Role::kDerived, "Time per run.");
  AddFloat(table, "Count", Unit::kNone, Role::kDerived, "Calls per run.");
  AddFloat(table, "Percent", Unit::kNone, Role::kDerived, "Percent of the wall time of a run.");
  for (size_t category = 0; category < std::size(kCategories); ++category) {
    for (size_t i = 0; i < sorted.rows(); ++i) {
      if (Ints(sorted, "category")[i] == static_cast<int64_t>(category)) {
        const double time_ns = PerRun(Ints(sorted, "total")[i], params);
        Row(table)
            .Text(kCategories[category])
            .Text(Texts(sorted, "name")[i].substr(0, kLongestName))
            .Float(Milliseconds(time_ns))
            .Float(PerRun(Ints(sorted, "calls")[i], params))
            .Float(PercentOf(time_ns, wall_ns));
      }
    }
  }
  return table;
}

// The totals of the categories that are there, and of all ("busy").
Table CategoryReport(const Table& sorted, const Params& params, double wall_ns) {
  Table table = NewReport("categories", "Share of the wall time (as TorchInductor)");
  AddFloat(table, "Self CUDA TIME (ms)", Unit::kNone, Role::kDerived, "Time per run.");
  AddFloat(table, "Percent", Unit::kNone, Role::kDerived,
           "Percent of the wall time of a run; \"busy\" may exceed 100.");
  std::map<int64_t, int64_t> total_ns;
  for (size_t i = 0; i < sorted.rows(); ++i) {
    int64_t& total = total_ns[Ints(sorted, "category")[i]];
    total = AddSaturating(total, Ints(sorted, "total")[i]);
  }
  const auto push = [&](std::string_view name, int64_t ns) {
    const double time_ns = PerRun(ns, params);
    Row(table).Text(name).Float(Milliseconds(time_ns)).Float(PercentOf(time_ns, wall_ns));
  };
  for (const auto& [category, ns] : total_ns) {
    push(kCategories[category], ns);
  }
  push("busy", SumOf(sorted, "total"));
  return table;
}

}  // namespace

Result<Tables> MapInductorReport(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected all, Selected::Make(view, {}));
  Table wall{"wall", "Wall time", {}};
  AddInt(wall, "wall_ns", Unit::kNanoseconds, Role::kSum, "Of all runs.");
  Row(wall).Int(InductorWallNs(all.windows(), params));
  return Tables{MapKernelRows(view), std::move(wall)};
}

// Numbers of categories become names.
Result<void> CheckInductorReport(const Tables& tables, const Params&) {
  for (const int64_t category : Ints(tables[0], "category")) {
    if (category < 0 || category >= static_cast<int64_t>(std::size(kCategories))) {
      return Error{ErrorCode::kCorrupt, "no category has the number " + std::to_string(category)};
    }
  }
  return {};
}

Result<Tables> FinishInductorReport(Tables tables, const Params& params) {
  const double wall_ns = PerRun(SumOf(tables[1], "wall_ns"), params);
  const Table sorted = Sorted(tables[0], "total");
  Table wall{"wall", "Wall time of a run (as TorchInductor)", {}};
  AddFloat(wall, "Total wall time (ms)", Unit::kNone, Role::kDerived,
           "From --wall, else the recording / --runs.");
  Row(wall).Float(Milliseconds(wall_ns));
  return Tables{CategoryReport(sorted, params, wall_ns), KernelReport(sorted, params, wall_ns),
                std::move(wall)};
}

}  // namespace borescope::internal
