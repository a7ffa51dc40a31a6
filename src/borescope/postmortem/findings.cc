#include "borescope/postmortem/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

struct VerdictRow {
  std::string finding = {};
  std::string severity = {};
  std::string certainty = {};
  std::optional<std::string> ranks = {};
  std::optional<std::string> evidence = {};
  std::optional<std::string> where = {};
  std::optional<std::string> help = {};
  std::optional<double> value = {};
  std::optional<std::string> unit = {};

  static constexpr TableNames kTable{"postmortem", "Verdict"};
  static constexpr ColumnOf<VerdictRow> kColumns[] = {
      {"finding", &VerdictRow::finding, Role::kKey, "What was found, in a fixed sentence."},
      {"severity", &VerdictRow::severity, Role::kDerived, "error, warning or info."},
      {"certainty", &VerdictRow::certainty, Role::kDerived,
       "certain; likely; cannot tell: what is known fits several causes."},
      {"ranks", &VerdictRow::ranks, Role::kDerived,
       "The ranks it is about: 0..7,9. Of more than ten ranges the first ten, and how many ranks."},
      {"evidence", &VerdictRow::evidence, Role::kDerived, "What shows it."},
      {"where", &VerdictRow::where, Role::kDerived, "Lines of the program."},
      {"help", &VerdictRow::help, Role::kDerived, "What to do next."},
      {"value", &VerdictRow::value, Unit::kOfRow, Role::kDerived, "The deciding number."},
      {"unit", &VerdictRow::unit, Role::kDerived, "Of the value: ns, bytes or count."}};
};

std::string_view NameOf(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

// A list with more is cut there in what is shown.
constexpr size_t kMostRanges = 10;

// "0..7", "9", "11" of ascending numbers.
std::vector<std::string> RangesOf(std::span<const int32_t> ranks) {
  std::vector<std::string> ranges;
  for (size_t begin = 0; begin < ranks.size();) {
    size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) {
      ++end;
    }
    if (end - begin > 2) {
      ranges.push_back(fmt::format("{}..{}", ranks[begin], ranks[end - 1]));
    } else {
      for (size_t i = begin; i < end; ++i) {
        ranges.push_back(fmt::format("{}", ranks[i]));
      }
    }
    begin = end;
  }
  return ranges;
}

}  // namespace

std::optional<std::string> IfAny(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::string_view CertaintyName(Certainty certainty) {
  constexpr std::string_view kNames[] = {"certain", "likely", "cannot tell", ""};
  return kNames[static_cast<size_t>(certainty)];
}

std::string RankList(std::span<const int32_t> ranks) {
  std::string list;
  for (const std::string& range : RangesOf(ranks)) {
    list += (list.empty() ? "" : ",") + range;
  }
  return list;
}

std::vector<int32_t> ReadRankList(std::string_view list) {
  std::vector<int32_t> ranks;
  constexpr int32_t kMostRanks = 1 << 20;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    const size_t dots = part.find("..");
    const auto begin = ParseNumber<int32_t>(part.substr(0, dots));
    const auto end =
        dots == std::string_view::npos ? begin : ParseNumber<int32_t>(part.substr(dots + 2));
    if (!begin.has_value() || !end.has_value() || *begin < 0 || *end >= kMostRanks) {
      return {};
    }
    for (int32_t rank = *begin; rank <= *end; ++rank) {
      ranks.push_back(rank);
    }
    list.remove_prefix(std::min(part.size() + 1, list.size()));
  }
  return ranks;
}

std::string ShownRanks(const std::string& list) {
  if (static_cast<size_t>(std::count(list.begin(), list.end(), ',')) < kMostRanges) {
    return list;
  }
  size_t end = 0;
  for (size_t range = 0; range < kMostRanges; ++range) {
    end = list.find(',', end + 1);
  }
  return fmt::format("{} and others, {} in all", list.substr(0, end), ReadRankList(list).size());
}

