#include "borescope/verbs/check/parts_of_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/hash/input_hash.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {

namespace {

Result<void> CheckAreOfCheck(const std::vector<PartialData>& parts) {
  for (const PartialData& part : parts) {
    if (!part.question.for_check) {
      return Error{ErrorCode::kInvalidArgument,
                   "it holds answers of other verbs, and nothing that a check compares",
                   "map the recordings with borescope map check", part.name};
    }
  }
  return {};
}

// Some ranks of a run are no run: its slowest rank may be another.
Result<void> CheckAreAll(const PartialData& parts, const std::string& name) {
  const auto traces =
      static_cast<uint64_t>(std::count_if(parts.files.begin(), parts.files.end(),
                                          [](const PartialFile& file) { return !file.skipped; }));
  BS_ASSIGN(const MissingParts missing, FindMissingParts(parts.shards, traces, std::nullopt));
  return missing.count == 0 ? Result<void>()
                            : Error{ErrorCode::kInvalidArgument, missing.words,
                                    "some ranks say nothing of a run: map the missing shards, and "
                                    "name the folder of all parts",
                                    name};
}

std::string WordsOf(const CheckQuestion& question) {
  std::vector<std::string_view> names;
  names.reserve(question.verbs.size());
  for (const AnalysisSpec* verb : question.verbs) {
    names.push_back(verb->name);
  }
  return fmt::format("{}{}{}", fmt::join(names, ","), question.by.empty() ? "" : " by ",
                     fmt::join(question.by, ","));
}

// Where each verb of the question has its answer among those of the part; empty where one has none.
std::vector<size_t> PlacesOf(const CheckQuestion& question, const PartialData& part) {
  std::vector<size_t> places;
  places.reserve(question.verbs.size());
  const std::vector<const AnalysisSpec*>& verbs = part.question.verbs;
  for (const AnalysisSpec* verb : question.verbs) {
    const auto found = std::find(verbs.begin(), verbs.end(), verb);
    if (found == verbs.end()) {
      return {};
    }
    places.push_back(static_cast<size_t>(found - verbs.begin()));
  }
  return places;
}

class MappedRunQuestions final : public RunQuestions {
 public:
  MappedRunQuestions(std::shared_ptr<const PartialData> parts, std::vector<size_t> files,
                     const RunOptions& options, std::string name)
      : parts_(std::move(parts)),
        files_(std::move(files)),
        options_(options),
        name_(std::move(name)) {}

  Result<AnswerData> Ask(const CheckQuestion& question) override {
    return WithNumberedRows([&] {
      return Stoppable(options_.stop, [&]() -> Result<AnswerData> {
        BS_ASSIGN(const PartialData* const part, Find(question));
        BS_TRY(CheckSelection(question, *part));
        return AnswerOfPart(question, *part);
      });
    });
  }

  Result<RecordedWindow> Window() override { return window_; }

  Result<RunOptions> Recordings() override {
    return Error{ErrorCode::kInvalidArgument,
                 "a statement (sql) is asked of recordings, and these are parts",
                 "check it where the recordings are", name_};
  }

 private:
  // The answers to this question, and perhaps to others.
  Result<const PartialData*> Find(const CheckQuestion& question) const {
    if (question.of_whole) {
      return PlacesOf(question, *parts_).empty() ? Result<const PartialData*>(NotMapped(question))
                                                 : parts_.get();
    }
    for (const PartialData& part : parts_->further) {
      if (part.question.params.by == question.by && !PlacesOf(question, part).empty()) {
        return &part;
      }
    }
    return NotMapped(question);
  }

  Error NotMapped(const CheckQuestion& question) const {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the parts hold no answer of {}", WordsOf(question)),
                 "map them with this `budget`", name_};
  }

