#include "borescope/verbs/check/check_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/stop.h"
#include "borescope/check/budget.h"
#include "borescope/check/saved_runs.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/loading/attach_captures.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/wire/partial_bytes.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/verbs/check/map_check.h"
#include "borescope/verbs/check/parts_of_runs.h"

namespace borescope::internal {

namespace {

// Values of thousands of runs.
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr size_t kHeadBytes = 16;
constexpr size_t kMostBudgetBytes = size_t{1} << 20;

Result<bool> IsSaved(const std::string& path) {
  BS_ASSIGN(const std::string head, BeginOfFile(path, kHeadBytes));
  return MayBeSavedRuns(head);
}

// Whether an entry of a folder is one of saved runs. Nobody named it and nobody else opens it: one
// that cannot be looked at or opened is an error, since the verdict would be from fewer runs.
Result<bool> IsSavedIn(const std::string& path) {
  BS_ASSIGN(const FileKind kind, KindOf(path));
  if (kind == FileKind::kNothing) {
    return Error{ErrorCode::kIo, "the link leads to nothing",
                 "remove it, or restore what it leads to", path};
  }
  if (kind != FileKind::kFile) {
    return false;
  }
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  BS_ASSIGN(const std::string head, InFile(path, ReadUpTo(*source, kHeadBytes)));
  return MayBeSavedRuns(head);
}

// Sorted by name, numbers by value.
Result<std::vector<std::string>> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  BS_ASSIGN(const std::vector<std::string> names, NamesIfAny(folder));
  for (const std::string& name : names) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (path.extension() == ".json") {
      files.push_back(path.string());
    }
  }
  std::sort(files.begin(), files.end(), NaturalLess);
  return files;
}

Result<bool> HaveSameContent(const std::string& a, const std::string& b) {
  BS_ASSIGN(const std::unique_ptr<ByteSource> one, OpenFile(a));
  BS_ASSIGN(const std::unique_ptr<ByteSource> other, OpenFile(b));
  constexpr size_t kPiece = size_t{1} << 18;
  std::string left(kPiece, '\0');
  std::string right(kPiece, '\0');
  for (size_t read = kPiece; read == kPiece;) {
    BS_ASSIGN(read, InFile(a, ReadFully(*one, left.data(), kPiece)));
    BS_ASSIGN(const size_t more, InFile(b, ReadFully(*other, right.data(), kPiece)));
    if (read != more || left.compare(0, read, right, 0, more) != 0) {
      return false;
    }
  }
  return true;
}

// The files of an input that are there.
struct InputContent {
  std::string input;
  std::string path;
};

Error IsTwice(std::string_view parameter, const InputContent& one, const InputContent& other) {
  return UsageError(fmt::format("{} and {} are one recording", one.path, other.path),
                    "each run counts once, so name it once", std::string(parameter));
}

}  // namespace

Result<void> CheckNoneTwice(const std::vector<std::string>& inputs, std::string_view parameter) {
  std::map<uint64_t, std::vector<InputContent>> by_size;
  for (size_t i = 0; i < inputs.size(); ++i) {
    BS_ASSIGN(const std::vector<std::string> paths, PathsBehind({&inputs[i], 1}));
    for (const std::string& path : paths) {
      BS_ASSIGN(const uint64_t size, SizeOfFile(path));
      if (size == 0) {
        continue;
      }
      // By its number: one word given twice is two inputs.
      const InputContent content{std::to_string(i), path};
      for (const InputContent& other : by_size[size]) {
        BS_ASSIGN(const bool is_same_file, IsSameFile(path, other.path));
        BS_ASSIGN(const bool is_same,
                  is_same_file ? Result<bool>(true) : HaveSameContent(path, other.path));
        if (other.input != content.input && is_same) {
          return IsTwice(parameter, other, content);
        }
      }
      by_size[size].push_back(content);
    }
  }
  return {};
}

Result<BudgetFile> ReadBudgetAt(const std::string& path) {
  if (path.empty()) {
    return BudgetFile();
  }
  BS_ASSIGN(const std::string text, OfParameter("budget", ReadSmallFile(path, kMostBudgetBytes)));
  return ReadBudgetFile(text, path);
}

Result<std::string> ReadSmallFile(const std::string& path, size_t most) {
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  std::string text;
  constexpr size_t kPiece = size_t{1} << 16;
  for (size_t read = kPiece; read == kPiece && text.size() <= most;) {
    text.resize(text.size() + kPiece);
    BS_ASSIGN(read, InFile(path, ReadFully(*source, text.data() + text.size() - kPiece, kPiece)));
    text.resize(text.size() - kPiece + read);
  }
  if (text.size() > most) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("larger than {} MiB", most >> 20),
                 "is it the right file?", path};
  }
  return text;
}

