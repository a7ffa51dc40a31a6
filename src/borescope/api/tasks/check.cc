#include "borescope/check.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "borescope/api/access.h"
#include "borescope/api/part_files.h"
#include "borescope/api/questions.h"
#include "borescope/base/io/paths.h"
#include "borescope/engine/inputs/capture_files.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/verbs/check/check_run.h"
#include "borescope/verbs/check/map_check.h"

namespace borescope {
namespace {

void SetProgress(const ProgressCallback& callback, internal::RunOptions& run) {
  if (callback) {
    run.progress = [callback](const internal::Progress& progress) {
      callback(
          {progress.done_bytes, progress.total_bytes, progress.done_files, progress.total_files});
    };
  }
}

// Parameters mean what they mean for an analysis that takes a selection.
Result<internal::CheckRequest> InsideCheck(std::span<const std::string> runs,
                                           const CheckOptions& options) {
  if (!(options.fail >= 0 && options.fail <= 1)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "fail takes a share from 0 to 1, such as 0.03"};
  }
  internal::CheckRequest inside;
  const std::string_view verbs[] = {"summary"};
  if (const Result<void> read = ReadParams(verbs, options.params, inside.run); !read.ok()) {
    return read.error();
  }
  inside.runs.assign(runs.begin(), runs.end());
  inside.baseline = options.baseline;
  inside.history = options.history;
  inside.budget = options.budget;
  inside.judge = {options.fail, options.all};
  inside.force = options.force;
  inside.strict = options.strict;
  inside.save = options.save_baseline;
  inside.junit = options.junit;
  inside.sarif = options.sarif;
  inside.markdown = options.markdown;
  inside.html = options.html;
  inside.run.threads = ThreadsOf(options.threads);
  inside.run.memory_limit = options.memory_limit;
  inside.run.stop = options.stop;
  SetProgress(options.progress, inside.run);
  inside.find_captures = [captures = options.captures](std::vector<internal::InputFile>& files) {
    return internal::FindCaptures(captures, nullptr, files);
  };
  return inside;
}

CheckReport PublicCheck(internal::CheckedRuns checked) {
  internal::Answer answer;
  answer.document = std::move(checked.document);
  answer.files = std::move(checked.files);
  return {static_cast<CheckStatus>(checked.outcome.status), std::move(checked.outcome.why),
          AnswerAccess::Make(std::move(answer))};
}

}  // namespace

std::string CheckStatusName(CheckStatus status) {
  return std::string(internal::BudgetStatusName(static_cast<internal::BudgetStatus>(status)));
}

Result<CheckReport> Check(std::span<const std::string> runs, const CheckOptions& options) {
  if (runs.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument, .cause = "no run to check"};
  }
  Result<internal::CheckRequest> inside = InsideCheck(runs, options);
  if (!inside.ok()) {
    return inside.error();
  }
  return Mapped(internal::RunCheck(*inside), PublicCheck);
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
  const Result<void> checked = internal::CheckNoInput(mapping.Paths(), path, "`output`");
  return checked.ok() ? Result<std::string>(path) : checked.error();
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
  const Result<internal::CheckRequest> inside = InsideCheck(runs, options);
  if (!inside.ok()) {
    return inside.error();
  }
  std::optional<internal::ShardMark> shard;
  if (map.shard.has_value()) {
    shard = internal::ShardMark{map.shard->index, map.shard->count};
  }
  const Result<internal::CheckMapping> mapping = internal::CheckMapping::Plan(*inside, shard);
  if (!mapping.ok()) {
    return mapping.error();
  }
  const Result<std::string> path = PartPath(*mapping, map);
  if (!path.ok()) {
    return path.error();
  }
  Result<std::optional<internal::PartialData>> kept = FindKeptPart(*mapping, *path, map);
  if (!kept.ok()) {
    return kept.error();
  }
  if (kept->has_value()) {
    return DescribePart(PartialAccess::Make(std::move(**kept)), *path, true);
  }
  return MapToFile(*path, [&] {
    return Mapped(mapping->Map(),
                  [](internal::PartialData part) { return PartialAccess::Make(std::move(part)); });
  });
}

Answer DescribeCheck() {
  return AnswerAccess::Make(internal::Document{internal::CheckShape(), {}});
}

}  // namespace borescope
