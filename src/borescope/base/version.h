// The version of Borescope.
#pragma once

#include <string_view>

namespace borescope::internal {

// As in `borescope --version`, in JSON and in Arrow metadata. The text lives as long as the
// program.
std::string_view Version();

}  // namespace borescope::internal