Result<std::vector<std::vector<RunValues>>> SavedRunsAt(const std::string& path) {
  BS_ASSIGN(const FileKind kind, KindOf(path));
  std::vector<std::string> files = {path};
  if (kind == FileKind::kFolder) {
    BS_ASSIGN(files, FilesIn(path));
  }
  std::vector<std::vector<RunValues>> groups;
  for (const std::string& file : files) {
    BS_ASSIGN(const bool is_saved, kind == FileKind::kFolder ? IsSavedIn(file) : IsSaved(file));
    if (!is_saved) {
      continue;
    }
    BS_ASSIGN(const std::string text, ReadSmallFile(file, kMostBytes));
    BS_ASSIGN(std::vector<RunValues> runs, InFile(file, ReadSavedRuns(text)));
    groups.push_back(std::move(runs));
  }
  return groups;
}

namespace {

// Files of parts that an input leads to; none where it leads to recordings.
Result<std::vector<std::string>> PartFiles(const std::string& input) {
  const Result<std::vector<InputFile>> files = ExpandInputs({&input, 1});
  std::vector<std::string> paths;
  if (!files.ok()) {
    return paths;  // what is wrong with an input is said where it is read as recordings
  }
  bool has_parts = false;
  for (const InputFile& file : *files) {
    BS_ASSIGN(const bool is_part, IsPartialFile(file.path));
    BS_ASSIGN(const bool may_be_part, MayBePartial(file));
    has_parts |= is_part;
    if (may_be_part) {
      paths.push_back(file.path);
    }
  }
  return has_parts ? paths : std::vector<std::string>();
}

Result<std::vector<PartialData>> ReadParts(const std::vector<std::string>& paths) {
  std::vector<PartialData> parts;
  parts.reserve(paths.size());
  for (const std::string& path : paths) {
    CheckStop();
    BS_ASSIGN(const std::string bytes, ReadPartialFile(path));
    BS_ASSIGN(PartialData part, ParsePartial(bytes, path));
    parts.push_back(std::move(part));
  }
  return parts;
}

// The folder of a part and its division; nothing where it is no part of one.
using Division = std::tuple<std::string, uint32_t, uint64_t, uint64_t>;
std::optional<Division> DivisionOf(const std::string& input, const std::vector<std::string>& files,
                                   const std::vector<PartialData>& parts) {
  if (files.size() != 1 || files.front() != input || parts.front().shards.size() != 1 ||
      parts.front().shards.front().count == 1) {
    return std::nullopt;
  }
  const ShardMark& mark = parts.front().shards.front();
  return Division{std::filesystem::path(input).parent_path().string(), mark.count, mark.files,
                  mark.digest};
}

// Parts that are joined, in the place of the first.
struct Pool {
  std::string name;
  std::vector<PartialData> parts;
};

void Append(std::vector<PartialData> parts, Pool& pool) {
  std::move(parts.begin(), parts.end(), std::back_inserter(pool.parts));
}

}  // namespace

Result<std::vector<RunInput>> FindRunInputs(const std::vector<std::string>& inputs) {
  std::vector<Pool> pools;
  std::map<Division, size_t> pool_of;
  for (const std::string& input : inputs) {
    BS_ASSIGN(const std::vector<std::string> files, PartFiles(input));
    BS_ASSIGN(std::vector<PartialData> parts, ReadParts(files));
    const std::optional<Division> division =
        parts.empty() ? std::nullopt : DivisionOf(input, files, parts);
    const auto [place, is_new] = division.has_value() ? pool_of.try_emplace(*division, pools.size())
                                                      : std::pair(pool_of.end(), true);
    if (is_new) {
      pools.push_back({input, {}});
    }
    Append(std::move(parts), is_new ? pools.back() : pools[place->second]);
  }
  std::vector<RunInput> found;
  found.reserve(pools.size());
  for (Pool& pool : pools) {
    found.push_back({pool.name, std::nullopt});
    if (!pool.parts.empty()) {
      BS_ASSIGN(found.back().parts, PartsOfRuns::Join(std::move(pool.parts), pool.name));
    }
  }
  return found;
}

namespace {

Result<MeasuredRun> MeasureInput(const std::string& input, const CheckRequest& options,
                                 const MeasureOptions& measure) {
  RunOptions run = options.run;
  BS_ASSIGN(std::vector<InputFile> files, ExpandInputs({&input, 1}));
  run.files = SplitRanks(std::move(files));
  BS_TRY(FindCaptures(options.captures, nullptr, run.files));
  RecordedRun recorded(std::move(run));
  return MeasureRun(input, recorded, measure);
}

// Recordings that parts are of, by their size: those of another run may be copies of them.
class KnownRecordings {
 public:
  // kInvalidArgument where a run that was added before has a recording with this content.
  Result<void> AddRun(const std::vector<PartsOfRuns::Recording>& recordings) {
    ++runs_;
    for (const PartsOfRuns::Recording& recording : recordings) {
      BS_TRY(CheckIsNew(recording));
      by_size_[recording.content.bytes].push_back({runs_, recording});
    }
    return {};
  }

  // The same, of a file that is here and is read only where one of its size is known.
  Result<void> AddFile(const std::string& path) const {
    BS_ASSIGN(const uint64_t bytes, SizeOfFile(path));
    if (!by_size_.contains(bytes)) {
      return {};
    }
    BS_ASSIGN(const ContentDigest content, DigestOfFiles({&path, 1}));
    return CheckIsNew({path, content});
  }

