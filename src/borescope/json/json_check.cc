#include "borescope/json/json_check.h"

#include <algorithm>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr size_t kDeepest = 1000;

bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Neither the end of a string nor anything special in it.
bool IsPlain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

}  // namespace

bool JsonCheck::Take(std::string_view piece) {
  size_t at = SkipUsual(piece, 0);
  while (at < piece.size() && state_ != State::kBad) {
    state_ = Next(piece[at]);
    at = SkipUsual(piece, at + 1);
  }
  return state_ != State::kBad;
}

// Skips characters that do not change the state, which is most of the text.
size_t JsonCheck::SkipUsual(std::string_view piece, size_t at) const {
  const auto skip = [&](auto is_usual) {
    while (at < piece.size() && is_usual(piece[at])) {
      ++at;
    }
  };
  switch (state_) {
    case State::kString:
      skip([](char c) { return IsPlain(c); });
      break;
    case State::kInteger:
    case State::kFraction:
      skip([](char c) { return IsDigit(c); });
      break;
    case State::kAfterValue:
    case State::kKey:
    case State::kValue:
      skip([](char c) { return IsSpace(c); });
      break;
    default:
      break;
  }
  return at;
}

bool JsonCheck::Finish() { return Take(" ") && state_ == State::kAfterValue && open_.empty(); }

JsonCheck::State JsonCheck::Next(char c) {
  switch (state_) {
    case State::kString:
    case State::kEscape:
    case State::kHex:
      return InString(c);
    case State::kLiteral:
      if (c != literal_.front()) return State::kBad;
      return BeginLiteral(literal_.substr(1));
    case State::kMinus:
    case State::kZero:
    case State::kInteger:
    case State::kPoint:
    case State::kFraction:
    case State::kExponent:
    case State::kExponentSign:
    case State::kExponentDigits:
      return InNumber(c);
    default:
      break;
  }
  if (IsSpace(c)) return state_;
  switch (state_) {
    case State::kFirstValue:
      return c == ']' ? Close('[') : BeginValue(c);
    case State::kValue:
      return BeginValue(c);
    case State::kFirstKey:
      if (c == '}') return Close('{');
      [[fallthrough]];
    case State::kKey:
      is_key_ = true;
      return c == '"' ? State::kString : State::kBad;
    case State::kColon:
      return c == ':' ? State::kValue : State::kBad;
    default:
      return AfterValue(c);
  }
}

JsonCheck::State JsonCheck::BeginValue(char c) {
  deepest_ = std::max(deepest_, open_.size());
  if (c == '{' || c == '[') {
    open_.push_back(c);
    if (open_.size() > kDeepest) return State::kBad;
    return c == '{' ? State::kFirstKey : State::kFirstValue;
  }
  if (c == '"') {
    is_key_ = false;
    return State::kString;
  }
  if (c == '-') return State::kMinus;
  if (IsDigit(c)) return c == '0' ? State::kZero : State::kInteger;
  if (c == 't') return BeginLiteral("rue");
  if (c == 'f') return BeginLiteral("alse");
  if (c == 'n') return BeginLiteral("ull");
  return State::kBad;
}

JsonCheck::State JsonCheck::BeginLiteral(std::string_view rest) {
  literal_ = rest;
  return rest.empty() ? State::kAfterValue : State::kLiteral;
}

JsonCheck::State JsonCheck::InString(char c) {
  if (state_ == State::kHex) {
    if (!IsHex(c)) return State::kBad;
    return --hex_left_ == 0 ? State::kString : State::kHex;
  }
  if (state_ == State::kEscape) {
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    hex_left_ = 4;
    if (c == 'u') return State::kHex;
    return kEscapes.find(c) == std::string_view::npos ? State::kBad : State::kString;
  }
  if (c == '\\') return State::kEscape;
  if (c != '"') return State::kBad;  // a control character
  return is_key_ ? State::kColon : State::kAfterValue;
}

JsonCheck::State JsonCheck::InNumber(char c) {
  const State before = state_;
  const bool has_integer = before == State::kZero || before == State::kInteger;
  const bool may_end =
      has_integer || before == State::kFraction || before == State::kExponentDigits;
  if (IsDigit(c)) {
    switch (before) {
      case State::kZero:
        return State::kBad;
      case State::kMinus:
        return c == '0' ? State::kZero : State::kInteger;
      case State::kInteger:
        return State::kInteger;
      case State::kPoint:
      case State::kFraction:
        return State::kFraction;
      default:
        return State::kExponentDigits;
    }
  }
  if (c == '.') return has_integer ? State::kPoint : State::kBad;
  if (c == 'e' || c == 'E') {
    return has_integer || before == State::kFraction ? State::kExponent : State::kBad;
  }
  if ((c == '+' || c == '-') && before == State::kExponent) return State::kExponentSign;
  return may_end ? AfterValue(c) : State::kBad;
}

JsonCheck::State JsonCheck::AfterValue(char c) {
  if (IsSpace(c)) return State::kAfterValue;
  if (c == ',' && !open_.empty()) {
    return open_.back() == '{' ? State::kKey : State::kValue;
  }
  if (c == '}') return Close('{');
  return c == ']' ? Close('[') : State::kBad;
}

JsonCheck::State JsonCheck::Close(char open) {
  if (open_.empty() || open_.back() != open) return State::kBad;
  open_.pop_back();
  return State::kAfterValue;
}

}  // namespace borescope::internal
