// The names of units and roles as programs read them, in JSON and in Arrow metadata. Pure
// functions; the texts live as long as the program.
#pragma once

#include <optional>
#include <string_view>

#include "borescope/table/table.h"

namespace borescope::internal {

// The base unit: "ns", "bytes", "GB/s"; empty for kNone, "row" for kOfRow.
std::string_view UnitName(Unit unit);

// "key", "sum", "min", "max" or "derived".
std::string_view RoleName(Role role);

// The unit or role of that name; nothing if there is none.
std::optional<Unit> FindUnit(std::string_view name);
std::optional<Role> FindRole(std::string_view name);

}  // namespace borescope::internal
