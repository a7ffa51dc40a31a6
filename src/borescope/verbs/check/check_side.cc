#include "borescope/verbs/check/check_side.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/engine/inputs/ranks_in_file.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/verbs/check/check_inputs.h"
#include "borescope/verbs/check/content_digest.h"
#include "borescope/verbs/check/find_parts.h"
#include "borescope/verbs/check/recorded_run.h"

namespace borescope::internal {
namespace {

Result<MeasuredRun> MeasureInput(const std::string& input, const CheckRequest& options,
                                 const MeasureOptions& measure) {
  RunOptions run = options.run;
  BS_ASSIGN(std::vector<InputFile> files, ExpandInputs({&input, 1}));
  run.files = SplitRanks(std::move(files));
  if (options.find_captures) {
    BS_TRY(options.find_captures(run.files));
  }
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
