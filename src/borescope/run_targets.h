// The files that a run writes beside its answer, one for each input: --overlay and --save.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/session.h"

namespace borescope {

struct Target {
  std::string_view option;  // "--overlay"
  std::string path;
};

// In the order of the inputs, those of --overlay first.
std::vector<Target> TargetsOf(const RunOptions& options);

// kInvalidArgument, or kIo for a folder that is not there, where one would overwrite an input or
// another, or cannot be written.
Result<void> CheckTargets(const RunOptions& options);

}  // namespace borescope
