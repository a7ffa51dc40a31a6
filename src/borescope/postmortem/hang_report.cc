#include "borescope/postmortem/hang_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/postmortem/hang_words.h"

namespace borescope::internal {
namespace {

std::vector<Together> InGroups(const HangWords& hang) {
  std::vector<Together> groups;
  for (const HangCulprit& culprit : hang.result.culprits) {
    const auto is_like = [&](const Together& other) {
      const bool has_own_evidence =
          culprit.kind != HangKind::kOrder && culprit.kind != HangKind::kDeviceStuck;
      return other.first->kind == culprit.kind && other.first->is_primary == culprit.is_primary &&
             other.first->certainty == culprit.certainty &&
             (!has_own_evidence || other.first->evidence == culprit.evidence) &&
             hang.ShiftOf(*other.first) == hang.ShiftOf(culprit);
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

std::vector<int32_t> WithoutWholeDump(const HangWords& hang) {
  std::vector<int32_t> ranks;
  for (int32_t rank = 0; rank < hang.model.world; ++rank) {
    if (!hang.model.IsWhole(rank)) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

std::vector<int32_t> WithWholeDump(const HangWords& hang) {
  std::vector<int32_t> ranks;
  for (const HangRank& rank : hang.model.ranks) {
    if (hang.model.IsWhole(rank.rank)) {
      ranks.push_back(rank.rank);
    }
  }
  return ranks;
}

std::string GiveAll(const HangWords& hang) {
  return hang.model.is_world_told ? "Give the dumps of all ranks, whole."
                                  : "Give the dumps of all ranks, whole, or --world N.";
}

// What is not known of the other ranks, as a sentence.
std::string UnknownWords(const HangWords& hang) {
  const std::vector<int32_t> without = WithoutWholeDump(hang);
  std::string text =
      without.empty() ? "" : fmt::format(" No whole dump of {} is there.", RankWords(without));
  text += hang.model.is_world_known ? "" : " Nothing says how many ranks the job has.";
  return text;
}

// Others wait for ranks, but too little is there to say for whom.
JobFinding TooFew(const HangWords& hang) {
  JobFinding finding;
  finding.order = CauseRank::kNothing;
  finding.finding = "These dumps are too few to tell";
  finding.severity = Severity::kWarning;
  finding.certainty = Certainty::kCannotTell;
  finding.ranks = RankList(WithoutWholeDump(hang));
  std::string text;
  constexpr size_t kMostNamed = 3;
  size_t named = 0;
  for (const auto& [operation, ranks] : hang.at_head) {
    if (named++ < kMostNamed) {
      text += fmt::format("{}{} {} in {}", text.empty() ? "" : "; ", RankWords(ranks),
                          ranks.size() == 1 ? "waits" : "wait", hang.Words(operation, ranks));
    }
  }
  text[0] = 'R';
  finding.evidence = text + "." + UnknownWords(hang);
  finding.help = GiveAll(hang);
  return finding;
}

JobFinding NothingOutstanding(const HangWords& hang) {
  const std::vector<int32_t> without = WithoutWholeDump(hang);
  JobFinding finding;
  if (!without.empty() || !hang.model.is_world_known) {
    finding.finding = "These dumps are too few to tell";
    finding.severity = Severity::kInfo;
    finding.certainty = Certainty::kCannotTell;
    finding.ranks = RankList(without);
    const std::vector<int32_t> with = WithWholeDump(hang);
    finding.evidence = with.empty()
                           ? std::string("Nothing is outstanding in what could be read.")
                           : fmt::format("Every operation in the {} of {} is complete.",
                                         with.size() == 1 ? "dump" : "dumps", RankWords(with));
    finding.evidence += UnknownWords(hang);
    finding.help = GiveAll(hang);
    return finding;
  }
  finding.order = CauseRank::kNothing;
  finding.finding = "No communication was outstanding";
  finding.severity = Severity::kInfo;
  finding.certainty = Certainty::kCertain;
  finding.evidence =
      "Every operation in every dump is complete: the job did not hang in a collective.";
  finding.help = "Look at what each rank wrote last: an exception, a signal, memory that ran out.";
  return finding;
}

JobFinding PerhapsRunning(const HangWords& hang) {
  JobFinding finding;
  finding.order = CauseRank::kNothing;
  finding.finding = "Communication was outstanding, as in any running job";
  finding.severity = Severity::kInfo;
  finding.certainty = Certainty::kCannotTell;
  int32_t last = -1;
  int64_t newest = 0;
  for (const HangRank& rank : hang.model.ranks) {
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

std::optional<JobFinding> LateRanks(const HangWords& hang) {
  std::vector<int32_t> ranks;
  int64_t most = 0;
  for (size_t i = 0; i < hang.model.ranks.size(); ++i) {
    if (hang.result.late_ns[i] > 0) {
      ranks.push_back(hang.model.ranks[i].rank);
      most = std::max(most, hang.result.late_ns[i]);
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
                                 RankWords(ranks), WaitWords(most));
  finding.help = "Stragglers, not the cause of the hang: hang_ranks has the delays.";
  finding.value = static_cast<double>(most);
  finding.unit = "ns";
  return finding;
}

struct HangTexts {
  HangKind kind;
  std::string_view finding;
  std::string_view help;
};

const HangTexts& HangTextsOf(HangKind kind) {
  static constexpr HangTexts kTexts[] = {
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
  for (const HangTexts& texts : kTexts) {
    if (texts.kind == kind) {
      return texts;
    }
  }
  return kTexts[0];
}

std::string TitleOf(const HangWords& hang, const HangCulprit& culprit, const HangTexts& texts) {
  if (const HangShift shift = hang.ShiftOf(culprit); shift.count != 0 && !shift.is_either) {
    return shift.count == -1  ? "Ranks skipped an operation"
           : shift.count < 0  ? "Ranks skipped operations"
           : shift.count == 1 ? "Ranks called one operation more"
                              : "Ranks called more operations";
  }
  if (culprit.kind == HangKind::kNeverIssued &&
      hang.IssueOf(culprit.rank, culprit.evidence).entry != nullptr) {
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
        return hang.IsUnsent(culprit.evidence) ? "A rank receives from any rank, and none sends"
                                               : "Both ends issued a transfer, neither finished it";
      default:
        break;
    }
  }
  return std::string(texts.finding);
}

// That the dumps of ranks may be older than the others', as a sentence.
std::string AgeWords(const HangWords& hang, std::span<const int32_t> ranks) {
  std::vector<int32_t> behind;
  std::vector<int32_t> apart;
  for (const int32_t rank : ranks) {
    const HangRank* const at = hang.model.Of(rank);
    if (at != nullptr && at->is_behind) {
      behind.push_back(rank);
    } else if (at != nullptr && at->is_apart) {
      apart.push_back(rank);
    }
  }
  std::string text;
  if (!behind.empty()) {
    text += fmt::format(
        " Others finished collectives that need {0} and that the {1} of {0} {2} not show: {3} "
        "older, or the watchdog there no longer saw work end.",
        RankWords(behind), behind.size() == 1 ? "dump" : "dumps",
        behind.size() == 1 ? "does" : "do", behind.size() == 1 ? "it is" : "they are");
  }
  if (!apart.empty()) {
    text += fmt::format(
        " Others issued work more than the timeout after the newest of {}: {} may be older than "
        "theirs.",
        RankWords(apart), apart.size() == 1 ? "its dump" : "their dumps");
  }
  return text;
}

JobFinding FindingOf(const HangWords& hang, const Together& group) {
  const HangCulprit& culprit = *group.first;
  const HangTexts& texts = HangTextsOf(culprit.kind);
  JobFinding finding;
  finding.order = CauseRank::kHang;
  finding.finding = TitleOf(hang, culprit, texts);
  finding.severity = culprit.is_primary ? Severity::kError : Severity::kInfo;
  finding.certainty = culprit.certainty;
  finding.ranks = RankList(group.ranks);
  finding.evidence = EvidenceOf(hang, group) + AgeWords(hang, group.ranks);
  finding.where = WhereOf(hang, group);
  finding.help = texts.help;
  if (hang.ShiftOf(culprit).count != 0) {
    finding.help = HangTextsOf(HangKind::kMismatchOperation).help;
  }
  if (culprit.kind == HangKind::kNotFinished && hang.IsUnsent(culprit.evidence)) {
    finding.help =
        "Look at which rank sends there at this line, and at what these ranks did instead: a "
        "condition that differs between them, or one message less than the receiver counts on.";
  }
  if (culprit.kind == HangKind::kNoDump && AnyCut(hang, group)) {
    finding.finding = "Others wait for a rank without a whole dump";
    finding.help =
        "Its file ends in the middle: collect it again, and look whether the disk was full or "
        "the rank was killed while it wrote.";
    const bool is_cut = std::any_of(group.ranks.begin(), group.ranks.end(), [&](int32_t rank) {
      const HangRank* const at = hang.model.Of(rank);
      return at != nullptr && at->dump->is_cut;
    });
    if (!is_cut) {
      finding.help =
          "An entry of its dump that had not completed has no name, state, number or group that "
          "can be read, and may be that at which its rank is: collect the dump again.";
    }
  }
  if (culprit.kind == HangKind::kNoDump && culprit.certainty == Certainty::kCannotTell) {
    finding.help = GiveAll(hang) + " " + finding.help;
  }
  if (const std::optional<int64_t> waited = WaitedOf(culprit); waited.has_value()) {
    finding.value = static_cast<double>(*waited);
    finding.unit = "ns";
  }
  return finding;
}

void AddFindings(const HangWords& hang, SourceFindings& made) {
  if (!hang.result.is_anything_outstanding && hang.result.culprits.empty()) {
    made.findings.push_back(NothingOutstanding(hang));
    return;
  }
  if (hang.result.is_too_few) {
    made.findings.push_back(TooFew(hang));
    made.is_unclear = true;
    return;
  }
  const bool is_shown =
      std::any_of(hang.result.culprits.begin(), hang.result.culprits.end(),
                  [](const HangCulprit& culprit) { return culprit.shown != HangShown::kNotShown; });
  const bool is_mismatch = !hang.result.culprits.empty() &&
                           (hang.result.culprits.front().kind == HangKind::kMismatchOperation ||
                            hang.result.culprits.front().kind == HangKind::kMismatchSizeOrType);
  if (!is_shown && !is_mismatch) {
    made.findings.push_back(PerhapsRunning(hang));
    return;
  }
  for (const Together& group : InGroups(hang)) {
    made.findings.push_back(FindingOf(hang, group));
    made.has_cause = made.has_cause || group.first->kind != HangKind::kNotFinished;
    made.is_unclear = made.is_unclear || group.first->certainty == Certainty::kCannotTell;
  }
  if (const std::optional<JobFinding> late = LateRanks(hang); late.has_value()) {
    made.findings.push_back(*late);
  }
}

}  // namespace

SourceFindings ReportHang(const HangModel& model, const HangResult& result,
                          const LineFinder& lines) {
  const HangWords hang(model, result, lines);
  SourceFindings made;
  made.tables = HangTables(hang);
  AddFindings(hang, made);
  return made;
}

}  // namespace borescope::internal
