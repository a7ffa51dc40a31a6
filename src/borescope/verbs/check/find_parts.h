// Which words of a check name parts of runs, and which parts belong together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/verbs/check/parts_of_runs.h"

namespace borescope::internal {

// What one word leads to, and perhaps others after it.
struct RunInput {
  std::string name;
  std::optional<PartsOfRuns> parts;  // nothing: recordings, or values that were saved
};

// In the order of the words. A word that leads to a part is no recording, whatever else is beside
// it in a folder. Parts of one division that lie in one folder are joined where their words are
// files: a shell has made several words of one glob. Errors as those of ParsePartial and
// PartsOfRuns::Join.
Result<std::vector<RunInput>> FindRunInputs(const std::vector<std::string>& inputs);

}  // namespace borescope::internal
