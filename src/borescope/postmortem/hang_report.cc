#include "borescope/postmortem/hang_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace borescope::internal {
namespace {

std::optional<int64_t> IfNotZero(int64_t value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

// "3 ranks wait", "1 rank waits"
std::string Ranks(size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string Seconds(int64_t ns) {
  const double seconds = static_cast<double>(ns) / static_cast<double>(kSecondNs);
  return seconds < 10 ? fmt::format("{:.3f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

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

// What a rank issued of an operation.
struct Issue {
  const HangRank* rank = nullptr;
  const FlightEntry* entry = nullptr;  // the first one of it
  const FlightEntry* last = nullptr;   // whose state it has
};

class Reporter {
 public:
  Reporter(const HangModel& model, const HangResult& result, const LineFinder& lines)
      : model_(model), result_(result), lines_(lines) {
    for (const HangRank& rank : model_.ranks) {
      for (const HangOperation& operation : rank.head) {
        at_head_[operation].push_back(rank.rank);
      }
    }
    for (const HangMismatch& mismatch : result_.mismatches) {
      mismatched_.insert(mismatch.operation);
    }
    waiting_for_.resize(static_cast<size_t>(model_.world));
    for (size_t i = 0; i < model_.ranks.size(); ++i) {
      for (const int32_t rank : result_.waits_for[i]) {
        waiting_for_[static_cast<size_t>(rank)].push_back(model_.ranks[i].rank);
      }
    }
  }

  SourceFindings Make() {
    SourceFindings made;
    made.tables = {MakeTable(CulpritRows()), MakeTable(MismatchRows()), MakeTable(RankRows()),
                   MakeTable(OperationRows())};
    AddFindings(made);
    return made;
  }

 private:
  // ---- what is known of an operation ----

  Issue IssueOf(int32_t rank, const HangOperation& operation) const {
    const HangRank* const at = model_.Of(rank);
    if (at == nullptr) {
      return {};
    }
    const std::vector<FlightEntry>& entries = at->dump->entries;
    if (operation.is_p2p) {
      const IssuedTransfer* const transfer = at->FindTransfer(operation);
      return transfer == nullptr
                 ? Issue{at, nullptr, nullptr}
                 : Issue{at, &entries[transfer->entry], &entries[transfer->last_entry]};
    }
    const IssuedOperation* const issued = at->Find(operation);
    return issued == nullptr
               ? Issue{at, nullptr, nullptr}
               : Issue{at, &entries[issued->first_entry], &entries[issued->last_entry]};
  }

  // The issue of any rank of these.
  Issue AnyIssue(const HangOperation& operation, std::span<const int32_t> ranks) const {
    for (const int32_t rank : ranks) {
      const Issue issue = IssueOf(rank, operation);
      if (issue.entry != nullptr) {
        return issue;
      }
    }
    return {};
  }

  std::string NameOf(const HangOperation& operation) const {
    const Issue issue = AnyIssue(operation, model_.MembersOf(operation));
    if (operation.is_p2p) {
      const auto place = [](int32_t rank) {
        return rank == HangOperation::kAnyRank ? std::string("?") : fmt::format("{}", rank);
      };
      return fmt::format("send {}->{}", place(operation.from), place(operation.to));
    }
    return issue.entry == nullptr
               ? std::string("operation")
               : std::string(OperationName(issue.rank->dump->Name(*issue.entry)));
  }

  // As the rank calls it: the two ends of a transfer have names of their own.
  std::string NameOf(const HangOperation& operation, int32_t rank) const {
    const bool receives = operation.is_p2p && rank == operation.to && rank != operation.from;
    if (!receives) {
      return NameOf(operation);
    }
    return operation.from == HangOperation::kAnyRank
               ? fmt::format("recv {}<-?", operation.to)
               : fmt::format("recv {}<-{}", operation.to, operation.from);
  }

  int64_t NumberOf(const HangOperation& operation) const {
    if (!operation.is_p2p) {
      return operation.number;
    }
    const Issue issue = AnyIssue(operation, model_.MembersOf(operation));
    return issue.entry == nullptr ? operation.number : issue.entry->p2p_seq;
  }

  std::string GroupName(const HangOperation& operation) const {
    const HangGroup& group = model_.groups[operation.group];
    return group.description.empty() || group.description == "undefined" ? "group " + group.name
                                                                         : group.description;
  }
  std::string GroupWords(const HangOperation& operation) const {
    return fmt::format("{} ({})", GroupName(operation),
                       Ranks(model_.groups[operation.group].members.size(), "member", "members"));
  }

  // "all_to_all 45265 of EXPERT_MODEL_PARALLEL_GROUP (8 members)", of a transfer as one of `ranks`
  // calls it: where there are several, these are its two ends.
  std::string Words(const HangOperation& operation, std::span<const int32_t> ranks) const {
    if (!operation.is_p2p) {
      return fmt::format("{} {} of {}", NameOf(operation), operation.number, GroupWords(operation));
    }
    return fmt::format("{} of {}",
                       ranks.size() == 1 ? NameOf(operation, ranks.front()) : NameOf(operation),
                       GroupWords(operation));
  }

  std::span<const int32_t> AtHead(const HangOperation& operation) const {
    const auto found = at_head_.find(operation);
    return found == at_head_.end() ? std::span<const int32_t>() : found->second;
  }

  std::string LineOf(const HangRank& rank, const FlightEntry& entry) const {
    std::vector<ProgramFrame> frames;
    for (const FlightFrame& frame : rank.dump->Frames(entry)) {
      frames.push_back({frame.file, frame.function, frame.line});
    }
    return lines_.LineOf(frames);
  }

  std::string LastLine(int32_t rank) const {
    const HangRank* const at = model_.Of(rank);
    // The last entry of a dump that ends in the middle is not where the rank was last.
    return at == nullptr || at->dump->entries.empty() || at->dump->is_cut
               ? ""
               : LineOf(*at, at->dump->entries.back());
  }

  std::string LineAt(int32_t rank, const HangOperation& operation) const {
    const Issue issue = IssueOf(rank, operation);
    return issue.entry == nullptr ? "" : LineOf(*issue.rank, *issue.entry);
  }

  // ---- tables ----

  // What the members called an operation, each name once, in order.
  std::vector<std::string> NamesOf(const HangOperation& operation) const {
    std::set<std::string> names;
    for (const int32_t member : model_.MembersOf(operation)) {
      const Issue issue = IssueOf(member, operation);
      if (issue.entry != nullptr && !operation.is_p2p) {
        names.emplace(OperationName(issue.rank->dump->Name(*issue.entry)));
      }
    }
    return {names.begin(), names.end()};
  }

  // "broadcast / all_gather": what a rank called, and what others did.
  std::string OwnFirst(int32_t rank, const HangOperation& operation,
                       std::span<const std::string> called) const {
    const Issue own = IssueOf(rank, operation);
    std::string text = own.entry == nullptr
                           ? NameOf(operation)
                           : std::string(OperationName(own.rank->dump->Name(*own.entry)));
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

  // Where a hang is assumed, what is known of its length says nothing.
  static std::optional<int64_t> WaitedOf(const HangCulprit& culprit) {
    return culprit.shown == HangShown::kShown ? IfNotZero(culprit.waited_ns) : std::nullopt;
  }

  std::vector<HangCulpritRow> CulpritRows() const {
    std::vector<HangCulpritRow> rows;
    // Many culprits have one evidence, of as many members.
    std::optional<HangOperation> last;
    HangCulpritRow of_evidence;
    std::vector<std::string> called;  // of the evidence: what its members called it
    for (const HangCulprit& culprit : result_.culprits) {
      const HangGroup& group = model_.groups[culprit.evidence.group];
      if (last != culprit.evidence) {
        last = culprit.evidence;
        of_evidence.operation = NameOf(culprit.evidence, culprit.waiting_rank);
        of_evidence.seq = NumberOf(culprit.evidence);
        of_evidence.members = RankList(model_.MembersOf(culprit.evidence));
        called = NamesOf(culprit.evidence);
      }
      HangCulpritRow row = of_evidence;
      if (culprit.kind == HangKind::kMismatchOperation) {
        row.operation = OwnFirst(culprit.rank, culprit.evidence, called);
      }
      row.rank = culprit.rank;
      row.kind = HangKindName(culprit.kind);
      row.primary = culprit.is_primary;
      row.certainty = CertaintyName(culprit.certainty);
      row.hang = HangShownName(culprit.shown);
      row.activity = IfAny(std::string(HangActivityName(culprit.activity)));
      row.group = group.name;
      row.group_desc = group.description;
      row.waiting_ranks = IfAny(RankList(AtHead(culprit.evidence)));
      row.since_unix_ns = IfNotZero(culprit.since_ns);
      row.waited_ns = WaitedOf(culprit);
      row.last_line = IfAny(LastLine(culprit.rank));
      row.waiting_line = IfAny(LineAt(culprit.waiting_rank, culprit.evidence));
      rows.push_back(std::move(row));
    }
    return rows;
  }

  std::vector<HangRankRow> RankRows() const {
    // A dump of a few bytes can say that there are many ranks: those without a dump have rows in
    // jobs of a size that there is.
    constexpr int32_t kMostWithoutDump = 1 << 16;
    std::vector<HangRankRow> rows;
    for (int32_t number = 0; number < model_.world; ++number) {
      HangRankRow row;
      row.rank = number;
      const HangRank* const rank = model_.Of(number);
      if (rank == nullptr && model_.world > kMostWithoutDump) {
        continue;
      }
      row.dump = rank != nullptr;
      if (rank != nullptr) {
        FillRank(*rank, row);
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  void FillRank(const HangRank& rank, HangRankRow& row) const {
    const std::vector<FlightEntry>& entries = rank.dump->entries;
    const auto index = static_cast<size_t>(&rank - model_.ranks.data());
    row.entries = static_cast<int64_t>(entries.size());
    if (!entries.empty()) {
      row.first_record = entries.front().record_id;
      if (!rank.dump->is_cut) row.last_record = entries.back().record_id;
    }
    if (!rank.IsUnknown()) row.active_only = rank.is_active_only;
    row.outstanding = static_cast<int64_t>(rank.outstanding);
    if (!rank.head.empty()) {
      const HangOperation& head = rank.head.front();
      row.head_group = model_.groups[head.group].name;
      row.head_desc = model_.groups[head.group].description;
      row.head_operation = NameOf(head, rank.rank);
      row.head_seq =
          head.is_p2p && !rank.IsHeadLost() ? entries[rank.head_entry].p2p_seq : NumberOf(head);
      if (!rank.IsHeadLost()) {
        const FlightEntry& entry = entries[rank.head_entry];
        row.head_state = IfAny(std::string(FlightStateName(entry.state)));
        row.head_line = IfAny(LineOf(rank, entry));
      }
      row.waits_for = IfAny(RankList(result_.waits_for[index]));
    }
    if (!rank.dump->is_cut) row.last_issue_unix_ns = IfNotZero(rank.newest_created_ns);
    row.late_ns = IfNotZero(result_.late_ns[index]);
  }

  std::vector<HangOperationRow> OperationRows() const {
    std::map<HangOperation, char> shown;
    for (const auto& [operation, ranks] : at_head_) {
      shown[operation] = 1;
    }
    for (const HangCulprit& culprit : result_.culprits) {
      shown[culprit.evidence] = 1;
    }
    std::vector<HangOperationRow> rows;
    rows.reserve(shown.size());
    for (const auto& [operation, unused] : shown) {
      rows.push_back(OperationRow(operation));
    }
    return rows;
  }

  HangOperationRow OperationRow(const HangOperation& operation) const {
    struct Lists {
      std::vector<int32_t> done, started, open, missing, unknown;
    } lists;
    HangOperationRow row;
    const std::vector<int32_t> members = model_.MembersOf(operation);
    int64_t last = 0;
    int64_t first = 0;
    for (const int32_t member : members) {
      const Where where = WhereIs(model_, member, operation);
      const Issue issue = IssueOf(member, operation);
      const int64_t created = issue.entry == nullptr ? 0 : issue.entry->created_ns;
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
    const HangGroup& group = model_.groups[operation.group];
    const Issue issue = AnyIssue(operation, members);
    row.group = group.name;
    row.group_desc = group.description;
    row.seq = NumberOf(operation);
    row.operation = NameOf(operation);
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
    row.at_head = IfAny(RankList(AtHead(operation)));
    row.created_first_unix_ns = IfNotZero(first);
    row.created_last_unix_ns = IfNotZero(last);
    row.status = IsMismatch(operation)                                           ? "mismatch"
                 : !lists.missing.empty() || !lists.unknown.empty()              ? "waits"
                 : AtHead(operation).size() + lists.done.size() < members.size() ? "waits"
                 : !lists.done.empty()                                           ? "stuck"
                                                                                 : "not finished";
    return row;
  }

  bool IsMismatch(const HangOperation& operation) const { return mismatched_.contains(operation); }

  static void FillSizes(const Issue& issue, HangOperationRow& row) {
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

  std::vector<HangMismatchRow> MismatchRows() const {
    std::vector<HangMismatchRow> rows;
    for (const HangMismatch& mismatch : result_.mismatches) {
      for (const int32_t rank : mismatch.ranks) {
        AddMismatch(mismatch, rank, rows);
      }
    }
    return rows;
  }

  void AddMismatch(const HangMismatch& mismatch, int32_t rank,
                   std::vector<HangMismatchRow>& rows) const {
    const HangGroup& group = model_.groups[mismatch.operation.group];
    const Issue own = IssueOf(rank, mismatch.operation);
    const Issue other = AnyIssue(mismatch.operation, OthersOf(mismatch, rank));
    HangMismatchRow row;
    row.group = group.name;
    row.group_desc = group.description;
    row.seq = NumberOf(mismatch.operation);
    row.what = WhatDiffers(mismatch, own, other);
    row.rank = rank;
    row.value = Signature(own);
    row.others = IfAny(other.entry == nullptr ? "" : Signature(other));
    row.line = IfAny(LineOf(*own.rank, *own.entry));
    row.others_line = IfAny(other.entry == nullptr ? "" : LineOf(*other.rank, *other.entry));
    row.primary = mismatch.is_primary;
    rows.push_back(row);
    if (mismatch.shift.has_value()) {
      row.what = "shift";
      row.value = *mismatch.shift > 0      ? "has one operation more"
                  : mismatch.is_begin_lost ? "skipped this operation or one before"
                                           : "skipped this operation";
      row.others = std::nullopt;
      rows.push_back(std::move(row));
    }
  }

  // With whom a rank is compared: the other end of a transfer, or those who agree.
  static std::vector<int32_t> OthersOf(const HangMismatch& mismatch, int32_t rank) {
    if (!mismatch.operation.is_p2p) {
      return mismatch.others;
    }
    return {rank == mismatch.operation.from ? mismatch.operation.to : mismatch.operation.from};
  }

  static std::string WhatDiffers(const HangMismatch& mismatch, const Issue& own,
                                 const Issue& other) {
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

  // "all_reduce of 16 to 16 Float"; of several that were launched together, "3 times
  // reduce_scatter in one launch, of 1200 to 300 Float in all".
  static std::string Signature(const Issue& issue) {
    const FlightDump& dump = *issue.rank->dump;
    const FlightEntry& first = *issue.entry;
    size_t calls = 0;
    int64_t in = 0;
    int64_t out = 0;
    for (const FlightEntry* entry = issue.entry; entry <= issue.last; ++entry) {
      const bool is_of_launch = entry->group == first.group && entry->is_p2p == first.is_p2p;
      // What closes a launch has no tensors.
      if (entry == issue.entry ||
          (is_of_launch && !first.is_p2p && !IsClosing(dump.Name(*entry)))) {
        ++calls;
        in += ElementsOf(dump, entry->input_sizes);
        out += ElementsOf(dump, entry->output_sizes);
      }
    }
    const std::string_view name = OperationName(dump.Name(first));
    std::string text =
        calls == 1 ? std::string(name) : fmt::format("{} times {} in one launch,", calls, name);
    if (first.input_sizes != FlightEntry::kNothing) {
      text += fmt::format(" of {}", in);
    }
    if (first.output_sizes != FlightEntry::kNothing) {
      text += fmt::format(" to {}", out);
    }
    const std::vector<std::string_view> types = dump.Texts(first.input_types);
    text += types.empty() ? "" : fmt::format(" {}", types.front());
    return calls == 1 ? text : text + " in all";
  }

  // ---- findings ----

  // Culprits of one kind at one operation.
  struct Together {
    const HangCulprit* first = nullptr;
    std::vector<int32_t> ranks;
  };

  std::vector<Together> InGroups() const {
    std::vector<Together> groups;
    for (const HangCulprit& culprit : result_.culprits) {
      const auto is_like = [&](const Together& other) {
        const bool has_own_evidence =
            culprit.kind != HangKind::kOrder && culprit.kind != HangKind::kDeviceStuck;
        return other.first->kind == culprit.kind && other.first->is_primary == culprit.is_primary &&
               other.first->certainty == culprit.certainty &&
               (!has_own_evidence || other.first->evidence == culprit.evidence);
      };
      const auto found = std::find_if(groups.begin(), groups.end(), is_like);
      if (found == groups.end()) {
        groups.push_back({&culprit, {culprit.rank}});
      } else {
        found->ranks.push_back(culprit.rank);
      }
    }
    for (Together& group : groups) {
      std::sort(group.ranks.begin(), group.ranks.end());
    }
    return groups;
  }

  void AddFindings(SourceFindings& made) const {
    if (!result_.is_anything_outstanding && result_.culprits.empty()) {
      made.findings.push_back(NothingOutstanding());
      return;
    }
    if (result_.is_too_few) {
      made.findings.push_back(TooFew());
      made.is_unclear = true;
      return;
    }
    const bool is_shown = std::any_of(
        result_.culprits.begin(), result_.culprits.end(),
        [](const HangCulprit& culprit) { return culprit.shown != HangShown::kNotShown; });
    const bool is_mismatch = !result_.culprits.empty() &&
                             (result_.culprits.front().kind == HangKind::kMismatchOperation ||
                              result_.culprits.front().kind == HangKind::kMismatchSizeOrType);
    if (!is_shown && !is_mismatch) {
      made.findings.push_back(PerhapsRunning());
      return;
    }
    for (const Together& group : InGroups()) {
      made.findings.push_back(FindingOf(group));
      made.has_cause = made.has_cause || group.first->kind != HangKind::kNotFinished;
      made.is_unclear = made.is_unclear || group.first->certainty == Certainty::kCannotTell;
    }
    if (const std::optional<JobFinding> late = LateRanks(); late.has_value()) {
      made.findings.push_back(*late);
    }
  }

  std::vector<int32_t> WithoutWholeDump() const {
    std::vector<int32_t> ranks;
    for (int32_t rank = 0; rank < model_.world; ++rank) {
      if (!model_.IsWhole(rank)) {
        ranks.push_back(rank);
      }
    }
    return ranks;
  }

  std::vector<int32_t> WithWholeDump() const {
    std::vector<int32_t> ranks;
    for (const HangRank& rank : model_.ranks) {
      if (model_.IsWhole(rank.rank)) {
        ranks.push_back(rank.rank);
      }
    }
    return ranks;
  }

  std::string GiveAll() const {
    return model_.is_world_told ? "Give the dumps of all ranks, whole."
                                : "Give the dumps of all ranks, whole, or --world N.";
  }

  // What is not known of the other ranks, as a sentence.
  std::string UnknownWords() const {
    const std::vector<int32_t> without = WithoutWholeDump();
    std::string text =
        without.empty() ? "" : fmt::format(" No whole dump of {} is there.", RankWords(without));
    text += model_.is_world_known ? "" : " Nothing says how many ranks the job has.";
    return text;
  }

  // Others wait for ranks, but too little is there to say for whom.
  JobFinding TooFew() const {
    JobFinding finding;
    finding.order = CauseRank::kNothing;
    finding.finding = "These dumps are too few to tell";
    finding.severity = Severity::kWarning;
    finding.certainty = Certainty::kCannotTell;
    finding.ranks = RankList(WithoutWholeDump());
    std::string text;
    constexpr size_t kMostNamed = 3;
    size_t named = 0;
    for (const auto& [operation, ranks] : at_head_) {
      if (named++ < kMostNamed) {
        text += fmt::format("{}{} {} in {}", text.empty() ? "" : "; ", RankWords(ranks),
                            ranks.size() == 1 ? "waits" : "wait", Words(operation, ranks));
      }
    }
    text[0] = 'R';
    finding.evidence = text + "." + UnknownWords();
    finding.help = GiveAll();
    return finding;
  }

  JobFinding NothingOutstanding() const {
    const std::vector<int32_t> without = WithoutWholeDump();
    JobFinding finding;
    if (!without.empty() || !model_.is_world_known) {
      finding.finding = "These dumps are too few to tell";
      finding.severity = Severity::kInfo;
      finding.certainty = Certainty::kCannotTell;
      finding.ranks = RankList(without);
      const std::vector<int32_t> with = WithWholeDump();
      finding.evidence = with.empty()
                             ? std::string("Nothing is outstanding in what could be read.")
                             : fmt::format("Every operation in the {} of {} is complete.",
                                           with.size() == 1 ? "dump" : "dumps", RankWords(with));
      finding.evidence += UnknownWords();
      finding.help = GiveAll();
      return finding;
    }
    finding.order = CauseRank::kNothing;
    finding.finding = "No communication was outstanding";
    finding.severity = Severity::kInfo;
    finding.certainty = Certainty::kCertain;
    finding.evidence =
        "Every operation in every dump is complete: the job did not hang in a collective.";
    finding.help =
        "Look at what each rank wrote last: an exception, a signal, memory that ran out.";
    return finding;
  }

  JobFinding PerhapsRunning() const {
    JobFinding finding;
    finding.order = CauseRank::kNothing;
    finding.finding = "Communication was outstanding, as in any running job";
    finding.severity = Severity::kInfo;
    finding.certainty = Certainty::kCannotTell;
    int32_t last = -1;
    int64_t newest = 0;
    for (const HangRank& rank : model_.ranks) {
      if (last < 0 || (rank.newest_created_ns < newest && !rank.dump->is_cut)) {
        last = rank.rank;
        newest = rank.newest_created_ns;
      }
    }
    finding.evidence = fmt::format(
        "The dumps were written less than 10 s after the operations at which ranks stand were "
        "issued: a running job, or one that hung just now. Rank {} issued its newest operation "
        "first, at {}.",
        last, ClockTime(newest));
    finding.help =
        "Write the dumps again in a minute: if the same operations are outstanding then, it hangs.";
    return finding;
  }

  std::optional<JobFinding> LateRanks() const {
    std::vector<int32_t> ranks;
    int64_t most = 0;
    for (size_t i = 0; i < model_.ranks.size(); ++i) {
      if (result_.late_ns[i] > 0) {
        ranks.push_back(model_.ranks[i].rank);
        most = std::max(most, result_.late_ns[i]);
      }
    }
    if (ranks.empty()) {
      return std::nullopt;
    }
    JobFinding finding;
    finding.order = CauseRank::kNothing;
    finding.finding = "Ranks came late to operations that completed";
    finding.severity = Severity::kInfo;
    finding.certainty = Certainty::kCertain;
    finding.ranks = RankList(ranks);
    finding.evidence = fmt::format("{} issued an operation up to {} after the median of its group.",
                                   RankWords(ranks), Seconds(most));
    finding.help = "Stragglers, not the cause of the hang: hang_ranks has the delays.";
    finding.value = static_cast<double>(most);
    finding.unit = "ns";
    return finding;
  }

  struct Texts {
    HangKind kind;
    std::string_view finding;
    std::string_view help;
  };
  static const Texts& TextsOf(HangKind kind) {
    static constexpr Texts kTexts[] = {
        {HangKind::kMismatchOperation, "Ranks called different operations",
         "Make all members of the group call the same collectives in the same order: look for a "
         "branch that depends on the rank or on its data at these lines."},
        {HangKind::kMismatchSizeOrType, "Ranks called with different sizes or types",
         "Give all members tensors of the same size and type: pad uneven batches, or use the "
         "operations that take uneven sizes; look at where the size comes from."},
        {HangKind::kNeverIssued, "Ranks stopped issuing work",
         "Their hosts are stuck in Python (a lock, data loading, input or output), or were merely "
         "slow: `py-spy dump --pid PID` on these ranks before the job is killed; look at what only "
         "these ranks do."},
        {HangKind::kDeviceStuck, "Devices stopped inside a collective",
         "Look at the kernel log of their hosts (`dmesg | grep -i xid`) and at these GPUs "
         "(`nvidia-smi -q`, `dcgmi diag -r 3`); drain the node if it comes back."},
        {HangKind::kOrder, "Ranks wait for each other",
         "Issue the operations of several groups in one order on all ranks, or on one stream; "
         "compare the lines at which these ranks stand."},
        {HangKind::kNotStarted, "Devices never began a collective",
         "A kernel before it does not end: look at what runs on these devices before the "
         "collective (an own kernel, a copy, a wait for another stream), with "
         "CUDA_LAUNCH_BLOCKING=1 on a small case."},
        {HangKind::kNotFinished, "All issued a collective, none finished it",
         "The network, NCCL or one device: set TORCH_NCCL_ENABLE_TIMING=1 to see who began it, "
         "NCCL_DEBUG=WARN for its errors, and test the links (nccl-tests)."},
        {HangKind::kNoDump, "Others wait for a rank without a dump",
         "It died or was killed, or its file was not collected: look at its log and exit code, at "
         "the kernel log (out of memory, Xid), and at the dump path "
         "(TORCH_FR_DUMP_TEMP_FILE)."}};
    for (const Texts& texts : kTexts) {
      if (texts.kind == kind) {
        return texts;
      }
    }
    return kTexts[0];
  }

  JobFinding FindingOf(const Together& group) const {
    const HangCulprit& culprit = *group.first;
    const Texts& texts = TextsOf(culprit.kind);
    JobFinding finding;
    finding.order = CauseRank::kHang;
    finding.finding = TitleOf(culprit, texts);
    finding.severity = culprit.is_primary ? Severity::kError : Severity::kInfo;
    finding.certainty = culprit.certainty;
    finding.ranks = RankList(group.ranks);
    finding.evidence = Evidence(group);
    finding.where = WhereOf(group);
    finding.help = texts.help;
    if (ShiftOf(culprit).has_value()) {
      finding.help = TextsOf(HangKind::kMismatchOperation).help;
    }
    if (culprit.kind == HangKind::kNoDump && AnyCut(group)) {
      finding.finding = "Others wait for a rank without a whole dump";
      finding.help =
          "Its file ends in the middle: collect it again, and look whether the disk was full or "
          "the rank was killed while it wrote.";
    }
    if (culprit.kind == HangKind::kNoDump && culprit.certainty == Certainty::kCannotTell) {
      finding.help = GiveAll() + " " + finding.help;
    }
    if (const std::optional<int64_t> waited = WaitedOf(culprit); waited.has_value()) {
      finding.value = static_cast<double>(*waited);
      finding.unit = "ns";
    }
    return finding;
  }

  // -1 where ranks skipped the operation in which they differ, 1 where it is one more.
  std::optional<int32_t> ShiftOf(const HangCulprit& culprit) const {
    if (culprit.kind == HangKind::kMismatchOperation ||
        culprit.kind == HangKind::kMismatchSizeOrType) {
      for (const HangMismatch& mismatch : result_.mismatches) {
        if (mismatch.is_primary && mismatch.operation == culprit.evidence) {
          return mismatch.shift;
        }
      }
    }
    return std::nullopt;
  }

  std::string TitleOf(const HangCulprit& culprit, const Texts& texts) const {
    if (const std::optional<int32_t> shift = ShiftOf(culprit); shift.has_value()) {
      return *shift < 0 ? "Ranks skipped an operation" : "Ranks called one operation more";
    }
    if (culprit.kind == HangKind::kNeverIssued &&
        IssueOf(culprit.rank, culprit.evidence).entry != nullptr) {
      return "Ranks came too late to a collective";
    }
    if (culprit.evidence.is_p2p) {
      switch (culprit.kind) {
        case HangKind::kMismatchSizeOrType:
          return "The ends of a transfer have different sizes or types";
        case HangKind::kDeviceStuck:
          return "Devices stopped inside a transfer";
        case HangKind::kNotStarted:
          return "Devices never began a transfer";
        case HangKind::kNotFinished:
          return "Both ends issued a transfer, neither finished it";
        default:
          break;
      }
    }
    return std::string(texts.finding);
  }

  bool AnyCut(const Together& group) const {
    return std::any_of(group.ranks.begin(), group.ranks.end(),
                       [&](int32_t rank) { return model_.Of(rank) != nullptr; });
  }

  // Ranks that wait at something else, because of these: directly or not.
  size_t OthersThatWait(const Together& group) const {
    std::vector<char> waits(static_cast<size_t>(model_.world), 0);
    std::vector<int32_t> next = group.ranks;
    for (const int32_t rank : next) {
      waits[static_cast<size_t>(rank)] = 1;
    }
    size_t count = 0;
    while (!next.empty()) {
      const int32_t rank = next.back();
      next.pop_back();
      for (const int32_t other : waiting_for_[static_cast<size_t>(rank)]) {
        if (waits[static_cast<size_t>(other)] == 0) {
          waits[static_cast<size_t>(other)] = 1;
          next.push_back(other);
          ++count;
        }
      }
    }
    const std::span<const int32_t> direct = AtHead(group.first->evidence);
    const auto at_evidence =
        static_cast<size_t>(std::count_if(direct.begin(), direct.end(), [&](int32_t rank) {
          return !std::binary_search(group.ranks.begin(), group.ranks.end(), rank);
        }));
    return count - std::min(count, at_evidence);
  }

  std::string Since(const HangCulprit& culprit) const {
    return culprit.since_ns == 0 ? "" : fmt::format(" since {}", ClockTime(culprit.since_ns));
  }

  std::string Evidence(const Together& group) const {
    const HangCulprit& culprit = *group.first;
    std::string text = EvidenceOfKind(group);
    const size_t others = OthersThatWait(group);
    if (others > 0 && culprit.kind != HangKind::kNotFinished) {
      text += fmt::format(" {} for these.", Ranks(others, "more rank waits", "more ranks wait"));
    }
    if (culprit.is_shown_by_file) {
      text += fmt::format(
          " By the time of its file the dump of rank {} was written {} after that was issued, "
          "unless it is the time of a copy.",
          culprit.waiting_rank, Seconds(culprit.waited_ns));
    }
    const bool has_odd_clock = std::any_of(
        group.ranks.begin(), group.ranks.end(),
        [&](int32_t rank) { return model_.Of(rank) != nullptr && model_.Of(rank)->has_odd_clock; });
    if (has_odd_clock) {
      text +=
          " Its times are more than ten minutes from those of the others: the clock is wrong, "
          "or it is a dump of another attempt.";
    }
    if (culprit.shown == HangShown::kAssumed) {
      text += " That this is a hang is assumed: the dumps do not show how long it lasted.";
    } else if (culprit.shown == HangShown::kNotShown) {
      text += " It had waited for less than 10 s.";
    }
    return text;
  }

  std::string EvidenceOfKind(const Together& group) const {
    const HangCulprit& culprit = *group.first;
    const std::span<const int32_t> there = AtHead(culprit.evidence);
    const std::string operation = Words(culprit.evidence, there);
    const std::string names = RankWords(group.ranks);
    switch (culprit.kind) {
      case HangKind::kNeverIssued:
        if (IssueOf(culprit.rank, culprit.evidence).entry != nullptr) {
          return LateText(group);
        }
        return fmt::format("{} in {}{}; {} {}.", Ranks(there.size(), "rank waits", "ranks wait"),
                           operation, Since(culprit), names, WhatTheyDid(group));
      case HangKind::kNoDump:
        return fmt::format("{} in {}{}; {}.", Ranks(there.size(), "rank waits", "ranks wait"),
                           operation, Since(culprit), WhatIsThereOf(group));
      case HangKind::kDeviceStuck:
        if (culprit.evidence.is_p2p && !IsFinishedElsewhere(culprit)) {
          return fmt::format(
              "{} issued {}{} and did not finish. The dump of the other end has nothing of it "
              "left, and all that waits there waits for {}: it must have finished its part.",
              names, operation, Since(culprit), names);
        }
        return fmt::format("{} finished by other members; {} issued it{} and did not finish.",
                           StuckIn(group), names, Since(culprit));
      case HangKind::kNotStarted:
        return fmt::format("{} was issued by all members{} and begun by some; not by {}.",
                           operation, Since(culprit), names);
      case HangKind::kNotFinished:
        return fmt::format(
            "{} was issued by {}{} and finished by {}: which of them is at fault cannot be told.",
            operation, culprit.evidence.is_p2p ? "both ends" : "all members", Since(culprit),
            culprit.evidence.is_p2p ? "neither" : "none");
      case HangKind::kOrder:
        return OrderText(group);
      default:
        return MismatchText(group);
    }
  }

  // "rank 3 left no dump"
  std::string WhatIsThereOf(const Together& group) const {
    const std::vector<int32_t>& others = model_.of_other_attempts;
    const std::string names = RankWords(group.ranks);
    if (std::includes(others.begin(), others.end(), group.ranks.begin(), group.ranks.end())) {
      return group.ranks.size() == 1
                 ? fmt::format(
                       "the dump of {} is of another attempt of the job and counts for nothing",
                       names)
                 : fmt::format(
                       "the dumps of {} are of other attempts of the job and count for nothing",
                       names);
    }
    return fmt::format("{} left no {}dump", names, AnyCut(group) ? "whole " : "");
  }

  // Of ranks that issued the evidence, but late.
  std::string LateText(const Together& group) const {
    const HangCulprit& culprit = *group.first;
    const Issue issue = IssueOf(culprit.rank, culprit.evidence);
    return fmt::format("{} in {}{}; {} issued it {} later, at {} (the timeout is {}).",
                       Ranks(culprit.waiting, "rank waits", "ranks wait"),
                       Words(culprit.evidence, AtHead(culprit.evidence)), Since(culprit),
                       RankWords(group.ranks), Seconds(issue.entry->created_ns - culprit.since_ns),
                       ClockTime(issue.entry->created_ns),
                       Seconds(issue.entry->timeout_ms * kMillisecondNs));
  }

  bool IsFinishedElsewhere(const HangCulprit& culprit) const {
    const std::vector<int32_t> members = model_.MembersOf(culprit.evidence);
    return std::any_of(members.begin(), members.end(), [&](int32_t member) {
      return member != culprit.rank &&
             WhereIs(model_, member, culprit.evidence).state == WhereState::kDone;
    });
  }

  std::string WhatTheyDid(const Together& group) const {
    std::vector<std::string> parts;
    const HangCulprit& culprit = *group.first;
    const HangRank* const rank = model_.Of(group.ranks.front());
    if (rank == nullptr || rank->newest_created_ns == 0) {
      return "completed all that is known of them and issued no more (their dumps are empty)";
    }
    const std::string last = ClockTime(rank->newest_created_ns);
    return culprit.activity == HangActivity::kStillIssuing
               ? fmt::format("went on issuing other work until {}", last)
               : fmt::format("completed all that was issued there, the last at {}", last);
  }

  std::string StuckIn(const Together& group) const {
    std::string text;
    std::vector<HangOperation> named;
    for (const HangCulprit& culprit : result_.culprits) {
      const bool is_of_these =
          culprit.kind == HangKind::kDeviceStuck && culprit.certainty == group.first->certainty &&
          std::find(named.begin(), named.end(), culprit.evidence) == named.end();
      if (is_of_these) {
        named.push_back(culprit.evidence);
      }
    }
    constexpr size_t kMostNamed = 3;
    for (size_t i = 0; i < named.size() && i < kMostNamed; ++i) {
      text += i == 0 ? "" : i + 1 == named.size() ? " and " : ", ";
      text += fmt::format("{} {} of {} ({})", NameOf(named[i]), NumberOf(named[i]),
                          GroupName(named[i]), RankWords(model_.MembersOf(named[i])));
    }
    if (named.size() > kMostNamed) {
      text += fmt::format(" and {} more", named.size() - kMostNamed);
    }
    return text + (named.size() == 1 ? " was" : " were");
  }

  // Where a rank is: of what it launched together, what the others keep from ending.
  std::string StandsAt(const HangCulprit& culprit) const {
    const HangRank& rank = *model_.Of(culprit.rank);
    const bool is_there =
        std::find(rank.head.begin(), rank.head.end(), culprit.evidence) != rank.head.end();
    const HangOperation& operation = is_there ? culprit.evidence : rank.head.front();
    return fmt::format("rank {} stands at {}", culprit.rank,
                       Words(operation, std::span(&culprit.rank, 1)));
  }

  // What it left out, where that is known.
  std::string WhatItLeftOut(const HangCulprit& culprit) const {
    if (!culprit.left_out.has_value()) {
      return "";
    }
    const std::string name = NameOf(culprit.evidence, culprit.rank);
    const LeftOutTransfer& left_out = *culprit.left_out;
    return left_out.usual == 0
               ? fmt::format(
                     ", and its latest launch of transfers in {} lacks {}, which those "
                     "before had",
                     GroupName(culprit.evidence), name)
               : fmt::format(" after {} instead of {} times {}", left_out.issued, left_out.usual,
                             name);
  }

  std::string OrderText(const Together& group) const {
    std::string text;
    size_t named = 0;
    constexpr size_t kMostNamed = 4;
    const HangCulprit* other = nullptr;
    for (const HangCulprit& culprit : result_.culprits) {
      if (culprit.kind != HangKind::kOrder) {
        continue;
      }
      if (std::binary_search(group.ranks.begin(), group.ranks.end(), culprit.rank)) {
        if (named++ < kMostNamed) {
          text += (text.empty() ? "" : "; ") + StandsAt(culprit) + WhatItLeftOut(culprit);
        }
      } else if (!culprit.is_primary && group.first->is_primary) {
        // Rather one that waits there.
        const bool waits = culprit.rank == group.first->waiting_rank;
        other = other == nullptr || waits ? &culprit : other;
      }
    }
    if (other != nullptr) {
      text += "; " + StandsAt(*other);
    }
    std::string sentence = text + ": none of these can end before the others.";
    sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
    return sentence;
  }

  // What distinguishes calls of an operation; 0 for a rank without one.
  uint64_t CallOf(int32_t rank, const HangOperation& operation) const {
    const HangRank* const at = model_.Of(rank);
    const IssuedOperation* const issued = at == nullptr ? nullptr : at->Find(operation);
    return issued == nullptr ? 0 : issued->signature;
  }

  bool AllCalledTheSame(const HangOperation& operation, std::span<const int32_t> ranks) const {
    return std::all_of(ranks.begin(), ranks.end(), [&](int32_t rank) {
      return CallOf(rank, operation) == CallOf(ranks.front(), operation);
    });
  }

  // "ranks 0 and 1 called all_reduce of 16 Float, rank 2 called broadcast of 16 Float"
  std::string WhatTheyCalled(const HangOperation& operation, std::span<const int32_t> ranks) const {
    std::vector<std::pair<uint64_t, std::vector<int32_t>>> calls;  // by their first rank
    std::map<uint64_t, size_t> place_of;
    for (const int32_t rank : ranks) {
      const auto [place, is_new] = place_of.try_emplace(CallOf(rank, operation), calls.size());
      if (is_new) {
        calls.emplace_back(place->first, std::vector<int32_t>());
      }
      calls[place->second].second.push_back(rank);
    }
    constexpr size_t kMostNamed = 4;
    std::string text;
    std::set<std::string> named;
    size_t rest = 0;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (i >= kMostNamed) {
        rest += calls[i].second.size();
        continue;
      }
      const Issue issue = IssueOf(calls[i].second.front(), operation);
      std::string call = Signature(issue);
      // Some differ in what is not in that text.
      call += named.insert(call).second ? "" : " with another output, or coalesced with others";
      text += fmt::format("{}{} called {}", i == 0 ? "" : ", ", RankWords(calls[i].second), call);
    }
    return rest == 0 ? text : fmt::format("{}, {} others called still others", text, rest);
  }

  // "send 0->1 of pp (4 members): rank 0 sends 100 Float, rank 1 receives 60 Float"
  std::string TransferText(const HangMismatch& mismatch) const {
    const HangOperation& operation = mismatch.operation;
    const auto tensor = [&](int32_t rank) {
      const Issue issue = IssueOf(rank, operation);
      const FlightDump& dump = *issue.rank->dump;
      const bool sends = rank == operation.from;
      const bool is_input =
          dump.Sizes(sends ? issue.entry->input_sizes : issue.entry->output_sizes).empty() != sends;
      const std::vector<std::string_view> types =
          dump.Texts(is_input ? issue.entry->input_types : issue.entry->output_types);
      return fmt::format(
          "{}{}{}",
          ElementsOf(dump, is_input ? issue.entry->input_sizes : issue.entry->output_sizes),
          types.empty() ? "" : " ", types.empty() ? std::string_view() : types.front());
    };
    return fmt::format(
        "{}: rank {} sends {}, rank {} receives {}: which of them is wrong the dumps "
        "do not say.",
        Words(operation, {}), operation.from, tensor(operation.from), operation.to,
        tensor(operation.to));
  }

  std::string MismatchText(const Together& group) const {
    for (const HangMismatch& mismatch : result_.mismatches) {
      if (!mismatch.is_primary || mismatch.operation != group.first->evidence) {
        continue;
      }
      if (mismatch.operation.is_p2p) {
        return TransferText(mismatch);
      }
      std::string text = fmt::format("Number {} of {}: {}", mismatch.operation.number,
                                     GroupWords(mismatch.operation),
                                     WhatTheyCalled(mismatch.operation, group.ranks));
      if (!mismatch.others.empty()) {
        text += fmt::format(", {}.", WhatTheyCalled(mismatch.operation, mismatch.others));
      } else {
        text += AllCalledTheSame(mismatch.operation, group.ranks)
                    ? "; what they send together is not what they receive."
                    : "; no more than half of the members agree.";
      }
      if (mismatch.shift.has_value() && mismatch.is_begin_lost) {
        text += *mismatch.shift < 0
                    ? " They are one operation ahead: they skipped this one, or one that left the "
                      "rings."
                    : " They are one operation behind: this one is one more, or one is that left "
                      "the rings.";
      } else if (mismatch.shift.has_value()) {
        text += *mismatch.shift < 0
                    ? " From there on they are one operation ahead: they skipped it."
                    : " From there on they are one operation behind: it is one "
                      "more.";
      }
      return text;
    }
    return {};
  }

  // Where a rank of each side issued its call, if nobody can say which side is right.
  std::string LinesOfSides(const Together& group) const {
    constexpr size_t kMostNamed = 4;
    std::set<uint64_t> calls;
    std::string text;
    for (const int32_t rank : group.ranks) {
      const std::string line = LineAt(rank, group.first->evidence);
      // Each end of a transfer is a side.
      const uint64_t call = group.first->evidence.is_p2p ? static_cast<uint64_t>(rank)
                                                         : CallOf(rank, group.first->evidence);
      if (line.empty() || calls.size() >= kMostNamed || !calls.insert(call).second) {
        continue;
      }
      text += fmt::format("{}rank {}: issued at {}", text.empty() ? "" : "; ", rank, line);
    }
    return text;
  }

  std::string WhereOf(const Together& group) const {
    const HangCulprit& culprit = *group.first;
    const bool is_at_evidence = culprit.kind != HangKind::kNeverIssued;
    const HangRank* const first = model_.Of(group.ranks.front());
    const std::string own = culprit.left_out.has_value()
                                ? LineOf(*first, first->dump->entries[culprit.left_out->entry])
                            : is_at_evidence ? LineAt(group.ranks.front(), culprit.evidence)
                                             : LastLine(group.ranks.front());
    std::string others;
    if (culprit.kind == HangKind::kMismatchOperation ||
        culprit.kind == HangKind::kMismatchSizeOrType) {
      for (const HangMismatch& mismatch : result_.mismatches) {
        if (!mismatch.is_primary || mismatch.operation != culprit.evidence) {
          continue;
        }
        if (!mismatch.others.empty()) {
          others = LineAt(mismatch.others.front(), culprit.evidence);
        } else if (const std::string sides = LinesOfSides(group); !sides.empty()) {
          return sides;
        }
      }
    } else {
      others = LineAt(culprit.waiting_rank, culprit.evidence);
    }
    if (own.empty() && others.empty()) {
      return "not recorded (these dumps have no stacks: TORCH_INCLUDE_STACK_TRACE=1 records them)";
    }
    std::string text;
    if (!own.empty()) {
      text = fmt::format("rank {}: {} {}", group.ranks.front(),
                         is_at_evidence ? "issued at" : "last issued at", own);
    }
    if (!others.empty() && (others != own || !is_at_evidence)) {
      text += fmt::format("{}the others: at {}", text.empty() ? "" : "; ", others);
    }
    return text;
  }

  const HangModel& model_;
  const HangResult& result_;
  const LineFinder& lines_;
  std::map<HangOperation, std::vector<int32_t>> at_head_;
  std::set<HangOperation> mismatched_;
  std::vector<std::vector<int32_t>> waiting_for_;  // by rank: who waits for it directly
};

}  // namespace

SourceFindings ReportHang(const HangModel& model, const HangResult& result,
                          const LineFinder& lines) {
  return Reporter(model, result, lines).Make();
}

std::vector<Table> HangShape() {
  return {NewTable<HangCulpritRow>(), NewTable<HangMismatchRow>(), NewTable<HangRankRow>(),
          NewTable<HangOperationRow>()};
}

}  // namespace borescope::internal
