// Objects of JSON of which only listed members stay, each in its way, at any depth.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "borescope/scrub/text/scrubber.h"

namespace borescope::internal {

enum class MemberUse : uint8_t {
  kNumber,   // a number, or an array of them at any depth
  kText,     // CleanJson with `text`
  kMembers,  // an object or an array of objects, whose members are looked up in the same list
};

struct MemberRule {
  std::string_view key;
  MemberUse use = MemberUse::kNumber;
  TextUse text = TextUse::kValue;
};

// An object, or an array of objects, with the members that `rules` list and no others; other values
// become null.
std::string CleanMembers(std::string_view value, std::span<const MemberRule> rules,
                         Scrubber& scrubber);

}  // namespace borescope::internal
