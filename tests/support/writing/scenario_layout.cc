#include "tests/support/writing/scenario_layout.h"

#include <array>

namespace borescope::scenario {
namespace {

constexpr size_t kIndent = 4;

using Pieces = std::array<std::string_view, 4>;  // in the order of LayoutKind

constexpr Pieces kFileBegin = {"\n{\n  ", "{\n", "{", "{\n    "};
constexpr Pieces kFileEnd = {"\n}\n", "\n}\n", "}\n", "\n}"};
constexpr Pieces kListBegin = {"[\n", "[\n", "[", "[\n        "};
constexpr Pieces kListEnd = {"\n  ]", "\n]", "]", "\n    ]"};
constexpr Pieces kBetweenEvents = {",\n", ",\n", ", ", ",\n        "};
constexpr Pieces kEventBegin = {"  {\n    ", "{", "{", "{\n            "};
constexpr Pieces kEventEnd = {"\n  }", "}", "}", "\n        }"};
constexpr Pieces kArgsBegin = {"{\n      ", "{", "{", "{\n                "};
constexpr Pieces kArgsEnd = {"\n    }", "}", "}", "\n            }"};

std::string_view Pick(const Pieces& pieces, LayoutKind kind) {
  return pieces[static_cast<size_t>(kind)];
}

size_t Indent(Depth depth) { return static_cast<size_t>(depth) * kIndent; }

std::string KinetoGap(Depth depth, Gap gap) {
  switch (gap) {
    case Gap::kFirst:
      return "";
    case Gap::kTight:
      return ",";
    case Gap::kSame:
      return ", ";
    case Gap::kWide:
      return ",      ";
    case Gap::kLine:
      break;
  }
  return depth == Depth::kTop ? ",\n  " : ",\n    ";
}

// Calls `on_char(c)` for every character, with `is_text` telling whether it is inside a string.
template <class Fn>
void ForEachChar(std::string_view json, Fn on_char) {
  bool is_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const bool is_quote = c == '"' && (i == 0 || json[i - 1] != '\\');
    on_char(i, c, is_text || is_quote);
    if (is_quote) is_text = !is_text;
  }
}

std::string Squeeze(std::string_view json) {
  std::string out;
  ForEachChar(json, [&](size_t, char c, bool is_text) {
    if (is_text || c != ' ') out += c;
  });
  return out;
}

// What json.dump(..., indent=4) makes of it.
std::string Expand(std::string_view json, size_t indent) {
  std::string out;
  const auto new_line = [&] { out += '\n' + std::string(indent, ' '); };
  ForEachChar(json, [&](size_t i, char c, bool is_text) {
    const char next = i + 1 < json.size() ? json[i + 1] : ' ';
    const char last = i > 0 ? json[i - 1] : ' ';
    const bool opens = !is_text && (c == '[' || c == '{');
    const bool closes = !is_text && (c == ']' || c == '}');
    if (closes && last != '[' && last != '{') {
      indent -= kIndent;
      new_line();
    }
    if (is_text || c != ' ' || last != ',') out += c;
    if (opens && next != ']' && next != '}') {
      indent += kIndent;
      new_line();
    }
    if (!is_text && c == ',') new_line();
  });
  return out;
}

}  // namespace

std::string TextLayout::Key(Depth depth, Gap gap, std::string_view key) const {
  const std::string quoted = '"' + std::string(key) + '"';
  const bool is_first = gap == Gap::kFirst;
  switch (kind_) {
    case LayoutKind::kKineto:
      return KinetoGap(depth, gap) + quoted + ": ";
    case LayoutKind::kCompact:
      return (is_first ? "" : depth == Depth::kTop ? ",\n" : ",") + quoted + ":";
    case LayoutKind::kOneLine:
      return (is_first ? "" : ", ") + quoted + ": ";
    case LayoutKind::kIndent4:
      break;
  }
  return (is_first ? "" : ",\n" + std::string(Indent(depth), ' ')) + quoted + ": ";
}

std::string TextLayout::Value(std::string_view json, Depth depth) const {
  if (kind_ == LayoutKind::kCompact) return Squeeze(json);
  if (kind_ == LayoutKind::kIndent4) return Expand(json, Indent(depth));
  return std::string(json);
}

std::string_view TextLayout::file_begin() const { return Pick(kFileBegin, kind_); }
std::string_view TextLayout::file_end() const { return Pick(kFileEnd, kind_); }
std::string_view TextLayout::list_begin() const { return Pick(kListBegin, kind_); }
std::string_view TextLayout::list_end() const { return Pick(kListEnd, kind_); }
std::string_view TextLayout::between_events() const { return Pick(kBetweenEvents, kind_); }
std::string_view TextLayout::event_begin() const { return Pick(kEventBegin, kind_); }
std::string_view TextLayout::event_end() const { return Pick(kEventEnd, kind_); }
std::string_view TextLayout::args_begin() const { return Pick(kArgsBegin, kind_); }
std::string_view TextLayout::args_end() const { return Pick(kArgsEnd, kind_); }

}  // namespace borescope::scenario
