#include "borescope/table/unit_and_role_names.h"

namespace borescope::internal {

std::string_view UnitName(Unit unit) {
  constexpr std::string_view kNames[] = {"",     "ns",    "bytes", "count",   "share",
                                         "GB/s", "flops", "us",    "percent", ""};
  return kNames[static_cast<size_t>(unit)];
}

std::string_view RoleName(Role role) {
  constexpr std::string_view kNames[] = {"key", "sum", "min", "max", "derived"};
  return kNames[static_cast<size_t>(role)];
}

}  // namespace borescope::internal