  // What was selected when the parts were mapped, is what is selected now.
  Result<void> CheckSelection(const CheckQuestion& question, const PartialData& part) const {
    if (!options_.params.Text(kPlainStepParam).empty()) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .cause = "`plain_step` needs recordings, and these are parts",
                   .remedy = "check it where the recordings are",
                   .file = name_,
                   .parameter = "plain_step"};
    }
    MappedQuestion asked = part.question;
    asked.ranks = options_.ranks;
    asked.params.selection = question.of_whole ? Selection() : options_.params.selection;
    const std::string difference = DifferenceOf(part.question, asked);
    return difference.empty()
               ? Result<void>()
               : Error{ErrorCode::kInvalidArgument,
                       fmt::format("the parts were mapped with another selection: {}", difference),
                       "give the options that select to map check and to check alike", name_};
  }

  Result<AnswerData> AnswerOfPart(const CheckQuestion& question, const PartialData& part) {
    PartialData mine;
    mine.program_version = part.program_version;
    mine.question = part.question;
    mine.question.verbs = question.verbs;
    mine.files.reserve(files_.size());
    const std::vector<size_t> places = PlacesOf(question, part);
    for (const size_t number : files_) {
      mine.files.push_back(OnlyWith(places, part.files[number]));
    }
    PartsInMemory source(std::vector<const PartialData*>{&mine});
    BS_ASSIGN(JoinedRun joined, JoinPartials(source));
    window_ = joined.run.selected.front()->window;
    RunOptions options;
    options.stop = options_.stop;
    options.files = std::move(joined.files);
    options.ranks = joined.question.ranks;
    options.params = joined.question.params;
    return AnswerOf(question.verbs, options, joined.run);
  }

  static PartialFile OnlyWith(const std::vector<size_t>& places, PartialFile file) {
    std::vector<Outcome> outcomes;
    outcomes.reserve(places.size());
    for (const size_t place : places) {
      if (!file.outcomes.empty()) {
        outcomes.push_back(std::move(file.outcomes[place]));
      }
    }
    file.outcomes = std::move(outcomes);
    return file;
  }

  std::shared_ptr<const PartialData> parts_;
  std::vector<size_t> files_;
  RunOptions options_;
  std::string name_;
  RecordedWindow window_;
};

}  // namespace

Result<PartsOfRuns> PartsOfRuns::Join(std::vector<PartialData> parts, const std::string& name) {
  BS_TRY(CheckAreOfCheck(parts));
  BS_ASSIGN(PartialData merged, MergePartials(std::move(parts)));
  BS_TRY(CheckAreAll(merged, name));
  if (merged.files.empty()) {
    return Error{ErrorCode::kInvalidArgument, "the parts hold no file",
                 "there were more parts than files", name};
  }
  PartsOfRuns joined;
  joined.name_ = name;
  joined.parts_ = std::make_shared<const PartialData>(std::move(merged));
  joined.FindRuns();
  return joined;
}

// Parts of one division are of the same runs, whatever each machine calls them; others that were
// named differently are of different runs.
void PartsOfRuns::FindRuns() {
  const bool is_divided = !parts_->shards.empty();
  std::map<std::pair<uint32_t, std::string>, RunFiles> runs;
  for (size_t i = 0; i < parts_->files.size(); ++i) {
    const CheckedFile& file = *parts_->files[i].checked;
    RunFiles& run = runs[{file.run, is_divided ? std::string() : file.run_name}];
    run.name = run.files.empty() ? file.run_name : std::min(run.name, file.run_name);
    run.files.push_back(i);
  }
  runs_.reserve(runs.size());
  for (auto& [key, run] : runs) {
    runs_.push_back(std::move(run));
  }
}

std::vector<PartsOfRuns::Recording> PartsOfRuns::RecordingsOf(size_t run) const {
  std::vector<Recording> recordings;
  for (const size_t number : runs_[run].files) {
    const PartialFile& file = parts_->files[number];
    if (file.checked->bytes > 0) {
      recordings.push_back({file.path, {file.checked->bytes, file.checked->digest}});
    }
  }
  return recordings;
}

std::unique_ptr<RunQuestions> PartsOfRuns::QuestionsTo(size_t run,
                                                       const RunOptions& options) const {
  return std::make_unique<MappedRunQuestions>(parts_, runs_[run].files, options, name_);
}

uint64_t BytesKeptOf(uint64_t memory_limit) {
  constexpr uint64_t kMost = uint64_t{4} << 30;
  return memory_limit == 0 ? kMost : std::min(kMost, memory_limit / 2);
}

RecordedRun::RecordedRun(RunOptions options)
    : cache_(BytesKeptOf(options.memory_limit)), options_(std::move(options)) {
  options_.cache = &cache_;
}

Result<AnswerData> RecordedRun::Ask(const CheckQuestion& question) {
  RunOptions asked = options_;
  options_.progress = {};
  asked.params.by = question.by;
  if (question.of_whole) {
    asked.params.selection = {};
  }
  return RunAnalyses(question.verbs, asked);
}

Result<RecordedWindow> RecordedRun::Window() {
  BS_ASSIGN(const LoadedRun loaded, LoadRun(options_));
  return WindowOf(loaded.ranks.front().loaded->trace);
}

Result<ContentDigest> DigestOfFiles(std::span<const std::string> paths) {
  constexpr size_t kPiece = size_t{1} << 18;
  std::string piece(kPiece, '\0');
  ContentDigest content;
  StableDigest digest;
  for (const std::string& path : paths) {
    BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
    for (size_t read = kPiece; read == kPiece;) {
      CheckStop();
      BS_ASSIGN(read, InFile(path, ReadFully(*source, piece.data(), kPiece)));
      digest.Add(std::string_view(piece).substr(0, read));
      content.bytes += read;
    }
  }
  content.digest = digest.value();
  return content;
}

}  // namespace borescope::internal
