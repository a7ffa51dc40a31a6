#include "borescope/serve/served_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

namespace borescope::internal {

Result<std::string> MakeSecretPath(std::string_view name) {
  std::array<unsigned char, 16> secret{};
  if (getentropy(secret.data(), secret.size()) != 0) {
    return Error{ErrorCode::kIo, fmt::format("no random numbers: {}", std::strerror(errno))};
  }
  std::string path = "/";
  for (const unsigned char byte : secret) {
    path += fmt::format("{:02x}", byte);
  }
  path += '/';
  for (const char c : name) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    path += is_plain ? c : '_';
  }
  return path;
}

}  // namespace borescope::internal
