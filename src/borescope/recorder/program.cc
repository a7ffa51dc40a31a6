#include "borescope/recorder/program.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>
#include <vector>

#include "borescope/base/io/paths.h"
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

void AddPostmortem(const std::string& folder, Environment& environment) {
  // The older and the newer name of each.
  constexpr const char* kSizes[] = {"TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE"};
  constexpr const char* kFiles[] = {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "TORCH_FR_DUMP_TEMP_FILE"};
  const auto set_both = [&](const auto& names, const std::string& value) {
    const bool is_set = environment.contains(names[0]) || environment.contains(names[1]);
    for (const char* const name : names) {
      if (!is_set) environment[name] = value;
    }
  };
  set_both(kSizes, "2000");
  set_both(kFiles, folder + "/trace_rank_");
  environment.try_emplace("TORCH_NCCL_DUMP_ON_TIMEOUT", "1");
  environment.try_emplace("TORCH_NCCL_ENABLE_TIMING", "1");
  environment.try_emplace("TORCHELASTIC_ERROR_FILE", folder + "/error.json");
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

namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "libborescope_record.so";
constexpr const char* kVariable = "BORESCOPE_RECORD_LIBRARY";
// From the folder of whoever asks: a wheel has both in one, an installation bin/ and lib/.
constexpr const char* kPlaces[] = {".", "lib", "../lib", "../lib/borescope/record",
                                   "borescope/record"};

// The folder of the file that this code is in: the program, or the shared library.
fs::path OwnFolder() {
  Dl_info info{};
  std::error_code ignored;
  const bool is_known = dladdr(reinterpret_cast<const void*>(&FindRecorderLibrary), &info) != 0 &&
                        info.dli_fname != nullptr;
  const fs::path named = is_known ? fs::canonical(info.dli_fname, ignored) : fs::path();
  return named.empty() ? fs::path() : named.parent_path();
}

fs::path ProgramFolder() {
  std::error_code ignored;
  return fs::canonical("/proc/self/exe", ignored).parent_path();
}

Result<bool> IsFile(const fs::path& path) {
  BS_ASSIGN(const FileKind kind, KindOf(path.string()));
  return kind == FileKind::kFile;
}

}  // namespace

Result<std::string> FindRecorderLibrary() {
  const char* const named = std::getenv(kVariable);
  if (named != nullptr && *named != '\0') {
    BS_ASSIGN(const bool is_file, IsFile(named));
    if (!is_file) {
      return UsageError(std::string(kVariable) + ": " + named + ": no such file");
    }
    return fs::absolute(named).string();
  }
  const fs::path own = OwnFolder();
  for (const fs::path& folder : {own, ProgramFolder()}) {
    for (const char* const place : kPlaces) {
      const fs::path candidate = folder / place / kFileName;
      if (folder.empty()) continue;
      BS_ASSIGN(const bool is_file, IsFile(candidate));
      if (is_file) return PathWithoutLinks(candidate.string());
    }
  }
  return Error{
      ErrorCode::kMissingData, std::string(kFileName) + ": not found next to " + own.string(),
      std::string("install Borescope with its recorder, or name the file in ") + kVariable};
}

namespace {

namespace fs = std::filesystem;

fs::path RocmFolder() {
  const char* const named = std::getenv("ROCM_PATH");
  return named != nullptr && *named != '\0' ? named : "/opt/rocm";
}

bool HasLibrary(const std::vector<std::string>& names) {
  constexpr const char* kLibraries[] = {"librocprofiler-sdk.so", "libroctracer64.so"};
  return std::any_of(names.begin(), names.end(), [&](const std::string& found) {
    return std::any_of(std::begin(kLibraries), std::end(kLibraries),
                       [&](const char* library) { return found.starts_with(library); });
  });
}

// "6.1.2" of "6.1.2-115"; empty where it is not said.
std::string VersionOf(const fs::path& folder) {
  std::ifstream file(folder / ".info" / "version");
  std::string version;
  std::getline(file, version);
  return version.substr(0, version.find_first_not_of("0123456789."));
}

// The folder's numbers that are there, in order.
std::map<uint64_t, fs::path> NumberedFolders(const fs::path& folder) {
  std::map<uint64_t, fs::path> numbered;
  const Result<std::vector<std::string>> names = NamesIfAny(folder.string());
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (!name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == name.npos) {
      numbered[std::stoul(name)] = folder / name;
    }
  }
  return numbered;
}

