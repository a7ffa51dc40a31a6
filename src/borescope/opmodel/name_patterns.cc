#include "borescope/opmodel/name_patterns.h"

#include <re2/re2.h>

#include <string>

#include "borescope/base/check.h"

namespace borescope {
namespace {

RE2::Options QuietBytes() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);  // names need not be valid UTF-8
  return options;
}

}  // namespace

OrderedPatterns::OrderedPatterns(std::span<const std::string_view> patterns) {
  patterns_.reserve(patterns.size());
  for (const std::string_view pattern : patterns) {
    patterns_.push_back(std::make_unique<RE2>(std::string(pattern), QuietBytes()));
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

}  // namespace borescope
