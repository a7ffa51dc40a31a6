// Kinds of file that are recognised only to name them in errors, with what to give instead.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal {

// A file that no format accepts and that cannot be Kineto's either is named in the error. `text` is
// its first part, inflated; `name` the name of the file.
Result<void> CheckIsNotForeign(std::string_view text, const std::string& name);

}  // namespace borescope::internal
