#include "borescope/packs/chakra/check/et_totals.h"

#include <algorithm>
#include <limits>

#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t NanosecondsOf(uint64_t us) {
  return us > static_cast<uint64_t>(kMost) / 1000 ? kMost : static_cast<int64_t>(us) * 1000;
}

int64_t Clamped(uint64_t number) {
  return static_cast<int64_t>(std::min(number, static_cast<uint64_t>(kMost)));
}

bool IsNumber(EtScalar scalar) {
  return scalar >= EtScalar::kInt32 && scalar <= EtScalar::kSfixed64;
}

}  // namespace

EtTypeTotals& EtTotals::RowOf(EtNodeType type) {
  const auto number = static_cast<size_t>(type);
  return types_[number < types_.size() ? number : 0];
}

void EtTotals::Add(const EtNode& node) {
  EtTypeTotals& row = RowOf(node.type);
  row.nodes += 1;
  AddSaturatingTo(row.data_deps, static_cast<int64_t>(node.data_deps.size()));
  AddSaturatingTo(row.dur_ns, DurationNs(node));
  AddSaturatingTo(row.comm_bytes, std::max<int64_t>(IntAttr(node, "comm_size").value_or(0), 0));
}

void EtTotals::Add(const PlannedNode& node) {
  EtTypeTotals& row = RowOf(node.type);
  row.nodes += 1;
  AddSaturatingTo(row.data_deps, static_cast<int64_t>(node.data_deps.size()));
  AddSaturatingTo(row.dur_ns, node.duration_ns.has_value() ? Clamped(*node.duration_ns)
                                                           : NanosecondsOf(node.duration_us));
  AddSaturatingTo(row.comm_bytes, node.comm_bytes.value_or(0));
}

EtTotals TotalsOf(const EtFile& et) {
  EtTotals totals;
  for (const EtNode& node : et.nodes) {
    totals.Add(node);
  }
  return totals;
}

EtTotals TotalsOf(const EtPlan& plan) {
  EtTotals totals;
  for (const PlannedNode& node : plan.nodes) {
    totals.Add(node);
  }
  return totals;
}

Table EtTotalsTable(const std::vector<NamedTotals>& files) {
  Table table{"totals", "Nodes by type", {}};
  table.columns.reserve(6);  // keeps the references below valid
  Column& file = AddString(table, "file", Role::kKey, "The .et.");
  Column& type = AddString(table, "type", Role::kKey, "Type of the nodes.");
  Column& nodes = AddInt(table, "nodes", Unit::kCount, Role::kSum, "Number of nodes.");
  Column& deps = AddInt(table, "data_deps", Unit::kCount, Role::kSum,
                        "Data dependencies of these nodes, which is what a simulator waits for.");
  Column& dur = AddInt(table, "dur_ns", Unit::kNanoseconds, Role::kSum,
                       "Their durations; of operators without those inside them.");
  Column& bytes = AddInt(table, "comm_bytes", Unit::kBytes, Role::kSum,
                         "What this device puts into its communication.");
  for (const NamedTotals& item : files) {
    for (int32_t i = 0; i <= static_cast<int32_t>(EtNodeType::kCommColl); ++i) {
      const EtTypeTotals& row = item.totals.Of(static_cast<EtNodeType>(i));
      if (row.nodes == 0) {
        continue;
      }
      Push(file, item.file);
      Push(type, EtNodeTypeName(static_cast<EtNodeType>(i)));
      Push(nodes, row.nodes);
      Push(deps, row.data_deps);
      Push(dur, row.dur_ns);
      Push(bytes, row.comm_bytes);
    }
  }
  return table;
}

std::optional<int64_t> IntAttr(const EtNode& node, std::string_view name) {
  const EtAttr* const attr = node.Find(name);
  if (attr == nullptr || attr->field == 0 || attr->is_list() || !IsNumber(attr->scalar())) {
    return std::nullopt;
  }
  return static_cast<int64_t>(attr->bits);
}

int64_t DurationNs(const EtNode& node) {
  const std::optional<int64_t> exact = IntAttr(node, "duration_nanos");
  return exact.value_or(-1) >= 0 ? *exact : NanosecondsOf(node.duration_us);
}

}  // namespace borescope::internal
