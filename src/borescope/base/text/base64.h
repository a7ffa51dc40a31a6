// Bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace borescope::internal {

// RFC 4648, with padding.
std::string Base64(std::string_view bytes);

}  // namespace borescope::internal