 private:
  Result<void> CheckIsNew(const PartsOfRuns::Recording& recording) const {
    const auto found = by_size_.find(recording.content.bytes);
    if (found == by_size_.end()) {
      return {};
    }
    for (const auto& [run, other] : found->second) {
      if (run != runs_ && other.content == recording.content) {
        return UsageError(fmt::format("{} and {} are one recording", other.path, recording.path),
                          "each run counts once, so name it once");
      }
    }
    return {};
  }

  size_t runs_ = 0;
  std::map<uint64_t, std::vector<std::pair<size_t, PartsOfRuns::Recording>>> by_size_;
};

// Recordings of parts are known by their content; CheckNoneTwice has compared the others.
Result<void> CheckRecordingsOnce(const std::vector<RunInput>& inputs) {
  KnownRecordings known;
  for (const RunInput& input : inputs) {
    for (size_t run = 0; input.parts.has_value() && run < input.parts->size(); ++run) {
      std::vector<PartsOfRuns::Recording> recordings = input.parts->RecordingsOf(run);
      for (PartsOfRuns::Recording& recording : recordings) {
        recording.path = fmt::format("{} (in {})", recording.path, input.name);
      }
      BS_TRY(known.AddRun(recordings));
    }
  }
  BS_TRY(known.AddRun({}));
  for (const RunInput& input : inputs) {
    std::vector<std::string> paths;
    if (!input.parts.has_value()) {
      BS_ASSIGN(paths, PathsBehind({&input.name, 1}));
    }
    for (const std::string& path : paths) {
      BS_TRY(known.AddFile(path));
    }
  }
  return {};
}

size_t CountRuns(const std::vector<RunInput>& inputs) {
  size_t runs = 0;
  for (const RunInput& input : inputs) {
    runs += input.parts.has_value() ? input.parts->size() : 1;
  }
  return runs;
}

Result<void> ReadPartsInput(const PartsOfRuns& parts, const CheckRequest& options,
                            const MeasureOptions& measure, Side& side) {
  for (size_t run = 0; run < parts.size(); ++run) {
    const std::unique_ptr<RunQuestions> questions = parts.QuestionsTo(run, options.run);
    BS_ASSIGN(MeasuredRun measured, MeasureRun(parts.NameOf(run), *questions, measure));
    side.measured.push_back(std::move(measured));
  }
  return {};
}

Result<void> ReadInput(const RunInput& input, const CheckRequest& options,
                       const MeasureOptions& measure, Side& side) {
  if (input.parts.has_value()) {
    return ReadPartsInput(*input.parts, options, measure, side);
  }
  BS_ASSIGN(std::vector<std::vector<RunValues>> saved, SavedRunsAt(input.name));
  if (!saved.empty()) {
    std::move(saved.begin(), saved.end(), std::back_inserter(side.saved));
    return {};
  }
  BS_ASSIGN(MeasuredRun run, MeasureInput(input.name, options, measure));
  side.measured.push_back(std::move(run));
  return {};
}

Result<Side> ReadRuns(const std::vector<std::string>& inputs, const CheckRequest& options,
                      const MeasureOptions& measure) {
  BS_ASSIGN(const std::vector<RunInput> found, FindRunInputs(inputs));
  BS_TRY(CheckRecordingsOnce(found));
  MeasureOptions of_side = measure;
  of_side.is_one_of_several = CountRuns(found) > 1;
  Side side;
  for (const RunInput& input : found) {
    BS_TRY(ReadInput(input, options, of_side, side));
  }
  side.first_run = side.measured.empty() ? "" : side.measured.front().values.name;
  side.measured = JoinWindows(std::move(side.measured), *measure.file);
  return side;
}

}  // namespace

std::vector<RunValues> Side::AllValues() const {
  std::vector<RunValues> all;
  all.reserve(measured.size());
  for (const MeasuredRun& run : measured) {
    all.push_back(run.values);
  }
  for (const std::vector<RunValues>& group : saved) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

std::vector<std::vector<RunValues>> Side::Groups() const {
  std::vector<std::vector<RunValues>> groups;
  std::vector<RunValues> single;
  single.reserve(measured.size());
  for (const MeasuredRun& run : measured) {
    single.push_back(run.values);
  }
  for (const std::vector<RunValues>& group : saved) {
    if (group.size() > 1) {
      groups.push_back(group);
    } else {
      single.push_back(group.front());
    }
  }
  groups.push_back(std::move(single));
  return groups;
}

Result<Side> ReadSide(const std::vector<std::string>& inputs, std::string_view parameter,
                      const CheckRequest& options, const MeasureOptions& measure) {
  BS_TRY(CheckNoneTwice(inputs, parameter));
  Result<Side> side = ReadRuns(inputs, options, measure);
  return side.ok() ? std::move(side) : Result<Side>(OfParameter(parameter, side.error()));
}

}  // namespace borescope::internal
