#include "borescope/check/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

// Reads the string that begins at `at`, with its quotation mark, and moves `at` after it. Errors
// have only the cause. REQUIRES: text[at] is " or '.
Result<std::string> ReadTomlText(std::string_view text, size_t& at);

namespace {

std::optional<uint32_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint32_t>(c - 'A' + 10);
  return std::nullopt;
}

// Reads the four or eight digits of \u and \U from `at` on.
bool ReadCode(std::string_view text, size_t digits, size_t& at, std::string& out) {
  uint32_t code = 0;
  for (size_t i = 0; i < digits; ++i, ++at) {
    const std::optional<uint32_t> digit = at < text.size() ? HexDigit(text[at]) : std::nullopt;
    if (!digit.has_value()) {
      return false;
    }
    code = code << 4 | *digit;
  }
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
    return false;
  }
  AppendUtf8(out, static_cast<char32_t>(code));
  return true;
}

// At a line end in a multi-line string: skips all white space up to the next character.
bool SkipLineEnd(std::string_view text, size_t& at) {
  const size_t next = text.find_first_not_of(" \t\r\n", at);
  const size_t end = next == std::string_view::npos ? text.size() : next;
  if (text.substr(at, end - at).find('\n') == std::string_view::npos) {
    return false;
  }
  at = end;
  return true;
}

// Reads the escape after a backslash.
bool ReadEscape(std::string_view text, bool is_long, size_t& at, std::string& out) {
  constexpr std::string_view kLetters = "btnfr\"\\";
  constexpr std::string_view kMeant = "\b\t\n\f\r\"\\";
  if (at >= text.size()) {
    return false;
  }
  if (const size_t found = kLetters.find(text[at]); found != std::string_view::npos) {
    out += kMeant[found];
    ++at;
    return true;
  }
  if (text[at] == 'u' || text[at] == 'U') {
    const size_t digits = text[at] == 'u' ? 4 : 8;
    return ReadCode(text, digits, ++at, out);
  }
  return is_long && SkipLineEnd(text, at);
}

// Whether a character may occur in a string: a line end only in multi-line strings, other control
// characters never.
bool MayStand(char c, bool is_long) {
  const bool is_control = (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  return !is_control || (is_long && (c == '\n' || c == '\r'));
}

}  // namespace

Result<std::string> ReadTomlText(std::string_view text, size_t& at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool is_long = text.substr(at, 3) == three;
  const std::string_view end = is_long ? std::string_view(three) : text.substr(at, 1);
  at += end.size();
  if (is_long && text.substr(at, 1) == "\n") {
    ++at;
  } else if (is_long && text.substr(at, 2) == "\r\n") {
    at += 2;
  }
  std::string out;
  while (at < text.size() && text.substr(at, end.size()) != end) {
    if (!MayStand(text[at], is_long)) {
      return UsageError("a string does not end on its line, or contains a control character");
    }
    if (text[at] == '\\' && quote == '"') {
      if (!ReadEscape(text, is_long, ++at, out)) {
        return UsageError("a backslash in a string does not begin an escape",
                          "'...' takes it as it is");
      }
    } else {
      out += text[at++];
    }
  }
  if (at >= text.size()) {
    return UsageError("a text does not end");
  }
  at += end.size();
  return out;
}

