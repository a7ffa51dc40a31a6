#include "borescope/recorder/recorder_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "borescope/base/io/paths.h"

namespace borescope::internal {
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

}  // namespace borescope::internal
