#include "borescope/recorder/python_startup.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "borescope/base/io/paths.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

// Read by borescope_record/_startup.py.
constexpr const char* kPlanVariable = "BORESCOPE_RECORD_PYTHON";
// For packages in other places.
constexpr const char* kFolderVariable = "BORESCOPE_RECORD_PYTHON_FOLDER";
// From the folder of the library: of an installation or a build, and of a wheel.
constexpr const char* kStartupPlaces[] = {"python/borescope_record/startup",
                                          "../borescope_record/startup"};
constexpr const char* kRpdFolder = "rpd";  // of librpd_tracer.so, beside the library

Result<bool> HasStartup(const fs::path& folder) {
  BS_ASSIGN(const FileKind kind, KindOf((folder / "sitecustomize.py").string()));
  return kind == FileKind::kFile;
}

Result<std::string> FindStartup(const fs::path& beside) {
  const char* const named = std::getenv(kFolderVariable);
  if (named != nullptr && *named != '\0') {
    BS_ASSIGN(const bool is_there, HasStartup(named));
    if (is_there) return fs::absolute(named).string();
    return UsageError(std::string(kFolderVariable) + ": " + named + ": has no sitecustomize.py");
  }
  for (const char* const place : kStartupPlaces) {
    const fs::path folder = beside / place;
    BS_ASSIGN(const bool is_there, HasStartup(folder));
    if (is_there) return PathWithoutLinks(folder.string());
  }
  return Error{
      ErrorCode::kMissingData, "borescope_record: not found next to " + beside.string(),
      std::string(
          "install Borescope with its recorder, or name the folder of its sitecustomize.py in ") +
          kFolderVariable};
}

Result<void> Check(const PythonPlan& plan) {
  if (!plan.ops.empty() && plan.ops != "nvtx" && plan.ops != "profile") {
    return UsageError("`ops`=" + plan.ops + ": neither nvtx nor profile", {}, "ops");
  }
  if (!plan.functions.empty() && plan.functions != "calls") {
    return UsageError("`python`=" + plan.functions + ": not calls", {}, "python");
  }
  if (plan.shapes && plan.ops.empty()) {
    return UsageError("of operators, which are recorded with `ops`", {}, "shapes");
  }
  if (plan.ops_steps != 0 && plan.ops != "profile") {
    return UsageError("only `ops`=profile keeps steps in memory", {}, "ops_steps");
  }
  return {};
}

std::string PlanText(const PythonPlan& plan) {
  std::string text;
  const auto add = [&](bool is_set, const std::string& option) {
    if (is_set) text += (text.empty() ? "" : ";") + option;
  };
  add(!plan.ops.empty(), "ops=" + plan.ops);
  add(plan.shapes, "shapes");
  add(plan.ops_steps != 0, "steps=" + std::to_string(plan.ops_steps));
  add(!plan.functions.empty(), "functions=" + plan.functions);
  add(plan.counts_steps, "count-steps");
  return text;
}

}  // namespace

Result<void> AddPython(const PythonPlan& plan, const std::string& library,
                       Environment& environment) {
  BS_TRY(Check(plan));
  if (plan.is_empty()) return {};
  const fs::path beside = fs::path(library).parent_path();
  const Result<std::string> found = FindStartup(beside);
  if (!found.ok()) return plan.is_optional() ? Result<void>() : found.error();
  const std::string& folder = *found;
  const bool has_colon = folder.find(':') != std::string::npos;
  if (has_colon && plan.is_optional()) return {};
  if (has_colon) {
    return Error{ErrorCode::kInvalidArgument, "PYTHONPATH cannot hold a path with a colon",
                 "install it elsewhere", folder};
  }
  PutFirst("PYTHONPATH", folder, environment);
  environment[kPlanVariable] = PlanText(plan);
  // PyTorch's profiler writes lines to standard error at the begin and end of each window.
  if (plan.ops == "profile") environment.try_emplace("KINETO_LOG_LEVEL", "99");
  if (plan.rpd_compat) {
    PutFirst("LD_LIBRARY_PATH", (beside / kRpdFolder).string(), environment);
  }
  return {};
}

}  // namespace borescope::internal