// Lines of a name and a number each. What is no such line ends them.
std::map<std::string, uint64_t> PropertiesOf(const fs::path& node) {
  std::map<std::string, uint64_t> properties;
  std::ifstream file(node / "properties");
  std::string name;
  for (uint64_t value = 0; file >> name >> value;) properties[name] = value;
  return properties;
}

}  // namespace

std::string RocmGpus(const fs::path& nodes) {
  constexpr size_t kMostGpus = 64;
  std::string list;
  size_t count = 0;
  for (const auto& [number, folder] : NumberedFolders(nodes)) {
    std::map<std::string, uint64_t> has = PropertiesOf(folder);
    // Processors have none.
    if (has["simd_count"] == 0 || count++ == kMostGpus) continue;
    const uint64_t simds = std::max<uint64_t>(1, has["simd_per_cu"]);
    list += (list.empty() ? "" : ",") + std::to_string(number) + ":" +
            std::to_string(has["gfx_target_version"]) + ":" +
            std::to_string(has["simd_count"] / simds) + ":" +
            std::to_string(has["wave_front_size"]);
  }
  return list;
}

std::string WhyNoRocm() {
  const fs::path folder = RocmFolder();
  const Result<std::vector<std::string>> names = NamesIfAny((folder / "lib").string());
  if (names.ok() && HasLibrary(*names)) return "";
  constexpr std::string_view kRest =
      "; HIP calls, kernels and copies are not recorded, ROCTX and other records of the host are";
  const Result<FileKind> kind = KindOf(folder.string());
  if (!kind.ok()) {
    return "--rocm: " + kind.error().Sentence() + std::string(kRest);
  }
  if (!names.ok()) {
    return "--rocm: whether ROCm is installed cannot be seen: " + names.error().Sentence();
  }
  if (*kind != FileKind::kFolder) {
    return "--rocm: there is no ROCm in " + folder.string() + ", unless the program brings one" +
           std::string(kRest) + "; name its folder in ROCM_PATH";
  }
  const std::string version = VersionOf(folder);
  return "--rocm: ROCm " + (version.empty() ? "" : version + " ") + "in " + folder.string() +
         " has neither rocprofiler-sdk, from 6.2 on, nor roctracer, before" + std::string(kRest) +
         "; install one of these packages, unless the program brings one";
}

namespace {

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Our threads may block signals, and our command line ignores these two, which a child would
// inherit.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<pid_t> StartProgram(const std::vector<std::string>& words, const Environment& environment) {
  std::vector<std::string> arguments = words;
  std::vector<std::string> entries = EntriesOf(environment);
  const std::vector<char*> argv = PointersTo(arguments);
  const std::vector<char*> envp = PointersTo(entries);
  const Attributes attributes;
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, argv[0], nullptr, attributes.get(), argv.data(), envp.data());
  if (error == 0) return child;
  return Error{ErrorCode::kIo, words[0] + ": cannot be started: " + std::strerror(error),
               "name a program that is in PATH, or its path"};
}

ProgramEnd WaitForProgram(pid_t program) {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = waitpid(program, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited < 0) return {.status = -1, .signal = 0};
  if (WIFSIGNALED(status)) return {.status = 0, .signal = WTERMSIG(status)};
  return {.status = WEXITSTATUS(status), .signal = 0};
}

}  // namespace borescope::internal
