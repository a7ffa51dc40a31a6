// Values of options that are the command line's own. Every error but those of TypeOfPath is about
// usage; all are one line.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "borescope/cli/usage_error.h"
#include "borescope/partial.h"

namespace borescope::cli {

// A number from `smallest` to `largest`, the value of `option`.
Result<int64_t> ParseWithin(std::string_view option, std::string_view text, int64_t smallest,
                            int64_t largest);
Result<int> ParseCount(std::string_view option, std::string_view text, int largest,
                       int smallest = 1);
// The value of --threads; 0, one per processor, for an empty text.
Result<int> ParseThreads(const std::string& text);
// The seconds of --time-limit.
Result<double> ParseSeconds(const std::string& text);
// "100ms", "2s", "1.5min", the value of `option`: a time of more than nothing. The unit is ns, us,
// ms, s, min or h.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view option, std::string_view text);
// "8G", "1.5GB", "512MiB", "1000000", the value of `option`: bytes. K, M, G, T are powers of 1000,
// Ki, Mi, Gi, Ti of 1024.
Result<uint64_t> ParseSize(std::string_view option, std::string_view text);

// "3%" or "0.03", the value of `option`: a part of the whole, from 0 to 1.
Result<double> ParseShare(std::string_view option, std::string_view text);

// The value of --shard, "3/64".
Result<Shard> ParseShard(std::string_view text);

// What is at a path that somebody typed, links followed; not_found also where permissions hide it.
// kIo if the system cannot tell: then it is not known that nothing is there.
Result<std::filesystem::file_type> TypeOfPath(const std::string& path);
Result<bool> Exists(const std::string& path);

}  // namespace borescope::cli
