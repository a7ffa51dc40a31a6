#include "borescope/verbs/check/map_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/hash/input_hash.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/base/version.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/loading/attach_captures.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/verbs/check/check_side.h"
#include "borescope/verbs/check/measure_budgets.h"
#include "borescope/verbs/check/parts_of_runs.h"

namespace borescope::internal {

namespace {

void AddVerb(const AnalysisSpec* verb, std::vector<const AnalysisSpec*>& verbs) {
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    verbs.push_back(verb);
  }
}

}  // namespace

std::vector<CheckQuestion> QuestionsOfCheck(const BudgetFile& file,
                                            std::span<const AnalysisSpec* const> verbs) {
  using Key = std::vector<std::string>;
  std::map<Key, std::vector<const AnalysisSpec*>> by_key;
  std::map<std::pair<Key, std::string_view>, const AnalysisSpec*> of_budgets;
  by_key[{}] = {FindAnalysis("steps"), FindAnalysis("roofline")};
  by_key[{"step"}] = {FindAnalysis("breakdown"), FindAnalysis("kernels")};
  for (size_t i = 0; i < verbs.size(); ++i) {
    if (verbs[i] != nullptr) {
      const CheckQuestion asked = QuestionOfBudget(file.budgets[i], *verbs[i]);
      of_budgets[{asked.by, verbs[i]->name}] = verbs[i];
    }
  }
  for (const auto& [key, verb] : of_budgets) {
    AddVerb(verb, by_key[key.first]);
  }
  std::vector<CheckQuestion> questions = {{{FindAnalysis("info")}, {}, true}};
  for (auto& [by, asked] : by_key) {
    questions.push_back({std::move(asked), by});
  }
  return questions;
}

namespace {

constexpr MapOptions kOfCheck = {std::nullopt, false, true};

RunOptions AskedWith(const CheckQuestion& question, RunOptions options) {
  options.params.by = question.by;
  if (question.of_whole) {
    options.params.selection = {};
  }
  return options;
}

// Statements need recordings, and verbs refuse options: rather here than once all is
// mapped.
Result<void> CheckCanMap(const BudgetFile& file, std::span<const AnalysisSpec* const> verbs,
                         const RunOptions& options) {
  for (size_t i = 0; i < verbs.size(); ++i) {
    const Budget& budget = file.budgets[i];
    if (verbs[i] == nullptr) {
      return AboutBudget(
          file, budget,
          UsageError("a statement (sql) is asked of recordings, and parts hold answers of verbs",
                     "check it where the recordings are"));
    }
    const CheckQuestion question = QuestionOfBudget(budget, *verbs[i]);
    if (const Result<void> fits = CheckOptions(*verbs[i], AskedWith(question, options).params);
        !fits.ok()) {
      return AboutBudget(file, budget, fits.error());
    }
  }
  return {};
}

Result<std::vector<InputFile>> FilesOfRun(const std::string& input) {
  BS_ASSIGN(std::vector<InputFile> files, ExpandInputs({&input, 1}));
  for (const InputFile& file : files) {
    BS_ASSIGN(const bool is_part, file.content ? Result(false) : IsPartialFile(file.path));
    if (is_part) {
      return Error{ErrorCode::kInvalidArgument, "it is a part already",
                   "map recordings, and name parts to borescope check", file.path};
    }
  }
  return SplitRanks(std::move(files));
}

// The run of each file, by its path.
using RunOfFile = std::map<std::string, uint32_t>;

Result<ContentDigest> ContentOf(const InputFile& file) {
  const std::vector<std::string> one = {file.path};
  return DigestOfFiles(file.logs.empty() ? one : file.logs);
}

// What the files hold, by path. One that cannot be read is refused: without its content nobody
// could see that another run counts it, too.
std::map<std::string, ContentDigest> ContentsOf(std::vector<InputFile>& files) {
  std::map<std::string, ContentDigest> contents;
  for (InputFile& file : files) {
    if (const Result<ContentDigest> content = ContentOf(file); content.ok()) {
      contents.emplace(file.path, *content);
    } else {
      RefuseFile(content.error(), file);
    }
  }
  return contents;
}

// Every file of a part is marked with its run, under each question.
void MarkFiles(uint32_t run, const std::string& name,
               const std::map<std::string, ContentDigest>& contents, PartialData& partial) {
  for (PartialFile& file : partial.files) {
    file.checked->run = run;
    file.checked->run_name = name;
    if (const auto found = contents.find(file.path); found != contents.end()) {
      file.checked->bytes = found->second.bytes;
      file.checked->digest = found->second.digest;
    }
  }
}

bool AreOfRuns(const PartialData& partial, const RunOfFile& runs,
               const std::vector<std::string>& names) {
  return std::all_of(partial.files.begin(), partial.files.end(), [&](const PartialFile& file) {
    const auto found = runs.find(file.path);
    return found != runs.end() && file.checked->run == found->second &&
           file.checked->run_name == names[found->second];
  });
}

}  // namespace

