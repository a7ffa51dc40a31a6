#include "borescope/opmodel/devices/ordered_patterns.h"

#include <re2/re2.h>

#include <string>

#include "borescope/base/check.h"
#include "borescope/base/within_memory.h"

namespace borescope::internal {
namespace {

// RE2 reads UTF-8, as names are made valid UTF-8 when they are read. Of other bytes it matches
// none.
RE2::Options Quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

}  // namespace

OrderedPatterns::OrderedPatterns(std::span<const std::string_view> patterns) {
  patterns_.reserve(patterns.size());
  for (const std::string_view pattern : patterns) {
    AskForMemory(kExpressionBytes);
    patterns_.push_back(std::make_unique<RE2>(std::string(pattern), Quiet()));
    BS_CHECK(patterns_.back()->ok());
  }
}

OrderedPatterns::~OrderedPatterns() = default;

std::optional<size_t> OrderedPatterns::FirstMatch(std::string_view name) const {
  const re2::StringPiece text(name.data(), name.size());
  for (size_t i = 0; i < patterns_.size(); ++i) {
    if (RE2::PartialMatch(text, *patterns_[i])) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace borescope::internal
