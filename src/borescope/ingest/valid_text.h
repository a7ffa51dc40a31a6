// Texts of databases, which may hold any bytes, made valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace borescope {

// `text` with U+FFFD for every byte that is no part of well-formed UTF-8.
std::string ToValidText(std::string_view text);

}  // namespace borescope
