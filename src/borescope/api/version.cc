#include "borescope/version.h"

#include "borescope/base/version.h"

namespace borescope {

std::string_view Version() { return internal::Version(); }

}  // namespace borescope
