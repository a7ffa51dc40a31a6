#include "borescope/run.h"

#include <algorithm>
#include <utility>

#include "borescope/api/access.h"
#include "borescope/base/nearest.h"
#include "borescope/base/parallel.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/inputs/question_text.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/trace_cache.h"
#include "borescope/verbs/query/query_run.h"

namespace borescope {
namespace {

using internal::AnalysisSpec;
using internal::ByteSource;
using internal::InputFile;

// A reader of the caller's as a source of bytes.
class ReaderSource : public ByteSource {
 public:
  explicit ReaderSource(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}

  internal::Result<size_t> Read(char* out, size_t capacity) override {
    const Result<size_t> read = reader_->Read(out, capacity);
    if (!read.ok()) {
      return internal::Error{internal::ErrorCode::kIo, read.error().Sentence()};
    }
    done_ += *read;
    return *read;
  }
  uint64_t stored_bytes() const override { return done_; }
  uint64_t stored_total() const override { return 0; }

 private:
  std::unique_ptr<Reader> reader_;
  uint64_t done_ = 0;
};

// Bytes in memory, which it keeps alive.
class SharedBytes : public ByteSource {
 public:
  explicit SharedBytes(std::shared_ptr<const std::string> bytes)
      : bytes_(std::move(bytes)), source_(internal::OpenMemory(*bytes_)) {}

  internal::Result<size_t> Read(char* out, size_t capacity) override {
    return source_->Read(out, capacity);
  }
  uint64_t stored_bytes() const override { return source_->stored_bytes(); }
  uint64_t stored_total() const override { return source_->stored_total(); }

 private:
  std::shared_ptr<const std::string> bytes_;
  std::unique_ptr<ByteSource> source_;
};

InputFile MemoryInput(const Source& source) {
  InputFile file{.path = source.path, .bytes = source.bytes->size()};
  file.content = [bytes = source.bytes]() -> internal::Result<std::unique_ptr<ByteSource>> {
    return std::unique_ptr<ByteSource>(std::make_unique<SharedBytes>(bytes));
  };
  return file;
}

InputFile StreamInput(const Source& source) {
  InputFile file{.path = source.path};
  file.content = [open = source.open]() -> internal::Result<std::unique_ptr<ByteSource>> {
    Result<std::unique_ptr<Reader>> reader = open();
    if (!reader.ok()) {
      return internal::Error{internal::ErrorCode::kIo, reader.error().Sentence()};
    }
    return std::unique_ptr<ByteSource>(std::make_unique<ReaderSource>(std::move(*reader)));
  };
  return file;
}

// Recordings that are not files are distinguished by their names.
internal::Result<void> CheckNameIsFree(const std::string& name, std::span<const InputFile> files) {
  const bool is_taken = std::any_of(files.begin(), files.end(),
                                    [&](const InputFile& file) { return file.path == name; });
  return is_taken
             ? internal::UsageError("two sources are called " + name + "; give each its own name")
             : internal::Result<void>();
}

// The files of the sources in their order, each once.
internal::Result<std::vector<InputFile>> FindFiles(std::span<const Source> sources) {
  std::vector<InputFile> files;
  std::vector<std::string> paths;
  const auto expand = [&]() -> internal::Result<void> {
    BS_ASSIGN(std::vector<InputFile> found, internal::ExpandInputs(paths));
    files.insert(files.end(), found.begin(), found.end());
    paths.clear();
    return {};
  };
  for (const Source& source : sources) {
    if (source.bytes == nullptr && source.open == nullptr) {
      paths.push_back(source.path);
      continue;
    }
    BS_TRY(expand());
    BS_TRY(CheckNameIsFree(source.path, files));
    files.push_back(source.bytes != nullptr ? MemoryInput(source) : StreamInput(source));
  }
  BS_TRY(expand());
  return files;
}

Error UnknownVerb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AnalysisSpec* spec : internal::Analyses()) {
    names.push_back(spec->name);
  }
  const std::string_view nearest = internal::Nearest(name, names);
  return {.code = ErrorCode::kInvalidArgument,
          .message = "unknown verb '" + std::string(name) + "'",
          .hint = nearest.empty() ? "" : "did you mean '" + std::string(nearest) + "'?"};
}

Result<std::vector<const AnalysisSpec*>> FindVerbs(std::span<const std::string_view> names) {
  std::vector<const AnalysisSpec*> specs;
  for (const std::string_view name : names) {
    const AnalysisSpec* const spec = internal::FindAnalysis(name);
    if (spec == nullptr) {
      return UnknownVerb(name);
    }
    specs.push_back(spec);
  }
  if (specs.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument, .message = "no verb"};
  }
  return specs;
}

}  // namespace

Reader::~Reader() = default;

Source Source::Memory(std::string name, std::shared_ptr<const std::string> bytes) {
  Source source(std::move(name));
  source.bytes = std::move(bytes);
  return source;
}

Source Source::Stream(std::string name, std::function<Result<std::unique_ptr<Reader>>()> open) {
  Source source(std::move(name));
  source.open = std::move(open);
  return source;
}

struct Run::State {
  State(std::vector<InputFile> found, const OpenOptions& given)
      : files(std::move(found)), options(given), cache(given.keep_bytes) {
    for (const InputFile& file : files) {
      paths.push_back(file.path);
    }
  }

