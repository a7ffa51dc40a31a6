// Where captures of graphs are searched: which files, never what is in them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "borescope/engine/inputs/input_files.h"

namespace borescope::internal {

// Sets InputFile::captures and a store that all files share: the files that `named` leads to, as
// ExpandInputs finds them; if it is empty, those next to each input that are called captures, and
// those in folders next to it that are. No file is a capture of itself. Captures are kept in
// `traces`, if there is one. Errors as those of ExpandInputs about `named`.
Result<void> FindCaptures(std::span<const std::string> named, std::shared_ptr<TraceStore> traces,
                          std::vector<InputFile>& files);

}  // namespace borescope::internal
