// Scrubbed copies of inputs: what `report --scrub` and other verbs read instead of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/base/result.h"
#include "borescope/output/writer.h"
#include "borescope/progress.h"
#include "borescope/scrub.h"
#include "borescope/scrub/scrubber.h"

namespace borescope::internal {

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
                                   const ProgressCallback& progress);

// The texts of an answer without what may say who, where and with which secrets, for answers about
// files of which there are no scrubbed copies, as of logs. Words of sentences that are one of
// `paths`, and columns and places in diagnostics that name files, lose the folder.
void ScrubAnswer(std::span<const std::string> paths, Scrubber& scrubber, Document& document);

}  // namespace borescope::internal
