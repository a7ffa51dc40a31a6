// What holds for names, asked once for each text of a trace and not once for each row that has it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/trace/string_pool.h"

namespace borescope::internal {

// Per text, by its StringId: 1 where `holds(text)`. O(texts).
template <class Predicate>
std::vector<char> FlagNames(const StringPool& strings, const Predicate& holds) {
  std::vector<char> flags(strings.size());
  for (uint32_t i = 0; i < flags.size(); ++i) {
    flags[i] = holds(strings.Get(StringId{i})) ? 1 : 0;
  }
  return flags;
}

}  // namespace borescope::internal
