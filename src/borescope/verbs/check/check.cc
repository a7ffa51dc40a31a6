#include "borescope/check.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/partial/part_files.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/verbs/check/check_run.h"
#include "borescope/verbs/check/map_check.h"

namespace borescope {
namespace {

// Parameters mean what they mean for an analysis that takes a selection.
Result<internal::CheckRequest> InsideCheck(std::span<const std::string> runs,
                                           const CheckOptions& options) {
  if (!(options.fail >= 0 && options.fail <= 1)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "fail takes a share from 0 to 1, such as 0.03"};
  }
  if (!internal::IsOf(options.question, "check")) {
    return internal::UsageError("a check is the question \"check\"", "ask other verbs alone");
  }
  internal::CheckRequest inside{options, {runs.begin(), runs.end()}};
  BS_TRY(internal::ReadQuestion(options.question, inside.run));
  inside.run.threads = ThreadsOf(options.threads);
  inside.run.memory_limit = options.memory_limit;
  inside.run.stop = options.stop;
  inside.run.progress = options.progress;
  return inside;
}

CheckReport PublicCheck(internal::CheckedRuns checked) {
  return {static_cast<CheckStatus>(checked.outcome.status), std::move(checked.outcome.why),
          AnswerAccess::Make({std::move(checked.document), std::move(checked.files)})};
}

}  // namespace

std::string CheckStatusName(CheckStatus status) {
  return std::string(internal::BudgetStatusName(static_cast<internal::BudgetStatus>(status)));
}

Result<CheckReport> Check(std::span<const std::string> runs, const CheckOptions& options) {
  if (runs.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument, .cause = "no run to check"};
  }
  BS_ASSIGN(const internal::CheckRequest inside, InsideCheck(runs, options));
  BS_ASSIGN(internal::CheckedRuns checked, internal::RunCheck(inside));
  return PublicCheck(std::move(checked));
}

namespace {

Result<std::string> PartPath(const internal::CheckMapping& mapping, const CheckMapOptions& map) {
  BS_ASSIGN(const internal::FileKind kind, internal::KindOf(map.output));
  const bool is_folder = map.output.ends_with('/') || kind == internal::FileKind::kFolder;
  const std::string path =
      is_folder ? (std::filesystem::path(map.output) /
                   internal::PartFileName(mapping.mark().value_or(internal::ShardMark())))
                      .string()
                : map.output;
  BS_TRY(internal::CheckNoInput(mapping.Paths(), path, "`output`"));
  return path;
}

Result<std::optional<internal::PartialData>> FindKeptPart(const internal::CheckMapping& mapping,
                                                          const std::string& path,
                                                          const CheckMapOptions& map) {
  if (map.again || path == map.output) {
    return std::optional<internal::PartialData>();
  }
  return mapping.Find(path);
}

}  // namespace

Result<PartFile> MapCheck(std::span<const std::string> runs, const CheckOptions& options,
                          const CheckMapOptions& map) {
  BS_ASSIGN(const internal::CheckRequest inside, InsideCheck(runs, options));
  std::optional<internal::ShardMark> shard;
  if (map.shard.has_value()) {
    shard = internal::ShardMark{map.shard->index, map.shard->count};
  }
  BS_ASSIGN(const internal::CheckMapping mapping, internal::CheckMapping::Plan(inside, shard));
  BS_ASSIGN(const std::string path, PartPath(mapping, map));
  BS_ASSIGN(std::optional<internal::PartialData> kept, FindKeptPart(mapping, path, map));
  if (kept.has_value()) {
    return DescribePart(PartialAccess::Make(std::move(*kept)), path, true);
  }
  return MapToFile(path, [&]() -> Result<Partial> {
    BS_ASSIGN(internal::PartialData part, mapping.Map());
    return PartialAccess::Make(std::move(part));
  });
}

Answer DescribeCheck() {
  return AnswerAccess::Make(internal::Document{internal::CheckShape(), {}});
}

}  // namespace borescope
