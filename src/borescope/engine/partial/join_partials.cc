#include "borescope/engine/partial/join_partials.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/base/version.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/map_files.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/wire/partial_bytes.h"
#include "borescope/output/units/units.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

namespace {

std::string Grouped(uint64_t number) { return GroupDigits(static_cast<int64_t>(number)); }

struct Division {
  ShardMark first;                // of those that are here
  std::vector<uint32_t> present;  // ascending
};

Error OtherFiles(const ShardMark& a, const ShardMark& b) {
  return UsageError(
      fmt::format("the parts {}/{} and {}/{} are of different files: the run changed between their "
                  "maps ({} and {} files), or parts of another run are among them",
                  a.index, a.count, b.index, b.count, Grouped(a.files), Grouped(b.files)),
      "map all parts again");
}

// By the number of their parts.
Result<std::map<uint32_t, Division>> DivisionsOf(std::span<const ShardMark> shards) {
  std::map<uint32_t, Division> divisions;
  for (const ShardMark& mark : shards) {
    Division& division = divisions.try_emplace(mark.count, Division{mark, {}}).first->second;
    if (mark.files != division.first.files || mark.digest != division.first.digest) {
      return OtherFiles(division.first, mark);
    }
    division.present.push_back(mark.index);
  }
  return divisions;
}

// The numbers below `count` that are not in `present`, as a list of ranges that is cut.
std::string ListAbsent(const std::vector<uint32_t>& present, uint32_t count) {
  constexpr size_t kShown = 8;
  std::vector<std::string> absent;
  uint32_t next = 0;
  const auto skip_to = [&](uint32_t index) {
    if (next < index && absent.size() <= kShown) {
      absent.push_back(absent.size() == kShown ? "…" : RangeText(next, index - 1));
    }
    next = index + 1;
  };
  std::for_each(present.begin(), present.end(), skip_to);
  skip_to(count);
  return fmt::format("{}", fmt::join(absent, ", "));
}

MissingParts MissingShards(const std::map<uint32_t, Division>& divisions) {
  MissingParts fewest;
  for (const auto& [count, division] : divisions) {
    const uint64_t missing = count - division.present.size();
    if (missing == 0) {
      return {};
    }
    if (fewest.count == 0 || missing < fewest.count) {
      fewest = {missing, fmt::format("{} of {} parts; without {}", Grouped(division.present.size()),
                                     Grouped(count), ListAbsent(division.present, count))};
    }
  }
  return fewest;
}

}  // namespace

Result<MissingParts> FindMissingParts(std::span<const ShardMark> shards, uint64_t files,
                                      std::optional<uint64_t> expected_files) {
  BS_ASSIGN(const auto divisions, DivisionsOf(shards));
  MissingParts missing = MissingShards(divisions);
  if (!expected_files.has_value() || files == *expected_files) {
    return missing;
  }
  if (files > *expected_files) {
    return UsageError(fmt::format("the partials hold {} files, more than the {} of `expect`",
                                  Grouped(files), Grouped(*expected_files)),
                      "take those of other runs away, or give the number of this one", "expect");
  }
  const std::string words = fmt::format("{} of {} files", Grouped(files), Grouped(*expected_files));
  missing.words = missing.count == 0 ? words : words + "; " + missing.words;
  missing.count = missing.count == 0 ? *expected_files - files : missing.count;
  return missing;
}

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
    return UsageError(fmt::format("{} and {} answer different questions: they differ in {}",
                                  NameOf(first), NameOf(other), difference),
                      "map all ranks with the same verbs and options");
  }
  return {};
}

Error OtherContent(const std::string& path) {
  return Error{ErrorCode::kInvalidArgument, "two partials hold this file with different answers",
               "map it once, or give the files of each machine paths of their own",
               ToPrintable(path)};
}

Error NoPartial() { return UsageError("no partial", "give at least one that borescope map wrote"); }

// The order in which options were given says nothing, and must not show.
void ArrangeOptions(std::vector<ParamValue>& values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const ParamValue& a, const ParamValue& b) { return a.name < b.name; });
}

