#include "borescope/run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/base/parallel.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/inputs/sources.h"
#include "borescope/engine/loading/attach_captures.h"
#include "borescope/engine/loading/attach_counters.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/store/trace_store.h"

namespace borescope {

using internal::AnalysisSpec;
using internal::InputFile;

namespace {

using internal::CheckNoInput;
using internal::CheckNoTarget;

Result<void> CheckPath(const internal::RunOptions& run, const std::string& path) {
  BS_TRY(CheckNoInput(internal::InputPaths(run), path, "`output`"));
  BS_ASSIGN(const internal::FileKind kind, internal::KindOf(path));
  if (kind == internal::FileKind::kFolder) {
    return Error{ErrorCode::kIo, "cannot write: it is a directory", "name a file in it", path};
  }
  return CheckNoTarget(run, {&path, 1});
}

// The files of the answer, and those beside it, are different files.
Result<void> CheckAnswer(const internal::RunOptions& run, const internal::TableWriter& writer,
                         const std::string& path, const internal::Document& answer) {
  BS_ASSIGN(const internal::FileLookup inputs, internal::FileLookup::Of(internal::InputPaths(run)));
  const std::vector<std::string> files = internal::OutputPaths(writer, answer, path);
  for (const std::string& file : files) {
    BS_TRY(CheckNoInput(inputs, file, "`output`"));
  }
  return CheckNoTarget(run, files);
}

// Makes the run refuse what cannot be written to the destination: now what is known of it, and once
// there are tables, before files of the question appear, what their files are called. `run` stays
// where it is until it was asked.
Result<void> SetDestination(const Destination& destination, internal::RunOptions& run) {
  const internal::TableWriter* writer = nullptr;
  if (!destination.format.empty()) {
    BS_ASSIGN(writer, WriterOf(destination.format));
    run.for_picture = writer->draws;
  }
  if (writer != nullptr && !destination.path.empty()) {
    run.accept = [&run, writer, path = destination.path](const internal::Document& answer) {
      return CheckAnswer(run, *writer, path, answer);
    };
  }
  return destination.path.empty() ? Result<void>() : CheckPath(run, destination.path);
}

}  // namespace

struct Run::State {
  // What all handles of one run have in common.
  struct Recordings {
    Recordings(std::vector<InputFile> found, uint64_t keep_bytes)
        : files(std::move(found)), cache(keep_bytes) {
      for (const InputFile& file : files) {
        paths.push_back(file.path);
      }
    }

    std::vector<InputFile> files;
    std::vector<std::string> paths;
    internal::TraceCache cache;
  };

  internal::RunOptions Common() {
    internal::RunOptions run;
    run.files = recordings->files;
    run.load = options.saved;
    run.threads = ThreadsOf(options.threads);
    run.memory_limit = options.memory_limit;
    run.cache = &recordings->cache;
    run.stop = options.stop;
    run.progress = options.progress;
    return run;
  }

  // Asks the question of `run`, which is complete but for what the question says and where the
  // answer goes.
  static Result<Answer> Answers(std::span<const AnalysisSpec* const> specs,
                                const Question& question, internal::RunOptions run,
                                const Destination& destination) {
    BS_TRY(internal::ReadQuestion(question, run));
    BS_TRY(SetDestination(destination, run));
    BS_ASSIGN(internal::AnswerData answer, internal::RunAnalyses(specs, run));
    return AnswerAccess::Make(std::move(answer));
  }

