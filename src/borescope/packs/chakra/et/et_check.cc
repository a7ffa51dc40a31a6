#include "borescope/packs/chakra/et/et_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/chakra/convert/linked_trace.h"

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

namespace {

constexpr size_t kMostNamed = 12;  // nodes of a circle that are shown

// Counts the cases of one check, and keeps the first one.
class Finding {
 public:
  Finding(std::string_view check, EtStatus when_found) : check_(check), status_(when_found) {}

  template <class Describe>
  void Add(Describe describe) {
    count_ += 1;
    if (count_ == 1) {
      first_ = describe();
    }
  }
  void Put(const std::string& file, std::vector<CheckRow>& rows) const {
    rows.push_back({file, check_, count_ == 0 ? EtStatus::kOk : status_, count_, first_});
  }

 private:
  std::string_view check_;
  EtStatus status_;
  uint64_t count_ = 0;
  std::string first_;
};

std::string NodeText(const EtNode& node) { return fmt::format("node {} ({})", node.id, node.name); }

void CheckRecords(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows) {
  rows.push_back({file, "empty-records", et.empty_records == 0 ? EtStatus::kOk : EtStatus::kFailed,
                  et.empty_records,
                  et.empty_records == 0 ? "" : "readers of the reference stop there"});
  rows.push_back({file, "unknown-fields", et.unknown_fields == 0 ? EtStatus::kOk : EtStatus::kNote,
                  et.unknown_fields,
                  et.unknown_fields == 0 ? "" : "of another version of the format"});
}

void CheckIds(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows) {
  Finding ids("unique-ids", EtStatus::kFailed);
  Finding types("node-types", EtStatus::kFailed);
  for (const uint32_t place : EachRow(et.nodes.size())) {
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
  Finding data("data-deps-exist", EtStatus::kFailed);
  Finding control("ctrl-deps-exist", EtStatus::kNote);  // the feeder does not look at them
  Finding twice("data-deps-once", EtStatus::kFailed);
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
  rows.push_back({file, "acyclic", cycle.empty() ? EtStatus::kOk : EtStatus::kFailed, cycle.size(),
                  cycle.empty() ? "" : CycleText(et, cycle)});
  const uint64_t stuck = et.nodes.size() - IssueOrder(et).size();
  rows.push_back({file, "all-issued", stuck == 0 ? EtStatus::kOk : EtStatus::kFailed, stuck,
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
  // The generator of the reference gives sends and receives the size as a tensor.
  return size.value_or(0) > 0 || (size == 0 && is_barrier) || IntAttr(node, "tensor_size") > 0;
}

void CheckCommunication(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows) {
  Finding kinds("comm-types", EtStatus::kFailed);
  Finding sizes("comm-sizes", EtStatus::kFailed);
  Finding groups("comm-groups", EtStatus::kNote);
  Finding elements("comm-dtypes", EtStatus::kNote);
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

// Compares the .et files of the ranks of one run.

namespace {

struct Call {
  int64_t kind = -1;
  int64_t bytes = 0;
};
using Calls = std::vector<Call>;

// The calls by process group, in the order in which a simulator starts them.
std::map<std::string, Calls> CallsOf(const EtFile& et) {
  std::map<std::string, Calls> groups;
  for (const uint64_t id : IssueOrder(et)) {
    const EtNode& node = et.nodes[et.places.at(id)];
    if (node.type != EtNodeType::kCommColl) {
      continue;
    }
    const EtAttr* const group = node.Find("pg_name");
    groups[group == nullptr ? std::string() : std::string(group->bytes)].push_back(
        {IntAttr(node, "comm_type").value_or(-1), IntAttr(node, "comm_size").value_or(0)});
  }
  return groups;
}

// Parts of an all-to-all, a gather or a scatter may differ between ranks.
bool HasCommonSize(int64_t kind) {
  switch (static_cast<EtCollective>(kind)) {
    case EtCollective::kAllReduce:
    case EtCollective::kReduce:
    case EtCollective::kBroadcast:
    case EtCollective::kReduceScatter:
    case EtCollective::kReduceScatterBlock:
      return true;
    default:
      return false;
  }
}

bool Match(const Call& a, const Call& b) {
  return a.kind == b.kind && (!HasCommonSize(a.kind) || a.bytes == b.bytes);
}

std::string TextOf(const Calls& calls, size_t place) {
  if (place >= calls.size()) {
    return "nothing";
  }
  const std::string_view name = EtCollectiveName(static_cast<EtCollective>(calls[place].kind));
  return fmt::format("{} of {} bytes", name.empty() ? "an unknown one" : name, calls[place].bytes);
}

struct GroupReference {
  const std::string* file;
  Calls calls;
};

}  // namespace

void CheckCollectives(const std::vector<NamedEt>& files, std::vector<CheckRow>& rows) {
  if (files.size() < 2) {
    return;
  }
  CheckRow row{"", "collectives-match", EtStatus::kOk, 0, ""};
  std::map<std::string, GroupReference> groups;
  for (const NamedEt& file : files) {
    for (auto& [group, calls] : CallsOf(*file.et)) {
      const auto [found, is_new] = groups.try_emplace(group, GroupReference{&file.file, calls});
      if (is_new) {
        continue;
      }
      const Calls& reference = found->second.calls;
      const auto [a, b] =
          std::mismatch(reference.begin(), reference.end(), calls.begin(), calls.end(), Match);
      if (a == reference.end() && b == calls.end()) {
        continue;
      }
      const auto place = static_cast<size_t>(a - reference.begin());
      row.count += 1;
      row.status = EtStatus::kFailed;
      if (row.first.empty()) {
        row.first = fmt::format("group '{}', call {}: {} in {}, {} in {}", group, place + 1,
                                TextOf(reference, place), *found->second.file, TextOf(calls, place),
                                file.file);
      }
    }
  }
  rows.push_back(row);
}

// Compares a .et with the trace from which it was made.

namespace {

double MicrosecondsOf(std::string_view text) { return ParseNumber<double>(text).value_or(0); }

struct Cases {
  uint64_t count = 0;
  std::string first;

  void Add(std::string text) {
    first = count == 0 ? std::move(text) : first;
    count += 1;
  }
  void Put(const std::string& file, std::string_view check, std::vector<CheckRow>& rows) const {
    rows.push_back({file, check, count == 0 ? EtStatus::kOk : EtStatus::kFailed, count, first});
  }
};

// Whole microseconds may be truncated or rounded.
bool IsDuration(const EtNode& node, double us) {
  const auto written = static_cast<double>(node.duration_us);
  return written >= std::floor(us) && written <= std::ceil(us);
}

bool HasWork(const LinkedNode& node) { return !IsThread(node) && !IsProcess(node); }

}  // namespace

void CheckEtAgainst(const std::string& file, const EtFile& et, const LinkedTrace& linked,
                    std::vector<CheckRow>& rows) {
  Cases missing;
  Cases names;
  Cases durations;
  uint64_t found = 0;
  for (const LinkedNode& source : linked.nodes) {
    const auto place = et.places.find(source.id);
    if (place == et.places.end()) {
      if (HasWork(source)) {
        missing.Add(fmt::format("node {} ({})", source.id, source.name));
      }
      continue;
    }
    const EtNode& node = et.nodes[place->second];
    found += 1;
    if (node.name != source.name) {
      names.Add(fmt::format("node {}: {} was {}", node.id, node.name, source.name));
    }
    if (const double us = MicrosecondsOf(source.exclusive_us); !IsDuration(node, us)) {
      durations.Add(
          fmt::format("node {} ({}): {} us were {}", node.id, node.name, node.duration_us, us));
    }
  }
  Cases added;
  added.count = et.places.size() - found;
  added.first = added.count == 0 ? "" : "nodes that the source does not have";
  missing.Put(file, "source-nodes-kept", rows);
  added.Put(file, "no-other-nodes", rows);
  names.Put(file, "source-names", rows);
  durations.Put(file, "source-durations", rows);
}

}  // namespace borescope::internal
