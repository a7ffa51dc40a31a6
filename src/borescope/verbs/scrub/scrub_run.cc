#include "borescope/verbs/scrub/scrub_run.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/scrub/scrub_file.h"

namespace borescope::internal {
namespace {

std::string_view EndingOf(RecordingKind kind) {
  return kind == RecordingKind::kDatabase ? ".sqlite"
         : kind == RecordingKind::kPickle ? ".pickle"
                                          : ".json";
}

// "-rank-3" for a name like "trace_rank3.json", of dumps and snapshots also for "trace_3"; empty
// for others.
std::string RankPart(const std::string& path, RecordingKind kind) {
  if (kind == RecordingKind::kPickle || kind == RecordingKind::kPlainJson) {
    const std::optional<int32_t> rank =
        IsDumpName(path) ? RankOfName(path) : RankOfSnapshotName(path);
    return rank.has_value() ? "-rank-" + std::to_string(*rank) : "";
  }
  const std::string name = LowerCase(std::filesystem::path(path).filename().string());
  const size_t word = name.find("rank");
  if (word == std::string::npos) {
    return "";
  }
  size_t begin = word + 4;
  begin += begin < name.size() && !IsDigit(name[begin]) ? 1 : 0;
  size_t end = begin;
  while (end < name.size() && IsDigit(name[end])) {
    ++end;
  }
  return end == begin ? "" : "-rank-" + name.substr(begin, end - begin);
}

// The copies of one input, in a folder of their own.
class InputCopies {
 public:
  InputCopies(std::string folder, Scrubber& scrubber, const ProgressCallback& progress)
      : folder_(std::move(folder)), scrubber_(scrubber), progress_(progress) {}

  Result<void> Add(const InputFile& file) {
    Result<std::string> written = Write(file);
    if (written.ok()) {
      paths_.push_back(std::move(*written));
      return {};
    }
    if (file.from_directory && written.error().code == ErrorCode::kUnsupportedFormat) {
      skipped_ += 1;
      return {};
    }
    return written.error();
  }

  // The file, or the folder of several.
  std::string Path() const { return paths_.size() == 1 ? paths_.front() : folder_; }
  bool empty() const { return paths_.empty(); }
  size_t skipped() const { return skipped_; }

 private:
  // Standard input can be read once only; readers look at what a file holds, not at its name.
  Result<std::string> Write(const InputFile& file) {
    RecordingKind kind = RecordingKind::kText;
    if (file.path != "-") {
      BS_ASSIGN(kind, KindOfRecording(file.path));
    }
    const std::string path = folder_ + "/recording-" + std::to_string(paths_.size() + 1) +
                             RankPart(file.path, kind) + std::string(EndingOf(kind));
    BS_TRY(ScrubFile(file.path, path, scrubber_, FileProgress(progress_)));
    return path;
  }

  const std::string folder_;
  Scrubber& scrubber_;
  const ProgressCallback& progress_;
  std::vector<std::string> paths_;
  size_t skipped_ = 0;
};

}  // namespace

Result<ScrubRules> RulesOf(const ScrubOptions& options) {
  ScrubRules rules;
  rules.names = options.names;
  if (options.key_file.empty()) {
    return rules;
  }
  BS_ASSIGN(const std::string bytes, ReadWhole(options.key_file));
  constexpr size_t kLeast = 16;
  if (bytes.size() < kLeast) {
    return Error{ErrorCode::kInvalidArgument, "a key has 16 bytes at least",
                 "make one with head -c 32 /dev/urandom", options.key_file};
  }
  rules.key = HashKeyOf(bytes);
  return rules;
}

namespace {

// The name of a file of the job; its folder says where.
std::string WithoutFolder(std::string_view path, Scrubber& scrubber) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) {
    return std::string(scrubber.Clean(path, TextUse::kAnnotation));
  }
  return scrubber.Replaced("path", path.substr(0, slash)) + "/" +
         std::string(scrubber.Clean(path.substr(slash + 1), TextUse::kAnnotation));
}