namespace {

using Path = std::vector<std::string>;

bool IsBare(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

// Digits without the single underscores between them; nullopt for other text.
std::optional<std::string> WithoutUnderscores(std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between =
        i > 0 && i + 1 < text.size() && IsDigit(text[i - 1]) && IsDigit(text[i + 1]);
    if (text[i] == '_' && !between) {
      return std::nullopt;
    }
    if (text[i] != '_') {
      digits += text[i];
    }
  }
  return digits;
}

// Whether it is a decimal number of TOML: no leading zero, digits on both sides of a point.
bool IsNumberText(std::string_view text) {
  text.remove_prefix(text.starts_with('-') ? 1 : 0);
  const size_t point = text.find('.');
  const bool leads_with_zero = text.size() > 1 && text[0] == '0' && IsDigit(text[1]);
  const bool has_bare_point = point != std::string_view::npos &&
                              (point == 0 || point + 1 == text.size() || !IsDigit(text[point + 1]));
  return !text.empty() && IsDigit(text[0]) && !leads_with_zero && !has_bare_point;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<TomlTable> Parse() {
    TomlValue root{TomlTable(), 1};
    TomlTable* current = std::get_if<TomlTable>(&root.value);
    for (SkipBlank(); at_ < text_.size(); SkipBlank()) {
      if (Peek() == '[') {
        BS_ASSIGN(current, ReadHeader(std::get<TomlTable>(root.value)));
      } else {
        BS_TRY(ReadMember(*current, 0));
      }
      BS_TRY(EndLine());
    }
    return std::move(std::get<TomlTable>(root.value));
  }

 private:
  Error Fail(std::string cause, std::string remedy = {}) {
    return {.code = ErrorCode::kInvalidArgument,
            .cause = std::move(cause),
            .remedy = std::move(remedy),
            .line = Line()};
  }

  // The line of at_, counted from the last call on.
  uint32_t Line() {
    line_ +=
        static_cast<uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
    counted_ = at_;
    return line_;
  }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t') {
      ++at_;
    }
  }

  void SkipComment() {
    if (Peek() == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  // Skips blank lines and comments.
  void SkipBlank() {
    for (;;) {
      const size_t before = at_;
      SkipSpace();
      SkipComment();
      while (Peek() == '\n' || Peek() == '\r') {
        ++at_;
      }
      if (at_ == before) {
        return;
      }
    }
  }

  Result<void> EndLine() {
    SkipSpace();
    SkipComment();
    if (at_ < text_.size() && Peek() != '\n' && Peek() != '\r') {
      return Fail("there is text after a value or a heading on the same line");
    }
    return {};
  }

  Result<std::string> ReadQuoted() {
    size_t at = at_;
    Result<std::string> text = ReadTomlText(text_, at);
    if (!text.ok()) {
      return Fail(text.error().cause, text.error().remedy);
    }
    at_ = at;
    return text;
  }

  // "a.b.'c d'"
  Result<Path> ReadPath() {
    Path path;
    for (;;) {
      SkipSpace();
      if (Peek() == '"' || Peek() == '\'') {
        BS_ASSIGN(std::string key, ReadQuoted());
        path.push_back(std::move(key));
      } else {
        const size_t begin = at_;
        while (IsBare(Peek())) {
          ++at_;
        }
        if (at_ == begin) {
          return Fail("a key is expected: letters, digits, _ and -, or a text in quotation marks");
        }
        path.emplace_back(text_.substr(begin, at_ - begin));
      }
      SkipSpace();
      if (Peek() != '.') {
        return path;
      }
      ++at_;
      if (path.size() >= kDeepestToml) {
        return Fail("keys have too many parts");
      }
    }
  }

  // Adds a member; an error if the table has the key already.
  Result<TomlValue*> Add(TomlTable& table, const std::string& key, TomlValue value) {
    if (FindKey(table, key) != nullptr) {
      return Fail(fmt::format("'{}' is there twice", key));
    }
    if (table.size() >= kMostTomlKeys) {
      return Fail("a table has too many keys");
    }
    table.push_back({key, std::move(value)});
    return &table.back().value;
  }

  // The table of a key, made if it is missing; the last one of an array of tables.
  Result<TomlTable*> Enter(TomlTable& table, const std::string& key) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const auto& member) { return member.key == key; });
    TomlValue* value = found == table.end() ? nullptr : &found->value;
    if (value == nullptr) {
      BS_ASSIGN(value, Add(table, key, {TomlTable(), Line()}));
    }
    if (auto* const list = std::get_if<TomlArray>(&value->value);
        list != nullptr && !value->is_closed) {
      value = &list->back();
    }
    auto* const inner = std::get_if<TomlTable>(&value->value);
    if (inner == nullptr || value->is_closed) {
      return Fail(fmt::format("'{}' is not a table that can be added to", key));
    }
    return inner;
  }

  Result<TomlTable*> EnterAll(TomlTable& root, const Path& path) {
    TomlTable* table = &root;
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      BS_ASSIGN(table, Enter(*table, path[i]));
    }
    return table;
  }

  // [a.b] or [[a.b]]: the table that the following lines belong to.
  Result<TomlTable*> ReadHeader(TomlTable& root) {
    const uint32_t line = Line();
    const bool is_list = text_.substr(at_, 2) == "[[";
    at_ += is_list ? 2 : 1;
    BS_ASSIGN(const Path path, ReadPath());
    const std::string_view end = is_list ? "]]" : "]";
    if (text_.substr(at_, end.size()) != end) {
      return Fail(fmt::format("a heading ends with {}", end));
    }
    at_ += end.size();
    BS_ASSIGN(TomlTable* const outer, EnterAll(root, path));
    return is_list ? AddToList(*outer, path.back(), line) : AddTable(*outer, path.back(), line);
  }

  Result<TomlTable*> AddTable(TomlTable& outer, const std::string& key, uint32_t line) {
    BS_ASSIGN(TomlValue* const made, Add(outer, key, {TomlTable(), line}));
    return std::get_if<TomlTable>(&made->value);
  }

  Result<TomlTable*> AddToList(TomlTable& outer, const std::string& key, uint32_t line) {
    const auto found = std::find_if(outer.begin(), outer.end(),
                                    [&](const auto& member) { return member.key == key; });
    TomlValue* value = found == outer.end() ? nullptr : &found->value;
    if (value == nullptr) {
      BS_ASSIGN(value, Add(outer, key, {TomlArray(), line}));
    }
    auto* const list = std::get_if<TomlArray>(&value->value);
    if (list == nullptr || value->is_closed) {
      return Fail(fmt::format("'{}' is something else than a list of [[{}]]", key, key));
    }
    if (list->size() >= kMostTomlKeys) {
      return Fail(fmt::format("there are more than {} of [[{}]]", kMostTomlKeys, key));
    }
    list->push_back({TomlTable(), line});
    return std::get_if<TomlTable>(&list->back().value);
  }

  // key = value
  Result<void> ReadMember(TomlTable& table, int depth) {
    BS_ASSIGN(const Path path, ReadPath());
    if (Peek() != '=') {
      return Fail("a key is followed by = and a value");
    }
    ++at_;
    SkipSpace();
    BS_ASSIGN(TomlTable* const owner, EnterAll(table, path));
    BS_ASSIGN(TomlValue value, ReadValue(depth));
    BS_TRY(Add(*owner, path.back(), std::move(value)));
    return {};
  }

  Result<TomlValue> ReadValue(int depth) {
    const uint32_t line = Line();
    if (depth > kDeepestToml) {
      return Fail("lists and tables are nested too deep");
    }
    if (Peek() == '"' || Peek() == '\'') {
      BS_ASSIGN(std::string text, ReadQuoted());
      return TomlValue{std::move(text), line};
    }
    if (Peek() == '[') {
      BS_ASSIGN(TomlArray list, ReadList(depth));
      return TomlValue{std::move(list), line, true};
    }
    if (Peek() == '{') {
      BS_ASSIGN(TomlTable table, ReadInline(depth));
      return TomlValue{std::move(table), line, true};
    }
    return ReadScalar(line);
  }

  Result<TomlArray> ReadList(int depth) {
    TomlArray list;
    ++at_;
    for (SkipBlank(); Peek() != ']'; SkipBlank()) {
      BS_ASSIGN(TomlValue value, ReadValue(depth + 1));
      list.push_back(std::move(value));
      SkipBlank();
      if (Peek() == ',') {
        ++at_;
      } else if (Peek() != ']') {
        return Fail("values of a list have commas between them, and ] after the last");
      }
      if (list.size() > kMostTomlKeys) {
        return Fail("a list has too many values");
      }
    }
    ++at_;
    return list;
  }

  Result<TomlTable> ReadInline(int depth) {
    TomlTable table;
    ++at_;
    SkipSpace();
    while (Peek() != '}') {
      BS_TRY(ReadMember(table, depth + 1));
      SkipSpace();
      if (Peek() == ',') {
        ++at_;
        SkipSpace();
        if (Peek() == '}') {
          return Fail("a table must not have a comma before its }");
        }
      } else if (Peek() != '}') {
        return Fail("a table in braces is on one line, with commas between its members");
      }
    }
    ++at_;
    return table;
  }

  Result<TomlValue> ReadScalar(uint32_t line) {
    const size_t begin = at_;
    while (IsBare(Peek()) || Peek() == '+' || Peek() == '.' || Peek() == ':') {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "true" || word == "false") {
      return TomlValue{word == "true", line};
    }
    const std::optional<std::string> digits =
        WithoutUnderscores(word.starts_with('+') ? word.substr(1) : word);
    if (digits.has_value() && IsNumberText(*digits)) {
      if (const std::optional<int64_t> whole = ParseNumber<int64_t>(*digits)) {
        return TomlValue{*whole, line};
      }
      const std::optional<double> number = ParseNumber<double>(*digits);
      if (number.has_value() && std::isfinite(*number)) {
        return TomlValue{*number, line};
      }
    }
    return Fail(
        "a value is expected: a text in quotation marks, a decimal number, true, false, a list or "
        "a table; dates and other numbers are not supported");
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t counted_ = 0;  // where line_ is
  uint32_t line_ = 1;
};

}  // namespace

const TomlValue* FindKey(const TomlTable& table, std::string_view key) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& member) { return member.key == key; });
  return found == table.end() ? nullptr : &found->value;
}

Result<TomlTable> ParseToml(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  text.remove_prefix(text.starts_with(kMark) ? kMark.size() : 0);
  if (!IsValidUtf8(text)) {
    return Error{
        .code = ErrorCode::kInvalidArgument, .cause = "the file is no text in UTF-8", .line = 1};
  }
  return Parser(text).Parse();
}

}  // namespace borescope::internal
