// Arithmetic of FLOPs and bytes that cannot wrap around: shapes come from files and may be
// anything.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

namespace borescope::internal {

// A count that is not negative. Once a result is too large, or a part of it was negative, it stays
// overflown, whatever is added or multiplied.
class Quantity {
 public:
  constexpr Quantity() = default;
  template <std::integral T>
  constexpr Quantity(T value)  // NOLINT(google-explicit-constructor): dimensions are factors
      : value_(std::cmp_less(value, 0) ? kOverflow : static_cast<uint64_t>(value)) {}

  constexpr bool is_overflow() const { return value_ == kOverflow; }
  constexpr uint64_t value() const { return value_; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    uint64_t sum = 0;
    const bool wraps = __builtin_add_overflow(a.value_, b.value_, &sum);
    return wraps || a.is_overflow() || b.is_overflow() ? Quantity(kOverflow) : Quantity(sum);
  }
  friend constexpr Quantity operator*(Quantity a, Quantity b) {
    uint64_t product = 0;
    const bool wraps = __builtin_mul_overflow(a.value_, b.value_, &product);
    return wraps || a.is_overflow() || b.is_overflow() ? Quantity(kOverflow) : Quantity(product);
  }
  // REQUIRES: b <= a, unless a is overflown
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    const bool fails = a.is_overflow() || b.is_overflow() || a.value_ < b.value_;
    return fails ? Quantity(kOverflow) : Quantity(a.value_ - b.value_);
  }
  // Rounded up. REQUIRES: divisor > 0
  constexpr Quantity DividedUp(uint64_t divisor) const {
    return is_overflow() ? *this : Quantity(value_ / divisor + (value_ % divisor != 0 ? 1 : 0));
  }
  Quantity& operator+=(Quantity other) { return *this = *this + other; }
  Quantity& operator*=(Quantity other) { return *this = *this * other; }
  friend constexpr bool operator==(Quantity, Quantity) = default;

 private:
  static constexpr uint64_t kOverflow = std::numeric_limits<uint64_t>::max();

  uint64_t value_ = 0;
};

}  // namespace borescope::internal