// Words that are names of files may be relative, which no form shows.
std::string WithoutPaths(std::string_view text, const std::set<std::string, std::less<>>& paths,
                         Scrubber& scrubber) {
  std::string clean;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, space);
    // "dumps/trace_3,", "dumps/trace_3:12:": up to what a sentence or a place appends.
    constexpr int kMostAppended = 4;
    size_t length = word.size();
    for (int i = 0; length > 0 && !paths.contains(word.substr(0, length)); ++i) {
      const size_t end =
          i == kMostAppended ? std::string_view::npos : word.find_last_of(":,.;", length - 1);
      length = end == std::string_view::npos ? 0 : end;
    }
    if (length > 0) {
      clean += WithoutFolder(word.substr(0, length), scrubber);
      word.remove_prefix(length);
    }
    clean += word;
    clean += text.substr(space, 1);
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return clean;
}

bool NamesFiles(const Column& column) { return column.name == "file" || column.name == "profile"; }

}  // namespace

void ScrubAnswer(std::span<const std::string> paths, Scrubber& scrubber, Document& document) {
  const std::set<std::string, std::less<>> known(paths.begin(), paths.end());
  const auto clean = [&](std::string_view text) {
    return std::string(scrubber.Clean(WithoutPaths(text, known, scrubber), TextUse::kAnnotation));
  };
  for (Table& table : document.tables) {
    for (Column& column : table.columns) {
      auto* const texts = std::get_if<StringValues>(&column.values);
      if (texts == nullptr) {
        continue;
      }
      StringValues cleaned;
      cleaned.reserve(texts->size());
      for (size_t i = 0; i < texts->size(); ++i) {
        CheckStopAt(i);
        const std::string& text = (*texts)[i];
        cleaned.push_back(NamesFiles(column) ? WithoutFolder(text, scrubber) : clean(text));
      }
      *texts = std::move(cleaned);
    }
  }
  for (Diagnostic& diagnostic : document.diagnostics) {
    diagnostic.file = WithoutFolder(diagnostic.file, scrubber);
    diagnostic.first = clean(diagnostic.first);
  }
}

Result<ScrubbedInputs> ScrubInputs(std::span<const std::string> inputs, Scrubber& scrubber,
                                   const ProgressCallback& progress) {
  BS_ASSIGN(TemporaryFolder folder, TemporaryFolder::Make());
  ScrubbedInputs result{std::move(folder), {}, 0};
  for (const std::string& input : inputs) {
    BS_ASSIGN(const std::vector<InputFile> files, ExpandInputs({&input, 1}));
    const std::string place =
        result.folder.path() + "/input-" + std::to_string(result.paths.size() + 1);
    std::error_code failed;
    if (!std::filesystem::create_directory(place, failed)) {
      return Error{ErrorCode::kIo, "cannot be made", "TMPDIR selects another folder", place};
    }
    InputCopies copies(place, scrubber, progress);
    for (const InputFile& file : files) {
      BS_TRY(copies.Add(file));
    }
    if (copies.empty()) {
      return Error{
          ErrorCode::kInvalidArgument, "holds no recording that can be scrubbed", {}, input};
    }
    result.paths.push_back(copies.Path());
    result.skipped += copies.skipped();
  }
  return result;
}

}  // namespace borescope::internal

namespace borescope {

struct ScrubbedCopies::State {
  internal::ScrubbedInputs inputs;
};

ScrubbedCopies::ScrubbedCopies(std::unique_ptr<State> state) : state_(std::move(state)) {}
ScrubbedCopies::ScrubbedCopies(ScrubbedCopies&&) noexcept = default;
ScrubbedCopies& ScrubbedCopies::operator=(ScrubbedCopies&&) noexcept = default;
ScrubbedCopies::~ScrubbedCopies() = default;

const std::vector<std::string>& ScrubbedCopies::paths() const { return state_->inputs.paths; }

Result<ScrubbedCopies> ScrubbedCopies::Make(std::span<const std::string> inputs,
                                            const ScrubOptions& options,
                                            const ProgressCallback& progress,
                                            const StopToken& stop) {
  return internal::Stoppable(stop, [&]() -> Result<ScrubbedCopies> {
    BS_ASSIGN(const internal::ScrubRules rules, internal::RulesOf(options));
    internal::Scrubber scrubber(rules);
    BS_ASSIGN(internal::ScrubbedInputs copies, internal::ScrubInputs(inputs, scrubber, progress));
    if (!options.map_file.empty()) {
      BS_TRY(internal::WriteNameMap(scrubber, options.map_file));
    }
    return ScrubbedCopies(std::make_unique<State>(State{std::move(copies)}));
  });
}

}  // namespace borescope
