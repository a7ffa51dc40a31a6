#include "borescope/packs/chakra/check/et_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/base/stop.h"
#include "borescope/packs/chakra/check/et_totals.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostNamed = 12;  // nodes of a circle that are shown

// Counts the cases of one check and keeps the first.
class Finding {
 public:
  Finding(std::string_view check, CheckStatus when_found) : check_(check), status_(when_found) {}

  template <class Describe>
  void Add(Describe describe) {
    count_ += 1;
    if (count_ == 1) {
      first_ = describe();
    }
  }
  void Put(const std::string& file, std::vector<CheckRow>& rows) const {
    rows.push_back({file, check_, count_ == 0 ? CheckStatus::kOk : status_, count_, first_});
  }

 private:
  std::string_view check_;
  CheckStatus status_;
  uint64_t count_ = 0;
  std::string first_;
};

std::string NodeText(const EtNode& node) { return fmt::format("node {} ({})", node.id, node.name); }

void CheckRecords(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows) {
  rows.push_back({file, "empty-records",
                  et.empty_records == 0 ? CheckStatus::kOk : CheckStatus::kFailed, et.empty_records,
                  et.empty_records == 0 ? "" : "readers of the reference stop there"});
  rows.push_back({file, "unknown-fields",
                  et.unknown_fields == 0 ? CheckStatus::kOk : CheckStatus::kNote, et.unknown_fields,
                  et.unknown_fields == 0 ? "" : "of another version of the format"});
}

void CheckIds(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows) {
  Finding ids("unique-ids", CheckStatus::kFailed);
  Finding types("node-types", CheckStatus::kFailed);
  for (uint32_t place = 0; place < et.nodes.size(); ++place) {
    CheckStopAt(place);
    const EtNode& node = et.nodes[place];
    if (et.places.at(node.id) != place) {
      ids.Add([&] { return NodeText(node); });
    }
    if (node.type == EtNodeType::kInvalid || EtNodeTypeName(node.type).empty()) {
      types.Add([&] {
        return fmt::format("{} has type {}", NodeText(node), static_cast<int32_t>(node.type));
      });
    }
  }
  ids.Put(file, rows);
  types.Put(file, rows);
}

void CheckTargets(const EtFile& et, const EtNode& node, const std::vector<uint64_t>& deps,
                  Finding& finding) {
  for (const uint64_t dep : deps) {
    if (!et.places.contains(dep)) {
      finding.Add([&] { return fmt::format("{} names node {}", NodeText(node), dep); });
    }
  }
}

bool HasTwice(std::vector<uint64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) != ids.end();
}

void CheckDependencies(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows) {
  Finding data("data-deps-exist", CheckStatus::kFailed);
  Finding control("ctrl-deps-exist", CheckStatus::kNote);  // the feeder does not look at them
  Finding twice("data-deps-once", CheckStatus::kFailed);
  for (const EtNode& node : et.nodes) {
    CheckTargets(et, node, node.data_deps, data);
    CheckTargets(et, node, node.ctrl_deps, control);
    if (HasTwice(node.data_deps)) {
      twice.Add([&] { return NodeText(node) + " names a node twice, and would never start"; });
    }
  }
  data.Put(file, rows);
  control.Put(file, rows);
  twice.Put(file, rows);
}

std::string CycleText(const EtFile& et, const std::vector<uint32_t>& cycle) {
  std::string text;
  for (size_t i = 0; i < std::min(cycle.size(), kMostNamed); ++i) {
    text += fmt::format("{} ({}) -> ", et.nodes[cycle[i]].name, et.nodes[cycle[i]].id);
  }
  return text + (cycle.size() > kMostNamed ? fmt::format("{} more", cycle.size() - kMostNamed)
                                           : std::string(et.nodes[cycle[0]].name));
}

void CheckOrder(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows) {
  const std::vector<uint32_t> cycle = DataGraph(et).FindCycle();
  rows.push_back({file, "acyclic", cycle.empty() ? CheckStatus::kOk : CheckStatus::kFailed,
                  cycle.size(), cycle.empty() ? "" : CycleText(et, cycle)});
  const uint64_t stuck = et.nodes.size() - IssueOrder(et).size();
  rows.push_back({file, "all-issued", stuck == 0 ? CheckStatus::kOk : CheckStatus::kFailed, stuck,
                  stuck == 0 ? "" : "nodes that a simulator never can start"});
}

bool IsCommunication(EtNodeType type) {
  return type == EtNodeType::kCommSend || type == EtNodeType::kCommRecv ||
         type == EtNodeType::kCommColl;
}

bool HasKind(const EtNode& node) {
  const std::optional<int64_t> kind = IntAttr(node, "comm_type");
  return kind.has_value() && !EtCollectiveName(static_cast<EtCollective>(*kind)).empty();
}

bool HasSize(const EtNode& node) {
  const std::optional<int64_t> size = IntAttr(node, "comm_size");
  const bool is_barrier =
      IntAttr(node, "comm_type") == static_cast<int64_t>(EtCollective::kBarrier);
  // The generator of the reference sizes sends and receives as tensors.
  return size.value_or(0) > 0 || (size == 0 && is_barrier) || IntAttr(node, "tensor_size") > 0;
}

void CheckCommunication(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows) {
  Finding kinds("comm-types", CheckStatus::kFailed);
  Finding sizes("comm-sizes", CheckStatus::kFailed);
  Finding groups("comm-groups", CheckStatus::kNote);
  Finding elements("comm-dtypes", CheckStatus::kNote);
  for (const EtNode& node : et.nodes) {
    if (!IsCommunication(node.type)) {
      continue;
    }
    const auto describe = [&] { return NodeText(node); };
    if (node.type == EtNodeType::kCommColl && !HasKind(node)) {
      kinds.Add(describe);
    }
    if (!HasSize(node)) {
      sizes.Add(describe);
    }
    if (node.Find("pg_name") == nullptr) {
      groups.Add(describe);
    }
    if (node.inputs.types.find("Tensor(") == std::string_view::npos) {
      elements.Add(describe);
    }
  }
  kinds.Put(file, rows);
  sizes.Put(file, rows);
  groups.Put(file, rows);
  elements.Put(file, rows);
}

}  // namespace

void CheckEt(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows) {
  CheckRecords(file, et, rows);
  CheckIds(file, et, rows);
  CheckDependencies(file, et, rows);
  CheckOrder(file, et, rows);
  CheckCommunication(file, et, rows);
}

Table CheckTable(const std::vector<CheckRow>& rows) {
  constexpr std::string_view kStatus[] = {"ok", "note", "failed"};
  Table table{"checks", "Whether a simulator can trust it", {}};
  table.columns.reserve(5);  // keeps the references below valid
  Column& file = AddString(table, "file", Role::kKey, "The .et; empty for all files together.");
  Column& check = AddString(table, "check", Role::kKey, "What was looked at.");
  Column& status = AddString(table, "status", Role::kDerived,
                             "ok; note: simulators can live with it; failed: they cannot.");
  Column& count = AddInt(table, "count", Unit::kCount, Role::kSum, "Cases that were found.");
  Column& first = AddString(table, "first", Role::kDerived, "The first of them.");
  for (const CheckRow& row : rows) {
    Push(file, row.file);
    Push(check, row.check);
    Push(status, kStatus[static_cast<size_t>(row.status)]);
    Push(count, static_cast<int64_t>(row.count));
    Push(first, row.first);
  }
  return table;
}

}  // namespace borescope::internal
