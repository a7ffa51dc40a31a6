#include "borescope/table/display/view.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {

namespace {

constexpr std::string_view kUnits[] = {"",     "ns",    "bytes", "count",   "share",
                                       "GB/s", "flops", "us",    "percent", "row"};
constexpr std::string_view kRoles[] = {"key", "sum", "min", "max", "derived"};

template <class Enum, size_t kSize>
std::optional<Enum> FindIn(const std::string_view (&names)[kSize], std::string_view name) {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names) ? std::nullopt
                                  : std::optional(static_cast<Enum>(found - std::begin(names)));
}

}  // namespace

std::string_view UnitName(Unit unit) { return kUnits[static_cast<size_t>(unit)]; }
std::string_view RoleName(Role role) { return kRoles[static_cast<size_t>(role)]; }

std::optional<Unit> FindUnit(std::string_view name) { return FindIn<Unit>(kUnits, name); }
std::optional<Role> FindRole(std::string_view name) { return FindIn<Role>(kRoles, name); }

}  // namespace borescope::internal
