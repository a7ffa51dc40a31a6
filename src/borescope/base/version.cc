#include "borescope/base/version.h"

namespace borescope::internal {

std::string_view Version() { return BORESCOPE_VERSION; }

}  // namespace borescope::internal
