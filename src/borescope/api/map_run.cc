#include <filesystem>
#include <string>
#include <utility>

#include "borescope/api/access.h"
#include "borescope/api/part_files.h"
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
      internal::QuestionOfReport(options.params, options.ranks, options.timeline);
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
  const Result<void> checked =
      internal::CheckNoInput(internal::InputPaths(question->options), destination, "`output`");
  return checked.ok() ? std::move(question) : Result<MapQuestion>(checked.error());
}

Result<Partial> MapPart(const MapQuestion& question) {
  return Mapped(
      internal::MapPartial(question.specs, question.options, question.map),
      [](internal::PartialData partial) { return PartialAccess::Make(std::move(partial)); });
}

}  // namespace

Result<Partial> Run::Map(std::span<const std::string_view> verbs, const Params& params,
                         const std::string& destination) const {
  const Result<MapQuestion> question = UnderstandPart(*this, verbs, params, destination);
  return question.ok() ? MapPart(*question) : Result<Partial>(question.error());
}

Result<Partial> Run::Map(std::initializer_list<std::string_view> verbs,
                         const Params& params) const {
  return Map(std::span(verbs.begin(), verbs.size()), params);
}

Result<PartFile> Run::MapInto(const std::string& folder, std::span<const std::string_view> verbs,
                              const Params& params, bool again) const {
  const internal::ShardMark mark = RunAccess::MarkOf(*this).value_or(internal::ShardMark());
  const std::string path = (std::filesystem::path(folder) / internal::PartFileName(mark)).string();
  const Result<MapQuestion> question = UnderstandPart(*this, verbs, params, path);
  if (!question.ok()) {
    return question.error();
  }
  Result<std::optional<internal::PartialData>> kept =
      again ? Result<std::optional<internal::PartialData>>(std::nullopt)
            : internal::FindMapped(path, question->specs, question->options, question->map);
  if (!kept.ok()) {
    return kept.error();
  }
  if (kept->has_value()) {
    return DescribePart(PartialAccess::Make(std::move(**kept)), path, true);
  }
  return MapToFile(path, [&] { return MapPart(*question); });
}

}  // namespace borescope
