// What the options of an analysis ask for, once the words are taken apart (arguments.h). Every
// error is about usage (kInvalidArgument) and one line. Pure but for looking which inputs there
// are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/cli/options/options.h"

namespace borescope::internal::cli {

// REQUIRES: `raw` belongs to these analyses. Expands the inputs.
Result<RunOptions> Understand(Specs specs, const RawOptions& raw);

// The value of --threads.
Result<int> ParseThreads(const std::string& text);
// "8G", "1.5GB", "512MiB", "1000000": bytes. K, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024.
Result<uint64_t> ParseSize(std::string_view text);

}  // namespace borescope::internal::cli