  // What every question of this run has in common.
  internal::RunOptions Common() {
    internal::RunOptions run;
    run.files = files;
    run.threads = options.threads > 0 ? options.threads : internal::DefaultThreads();
    run.memory_limit = options.memory_limit;
    run.cache = &cache;
    run.stop = options.stop;
    if (options.progress) {
      run.progress = [this](const internal::Progress& progress) {
        options.progress(
            {progress.done_bytes, progress.total_bytes, progress.done_files, progress.total_files});
      };
    }
    return run;
  }

  Result<internal::RunOptions> OptionsFor(std::span<const AnalysisSpec* const> specs,
                                          const Params& params) {
    internal::RunOptions run = Common();
    const internal::Result<internal::QuestionText> text =
        internal::QuestionOf(specs, params.entries());
    if (!text.ok()) {
      return PublicError(text.error(), paths);
    }
    const internal::Result<void> read = internal::ReadQuestion(specs, *text, run);
    if (!read.ok()) {
      return PublicError(read.error(), paths);
    }
    return run;
  }

  std::vector<InputFile> files;
  std::vector<std::string> paths;
  OpenOptions options;
  internal::TraceCache cache;
};

Run::Run(std::unique_ptr<State> state) : state_(std::move(state)) {}
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;
Run::~Run() = default;

Result<Run> Run::Open(std::span<const Source> sources, const OpenOptions& options) {
  internal::Result<std::vector<InputFile>> files = FindFiles(sources);
  if (!files.ok()) {
    std::vector<std::string> paths;
    for (const Source& source : sources) {
      paths.push_back(source.path);
    }
    return PublicError(files.error(), paths);
  }
  if (files->empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .message = "no input",
                 .hint = "name a trace file or a folder of them"};
  }
  return Run(std::make_unique<State>(std::move(*files), options));
}

Result<Run> Run::Open(std::initializer_list<Source> sources, const OpenOptions& options) {
  return Open(std::span(sources.begin(), sources.size()), options);
}

std::vector<std::string> Run::paths() const { return state_->paths; }

Result<Answer> Run::Ask(std::span<const std::string_view> verbs, const Params& params) const {
  const Result<std::vector<const AnalysisSpec*>> specs = FindVerbs(verbs);
  if (!specs.ok()) {
    return specs.error();
  }
  for (const AnalysisSpec* spec : *specs) {
    if (spec->takes_two()) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .message = std::string(spec->name) + " compares two runs",
                   .hint = "call Run::Compare"};
    }
  }
  const Result<internal::RunOptions> options = state_->OptionsFor(*specs, params);
  if (!options.ok()) {
    return options.error();
  }
  internal::Result<internal::Answer> answer = internal::RunAnalyses(*specs, *options);
  if (!answer.ok()) {
    return PublicError(answer.error(), state_->paths);
  }
  return AnswerAccess::Make(std::move(*answer));
}

Result<Answer> Run::Ask(std::string_view verb, const Params& params) const {
  const std::string_view verbs[] = {verb};
  return Ask(verbs, params);
}

Result<Answer> Run::Ask(std::initializer_list<std::string_view> verbs, const Params& params) const {
  return Ask(std::span(verbs.begin(), verbs.size()), params);
}

Result<Answer> Run::Compare(const Run& test, std::string_view verb, const Params& params) const {
  const std::string_view verbs[] = {verb};
  const Result<std::vector<const AnalysisSpec*>> specs = FindVerbs(verbs);
  if (!specs.ok()) {
    return specs.error();
  }
  if (!specs->front()->takes_two()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .message = std::string(verb) + " is a question about one run",
                 .hint = "call Run::Ask"};
  }
  Result<internal::RunOptions> options = state_->OptionsFor(*specs, params);
  if (!options.ok()) {
    return options.error();
  }
  options->test.files = test.state_->files;
  options->test.cache = &test.state_->cache;
  options->test.stop = test.state_->options.stop;
  internal::Result<internal::Answer> answer = internal::RunAnalyses(*specs, *options);
  if (!answer.ok()) {
    return PublicError(answer.error(), state_->paths);
  }
  return AnswerAccess::Make(std::move(*answer));
}

Result<Answer> Run::Query(std::string_view sql) const {
  // Opened for each query: it would hold the recordings beyond the budget of those that are kept.
  internal::Result<internal::QuerySession> session = internal::QuerySession::Open(state_->Common());
  if (!session.ok()) {
    return PublicError(session.error(), state_->paths);
  }
  internal::Result<internal::Document> document = session->Run(sql, {});
  if (!document.ok()) {
    return PublicError(document.error(), state_->paths);
  }
  internal::Answer answer;
  answer.document = std::move(*document);
  answer.files = session->files();
  return AnswerAccess::Make(std::move(answer));
}

Result<Partial> Run::Map(std::span<const std::string_view> verbs, const Params& params) const {
  const Result<std::vector<const AnalysisSpec*>> specs = FindVerbs(verbs);
  if (!specs.ok()) {
    return specs.error();
  }
  const Result<internal::RunOptions> options = state_->OptionsFor(*specs, params);
  if (!options.ok()) {
    return options.error();
  }
  internal::Result<internal::PartialData> partial = internal::MapPartial(*specs, *options);
  if (!partial.ok()) {
    return PublicError(partial.error(), state_->paths);
  }
  return PartialAccess::Make(std::move(*partial));
}

Result<Partial> Run::Map(std::initializer_list<std::string_view> verbs,
                         const Params& params) const {
  return Map(std::span(verbs.begin(), verbs.size()), params);
}

uint64_t Run::kept_bytes() const { return state_->cache.bytes(); }

void Run::Forget() { state_->cache.Clear(); }

}  // namespace borescope