  std::shared_ptr<Recordings> recordings;
  OpenOptions options;
  // Which part of a run the recordings are; nothing for a run that was not divided, or for some of
  // its files.
  std::optional<internal::ShardMark> mark;
};

int ThreadsOf(int threads) { return threads > 0 ? threads : internal::DefaultThreads(); }

std::function<void(uint64_t, uint64_t)> FileProgress(const ProgressCallback& progress) {
  if (!progress) {
    return {};
  }
  return [progress](uint64_t done, uint64_t total) { progress({done, total, 0, 1}); };
}

internal::RunOptions RunAccess::Common(const Run& run) { return run.state_->Common(); }
std::span<const std::string> RunAccess::Paths(const Run& run) {
  return run.state_->recordings->paths;
}
std::optional<internal::ShardMark> RunAccess::MarkOf(const Run& run) { return run.state_->mark; }

namespace {

// Gives the files the store of OpenOptions::cache, and returns that of captures, which are files.
Result<std::shared_ptr<internal::TraceStore>> UseStore(const OpenOptions& options,
                                                       std::vector<InputFile>& files) {
  const auto is_for_it = [&](const InputFile& file) {
    return !options.cache_needs_identity || file.identity != nullptr;
  };
  if (options.cache.empty() || options.saved ||
      std::none_of(files.begin(), files.end(), is_for_it)) {
    return std::shared_ptr<internal::TraceStore>();
  }
  Result<std::shared_ptr<internal::TraceStore>> store =
      internal::TraceStore::Open(options.cache, options.cache_bytes);
  if (!store.ok() && !options.cache_is_optional) {
    return store.error();
  }
  for (InputFile& file : files) {
    if (is_for_it(file)) {
      file.store = store.ok() ? *store : nullptr;
      file.store_failure = store.ok() ? "" : WithOptions(store.error().Sentence());
    }
  }
  return store.ok() && !options.cache_needs_identity ? *store : nullptr;
}

}  // namespace

bool IsInCache(const std::string& folder, const std::string& identity) {
  const Result<internal::FileKind> kind = internal::KindOf(folder);
  if (!kind.ok() || *kind == internal::FileKind::kNothing) {
    return false;
  }
  const Result<std::shared_ptr<internal::TraceStore>> store =
      internal::TraceStore::Open(folder, OpenOptions().cache_bytes);
  return store.ok() && (*store)->Has((*store)->ContentCalled(identity));
}

Run::Run(std::unique_ptr<State> state) : state_(std::move(state)) {}
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;
Run::~Run() = default;

Result<Run> Run::Open(std::span<const Source> sources, const OpenOptions& options) {
  BS_ASSIGN(std::vector<InputFile> files, FindFiles(sources));
  if (!options.allow_missing) {
    BS_TRY(CheckFilesExist(files));
  }
  if (files.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "no input",
                 .remedy = "name a trace file or a folder of them"};
  }
  std::optional<internal::ShardMark> mark;
  if (options.shard.has_value()) {
    BS_ASSIGN(mark, internal::TakeShard(options.shard->index, options.shard->count, files));
  }
  BS_ASSIGN(std::shared_ptr<internal::TraceStore> store, UseStore(options, files));
  if (!options.saved) {
    BS_TRY(internal::FindCaptures(options.captures, std::move(store), files));
    BS_TRY(internal::FindCounters(options.counters, options.counters_anyway, files));
  }
  return Run(std::make_unique<State>(State{
      std::make_shared<State::Recordings>(std::move(files), options.keep_bytes), options, mark}));
}

Result<Run> Run::Open(std::initializer_list<Source> sources, const OpenOptions& options) {
  return Open(std::span(sources.begin(), sources.size()), options);
}

Run Run::Share(StopToken stop, ProgressCallback progress) const {
  OpenOptions options = state_->options;
  options.stop = std::move(stop);
  options.progress = std::move(progress);
  return Run(std::make_unique<State>(State{state_->recordings, std::move(options), state_->mark}));
}

std::vector<std::string> Run::paths() const { return state_->recordings->paths; }

Result<Run> Run::Only(std::span<const size_t> files, uint64_t keep_bytes) const {
  const std::vector<InputFile>& all = state_->recordings->files;
  std::vector<InputFile> some;
  for (const size_t file : files) {
    if (file >= all.size()) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .cause = "there is no file " + std::to_string(file) + ": the run has " +
                            std::to_string(all.size())};
    }
    some.push_back(all[file]);
  }
  if (some.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument, .cause = "no file is selected"};
  }
  OpenOptions options = state_->options;
  options.keep_bytes = keep_bytes;
  auto recordings = std::make_shared<State::Recordings>(std::move(some), keep_bytes);
  return Run(
      std::make_unique<State>(State{std::move(recordings), std::move(options), std::nullopt}));
}

Result<void> CheckQuestion(const Question& question) {
  internal::RunOptions ignored;
  return internal::ReadQuestion(question, ignored);
}

Result<Answer> Run::Ask(const Question& question, const Destination& destination) const {
  BS_ASSIGN(const std::vector<const AnalysisSpec*> specs, internal::FindVerbs(question.verbs()));
  if (specs.size() == 1 && specs.front()->takes_two()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = std::string(specs.front()->name) + " compares two runs",
                 .remedy = "call Run::Compare"};
  }
  return State::Answers(specs, question, state_->Common(), destination);
}

Result<Answer> Run::Compare(const Run& test, const Question& question,
                            const Destination& destination) const {
  BS_ASSIGN(const std::vector<const AnalysisSpec*> specs, internal::FindVerbs(question.verbs()));
  if (!specs.front()->takes_two()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = std::string(specs.front()->name) + " is a question about one run",
                 .remedy = "call Run::Ask"};
  }
  internal::RunOptions options = state_->Common();
  options.test.files = test.state_->recordings->files;
  options.test.cache = &test.state_->recordings->cache;
  options.test.stop = test.state_->options.stop;
  return State::Answers(specs, question, std::move(options), destination);
}

// Opened for each query: it would hold the recordings beyond the budget of those that are kept.
Result<Answer> Run::Query(std::string_view sql, const SqlParameters& parameters) const {
  BS_ASSIGN(QuerySession session, QuerySession::Open(*this));
  return session.Ask(sql, parameters);
}

uint64_t Run::kept_bytes() const { return state_->recordings->cache.bytes(); }

void Run::Forget() { state_->recordings->cache.Clear(); }

}  // namespace borescope