std::string RankWords(std::span<const int32_t> ranks) {
  std::vector<std::string> ranges = RangesOf(ranks);
  std::string words = ranks.size() == 1 ? "rank " : "ranks ";
  if (ranges.size() > kMostRanges) {
    ranges.resize(kMostRanges);
    return fmt::format("{}{} and others, {} in all", words, fmt::join(ranges, ", "), ranks.size());
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    words += i == 0 ? "" : i + 1 == ranges.size() ? " and " : ", ";
    words += ranges[i];
  }
  return words;
}

std::string ClockTime(int64_t unix_ns) {
  constexpr int64_t kDayMs = 86'400'000;
  const int64_t ms = (unix_ns / kMillisecondNs % kDayMs + kDayMs) % kDayMs;
  return fmt::format("{:02}:{:02}:{:02}.{:03} UTC", ms / 3'600'000, ms / 60'000 % 60,
                     ms / 1000 % 60, ms % 1000);
}

Table VerdictTable(std::vector<JobFinding> findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const JobFinding& a, const JobFinding& b) {
    return a.is_first != b.is_first ? a.is_first : a.order < b.order;
  });
  std::vector<VerdictRow> rows;
  rows.reserve(findings.size());
  for (JobFinding& finding : findings) {
    rows.push_back({.finding = std::move(finding.finding),
                    .severity = std::string(NameOf(finding.severity)),
                    .certainty = std::string(CertaintyName(finding.certainty)),
                    .ranks = IfAny(ShownRanks(finding.ranks)),
                    .evidence = IfAny(std::move(finding.evidence)),
                    .where = IfAny(std::move(finding.where)),
                    .help = IfAny(std::move(finding.help)),
                    .value = finding.value,
                    .unit = IfAny(std::move(finding.unit))});
  }
  return MakeTable(rows);
}

JobFileRow RowOf(const JobFile& file, std::string_view status) {
  JobFileRow row;
  row.file = file.path;
  row.kind = JobFileKindName(file.kind);
  if (file.rank.has_value()) row.rank = *file.rank;
  row.bytes = static_cast<int64_t>(file.bytes);
  row.status = status;
  return row;
}

Diagnostic RefusalOf(const JobFile& file, const Error& error) {
  const bool runs_code = error.code == ErrorCode::kUnsupportedFormat;
  const std::string_view what = file.kind == JobFileKind::kMemorySnapshot ? "snapshot" : "dump";
  return {Severity::kError,
          runs_code ? "unsafe-pickle" : "unreadable-file",
          1,
          file.path,
          error.cause,
          runs_code ? fmt::format(
                          "The file is no {} as PyTorch writes them; nothing in it was run.", what)
                    : "The file could not be read; the answer is about the others."};
}

std::string WhyUnreadable(const Error& error) {
  return error.cause + (error.remedy.empty() ? "" : "; " + error.remedy);
}

Diagnostic NotRecognised(const JobFile& file) {
  return {
      Severity::kWarning,
      "unreadable-file",
      1,
      file.path,
      WhyUnreadable(*file.failure),
      "Whether it is a dump, a snapshot or a log could not be found out; the answer is about the "
      "others."};
}

std::vector<Diagnostic> DiagnosticsOf(const UnsearchedPlaces& places) {
  std::vector<Diagnostic> all;
  if (!places.too_deep.empty()) {
    all.push_back({Severity::kWarning, "not-searched", 1, places.too_deep, "",
                   "Folders are searched to a depth of three below the one that was named: name "
                   "this one as well if files of the job are in it."});
  }
  if (!places.link.empty()) {
    all.push_back({Severity::kWarning, "not-followed", 1, places.link, "",
                   "Links that lead out of the folder that was named, or to nothing, are not "
                   "followed: name what this one leads to as well if it is of the job."});
  }
  return all;
}

}  // namespace borescope::internal
