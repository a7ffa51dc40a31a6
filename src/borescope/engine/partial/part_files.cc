#include "borescope/engine/partial/part_files.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "borescope/base/io/paths.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/shards.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/targets/targets.h"

namespace borescope {
namespace {

Result<void> MakeFolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) {
    std::filesystem::create_directories(folder, failed);
  }
  if (failed) {
    return Error{.code = ErrorCode::kIo,
                 .cause = "cannot be made: " + failed.message(),
                 .remedy = "name a folder that can be written to",
                 .file = folder.string()};
  }
  return {};
}

void DateBack(const std::string& path, std::filesystem::file_time_type begin) {
  std::error_code ignored;
  std::filesystem::last_write_time(path, begin, ignored);
}

}  // namespace

PartFile DescribePart(const Partial& partial, const std::string& path, bool was_kept) {
  const Result<uint64_t> bytes = internal::SizeOfFile(path);
  return {path,
          was_kept,
          bytes.ok() ? *bytes : 0,
          partial.num_files(),
          partial.num_loaded(),
          partial.load_errors()};
}

Result<PartFile> MapToFile(const std::string& path, const std::function<Result<Partial>()>& map) {
  const auto begin = std::filesystem::file_time_type::clock::now();
  BS_ASSIGN(const Partial partial, map());
  BS_TRY(MakeFolderOf(path));
  BS_TRY(partial.Write(path));
  DateBack(path, begin);
  return DescribePart(partial, path, false);
}

namespace {

using internal::AnalysisSpec;

// What is mapped of each file.
struct MapQuestion {
  std::vector<const AnalysisSpec*> specs;
  internal::RunOptions options;
  internal::MapOptions map;
};

// Of the report, which has many verbs.
MapQuestion OfReport(internal::RunOptions options) {
  internal::MappedQuestion asked =
      internal::QuestionOfReport(options.params, options.ranks, options.timeline);
  options.params = std::move(asked.params);
  return MapQuestion{std::move(asked.verbs), std::move(options), {std::nullopt, true}};
}

Result<MapQuestion> Understand(const Run& run, const Question& question) {
  internal::RunOptions options = RunAccess::Common(run);
  BS_TRY(internal::ReadQuestion(question, options));
  if (internal::IsOf(question, "report")) {
    return OfReport(std::move(options));
  }
  BS_ASSIGN(std::vector<const AnalysisSpec*> specs, internal::FindVerbs(question.verbs()));
  return MapQuestion{std::move(specs), std::move(options), {}};
}

Result<MapQuestion> UnderstandPart(const Run& run, const Question& question,
                                   const std::string& destination) {
  BS_ASSIGN(MapQuestion asked, Understand(run, question));
  asked.map.shard = RunAccess::MarkOf(run);
  BS_TRY(internal::CheckNoInput(internal::InputPaths(asked.options), destination, "`output`"));
  return asked;
}

Result<Partial> MapPart(const MapQuestion& question) {
  BS_ASSIGN(internal::PartialData partial,
            internal::MapPartial(question.specs, question.options, question.map));
  return PartialAccess::Make(std::move(partial));
}

}  // namespace

Result<Partial> Run::Map(const Question& question, const std::string& destination) const {
  BS_ASSIGN(const MapQuestion asked, UnderstandPart(*this, question, destination));
  return MapPart(asked);
}

Result<PartFile> Run::MapInto(const std::string& folder, const Question& question,
                              bool again) const {
  const internal::ShardMark mark = RunAccess::MarkOf(*this).value_or(internal::ShardMark());
  const std::string path = (std::filesystem::path(folder) / internal::PartFileName(mark)).string();
  BS_ASSIGN(const MapQuestion asked, UnderstandPart(*this, question, path));
  if (!again) {
    BS_ASSIGN(std::optional<internal::PartialData> kept,
              internal::FindMapped(path, asked.specs, asked.options, asked.map));
    if (kept.has_value()) {
      return DescribePart(PartialAccess::Make(std::move(*kept)), path, true);
    }
  }
  return MapToFile(path, [&] { return MapPart(asked); });
}

}  // namespace borescope
