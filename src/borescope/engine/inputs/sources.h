// The sources that a caller names, as input files.
#pragma once

#include <span>
#include <vector>

#include "borescope/engine/inputs/input_files.h"
#include "borescope/run.h"

namespace borescope {

// The files of the sources in their order, each once. Errors as those of ExpandInputs;
// kInvalidArgument for two recordings in memory of one name.
Result<std::vector<internal::InputFile>> FindFiles(std::span<const Source> sources);

// kIo where one of the files is not there.
Result<void> CheckFilesExist(std::span<const internal::InputFile> files);

}  // namespace borescope
