#include "borescope/postmortem/watchdog_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/hang_report.h"
#include "borescope/postmortem/verdict.h"

namespace borescope::internal {
namespace {

// "_ALLGATHER_BASE" of the watchdog and "_all_gather_base" of a dump: the letters alone.
std::string LettersOf(std::string_view name) {
  std::string letters = LowerCase(name);
  std::erase_if(letters, [](char c) { return c < 'a' || c > 'z'; });
  return letters;
}

// Whether the watchdog's operation is the one in which the others wait.
bool IsSame(const TimeoutText& timeout, const HangCulpritRow& row) {
  return NamesOperation(
      timeout,
      {.name = row.operation.value_or(""),
       .group = row.group_desc.has_value() ? *row.group_desc : row.group.value_or(std::string()),
       .seq = row.seq});
}

class WatchdogJoiner {
 public:
  WatchdogJoiner(std::span<const JobEvent> events, std::vector<SourceFindings>& sources)
      : sources_(sources) {
    for (const JobEvent& event : events) {
      if (event.kind == LogKind::kTimeout && event.rank.has_value() && event.timeout.has_value()) {
        timeouts_[*event.rank].push_back(&event);
      }
    }
  }

  void Join() {
    if (timeouts_.empty()) {
      return;
    }
    for (SourceFindings& source : sources_) {
      const auto table =
          std::find_if(source.tables.begin(), source.tables.end(),
                       [](const Table& one) { return one.name == HangCulpritRow::kTable.name; });
      if (table == source.tables.end() || table->rows() == 0) {
        continue;
      }
      rows_ = ReadRows<HangCulpritRow>(*table);
      has_changed_ = false;
      for (JobFinding& finding : source.findings) {
        if (finding.order == CauseRank::kHang) Correct(finding, IsFinishedByAny(source));
      }
      if (has_changed_) {
        *table = MakeTable(rows_);
        source.has_cause = std::any_of(
            source.findings.begin(), source.findings.end(), [](const JobFinding& finding) {
              return finding.severity == Severity::kError && finding.finding != kNoneFinished;
            });
        source.is_unclear = std::any_of(
            source.findings.begin(), source.findings.end(),
            [](const JobFinding& finding) { return finding.certainty == Certainty::kCannotTell; });
      }
    }
  }

 private:
  static constexpr std::string_view kNoneFinished = "All issued a collective, none finished it";

  // Whether a member finished an operation in which others wait.
  static bool IsFinishedByAny(const SourceFindings& source) {
    for (const Table& table : source.tables) {
      if (table.name == HangOperationRow::kTable.name) {
        const std::vector<HangOperationRow> rows = ReadRows<HangOperationRow>(table);
        return std::any_of(rows.begin(), rows.end(),
                           [](const HangOperationRow& row) { return row.done.has_value(); });
      }
    }
    return false;
  }

  // The row about a rank without a dump.
  HangCulpritRow* RowOf(int32_t rank) {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [rank](const HangCulpritRow& row) {
      return row.rank == rank && row.kind == HangKindName(HangKind::kNoDump);
    });
    return found == rows_.end() ? nullptr : &*found;
  }

  void Correct(JobFinding& finding, bool is_finished_by_any) {
    const std::vector<int32_t> ranks = ReadRankList(finding.ranks);
    std::vector<int32_t> waited;  // there, as the others
    std::string said;
    bool is_elsewhere = false;
    for (const int32_t rank : ranks) {
      const HangCulpritRow* const row = RowOf(rank);
      const auto found = timeouts_.find(rank);
      if (row == nullptr || found == timeouts_.end()) {
        continue;
      }
      const auto same =
          std::find_if(found->second.begin(), found->second.end(),
                       [row](const JobEvent* event) { return IsSame(*event->timeout, *row); });
      if (same != found->second.end() && !is_finished_by_any) {
        waited.push_back(rank);
      } else {
        const JobEvent& event = same != found->second.end() ? **same : *found->second.front();
        said +=
            fmt::format(" Rank {} was alive when its watchdog reported that {}.", rank, event.text);
        is_elsewhere = true;
      }
    }
    if (waited.empty() && !is_elsewhere) {
      return;
    }
    has_changed_ = true;
    finding.evidence += said;
    if (is_elsewhere) {
      finding.help =
          "A rank that was alive left no dump, or it was not collected: look at the dump path "
          "(TORCH_FR_DUMP_TEMP_FILE), and give the dumps of all ranks.";
      finding.certainty = Certainty::kCannotTell;
    }
    if (waited.size() == ranks.size()) {
      MakeNotFinished(finding, waited);
    } else if (!waited.empty()) {
      LeaveOut(finding, ranks, waited);
    }
    for (const int32_t rank : ReadRankList(finding.ranks)) {
      if (HangCulpritRow* const row = RowOf(rank)) {
        row->certainty = CertaintyName(finding.certainty);
      }
    }
  }

