// "310ms", "1.5GiB", "15%": numbers with units, as budgets have them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "borescope/check/budget/budget.h"

namespace borescope::internal {

// Units are ns, us, ms, s; B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB; %; or none.
// Nothing for other text, and for numbers that are negative or not finite.
std::optional<BudgetAmount> ParseAmount(std::string_view text);

// A value in base units as people read it: "310 ms", "15.2 %", "12".
std::string AmountText(double value, Unit unit);

}  // namespace borescope::internal
