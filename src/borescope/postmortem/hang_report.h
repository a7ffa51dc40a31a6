// What the analysis of a hang says: tables, and findings in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/hang_analysis.h"
#include "borescope/postmortem/hang_model.h"
#include "borescope/postmortem/program_line.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

struct HangCulpritRow {
  int64_t rank = 0;
  std::string kind = {};
  bool primary = true;
  std::string certainty = {};
  std::string hang = {};
  std::optional<std::string> activity = {};
  std::optional<std::string> group = {};
  std::optional<std::string> group_desc = {};
  std::optional<std::string> operation = {};
  std::optional<int64_t> seq = {};
  std::optional<std::string> members = {};
  std::optional<std::string> waiting_ranks = {};
  std::optional<int64_t> since_unix_ns = {};
  std::optional<int64_t> waited_ns = {};
  std::optional<std::string> last_line = {};
  std::optional<std::string> waiting_line = {};
  std::optional<std::string> stack_line = {};

  static constexpr TableNames kTable{"hang_culprits", "Ranks that keep the others from going on",
                                     20};
  static constexpr ColumnOf<HangCulpritRow> kColumns[] = {
      {"rank", &HangCulpritRow::rank, Role::kKey, "The rank."},
      {"kind", &HangCulpritRow::kind, Role::kKey,
       "never-issued, device-stuck, not-started, not-finished, mismatch-operation, "
       "mismatch-size-or-type, order or no-dump: docs/use/postmortem.md."},
      {"primary", &HangCulpritRow::primary, Role::kDerived,
       "false: a suspect, whom another culprit explains as well."},
      {"certainty", &HangCulpritRow::certainty, Role::kDerived, "certain, likely or cannot tell."},
      {"hang", &HangCulpritRow::hang, Role::kDerived,
       "shown: it waited for half of its timeout or was given up; assumed: the dumps do not say; "
       "not shown: it had waited for less than 10 s."},
      {"activity", &HangCulpritRow::activity, Role::kDerived,
       "Of a host that did not come: stopped, still issuing, or unknown."},
      {"group", &HangCulpritRow::group, Role::kDerived, "Name of the group of the operation."},
      {"group_desc", &HangCulpritRow::group_desc, Role::kDerived, "Its description."},
      {"operation", &HangCulpritRow::operation, Role::kDerived,
       "In which the others wait for it, or in which it is stuck; where ranks called different "
       "ones, what this rank called, and after a slash what others did."},
      {"seq", &HangCulpritRow::seq, Role::kDerived, "Number of the operation in its group."},
      {"members", &HangCulpritRow::members, Role::kDerived, "Ranks of the group: 0..7,9."},
      {"waiting_ranks", &HangCulpritRow::waiting_ranks, Role::kDerived,
       "Ranks that stand at the operation."},
      {"since_unix_ns", &HangCulpritRow::since_unix_ns, Unit::kNanoseconds, Role::kDerived,
       "When the first of them issued it, since 1970."},
      {"waited_ns", &HangCulpritRow::waited_ns, Unit::kNanoseconds, Role::kDerived,
       "From then until the last that the dumps know of; missing where a hang is only assumed."},
      {"last_line", &HangCulpritRow::last_line, Role::kDerived,
       "Where the rank issued its newest operation."},
      {"waiting_line", &HangCulpritRow::waiting_line, Role::kDerived,
       "Where a rank that waits issued the operation."},
      {"stack_line", &HangCulpritRow::stack_line, Role::kDerived,
       "Where its host is, by py-spy or faulthandler."}};
};

struct HangRankRow {
  int64_t rank = 0;
  bool dump = false;
  std::optional<int64_t> entries = {};
  std::optional<int64_t> first_record = {};
  std::optional<int64_t> last_record = {};
  std::optional<bool> active_only = {};
  std::optional<int64_t> outstanding = {};
  std::optional<std::string> head_group = {};
  std::optional<std::string> head_desc = {};
  std::optional<std::string> head_operation = {};
  std::optional<int64_t> head_seq = {};
  std::optional<std::string> head_state = {};
  std::optional<std::string> head_line = {};
  std::optional<std::string> waits_for = {};
  std::optional<int64_t> last_issue_unix_ns = {};
  std::optional<int64_t> late_ns = {};

  static constexpr TableNames kTable{"hang_ranks", "Where each rank stands", 32};
  static constexpr ColumnOf<HangRankRow> kColumns[] = {
      {"rank", &HangRankRow::rank, Role::kKey, "The rank."},
      {"dump", &HangRankRow::dump, Role::kDerived, "Whether it left a dump that could be read."},
      {"entries", &HangRankRow::entries, Unit::kCount, Role::kDerived, "Of its dump."},
      {"first_record", &HangRankRow::first_record, Role::kDerived,
       "Number of the oldest record in the dump."},
      {"last_record", &HangRankRow::last_record, Role::kDerived,
       "Of the newest; missing where the dump ends in the middle."},
      {"active_only", &HangRankRow::active_only, Role::kDerived,
       "Whether completed entries were left out."},
      {"outstanding", &HangRankRow::outstanding, Unit::kCount, Role::kDerived,
       "Operations issued and not finished."},
      {"head_group", &HangRankRow::head_group, Role::kDerived,
       "Group of the oldest of these, the one at which it stands."},
      {"head_desc", &HangRankRow::head_desc, Role::kDerived, "Description of that group."},
      {"head_operation", &HangRankRow::head_operation, Role::kDerived, "What it is."},
      {"head_seq", &HangRankRow::head_seq, Role::kDerived, "Its number in the group."},
      {"head_state", &HangRankRow::head_state, Role::kDerived, "scheduled or started."},
      {"head_line", &HangRankRow::head_line, Role::kDerived, "Where it was issued."},
      {"waits_for", &HangRankRow::waits_for, Role::kDerived,
       "Ranks that have not come there, or stand before it."},
      {"last_issue_unix_ns", &HangRankRow::last_issue_unix_ns, Unit::kNanoseconds, Role::kDerived,
       "When it issued its newest operation, since 1970."},
      {"late_ns", &HangRankRow::late_ns, Unit::kNanoseconds, Role::kDerived,
       "How much later than the median of its group it came to an operation that completed, at "
       "most; missing below a tenth of the timeout."}};
};

