// A keyed hash of texts (SipHash-2-4): without the key nobody can find by trying texts which
// one a hash belongs to. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace borescope::internal {

using HashKey = std::array<uint64_t, 2>;

// A key nobody knows.
HashKey RandomHashKey();
// The key that follows from a text of any length.
HashKey HashKeyOf(std::string_view text);

uint64_t KeyedHash(const HashKey& key, std::string_view text);
// The hash as 16 hexadecimal digits.
std::string KeyedDigits(const HashKey& key, std::string_view text);

}  // namespace borescope::internal
