#include "borescope/analysis/verbs/graphs/graph_operators.h"

#include <compare>
#include <map>
#include <set>
#include <string_view>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

constexpr size_t kOperatorRows = 20;

struct Key {
  uint32_t graph = 0;
  CaptureFit fit = CaptureFit::kNone;
  bool has_arguments = false;
  uint32_t file = 0;  // StringId

  auto operator<=>(const Key&) const = default;
};

struct Sums {
  std::set<uint32_t> captures;
  int64_t launches = 0;
  int64_t kernels = 0;
  int64_t tied = 0;
  int64_t kernel_ns = 0;
  int64_t tied_ns = 0;
};

std::string_view FitName(CaptureFit fit) {
  constexpr std::string_view kNames[] = {"none", "exact", "aligned"};
  return kNames[static_cast<size_t>(fit)];
}

void AddKernels(const RankView& view, std::span<const DeviceId> works, Sums& sums) {
  const DeviceEvents& device = view.trace.device();
  for (const DeviceId id : works) {
    if (device.kind[id.value] != DeviceKind::kKernel) continue;
    const bool is_tied = view.index.correlation.CapturedCallOf(id).valid();
    ++sums.kernels;
    AddSaturatingTo(sums.kernel_ns, device.dur_ns[id.value]);
    sums.tied += is_tied ? 1 : 0;
    AddSaturatingTo(sums.tied_ns, is_tied ? device.dur_ns[id.value] : 0);
  }
}

std::map<Key, Sums> SumsOf(const RankView& view, const GraphLaunches& launches) {
  HashMap<uint32_t, const CaptureMatch*> match_of;  // by row of the launch
  for (const CaptureMatch& match : view.trace.captured().matches) {
    match_of[match.launch.value] = &match;
  }
  std::map<Key, Sums> sums;
  for (const GraphLaunch& launch : launches.launches) {
    const auto found = match_of.find(launch.call.value);
    if (found == match_of.end()) continue;
    const CaptureMatch& match = *found->second;
    Sums& sum = sums[{launch.graph, match.fit, match.has_arguments, match.file.value}];
    ++sum.launches;
    if (match.fit != CaptureFit::kNone) sum.captures.insert(match.capture);
    AddKernels(view, launches.WorksOf(launch), sum);
  }
  return sums;
}

Table NewTable() {
  Table table{"graph_operators", "Operators of graphs by their captures", {}, kOperatorRows};
  const auto count = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kCount, Role::kSum, doc);
  };
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  AddRankKey(table);
  AddInt(table, "graph", Unit::kNone, Role::kKey, "Number of the graph, as in `graph_launches`.");
  AddString(table, "match", Role::kKey,
            "exact: the capture requested as many kernels of the same names in the same order; "
            "aligned: some kernels are missing on one side; none: no capture fits.");
  AddString(table, "arguments", Role::kKey,
            "Whether shapes and types are known: yes, or no if captures that fit differ in them; "
            "missing without a capture.");
  AddString(table, "file", Role::kKey, "File of the captures; missing without one.");
  count("captures", "Different captures used; launches with the same kernels take them in turn.");
  count("launches", "Launches of the graph.");
  count("kernels", "Kernels that these ran.");
  count("tied", "Kernels that have a call in the capture.");
  ns("kernel_ns", "Sum of the durations of the kernels.");
  ns("tied_ns", "Sum of the durations of the tied ones.");
  AddFloat(table, "coverage", Unit::kShare, Role::kDerived,
           "Time of the tied kernels / time of the kernels; missing without time.");
  return table;
}

}  // namespace

Table GraphOperators(const RankView& view, const GraphLaunches& launches) {
  Table table = NewTable();
  for (const auto& [key, sums] : SumsOf(view, launches)) {
    const bool has_capture = key.fit != CaptureFit::kNone;
    Row row(table);
    row.Int(view.rank).Int(key.graph).Text(FitName(key.fit));
    row.MaybeText(!has_capture ? "" : key.has_arguments ? "yes" : "no");
    row.MaybeText(view.trace.Text(StringId{key.file}));
    row.Int(static_cast<int64_t>(sums.captures.size())).Int(sums.launches).Int(sums.kernels);
    row.Int(sums.tied).Int(sums.kernel_ns).Int(sums.tied_ns);
    row.Share(sums.tied_ns, sums.kernel_ns);
  }
  return table;
}

}  // namespace borescope::internal
