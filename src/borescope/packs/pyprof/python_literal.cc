#include "borescope/packs/pyprof/python_literal.h"

#include <algorithm>
#include <cstddef>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

using Kind = PythonValue::Kind;

constexpr int kDeepestNesting = 32;
constexpr std::string_view kNumberBytes = "0123456789+-.eEinfa";  // also inf and nan

struct Word {
  std::string_view text;
  Kind kind;
  int64_t number;
};
constexpr Word kWords[] = {
    {"None", Kind::kNone, 0}, {"True", Kind::kBool, 1}, {"False", Kind::kBool, 0}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // False: it is no literal.
  bool Value(PythonValue& value, int depth);
  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
  }
  bool Take(char c) {
    SkipBlanks();
    const bool is_there = at_ < text_.size() && text_[at_] == c;
    at_ += is_there ? 1 : 0;
    return is_there;
  }
  bool Items(PythonValue& value, char close, int depth);
  bool String(PythonValue& value, char quote);
  bool Escape(std::string& text);
  bool TakeWord(PythonValue& value);
  bool Number(PythonValue& value);

  std::string_view text_;
  size_t at_ = 0;
};

bool Parser::Value(PythonValue& value, int depth) {
  if (depth == kDeepestNesting) return false;
  if (Take('{')) {
    value.kind = Kind::kDict;
    return Items(value, '}', depth);
  }
  if (Take('[')) {
    value.kind = Kind::kList;
    return Items(value, ']', depth);
  }
  if (Take('(')) {
    value.kind = Kind::kTuple;
    return Items(value, ')', depth);
  }
  if (Take('\'')) return String(value, '\'');
  if (Take('"')) return String(value, '"');
  return TakeWord(value) || Number(value);
}

// Items with commas between them, and perhaps one behind the last; pairs in a dict.
bool Parser::Items(PythonValue& value, char close, int depth) {
  while (!Take(close)) {
    if (!Value(value.items.emplace_back(), depth + 1)) return false;
    if (value.kind == Kind::kDict && !(Take(':') && Value(value.items.emplace_back(), depth + 1))) {
      return false;
    }
    if (!Take(',')) return Take(close);
  }
  return true;
}

bool Parser::String(PythonValue& value, char quote) {
  value.kind = Kind::kString;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == quote) return true;
    if (c != '\\') {
      value.text += c;
    } else if (!Escape(value.text)) {
      return false;
    }
  }
  return false;
}

// Escapes of characters by number (\x1b) stay as written: no name has them.
bool Parser::Escape(std::string& text) {
  if (at_ == text_.size()) return false;
  const char c = text_[at_++];
  if (c == 'n' || c == 't' || c == 'r') {
    text += c == 'n' ? '\n' : c == 't' ? '\t' : '\r';
  } else if (c == '\\' || c == '\'' || c == '"') {
    text += c;
  } else {
    text.append({'\\', c});
  }
  return true;
}

bool Parser::TakeWord(PythonValue& value) {
  for (const Word& word : kWords) {
    if (text_.substr(at_).starts_with(word.text)) {
      at_ += word.text.size();
      value.kind = word.kind;
      value.number = word.number;
      return true;
    }
  }
  return false;
}

bool Parser::Number(PythonValue& value) {
  const size_t end = std::min(text_.find_first_not_of(kNumberBytes, at_), text_.size());
  const std::string_view written = text_.substr(at_, end - at_);
  at_ = end;
  value.text = written;
  const std::optional<int64_t> whole = ParseNumber<int64_t>(written);
  value.number = whole.value_or(0);
  value.kind = whole.has_value() ? Kind::kInt : Kind::kFloat;
  return !written.empty();
}

}  // namespace

const PythonValue* PythonValue::Find(std::string_view key) const {
  if (kind != Kind::kDict) return nullptr;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind == Kind::kString && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

std::optional<PythonValue> ParsePythonLiteral(std::string_view text) {
  Parser parser(text);
  PythonValue value;
  if (!parser.Value(value, 0) || !parser.AtEnd()) return std::nullopt;
  return value;
}

}  // namespace borescope::internal
