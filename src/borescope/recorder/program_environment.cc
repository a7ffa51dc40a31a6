#include "borescope/recorder/program_environment.h"

#include <unistd.h>

#include "borescope/recording/log_format.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace borescope::internal {
namespace {

// Sets a variable by which a driver or header finds the one tool that it loads.
Result<void> SetOnlyTool(const char* name, const InjectionPlan& plan, Environment& environment) {
  const auto given = environment.find(name);
  const bool is_others =
      given != environment.end() && !given->second.empty() && given->second != plan.library;
  if (is_others && !plan.replaces_others) {
    return UsageError(std::string(name) + " is set to " + given->second +
                          ", the library of another tool, and only one can be loaded",
                      "unset it, or replace it with `force`");
  }
  environment[name] = plan.library;
  return {};
}

// Parsers of 2024 leave out what follows the last colon, so the list ends with one.
void AddRocmTool(const std::string& library, Environment& environment) {
  constexpr const char* kList = "ROCP_TOOL_LIBRARIES";
  const std::string folder = library.substr(0, library.rfind('/') + 1);
  PutFirst(kList, folder + "libborescope_record_rocm.so", environment);
  if (!environment[kList].ends_with(":")) environment[kList] += ":";
}

}  // namespace

Environment OwnEnvironment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Result<void> AddInjection(const InjectionPlan& plan, Environment& environment) {
  // Its list knows no way to write a separator.
  if (plan.library.find_first_of(": ") != std::string::npos) {
    return Error{ErrorCode::kInvalidArgument,
                 "the dynamic linker cannot preload a path with spaces or colons",
                 "copy or link it elsewhere and name it in BORESCOPE_RECORD_LIBRARY", plan.library};
  }
  if (plan.with_nvtx) BS_TRY(SetOnlyTool("NVTX_INJECTION64_PATH", plan, environment));
  if (plan.with_cuda) BS_TRY(SetOnlyTool("CUDA_INJECTION64_PATH", plan, environment));
  if (plan.with_rocm) AddRocmTool(plan.library, environment);
  PutFirst("LD_PRELOAD", plan.library, environment);
  environment[recording::kRunVariable] = plan.folder;
  environment[recording::kOptionsVariable] = plan.options;
  return {};
}

void PutFirst(const char* name, const std::string& first, Environment& environment) {
  std::string& list = environment[name];
  if (list == first || list.starts_with(first + ":")) return;
  list = list.empty() ? first : first + ":" + list;
}

std::vector<std::string> EntriesOf(const Environment& environment) {
  std::vector<std::string> entries;
  entries.reserve(environment.size());
  for (const auto& [name, value] : environment) {
    std::string& entry = entries.emplace_back(name);
    entry.append("=").append(value);
  }
  return entries;
}

}  // namespace borescope::internal
