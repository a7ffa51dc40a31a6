#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/postmortem/hang_report.h"
#include "borescope/postmortem/hang_words.h"

namespace borescope::internal {
namespace {

int64_t BytesOfType(std::string_view type) {
  constexpr std::pair<std::string_view, int64_t> kTypes[] = {
      {"Double", 8},         {"Long", 8},        {"ComplexFloat", 8},
      {"ComplexDouble", 16}, {"Float", 4},       {"Int", 4},
      {"Half", 2},           {"BFloat16", 2},    {"Short", 2},
      {"UInt16", 2},         {"UInt32", 4},      {"UInt64", 8},
      {"Char", 1},           {"Byte", 1},        {"Bool", 1},
      {"Float8_e4m3fn", 1},  {"Float8_e5m2", 1}, {"Float8_e4m3fnuz", 1},
      {"Float8_e5m2fnuz", 1}};
  for (const auto& [name, bytes] : kTypes) {
    if (name == type) {
      return bytes;
    }
  }
  return 0;
}

// What the members called an operation, each name once, in order.
std::vector<std::string> NamesOf(const HangWords& hang, const HangOperation& operation) {
  std::set<std::string> names;
  for (const int32_t member : hang.model.MembersOf(operation)) {
    const Issue issue = hang.IssueOf(member, operation);
    if (issue.entry != nullptr && !operation.is_p2p) {
      names.emplace(OperationName(issue.rank->dump->Name(*issue.entry)));
    }
  }
  return {names.begin(), names.end()};
}

// "broadcast / all_gather": what a rank called, and what others did.
std::string OwnFirst(const HangWords& hang, int32_t rank, const HangOperation& operation,
                     std::span<const std::string> called) {
  std::string text = hang.NameOf(operation, rank);
  const std::string own_name = text;
  constexpr size_t kMost = 4;
  size_t shown = 1;
  for (const std::string& name : called) {
    if (name == own_name) {
      continue;
    }
    if (++shown > kMost) {
      return text + " / ...";
    }
    text += " / " + name;
  }
  return text;
}

std::vector<HangCulpritRow> CulpritRows(const HangWords& hang) {
  std::vector<HangCulpritRow> rows;
  // Many culprits have one evidence, of as many members.
  std::optional<HangOperation> last;
  HangCulpritRow of_evidence;
  std::vector<std::string> called;  // of the evidence: what its members called it
  for (const HangCulprit& culprit : hang.result.culprits) {
    const HangGroup& group = hang.model.groups[culprit.evidence.group];
    if (last != culprit.evidence) {
      last = culprit.evidence;
      of_evidence.operation = hang.NameOf(culprit.evidence, culprit.waiting_rank);
      of_evidence.seq = hang.NumberOf(culprit.evidence);
      of_evidence.members = RankList(hang.model.MembersOf(culprit.evidence));
      called = NamesOf(hang, culprit.evidence);
    }
    HangCulpritRow row = of_evidence;
    if (culprit.kind == HangKind::kMismatchOperation) {
      row.operation = OwnFirst(hang, culprit.rank, culprit.evidence, called);
    }
    row.rank = culprit.rank;
    row.kind = HangKindName(culprit.kind);
    row.primary = culprit.is_primary;
    row.certainty = CertaintyName(culprit.certainty);
    row.hang = HangShownName(culprit.shown);
    row.activity = IfAny(std::string(HangActivityName(culprit.activity)));
    row.group = group.name;
    row.group_desc = group.description;
    row.waiting_ranks = IfAny(RankList(hang.AtHead(culprit.evidence)));
    row.since_unix_ns = IfNotZero(culprit.since_ns);
    row.waited_ns = WaitedOf(culprit);
    row.last_line = IfAny(hang.LastLine(culprit.rank));
    row.waiting_line = IfAny(hang.LineAt(culprit.waiting_rank, culprit.evidence));
    rows.push_back(std::move(row));
  }
  return rows;
}

void FillRank(const HangWords& hang, const HangRank& rank, HangRankRow& row) {
  const std::vector<FlightEntry>& entries = rank.dump->entries;
  const auto index = static_cast<size_t>(&rank - hang.model.ranks.data());
  row.entries = static_cast<int64_t>(entries.size());
  if (!entries.empty()) {
    row.first_record = entries.front().record_id;
    if (!rank.dump->is_cut) row.last_record = entries.back().record_id;
  }
  if (!rank.IsUnknown()) row.active_only = rank.is_active_only;
  row.outstanding = static_cast<int64_t>(rank.outstanding);
  if (!rank.head.empty()) {
    const HangOperation& head = rank.head.front();
    row.head_group = hang.model.groups[head.group].name;
    row.head_desc = hang.model.groups[head.group].description;
    row.head_operation = hang.NameOf(head, rank.rank);
    row.head_seq =
        head.is_p2p && !rank.IsHeadLost() ? entries[rank.head_entry].p2p_seq : hang.NumberOf(head);
    if (!rank.IsHeadLost()) {
      const FlightEntry& entry = entries[rank.head_entry];
      row.head_state = IfAny(std::string(FlightStateName(entry.state)));
      row.head_line = IfAny(hang.LineOf(rank, entry));
    }
    row.waits_for = IfAny(RankList(hang.result.waits_for[index]));
  }
  if (!rank.dump->is_cut) row.last_issue_unix_ns = IfNotZero(rank.newest_created_ns);
  row.late_ns = IfNotZero(hang.result.late_ns[index]);
}

std::vector<HangRankRow> RankRows(const HangWords& hang) {
  // A dump of a few bytes can say that there are many ranks: those without a dump have rows in
  // jobs of a size that there is.
  constexpr int32_t kMostWithoutDump = 1 << 16;
  std::vector<HangRankRow> rows;
  for (int32_t number = 0; number < hang.model.world; ++number) {
    HangRankRow row;
    row.rank = number;
    const HangRank* const rank = hang.model.Of(number);
    if (rank == nullptr && hang.model.world > kMostWithoutDump) {
      continue;
    }
    row.dump = rank != nullptr;
    if (rank != nullptr) {
      FillRank(hang, *rank, row);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void FillSizes(const Issue& issue, HangOperationRow& row) {
  const FlightDump& dump = *issue.rank->dump;
  const std::vector<std::string_view> types = dump.Texts(issue.entry->input_types);
  if (types.empty()) {
    return;
  }
  row.dtype = types.front();
  const int64_t each = BytesOfType(types.front());
  const int64_t elements = ElementsOf(dump, issue.entry->input_sizes);
  constexpr int64_t kMost = int64_t{1} << 55U;
  if (each > 0 && elements < kMost) {
    row.input_bytes = each * elements;
  }
}

HangOperationRow OperationRow(const HangWords& hang, const HangOperation& operation,
                              bool is_mismatch) {
  struct Lists {
    std::vector<int32_t> done, started, open, missing, unknown;
  } lists;
  HangOperationRow row;
  const std::vector<int32_t> members = hang.model.MembersOf(operation);
  int64_t last = 0;
  int64_t first = 0;
  for (const int32_t member : members) {
    const Where where = WhereIs(hang.model, member, operation);
    const Issue issue = hang.IssueOf(member, operation);
    const int64_t created =
        issue.entry == nullptr ? 0 : hang.model.IssuedAt(*issue.rank, operation);
    last = std::max(last, created);
    first = created != 0 && (first == 0 || created < first) ? created : first;
    const bool has_begun = issue.last != nullptr && (issue.last->state == FlightState::kStarted ||
                                                     issue.last->discovered_started_ns > 0);
    std::vector<int32_t>& list = where.state == WhereState::kDone        ? lists.done
                                 : where.state == WhereState::kNotIssued ? lists.missing
                                 : where.state == WhereState::kNoDump    ? lists.unknown
                                 : has_begun                             ? lists.started
                                                                         : lists.open;
    list.push_back(member);
  }
  const HangGroup& group = hang.model.groups[operation.group];
  const Issue issue = hang.AnyIssue(operation, members);
  row.group = group.name;
  row.group_desc = group.description;
  row.seq = hang.NumberOf(operation);
  row.operation = hang.NameOf(operation);
  row.type = operation.is_p2p                                      ? "p2p"
             : issue.entry != nullptr && issue.entry != issue.last ? "coalesced"
                                                                   : "collective";
  if (issue.entry != nullptr) {
    FillSizes(issue, row);
  }
  row.members = IfAny(RankList(members));
  row.done = IfAny(RankList(lists.done));
  row.started = IfAny(RankList(lists.started));
  row.open = IfAny(RankList(lists.open));
  row.missing = IfAny(RankList(lists.missing));
  row.unknown = IfAny(RankList(lists.unknown));
  row.at_head = IfAny(RankList(hang.AtHead(operation)));
  row.created_first_unix_ns = IfNotZero(first);
  row.created_last_unix_ns = IfNotZero(last);
  row.status = is_mismatch                                                          ? "mismatch"
               : !lists.missing.empty() || !lists.unknown.empty()                   ? "waits"
               : hang.AtHead(operation).size() + lists.done.size() < members.size() ? "waits"
               : !lists.done.empty()                                                ? "stuck"
                                     : "not finished";
  return row;
}

std::vector<HangOperationRow> OperationRows(const HangWords& hang) {
  std::map<HangOperation, char> shown;
  for (const auto& [operation, ranks] : hang.at_head) {
    shown[operation] = 1;
  }
  for (const HangCulprit& culprit : hang.result.culprits) {
    shown[culprit.evidence] = 1;
  }
  std::set<HangOperation> mismatched;
  for (const HangMismatch& mismatch : hang.result.mismatches) {
    mismatched.insert(mismatch.operation);
  }
  std::vector<HangOperationRow> rows;
  rows.reserve(shown.size());
  for (const auto& [operation, unused] : shown) {
    rows.push_back(OperationRow(hang, operation, mismatched.contains(operation)));
  }
  return rows;
}

// With whom a rank is compared: the other end of a transfer, or those who agree.
std::vector<int32_t> OthersOf(const HangMismatch& mismatch, int32_t rank) {
  if (!mismatch.operation.is_p2p) {
    return mismatch.others;
  }
  return {rank == mismatch.operation.from ? mismatch.operation.to : mismatch.operation.from};
}

std::string WhatDiffers(const HangMismatch& mismatch, const Issue& own, const Issue& other) {
  if (mismatch.kind == HangKind::kMismatchOperation) {
    return "operation";
  }
  if (other.entry == nullptr) {
    return "size";
  }
  const bool has_same_types = own.rank->dump->Texts(own.entry->input_types) ==
                              other.rank->dump->Texts(other.entry->input_types);
  return has_same_types ? "size" : "type";
}

void AddMismatch(const HangWords& hang, const HangMismatch& mismatch, int32_t rank,
                 std::vector<HangMismatchRow>& rows) {
  const HangGroup& group = hang.model.groups[mismatch.operation.group];
  const Issue own = hang.IssueOf(rank, mismatch.operation);
  const Issue other = hang.AnyIssue(mismatch.operation, OthersOf(mismatch, rank));
  HangMismatchRow row;
  row.group = group.name;
  row.group_desc = group.description;
  row.seq = hang.NumberOf(mismatch.operation);
  row.what = WhatDiffers(mismatch, own, other);
  row.rank = rank;
  row.value = Signature(own);
  row.others = IfAny(other.entry == nullptr ? "" : Signature(other));
  row.line = IfAny(hang.LineOf(*own.rank, *own.entry));
  row.others_line = IfAny(other.entry == nullptr ? "" : hang.LineOf(*other.rank, *other.entry));
  row.primary = mismatch.is_primary;
  rows.push_back(row);
  if (const HangShift shift = mismatch.ShiftOf(rank); shift.count != 0) {
    row.what = "shift";
    row.value = shift.is_either
                    ? "has " + CountWords(static_cast<size_t>(std::abs(shift.count)),
                                          "operation more or less", "operations more or less")
                : shift.count > 1        ? fmt::format("has {} operations more", shift.count)
                : shift.count > 0        ? "has one operation more"
                : shift.count < -1       ? fmt::format("skipped {} operations", -shift.count)
                : mismatch.is_begin_lost ? "skipped this operation or one before"
                                         : "skipped this operation";
    row.others = std::nullopt;
    rows.push_back(std::move(row));
  }
}

std::vector<HangMismatchRow> MismatchRows(const HangWords& hang) {
  std::vector<HangMismatchRow> rows;
  for (const HangMismatch& mismatch : hang.result.mismatches) {
    for (const int32_t rank : mismatch.ranks) {
      AddMismatch(hang, mismatch, rank, rows);
    }
  }
  return rows;
}

}  // namespace

std::vector<Table> HangTables(const HangWords& hang) {
  return {MakeTable(CulpritRows(hang)), MakeTable(MismatchRows(hang)), MakeTable(RankRows(hang)),
          MakeTable(OperationRows(hang))};
}

std::vector<Table> HangShape() {
  return {NewTable<HangCulpritRow>(), NewTable<HangMismatchRow>(), NewTable<HangRankRow>(),
          NewTable<HangOperationRow>()};
}

}  // namespace borescope::internal