struct HangOperationRow {
  std::string group = {};
  std::string group_desc = {};
  int64_t seq = 0;
  std::string type = {};
  std::string operation = {};
  std::optional<int64_t> input_bytes = {};
  std::optional<std::string> dtype = {};
  std::optional<std::string> members = {};
  std::optional<std::string> done = {};
  std::optional<std::string> started = {};
  std::optional<std::string> open = {};
  std::optional<std::string> missing = {};
  std::optional<std::string> unknown = {};
  std::optional<std::string> at_head = {};
  std::optional<int64_t> created_first_unix_ns = {};
  std::optional<int64_t> created_last_unix_ns = {};
  std::string status = {};

  static constexpr TableNames kTable{"hang_operations", "Operations at which ranks stand", 20};
  static constexpr ColumnOf<HangOperationRow> kColumns[] = {
      {"group", &HangOperationRow::group, Role::kKey, "Name of its group."},
      {"group_desc", &HangOperationRow::group_desc, Role::kDerived, "Description of the group."},
      {"seq", &HangOperationRow::seq, Role::kKey, "Its number in the group."},
      {"type", &HangOperationRow::type, Role::kDerived, "collective, coalesced or p2p."},
      {"operation", &HangOperationRow::operation, Role::kDerived, "What it is."},
      {"input_bytes", &HangOperationRow::input_bytes, Unit::kBytes, Role::kDerived,
       "Of one rank's input."},
      {"dtype", &HangOperationRow::dtype, Role::kDerived, "Type of the input."},
      {"members", &HangOperationRow::members, Role::kDerived, "Ranks that belong to it: 0..7,9."},
      {"done", &HangOperationRow::done, Role::kDerived, "Of these, ranks that finished it."},
      {"started", &HangOperationRow::started, Role::kDerived,
       "Ranks whose device began it and did not finish."},
      {"open", &HangOperationRow::open, Role::kDerived, "Ranks that issued it and did not finish."},
      {"missing", &HangOperationRow::missing, Role::kDerived, "Ranks that did not issue it."},
      {"unknown", &HangOperationRow::unknown, Role::kDerived,
       "Ranks without a dump, or whose dump ends before it."},
      {"at_head", &HangOperationRow::at_head, Role::kDerived,
       "Ranks that stand at it: their oldest outstanding operation."},
      {"created_first_unix_ns", &HangOperationRow::created_first_unix_ns, Unit::kNanoseconds,
       Role::kDerived, "When the first rank issued it, since 1970."},
      {"created_last_unix_ns", &HangOperationRow::created_last_unix_ns, Unit::kNanoseconds,
       Role::kDerived, "When the last one did."},
      {"status", &HangOperationRow::status, Role::kDerived,
       "waits (for other ranks), stuck (all came, some finished), mismatch, or not finished."}};
};

struct HangMismatchRow {
  std::string group = {};
  std::string group_desc = {};
  int64_t seq = 0;
  std::string what = {};
  int64_t rank = 0;
  std::string value = {};
  std::optional<std::string> others = {};
  std::optional<std::string> line = {};
  std::optional<std::string> others_line = {};
  bool primary = false;

  static constexpr TableNames kTable{"hang_mismatches", "Operations in which ranks differ", 20};
  static constexpr ColumnOf<HangMismatchRow> kColumns[] = {
      {"group", &HangMismatchRow::group, Role::kKey, "Name of the group."},
      {"group_desc", &HangMismatchRow::group_desc, Role::kDerived, "Its description."},
      {"seq", &HangMismatchRow::seq, Role::kKey, "Number of the operation in the group."},
      {"what", &HangMismatchRow::what, Role::kKey,
       "operation, size or type; shift: the rank skipped operations, or has more of them."},
      {"rank", &HangMismatchRow::rank, Role::kKey, "The rank that differs."},
      {"value", &HangMismatchRow::value, Role::kDerived, "What it issued."},
      {"others", &HangMismatchRow::others, Role::kDerived,
       "What most members issued; missing where no more than half of them agree."},
      {"line", &HangMismatchRow::line, Role::kDerived, "Where the rank issued it."},
      {"others_line", &HangMismatchRow::others_line, Role::kDerived,
       "Where one of the others did."},
      {"primary", &HangMismatchRow::primary, Role::kDerived,
       "Whether no earlier difference of the group can have caused it."}};
};

// The tables hang_culprits, hang_mismatches, hang_ranks, hang_operations, and the findings.
SourceFindings ReportHang(const HangModel& model, const HangResult& result,
                          const LineFinder& lines);

// These tables without rows.
std::vector<Table> HangShape();

}  // namespace borescope::internal
