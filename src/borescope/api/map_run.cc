#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "borescope/api/access.h"
#include "borescope/api/questions.h"
#include "borescope/engine/inputs/shards.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/run.h"

namespace borescope {
namespace {

using internal::AnalysisSpec;

// What is mapped of each file.
struct MapQuestion {
  std::vector<const AnalysisSpec*> specs;
  internal::RunOptions options;
  internal::MapOptions map;
};

bool IsReport(std::span<const std::string_view> verbs) {
  return verbs.size() == 1 && verbs.front() == "report";
}

// The question of the report. Parameters mean what they mean for an analysis that takes a
// selection.
Result<MapQuestion> UnderstandReport(const Params& params, internal::RunOptions options) {
  if (const Result<void> read = ReadReportParams(params, options); !read.ok()) {
    return read.error();
  }
  internal::Question asked =
      internal::QuestionOfReport(options.params.selection, options.ranks, options.timeline);
  options.params = std::move(asked.params);
  return MapQuestion{std::move(asked.verbs), std::move(options), {std::nullopt, true}};
}

Result<MapQuestion> Understand(const Run& run, std::span<const std::string_view> verbs,
                               const Params& params) {
  internal::RunOptions options = RunAccess::Common(run);
  if (IsReport(verbs)) {
    return UnderstandReport(params, std::move(options));
  }
  Result<std::vector<const AnalysisSpec*>> specs = FindVerbs(verbs);
  if (!specs.ok()) {
    return specs.error();
  }
  if (const Result<void> read = ReadParams(verbs, params, options); !read.ok()) {
    return read.error();
  }
  return MapQuestion{std::move(*specs), std::move(options), {}};
}

Result<MapQuestion> UnderstandPart(const Run& run, std::span<const std::string_view> verbs,
                                   const Params& params, const std::string& destination) {
  Result<MapQuestion> question = Understand(run, verbs, params);
  if (!question.ok()) {
    return question.error();
  }
  question->map.shard = RunAccess::MarkOf(run);
  const Result<void> checked = Public(
      internal::CheckNoInput(internal::InputPaths(question->options), destination, "--output"),
      RunAccess::Paths(run));
  return checked.ok() ? std::move(question) : Result<MapQuestion>(checked.error());
}

Result<Partial> MapPart(const Run& run, const MapQuestion& question) {
  return Public(
      internal::MapPartial(question.specs, question.options, question.map),
      [](internal::PartialData partial) { return PartialAccess::Make(std::move(partial)); },
      RunAccess::Paths(run));
}

Result<void> MakeFolder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return Error{.code = ErrorCode::kIo,
                 .message = "cannot be made: " + failed.message(),
                 .hint = "name a folder that can be written to",
                 .file = folder};
  }
  return {};
}

Result<PartFile> Describe(const Result<Partial>& partial, PartFile file) {
  if (!partial.ok()) {
    return partial.error();
  }
  std::error_code unknown;
  const uintmax_t bytes = std::filesystem::file_size(file.path, unknown);
  file.bytes = unknown ? 0 : bytes;
  file.files = partial->num_files();
  file.loaded = partial->num_loaded();
  file.load_errors = partial->load_errors();
  return file;
}

// The part looks as old as the beginning of its map: a trace that is written meanwhile is newer.
void DateBack(const std::string& path, std::filesystem::file_time_type begin) {
  std::error_code ignored;
  std::filesystem::last_write_time(path, begin, ignored);
}

Result<Partial> MapAndWrite(const Run& run, const MapQuestion& question, const PartFile& file,
                            const std::string& folder) {
  const auto begin = std::filesystem::file_time_type::clock::now();
  Result<Partial> partial = MapPart(run, question);
  if (!partial.ok()) {
    return partial;
  }
  if (const Result<void> made = MakeFolder(folder); !made.ok()) {
    return made.error();
  }
  if (const Result<void> written = partial->Write(file.path); !written.ok()) {
    return written.error();
  }
  DateBack(file.path, begin);
  return partial;
}

}  // namespace

Result<Partial> Run::Map(std::span<const std::string_view> verbs, const Params& params,
                         const std::string& destination) const {
  const Result<MapQuestion> question = UnderstandPart(*this, verbs, params, destination);
  return question.ok() ? MapPart(*this, *question) : Result<Partial>(question.error());
}

Result<Partial> Run::Map(std::initializer_list<std::string_view> verbs,
                         const Params& params) const {
  return Map(std::span(verbs.begin(), verbs.size()), params);
}

Result<PartFile> Run::MapInto(const std::string& folder, std::span<const std::string_view> verbs,
                              const Params& params, bool again) const {
  PartFile file;
  const internal::ShardMark mark = RunAccess::MarkOf(*this).value_or(internal::ShardMark());
  file.path = (std::filesystem::path(folder) / internal::PartFileName(mark)).string();
  const Result<MapQuestion> question = UnderstandPart(*this, verbs, params, file.path);
  if (!question.ok()) {
    return question.error();
  }
  internal::Result<std::optional<internal::PartialData>> kept =
      again ? internal::Result<std::optional<internal::PartialData>>(std::nullopt)
            : internal::FindMapped(file.path, question->specs, question->options, question->map);
  if (!kept.ok()) {
    return PublicError(kept.error(), RunAccess::Paths(*this));
  }
  file.was_kept = kept->has_value();
  return Describe(file.was_kept ? PartialAccess::Make(std::move(**kept))
                                : MapAndWrite(*this, *question, file, folder),
                  file);
}

}  // namespace borescope
