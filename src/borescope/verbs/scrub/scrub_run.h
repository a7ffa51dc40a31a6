// Scrubbed copies of inputs: what `report --scrub` and other verbs read instead of them.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/base/result.h"
#include "borescope/scrub/scrubber.h"

namespace borescope::internal {

struct ScrubOptions {
  bool names = false;    // new names for kernels, modules and annotations, too
  std::string key_file;  // whose bytes are the key; empty: one that nobody knows
  std::string map_file;  // where new names are written with what they were; empty: nowhere
  std::stop_token stop = {};
  std::function<void(uint64_t done, uint64_t total)> progress;
};

// The key and what goes, as asked. kIo for a key that cannot be read, kInvalidArgument for an empty
// one.
Result<ScrubRules> RulesOf(const ScrubOptions& options);

// Files in a private folder, which goes with this. Their names say their place among the inputs,
// and the rank that was in the name of the input.
struct ScrubbedInputs {
  TemporaryFolder folder;
  std::vector<std::string> paths;  // by input: the file, or the folder of several
  size_t skipped = 0;              // files of a folder that are no recordings
};

// Errors are those of finding, reading and writing. `scrubber` may have been used before.
Result<ScrubbedInputs> ScrubInputs(std::span<const std::string> inputs, Scrubber& scrubber,
                                   const ScrubOptions& options);

// The same with a scrubber of its own, and the map of names.
Result<ScrubbedInputs> RunScrub(std::span<const std::string> inputs, const ScrubOptions& options);

}  // namespace borescope::internal
