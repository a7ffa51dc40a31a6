// Text-level faults: takes the finished text of one event and breaks it the way broken recorders
// and careless rewriters do.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/writing/scenario_layout.h"

namespace borescope::scenario {

// Damages `event`, one event's text from brace to brace. `variant` picks among equal ways to do it.
// Does nothing for faults that are not of the text.
void DamageText(Fault fault, int64_t variant, const TextLayout& layout, std::string* event);

}  // namespace borescope::scenario
