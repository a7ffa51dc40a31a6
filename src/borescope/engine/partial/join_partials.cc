#include "borescope/engine/partial/join_partials.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "borescope/base/version.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/wire/partial_bytes.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

std::string NameOf(const PartialData& partial) {
  return partial.name.empty() ? std::string("a partial") : partial.name;
}

Result<void> CheckAlike(const PartialData& first, const PartialData& other) {
  if (first.major != other.major) {
    return UsageError(fmt::format("{} has format {} and {} has format {}: map with one version",
                                  NameOf(first), first.major, NameOf(other), other.major));
  }
  const std::string difference = DifferenceOf(first.question, other.question);
  if (!difference.empty()) {
    return UsageError(fmt::format(
        "{} and {} answer different questions: they differ in {}; map all ranks with the same "
        "verbs and options",
        NameOf(first), NameOf(other), difference));
  }
  return {};
}

Error OtherContent(const std::string& path) {
  return UsageError(
      fmt::format("{}: two partials hold this file with different answers; map it once, or give "
                  "the files of each machine paths of their own",
                  ToPrintable(path)));
}

// The order in which options were given says nothing, and must not show.
void ArrangeOptions(std::vector<ParamValue>& values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const ParamValue& a, const ParamValue& b) { return a.name < b.name; });
}

// Sorts by path and keeps one of each.
Result<void> ArrangeFiles(std::vector<PartialFile>& files) {
  std::stable_sort(files.begin(), files.end(), [](const PartialFile& a, const PartialFile& b) {
    return NaturalLess(a.path, b.path);
  });
  size_t kept = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (kept != 0 && files[kept - 1].path == files[i].path) {
      if (FileBytes(files[kept - 1]) != FileBytes(files[i])) {
        return OtherContent(files[i].path);
      }
      continue;
    }
    if (kept != i) {
      files[kept] = std::move(files[i]);
    }
    ++kept;
  }
  files.resize(kept);
  return {};
}

// As MapFiles would have left it.
RankPart PartOf(PartialFile file) {
  RankPart part;
  part.report.path = std::move(file.path);
  part.report.rank = file.rank;
  part.report.file_bytes = file.file_bytes;
  part.report.text_bytes = file.text_bytes;
  part.report.events = file.events;
  part.report.begin_ns = file.begin_ns;
  part.claim = file.claim;
  part.from_directory = file.from_directory;
  part.diagnostics = std::move(file.diagnostics);
  part.load_error = std::move(file.load_error);
  part.unknown = std::move(file.unknown);
  part.outcomes = std::move(file.outcomes);
  SetLoadReport(part);
  for (Outcome& outcome : part.outcomes) {
    SetRank(outcome.tables, part.report.rank);
  }
  return part;
}

InputFile InputOf(const RankPart& part) {
  return {part.report.path, part.from_directory, part.report.file_bytes};
}

// The rows of one table of all ranks are counted in 32 bits once they are one table.
Result<void> CheckRows(const PartialData& partial) {
  for (size_t verb = 0; verb < partial.question.verbs.size(); ++verb) {
    std::vector<uint64_t> rows;
    for (const PartialFile& file : partial.files) {
      const Tables none;
      const Tables& tables = verb < file.outcomes.size() ? file.outcomes[verb].tables : none;
      rows.resize(std::max(rows.size(), tables.size()));
      for (size_t i = 0; i < tables.size(); ++i) {
        rows[i] += tables[i].rows();
      }
    }
    if (std::any_of(rows.begin(), rows.end(),
                    [](uint64_t count) { return count >= std::numeric_limits<uint32_t>::max(); })) {
      return UsageError(
          fmt::format("{}: the ranks have more than 4294967294 rows together; reduce "
                      "fewer of them",
                      partial.question.verbs[verb]->name));
    }
  }
  return {};
}

}  // namespace

Result<PartialData> MergePartials(std::vector<PartialData> partials) {
  if (partials.empty()) {
    return UsageError("no partial; give at least one that borescope map wrote");
  }
  PartialData merged = std::move(partials.front());
  for (size_t i = 1; i < partials.size(); ++i) {
    BS_TRY(CheckAlike(merged, partials[i]));
    MergeQuestion(merged.question, partials[i].question);
    std::move(partials[i].files.begin(), partials[i].files.end(), std::back_inserter(merged.files));
  }
  merged.minor = kPartialMinor;
  merged.program_version = Version();
  ArrangeOptions(merged.question.params.values);
  BS_TRY(ArrangeFiles(merged.files));
  return merged;
}

Result<JoinedRun> JoinPartials(std::vector<PartialData> partials) {
  BS_ASSIGN(PartialData merged, MergePartials(std::move(partials)));
  BS_TRY(CheckRows(merged));
  JoinedRun joined;
  joined.question = std::move(merged.question);
  std::vector<RankPart> parts;
  parts.reserve(merged.files.size());
  for (PartialFile& file : merged.files) {
    parts.push_back(PartOf(std::move(file)));
    joined.files.push_back(InputOf(parts.back()));
  }
  BS_ASSIGN(joined.run, TellRanksApart(std::move(parts), joined.question.ranks, ""));
  return joined;
}

}  // namespace borescope::internal
