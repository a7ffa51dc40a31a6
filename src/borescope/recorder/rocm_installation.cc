#include "borescope/recorder/rocm_installation.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

fs::path RocmFolder() {
  const char* const named = std::getenv("ROCM_PATH");
  return named != nullptr && *named != '\0' ? named : "/opt/rocm";
}

bool HasLibrary(const fs::path& folder, std::string_view name) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(name)) return true;
  }
  return false;
}

// "6.1.2" of "6.1.2-115"; empty where it is not said.
std::string VersionOf(const fs::path& folder) {
  std::ifstream file(folder / ".info" / "version");
  std::string version;
  std::getline(file, version);
  return version.substr(0, version.find_first_not_of("0123456789."));
}

}  // namespace

std::string WhyNoRocm() {
  const fs::path folder = RocmFolder();
  if (HasLibrary(folder / "lib", "librocprofiler-sdk.so")) return "";
  constexpr std::string_view kRest =
      "; HIP calls, kernels and copies are not recorded, ROCTX and other records of the host are";
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return "--rocm: there is no ROCm in " + folder.string() + ", unless the program brings one" +
           std::string(kRest) + "; name its folder in ROCM_PATH";
  }
  const std::string version = VersionOf(folder);
  return "--rocm: ROCm " + (version.empty() ? "" : version + " ") + "in " + folder.string() +
         " has no rocprofiler-sdk, which it has from 6.2 on" + std::string(kRest) +
         "; record those by rocmProfileData's runTracer.sh or by torch.profiler, whose files "
         "borescope reads";
}

}  // namespace borescope::internal
