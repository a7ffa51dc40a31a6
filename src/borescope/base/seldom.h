// Seldom: a number that many rows of a column have none of. "None" is kept as 0, and columns of
// zeros take no memory (ColumnData::AppendZeros). Reads and is assigned like the number itself.
#pragma once

#include <type_traits>

namespace borescope::internal {

template <class T, T kNone>
class Seldom {
  static_assert(std::is_integral_v<T>);

 public:
  constexpr Seldom() = default;  // none
  // Both ways without being asked, as a column of numbers is used everywhere.
  constexpr Seldom(T value) : bits_(value ^ kNone) {}     // NOLINT(google-explicit-constructor)
  constexpr operator T() const { return bits_ ^ kNone; }  // NOLINT(google-explicit-constructor)

 private:
  T bits_ = 0;
};

}  // namespace borescope::internal
