#include "borescope/json/json_cursor.h"

#include <array>
#include <cmath>
#include <new>

#include "borescope/base/text/text.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {

namespace {

// simdjson finds out at its first use which code this processor has, where it must not fail: so
// that is now, before there is anything to lose.
[[maybe_unused]] const bool kHasChosen = !simdjson::get_active_implementation()->name().empty();

}  // namespace

simdjson::error_code ParseDocument(simdjson::dom::parser& parser, std::string_view text,
                                   simdjson::dom::element& document) {
  constexpr bool kCopies = true;  // to where the bytes after the text may be read
  const simdjson::error_code error = parser.parse(text.data(), text.size(), kCopies).get(document);
  if (error == simdjson::MEMALLOC) {
    throw std::bad_alloc();
  }
  return error;
}

namespace {

constexpr std::array<bool, 256> kEndsScalar = [] {
  std::array<bool, 256> ends{};
  for (const char c : std::string_view(" \n\t\r,]}:\"[{")) {
    ends[static_cast<unsigned char>(c)] = true;
  }
  return ends;
}();

constexpr bool EndsScalar(char c) { return kEndsScalar[static_cast<unsigned char>(c)]; }

}  // namespace

void JsonCursor::SkipSpace() { at_ = FindNonSpace(text_, at_); }

bool JsonCursor::Fail() {
  failed_ = true;
  return false;
}

bool JsonCursor::Enter(char bracket) {
  SkipSpace();
  if (failed_ || at_ >= text_.size() || text_[at_] != bracket) {
    return false;
  }
  ++at_;
  is_first_ = true;
  return true;
}

// Leaves the container where it ends; else to what follows the comma.
bool JsonCursor::Next(char closing) {
  SkipSpace();
  if (failed_ || at_ >= text_.size()) {
    return Fail();
  }
  if (text_[at_] == closing) {
    ++at_;
    is_first_ = false;  // the container is an element of the one around it
    return false;
  }
  if (!is_first_) {
    if (text_[at_] != ',') {
      return Fail();
    }
    ++at_;
    SkipSpace();
  }
  is_first_ = false;
  return true;
}

bool JsonCursor::NextMember(std::string_view& key) {
  if (!Next('}')) {
    return false;
  }
  const size_t begin = at_;
  if (at_ >= text_.size() || text_[at_] != '"' || !SkipString()) {
    return Fail();
  }
  key = text_.substr(begin + 1, at_ - begin - 2);
  SkipSpace();
  if (at_ >= text_.size() || text_[at_] != ':') {
    return Fail();
  }
  ++at_;
  SkipSpace();
  return true;
}

bool JsonCursor::NextElement() { return Next(']'); }

// REQUIRES: at a quotation mark.
bool JsonCursor::SkipString() {
  at_ = FindClosingQuote(text_, at_ + 1);
  if (at_ == text_.size()) {
    return Fail();
  }
  ++at_;
  return true;
}

// REQUIRES: at an opening bracket.
bool JsonCursor::SkipContainer() {
  size_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      if (!SkipString()) {
        return false;
      }
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return true;
    }
  }
  return Fail();
}

void JsonCursor::SkipScalar() {
  while (at_ < text_.size() && !EndsScalar(text_[at_])) {
    ++at_;
  }
}

std::string_view JsonCursor::Value() {
  SkipSpace();
  const size_t begin = at_;
  if (failed_ || at_ >= text_.size()) {
    Fail();
    return {};
  }
  is_first_ = false;
  const char c = text_[at_];
  if (c == '"') {
    SkipString();
  } else if (c == '{' || c == '[') {
    SkipContainer();
  } else {
    SkipScalar();
  }
  if (at_ == begin) {
    Fail();
  }
  return failed_ ? std::string_view() : text_.substr(begin, at_ - begin);
}

bool JsonCursor::AtEnd() {
  SkipSpace();
  return at_ >= text_.size();
}

std::vector<std::string_view> ElementsOf(std::string_view array) {
  std::vector<std::string_view> elements;
  JsonCursor cursor(array);
  if (!cursor.EnterArray()) {
    return elements;
  }
  while (cursor.NextElement()) {
    const std::string_view value = cursor.Value();
    if (!cursor.failed()) {
      elements.push_back(value);
    }
  }
  return elements;
}

std::optional<int64_t> LooseIntValue(std::string_view value) {
  if (IsString(value)) {
    return ParseNumber<int64_t>(StringContent(value));
  }
  if (const std::optional<int64_t> exact = ParseNumber<int64_t>(value); exact.has_value()) {
    return exact;
  }
  constexpr double kLimit = 9.2e18;  // fits 64 bits with room for rounding
  const std::optional<double> number = ParseNumber<double>(value);
  if (!number.has_value() || !(std::abs(*number) < kLimit)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*number);
}

}  // namespace borescope::internal
