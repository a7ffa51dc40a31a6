#include "borescope/cli/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "borescope/cli/options/values.h"
#include "borescope/cli/usage_error.h"
#include "borescope/run.h"

namespace borescope::cli {
namespace {

size_t CountOf(const std::vector<FileInfo>& files, CacheUse use) {
  return static_cast<size_t>(std::count_if(
      files.begin(), files.end(), [use](const FileInfo& file) { return file.cache == use; }));
}

std::string Files(size_t count) { return fmt::format("{} file{}", count, count == 1 ? "" : "s"); }

}  // namespace

std::string CacheFolder(const RawOptions& raw) {
  std::string folder = raw.Get("cache");
  if (folder.empty()) {
    const char* const named = std::getenv("BORESCOPE_CACHE");  // NOLINT(concurrency-mt-unsafe)
    folder = named == nullptr ? "" : named;
  }
  return folder == "off" ? "" : folder;
}

Result<uint64_t> ParseCacheSize(const RawOptions& raw) {
  return raw.Get("cache-size").empty() ? OpenOptions().cache_bytes
                                       : ParseSize("cache-size", raw.Get("cache-size"));
}

std::vector<std::string> CacheLines(const std::vector<FileInfo>& files) {
  const size_t found = CountOf(files, CacheUse::kFound);
  const size_t kept = CountOf(files, CacheUse::kKept);
  std::vector<std::string> lines;
  if (found + kept > 0) {
    lines.push_back(fmt::format(
        "borescope: cache: {}{}{}", found > 0 ? fmt::format("{} read from it", Files(found)) : "",
        found > 0 && kept > 0 ? ", " : "", kept > 0 ? fmt::format("{} added", Files(kept)) : ""));
  }
  std::set<std::string_view> failures;
  for (const FileInfo& file : files) {
    if (file.cache != CacheUse::kFailed) {
      continue;
    }
    // A folder that cannot be used is the failure of all files.
    if (failures.insert(file.cache_failure).second) {
      lines.push_back(fmt::format("borescope: cache: not used: {}", file.cache_failure));
    }
  }
  return lines;
}

}  // namespace borescope::cli
