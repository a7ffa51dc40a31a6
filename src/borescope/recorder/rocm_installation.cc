#include "borescope/recorder/rocm_installation.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>
#include <vector>

#include "borescope/base/io/paths.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

fs::path RocmFolder() {
  const char* const named = std::getenv("ROCM_PATH");
  return named != nullptr && *named != '\0' ? named : "/opt/rocm";
}

bool HasLibrary(const fs::path& folder, std::string_view name) {
  const Result<std::vector<std::string>> names = NamesIfAny(folder.string());
  return names.ok() && std::any_of(names->begin(), names->end(), [&](const std::string& found) {
           return found.starts_with(name);
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
  for (const char* const library : {"librocprofiler-sdk.so", "libroctracer64.so"}) {
    if (HasLibrary(folder / "lib", library)) return "";
  }
  constexpr std::string_view kRest =
      "; HIP calls, kernels and copies are not recorded, ROCTX and other records of the host are";
  const Result<FileKind> kind = KindOf(folder.string());
  if (!kind.ok()) {
    return "--rocm: " + kind.error().Sentence() + std::string(kRest);
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

}  // namespace borescope::internal
