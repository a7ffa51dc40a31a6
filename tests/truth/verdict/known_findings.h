// Which findings of the verdict name a cause of lost time, and which of them are right about what
// was planted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/planted/planted_run.h"
#include "tests/truth/verdict/verdict_answer.h"

namespace borescope::internal::testkit {

// The heading of a finding in the matrix; empty if it names no cause.
std::string_view LabelOf(const std::string& finding);

// The headings, in the order of the matrix.
std::vector<std::string_view> AllLabels();

// Whether a finding of this heading is right about the cause in a run of that seed, and whether it
// may also be there, as a consequence.
bool Names(std::string_view label, scenario::Cause cause, scenario::Setting setting);
bool Follows(std::string_view label, scenario::Cause cause, uint64_t seed);

// The heading that the cause shall have; empty: none.
std::string_view LabelFor(scenario::Cause cause, scenario::Setting setting);

}  // namespace borescope::internal::testkit