  static std::string TheyWaited(const std::vector<int32_t>& ranks) {
    return ranks.size() == 1
               ? fmt::format("the watchdog of {} reported that it waited there as well",
                             RankWords(ranks))
               : fmt::format("the watchdogs of {} reported that they waited there as well",
                             RankWords(ranks));
  }

  // All members issued it, by their dumps or by what their watchdogs wrote.
  void MakeNotFinished(JobFinding& finding, const std::vector<int32_t>& waited) {
    const HangCulpritRow row = *RowOf(waited.front());
    const std::vector<int32_t> members = ReadRankList(row.members.value_or(""));
    finding.evidence += fmt::format(
        " But {}: all members issued it and none finished it, and which of them is at fault cannot "
        "be told.",
        TheyWaited(waited));
    finding.finding = kNoneFinished;
    finding.certainty = Certainty::kCannotTell;
    finding.help =
        "The network, NCCL or one device: set TORCH_NCCL_ENABLE_TIMING=1 to see who began it, "
        "NCCL_DEBUG=WARN for its errors, and test the links (nccl-tests). Give the dumps of all "
        "ranks.";
    if (members.empty()) {
      return;
    }
    finding.ranks = RankList(members);
    std::erase_if(rows_, [&](const HangCulpritRow& one) {
      return one.kind == row.kind && std::binary_search(waited.begin(), waited.end(), one.rank);
    });
    for (const int32_t member : members) {
      HangCulpritRow of = row;
      of.rank = member;
      of.kind = HangKindName(HangKind::kNotFinished);
      of.certainty = CertaintyName(Certainty::kCannotTell);
      of.waiting_ranks = RankList(members);
      rows_.push_back(std::move(of));
    }
  }

  // Of several without a dump, those that waited are not the reason.
  void LeaveOut(JobFinding& finding, const std::vector<int32_t>& ranks,
                const std::vector<int32_t>& waited) {
    std::vector<int32_t> left;
    std::set_difference(ranks.begin(), ranks.end(), waited.begin(), waited.end(),
                        std::back_inserter(left));
    finding.ranks = RankList(left);
    finding.evidence += fmt::format(" Of these, {}: it is {} that is missing.", TheyWaited(waited),
                                    RankWords(left));
    if (left.size() == 1 && !timeouts_.contains(left.front())) {
      finding.certainty = Certainty::kLikely;
    }
    std::erase_if(rows_, [&](const HangCulpritRow& one) {
      return one.kind == HangKindName(HangKind::kNoDump) &&
             std::binary_search(waited.begin(), waited.end(), one.rank);
    });
  }

  std::vector<SourceFindings>& sources_;
  std::map<int32_t, std::vector<const JobEvent*>> timeouts_;  // by rank
  std::vector<HangCulpritRow> rows_;                          // of one source
  bool has_changed_ = false;
};

}  // namespace

bool NamesOperation(const TimeoutText& timeout, const KnownOperation& operation) {
  const std::string said = LettersOf(timeout.operation);
  const std::string known = LettersOf(operation.name);
  return timeout.seq.has_value() && operation.seq == timeout.seq && !said.empty() &&
         !known.empty() && (Contains(known, said) || Contains(said, known)) &&
         (timeout.group.empty() || operation.group.empty() ||
          Contains(timeout.group, operation.group));
}

void JoinWatchdogs(std::span<const JobEvent> events, std::vector<SourceFindings>& sources) {
  WatchdogJoiner(events, sources).Join();
}

}  // namespace borescope::internal
