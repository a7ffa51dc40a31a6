// Which build of this program wrote something.
#pragma once

#include <optional>
#include <string>

namespace borescope::internal {

// The build id that the linker gave to the program or library that this code is in: another one for
// every change of the code, its libraries or its compiler. Nothing where it gave none. Thread-safe.
std::optional<std::string> BuildIdentity();

}  // namespace borescope::internal
