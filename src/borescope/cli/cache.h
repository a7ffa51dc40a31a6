// Where indexed traces are kept, as --cache and its environment say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/options/options.h"
#include "borescope/error.h"

namespace borescope::cli {

// The folder of --cache, else that of the environment variable BORESCOPE_CACHE; empty for
// none, which "off" says in both.
std::string CacheFolder(const RawOptions& raw);

// What --cache-size says; the default of the library without it. Errors are about usage.
Result<uint64_t> ParseCacheSize(const RawOptions& raw);

// What the cache had to do with the files, in lines for standard error: how many it had and got,
// and each reason why it failed.
std::vector<std::string> CacheLines(const std::vector<FileInfo>& files);

}  // namespace borescope::cli
