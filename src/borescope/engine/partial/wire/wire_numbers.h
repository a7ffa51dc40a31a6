// The numbers that values of our enums have in partials, which an enum in another order would not
// change: the place in these lists, in the order of the enums of partial.proto.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "borescope/base/result.h"
#include "borescope/table/table.h"

namespace borescope::internal::wire {

inline constexpr Unit kUnits[] = {Unit::kNone,  Unit::kNanoseconds,  Unit::kBytes,
                                  Unit::kCount, Unit::kShare,        Unit::kGigabytesPerSecond,
                                  Unit::kFlops, Unit::kMicroseconds, Unit::kPercent,
                                  Unit::kOfRow};
inline constexpr Role kRoles[] = {Role::kKey, Role::kSum, Role::kMin, Role::kMax, Role::kDerived};
inline constexpr ErrorCode kCauses[] = {ErrorCode::kIo, ErrorCode::kUnsupportedFormat,
                                        ErrorCode::kCorrupt, ErrorCode::kMissingData,
                                        ErrorCode::kInvalidArgument};

// What a column holds; in the order of Column::values.
enum class CellType : uint8_t { kInt, kFloat, kText, kBool, kCount };

// REQUIRES: `value` is in the list, as every value of its enum must be.
template <class Enum, size_t kSize>
uint32_t NumberOf(const Enum (&list)[kSize], Enum value) {
  return static_cast<uint32_t>(std::find(std::begin(list), std::end(list), value) -
                               std::begin(list));
}

template <class Enum, size_t kSize>
std::optional<Enum> ValueOf(const Enum (&list)[kSize], uint64_t number) {
  return number < kSize ? std::optional(list[number]) : std::nullopt;
}

}  // namespace borescope::internal::wire
