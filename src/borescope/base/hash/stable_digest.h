// A digest that is the same in every process and on every machine, for what is written down: FNV-1a
// of 64 bits. It finds copies, and hides nothing from those who mean to deceive: for tables whose
// keys come from inputs there is hash_tables.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace borescope::internal {

// Not thread-safe.
class StableDigest {
 public:
  void Add(std::string_view bytes) {
    constexpr uint64_t kPrime = 0x100000001b3;
    for (const char byte : bytes) {
      value_ = (value_ ^ static_cast<unsigned char>(byte)) * kPrime;
    }
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace borescope::internal