Result<CheckMapping> CheckMapping::Plan(const CheckRequest& request,
                                        const std::optional<ShardMark>& shard) {
  if (!request.run.params.Text(kPlainStepParam).empty()) {
    return UsageError("map check: `plain_step` is for check, of the recordings themselves", {},
                      "plain_step");
  }
  BS_ASSIGN(const BudgetFile file, ReadBudgetAt(request.budget));
  BS_ASSIGN(const std::vector<const AnalysisSpec*> verbs, VerbsOfBudgets(file));
  BS_TRY(CheckCanMap(file, verbs, request.run));
  BS_TRY(CheckNoneTwice(request.runs, ""));
  CheckMapping mapping;
  mapping.questions_ = QuestionsOfCheck(file, verbs);
  mapping.options_ = request.run;
  mapping.mark_ = shard;
  RunOfFile runs;
  std::vector<InputFile> all;
  for (const std::string& input : request.runs) {
    BS_ASSIGN(std::vector<InputFile> files, FilesOfRun(input));
    for (InputFile& one : files) {
      runs.emplace(one.path, static_cast<uint32_t>(mapping.runs_.size()));
      all.push_back(std::move(one));
    }
    mapping.runs_.push_back({input, {}});
  }
  if (shard.has_value()) {
    BS_ASSIGN(mapping.mark_, TakeShard(shard->index, shard->count, all));
  }
  for (InputFile& one : all) {
    mapping.runs_[runs.at(one.path)].files.push_back(std::move(one));
  }
  for (RunFiles& run : mapping.runs_) {
    if (!run.files.empty()) {
      BS_TRY(FindCaptures(request.captures, nullptr, run.files));
    }
  }
  return mapping;
}

std::vector<std::string> CheckMapping::Paths() const {
  std::vector<std::string> paths;
  for (const RunFiles& run : runs_) {
    RunOptions options = options_;
    options.files = run.files;
    const std::vector<std::string> of_run = InputPaths(options);
    paths.insert(paths.end(), of_run.begin(), of_run.end());
  }
  return paths;
}

// The answers to each question.
Result<std::vector<PartialData>> CheckMapping::MapRunFiles(uint32_t run) const {
  RunOptions options = options_;
  TraceCache cache(BytesKeptOf(options.memory_limit));
  options.cache = &cache;
  options.files = runs_[run].files;
  const std::map<std::string, ContentDigest> contents = ContentsOf(options.files);
  std::vector<PartialData> answers;
  answers.reserve(questions_.size());
  for (const CheckQuestion& question : questions_) {
    BS_ASSIGN(PartialData answer,
              MapPartial(question.verbs, AskedWith(question, options), kOfCheck));
    MarkFiles(run, runs_[run].name, contents, answer);
    answers.push_back(std::move(answer));
    options.progress = {};  // what follows is loaded already
  }
  return answers;
}

Result<PartialData> CheckMapping::MapAllRuns() const {
  std::vector<std::vector<PartialData>> by_question(questions_.size());
  for (uint32_t run = 0; run < runs_.size(); ++run) {
    const bool is_needed = !runs_[run].files.empty() || run == 0;  // for its questions
    if (is_needed) {
      BS_ASSIGN(std::vector<PartialData> answers, MapRunFiles(run));
      for (size_t i = 0; i < answers.size(); ++i) {
        by_question[i].push_back(std::move(answers[i]));
      }
    }
  }
  PartialData part;
  for (size_t i = 0; i < by_question.size(); ++i) {
    BS_ASSIGN(PartialData merged, MergePartials(std::move(by_question[i])));
    i == 0 ? static_cast<void>(part = std::move(merged))
           : part.further.push_back(std::move(merged));
  }
  if (mark_.has_value()) {
    part.shards.push_back(*mark_);
  }
  return part;
}

Result<PartialData> CheckMapping::Map() const {
  return WithNumberedRows([&] { return Stoppable(options_.stop, [&] { return MapAllRuns(); }); });
}

Result<std::vector<MappedQuestion>> CheckMapping::UnderstandQuestions() const {
  std::vector<MappedQuestion> questions;
  questions.reserve(questions_.size());
  for (const CheckQuestion& question : questions_) {
    RunOptions options = AskedWith(question, options_);
    BS_ASSIGN(MappedQuestion understood, UnderstandQuestion(question.verbs, options, kOfCheck));
    questions.push_back(std::move(understood));
  }
  return questions;
}

Result<std::optional<PartialData>> CheckMapping::Find(const std::string& path) const {
  BS_ASSIGN(const std::vector<MappedQuestion> questions, UnderstandQuestions());
  std::vector<InputFile> files;
  std::vector<std::string> names;
  RunOfFile runs;
  for (const RunFiles& run : runs_) {
    for (const InputFile& file : run.files) {
      runs.emplace(file.path, static_cast<uint32_t>(names.size()));
    }
    names.push_back(run.name);
    files.insert(files.end(), run.files.begin(), run.files.end());
  }
  std::optional<PartialData> kept = FindKept(path, questions, files, mark_);
  return kept.has_value() && AreOfRuns(*kept, runs, names) ? std::move(kept) : std::nullopt;
}

}  // namespace borescope::internal
