// Where libborescope_record.so is, which programs load.
#pragma once

#include <string>

#include "borescope/base/result.h"

namespace borescope::internal {

// The absolute path of the file: what BORESCOPE_RECORD_LIBRARY names, else the first that exists
// beside this library or program and in the folders for libraries next to it. kMissingData, with
// where it was looked for, if there is none.
Result<std::string> FindRecorderLibrary();

}  // namespace borescope::internal
