// A number that follows from an input, for what of many things a target does with it.
#pragma once

#include <cstdint>
#include <string_view>

namespace fuzz {

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/, 64 bits.
inline uint64_t NumberOf(std::string_view bytes) {
  uint64_t number = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    number = (number ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  }
  return number;
}

}  // namespace fuzz
