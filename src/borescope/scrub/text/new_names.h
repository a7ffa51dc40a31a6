// New names for kernels, modules and annotations, word by word: words that every program may use,
// by which analyses tell kinds of work apart, stay, and so do numbers and the characters between
// words; any other word becomes letters that follow from it and the key. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "borescope/scrub/text/keyed_hash.h"
#include "borescope/scrub/text/scrubber.h"

namespace borescope::internal {

std::string NewName(std::string_view name, TextUse use, const HashKey& key);

// Whether the word, in lower case, is one that stays.
bool IsPublicWord(std::string_view lower);

// The longest part of a word, in lower case, by which a kind of kernel is recognised; empty if
// there is none.
std::string_view DecisivePart(std::string_view lower);

}  // namespace borescope::internal