// Sorts by path and keeps one of each. `is_same`: whether two of one path have the same answers.
template <class File, class IsSame>
Result<void> ArrangeFiles(std::vector<File>& files, const IsSame& is_same) {
  std::stable_sort(files.begin(), files.end(),
                   [](const File& a, const File& b) { return NaturalLess(a.path, b.path); });
  size_t kept = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (kept != 0 && files[kept - 1].path == files[i].path) {
      if (!is_same(files[kept - 1], files[i])) {
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

// What `merged` keeps of a further partial, without its files.
Result<void> MergeHead(PartialData& merged, const PartialData& other) {
  BS_TRY(CheckAlike(merged, other));
  MergeQuestion(merged.question, other.question);
  merged.shards.insert(merged.shards.end(), other.shards.begin(), other.shards.end());
  return {};
}

// Nothing of a merged partial shows of which and in which order it was made.
void ArrangeHead(PartialData& merged) {
  merged.minor = kPartialMinor;
  merged.program_version = Version();
  ArrangeOptions(merged.question.params.values);
  std::vector<ShardMark>& shards = merged.shards;
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
}

// One file of a source, and where the rest of it is.
struct HeadFile : PartialFile {
  size_t part = 0;
  size_t file = 0;
};

// Everything of all partials but their tables.
struct Heads {
  PartialData merged;  // without files
  std::vector<HeadFile> files;
};

void AddFiles(std::vector<PartialFile> files, size_t part, std::vector<HeadFile>& to) {
  for (size_t i = 0; i < files.size(); ++i) {
    to.push_back({std::move(files[i]), part, i});
  }
}

Result<Heads> ReadHeads(PartSource& source) {
  if (source.size() == 0) {
    return NoPartial();
  }
  Heads heads;
  for (size_t part = 0; part < source.size(); ++part) {
    CheckStop();
    BS_ASSIGN(PartialData head, source.Head(part));
    AddFiles(std::exchange(head.files, {}), part, heads.files);
    if (part == 0) {
      heads.merged = std::move(head);
    } else {
      BS_TRY(MergeHead(heads.merged, head));
    }
  }
  ArrangeHead(heads.merged);
  BS_TRY(ArrangeFiles(heads.files, [&](const HeadFile& a, const HeadFile& b) {
    return source.DigestOf(a.part, a.file) == source.DigestOf(b.part, b.file);
  }));
  return heads;
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
  part.report.skipped = file.skipped;
  part.graphs = std::move(file.graphs);
  part.window = file.checked.has_value() ? file.checked->window : RecordedWindow();
  return part;
}

InputFile InputOf(const RankPart& part) {
  return {part.report.path, part.from_directory, part.report.file_bytes};
}

// Where the tables of one selected rank are.
struct WantedFile {
  size_t part = 0;
  size_t file = 0;
  int64_t rank = 0;
};

// In the order in which partials are read.
std::vector<WantedFile> WantedFiles(const MappedRun& run, std::span<const HeadFile> files) {
  std::vector<WantedFile> wanted;
  for (const RankPart* part : run.selected) {
    const HeadFile& file = files[static_cast<size_t>(part - run.parts.data())];
    wanted.push_back({file.part, file.file, part->report.rank});
  }
  std::sort(wanted.begin(), wanted.end(), [](const WantedFile& a, const WantedFile& b) {
    return std::tie(a.part, a.file) < std::tie(b.part, b.file);
  });
  return wanted;
}

// Reduces the tables of one run, verb by verb.
class RunFold {
 public:
  RunFold(const MappedQuestion& question, size_t fan_in) {
    for (const AnalysisSpec* verb : question.verbs) {
      folds_.emplace_back(verb->PipelineFor(question.params), question.params, fan_in);
    }
  }

  void Add(std::vector<Outcome> outcomes, int64_t rank) {
    for (size_t verb = 0; verb < outcomes.size(); ++verb) {
      if (outcomes[verb].error.has_value()) continue;
      SetRank(outcomes[verb].tables, rank);
      folds_[verb].Add(std::move(outcomes[verb].tables));
    }
  }

  std::vector<FoldedTables> Take() {
    std::vector<FoldedTables> folded;
    folded.reserve(folds_.size());
    for (TableFold& fold : folds_) {
      folded.push_back(fold.Take());
    }
    return folded;
  }

 private:
  std::vector<TableFold> folds_;  // one per verb
};

// Reads the tables of the selected ranks.
Result<void> FoldTables(PartSource& source, std::span<const HeadFile> files, size_t fan_in,
                        JoinedRun& joined) {
  RunFold fold(joined.question, fan_in);
  const std::vector<WantedFile> wanted = WantedFiles(joined.run, files);
  for (size_t i = 0; i < wanted.size();) {
    CheckStop();
    const size_t part = wanted[i].part;
    BS_ASSIGN(PartialData whole, source.Whole(part));
    for (; i < wanted.size() && wanted[i].part == part; ++i) {
      fold.Add(std::move(whole.files[wanted[i].file].outcomes), wanted[i].rank);
    }
  }
  joined.run.folded = fold.Take();
  return {};
}

// The parts of each file in their order, without tables.
Result<std::vector<RankPart>> PartsOf(std::vector<HeadFile>& files) {
  std::vector<RankPart> parts;
  parts.reserve(files.size());
  for (HeadFile& file : files) {
    parts.push_back(PartOf(std::move(static_cast<PartialFile&>(file))));
  }
  BS_TRY(CheckCapturesWereSearched(parts));
  SetAsideCaptures(parts);
  return parts;
}

// Files that are no trace at all, found in a folder, are none of the run.
uint64_t CountTraces(const std::vector<RankPart>& parts) {
  return static_cast<uint64_t>(std::count_if(
      parts.begin(), parts.end(), [](const RankPart& part) { return !part.report.skipped; }));
}

// The answers of all partials to each further question.
Result<std::vector<PartialData>> MergeFurther(std::vector<PartialData>& partials) {
  std::vector<PartialData> merged;
  for (size_t i = 0; i < partials.front().further.size(); ++i) {
    std::vector<PartialData> of_one;
    of_one.reserve(partials.size());
    for (PartialData& partial : partials) {
      if (partial.further.size() != partials.front().further.size()) {
        return UsageError(
            fmt::format("{} and {} answer different questions: {} and {} of them",
                        NameOf(partials.front()), NameOf(partial),
                        partials.front().further.size() + 1, partial.further.size() + 1),
            "map all with the same options");
      }
      of_one.push_back(std::move(partial.further[i]));
    }
    BS_ASSIGN(PartialData one, MergePartials(std::move(of_one)));
    merged.push_back(std::move(one));
  }
  return merged;
}

}  // namespace

Result<PartialData> MergePartials(std::vector<PartialData> partials) {
  if (partials.empty()) {
    return NoPartial();
  }
  BS_ASSIGN(std::vector<PartialData> further, MergeFurther(partials));
  PartialData merged = std::move(partials.front());
  for (size_t i = 1; i < partials.size(); ++i) {
    BS_TRY(MergeHead(merged, partials[i]));
    std::move(partials[i].files.begin(), partials[i].files.end(), std::back_inserter(merged.files));
  }
  ArrangeHead(merged);
  BS_TRY(ArrangeFiles(merged.files, [](const PartialFile& a, const PartialFile& b) {
    return FileBytes(a) == FileBytes(b);
  }));
  merged.further = std::move(further);
  return merged;
}

Result<JoinedRun> JoinPartials(PartSource& source, const JoinOptions& options) {
  BS_ASSIGN(Heads heads, ReadHeads(source));
  if (heads.files.empty()) {
    return UsageError("the parts hold no file",
                      "there were more parts than files: give the others");
  }
  JoinedRun joined;
  joined.question = std::move(heads.merged.question);
  BS_ASSIGN(std::vector<RankPart> parts, PartsOf(heads.files));
  BS_ASSIGN(const MissingParts missing,
            FindMissingParts(heads.merged.shards, CountTraces(parts), options.files));
  for (const RankPart& part : parts) {
    joined.files.push_back(InputOf(part));
  }
  BS_ASSIGN(joined.run, TellRanksApart(std::move(parts), joined.question.ranks, ""));
  joined.run.diagnostics.CountMany(Diag::kMissingParts, missing.count, Diagnostics::kNoByte,
                                   missing.words);
  BS_TRY(FoldTables(source, heads.files, options.fan_in, joined));
  return joined;
}

void TableFold::Add(Tables tables) {
  if (!error_.has_value()) {
    AddTo(0, std::move(tables));
  }
}

void TableFold::AddTo(size_t level, Tables tables) {
  if (level == levels_.size()) {
    levels_.emplace_back();
  }
  levels_[level].push_back(std::move(tables));
  if (levels_[level].size() < fan_in_) {
    return;
  }
  Result<Tables> reduced = pipeline_->reduce(levels_[level], *params_);
  levels_[level].clear();
  if (reduced.ok()) {
    AddTo(level + 1, std::move(*reduced));
  } else {
    error_ = reduced.error();
    levels_.clear();
  }
}

FoldedTables TableFold::Take() {
  FoldedTables folded;
  folded.error = std::move(error_);
  for (std::vector<Tables>& level : levels_) {
    std::move(level.begin(), level.end(), std::back_inserter(folded.tables));
  }
  levels_.clear();
  return folded;
}

}  // namespace borescope::internal
