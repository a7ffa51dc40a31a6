#include "borescope/check.h"

#include <utility>

#include "borescope/api/access.h"
#include "borescope/api/questions.h"
#include "borescope/engine/inputs/capture_files.h"
#include "borescope/verbs/check/check_run.h"

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
                 .message = "fail takes a share from 0 to 1, such as 0.03"};
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
    return internal::FindCaptures(captures, files);
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
    return Error{.code = ErrorCode::kInvalidArgument, .message = "no run to check"};
  }
  Result<internal::CheckRequest> inside = InsideCheck(runs, options);
  if (!inside.ok()) {
    return inside.error();
  }
  const std::vector<std::string> paths(runs.begin(), runs.end());
  return Public(internal::RunCheck(*inside), PublicCheck, paths);
}

Answer DescribeCheck() {
  return AnswerAccess::Make(internal::Document{internal::CheckShape(), {}});
}

}  // namespace borescope
