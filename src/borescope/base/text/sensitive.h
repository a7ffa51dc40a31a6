// What in a text may say who, where and with which secrets: paths, addresses, tokens and others.
// Found by their form alone, so a secret that looks like any other word is not found. Pure; any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace borescope::internal {

enum class Sensitive : uint8_t {
  kPath,     // absolute, of a home folder or of any other
  kUrl,      // scheme://...
  kAccount,  // user@host
  kHost,     // node.example.com
  kAddress,  // IPv4, IPv6, hardware addresses
  kUuid,     // of a device, a container, a run
  kToken,    // keys to services, by their prefix or length
  kSetting,  // NAME=value, password: value
  kCount
};
inline constexpr size_t kSensitiveKinds = static_cast<size_t>(Sensitive::kCount);

// "path", which takes the place of a text, and "absolute paths", for people.
std::string_view SensitiveWord(Sensitive kind);
std::string_view SensitiveName(Sensitive kind);

struct SensitiveSpan {
  size_t begin = 0;
  size_t end = 0;
  Sensitive kind = Sensitive::kPath;
};

// All of them, in order, none inside another.
std::vector<SensitiveSpan> FindSensitive(std::string_view text);

// The same, slowly: no place is passed unseen. Tests compare the two.
std::vector<SensitiveSpan> FindSensitiveAtAnyPlace(std::string_view text);

}  // namespace borescope::internal
