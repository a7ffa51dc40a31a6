// From what the user named as counters (`counters`) to the reports of a run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/trace/counter_report.h"

namespace borescope::internal {

// The files of counters behind `inputs`: files, globs and folders. Of a folder and the folders in
// it (passes of rocprofv3 have one each) all files are taken whose content is that of a report,
// hidden ones excepted; sorted by name, numbers in names by value. Each file once, in the order of
// the inputs. kInvalidArgument names an input without any; kIo what cannot be read.
Result<std::vector<std::string>> FindCounterFiles(std::span<const std::string> inputs);

// Reads the reports behind `inputs`, with what is odd in them counted.
Result<std::vector<CounterReport>> ReadCounters(std::span<const std::string> inputs,
                                                Diagnostics& diagnostics);

}  // namespace borescope::internal
