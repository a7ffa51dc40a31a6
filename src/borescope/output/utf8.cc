#include "borescope/output/utf8.h"

#include <algorithm>
#include <cstdint>

#include "borescope/base/check.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

struct Range {
  char32_t first;
  char32_t last;
};

// The blocks that matter for names; a full table would follow every Unicode release.
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                           {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
                           {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kZero[] = {
    {0x0300, 0x036F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xE0100, 0xE01EF}};

// Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt without the variation
// selectors, which choose how the character before them looks; separators of lines and paragraphs;
// marks of annotations; and the noncharacters of the first plane.
constexpr Range kUnprintable[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x034F, 0x034F},
    {0x061C, 0x061C},   {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180E, 0x180E},
    {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},
    {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE00FF}, {0xE01F0, 0xE0FFF}};

template <size_t N>
bool IsIn(const Range (&ranges)[N], char32_t value) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](Range range) { return range.first <= value && value <= range.last; });
}

size_t CellsOf(char32_t value) {
  if (value < 0x0300) {
    return 1;
  }
  return IsIn(kWide, value) ? 2 : IsIn(kZero, value) ? 0 : 1;
}

// Bytes of the longest prefix of `text` of at most `width` cells.
size_t PrefixBytes(std::string_view text, size_t width) {
  size_t bytes = 0;
  size_t cells = 0;
  while (bytes < text.size()) {
    const CodePoint point = DecodeUtf8(text.substr(bytes));
    cells += CellsOf(point.value);
    if (cells > width) {
      break;
    }
    bytes += point.bytes;
  }
  return bytes;
}

// Bytes of the longest suffix of at most `width` cells.
size_t SuffixBytes(std::string_view text, size_t width) {
  size_t surplus = DisplayWidth(text);
  size_t begin = 0;
  while (surplus > width) {
    const CodePoint point = DecodeUtf8(text.substr(begin));
    surplus -= CellsOf(point.value);
    begin += point.bytes;
  }
  return text.size() - begin;
}

// What build servers obey in the output of a step, in capitals or not: GitHub where a line begins
// with it, white space left out (docs.github.com, "Workflow commands"; ActionCommand of
// github.com/actions/runner), Azure Pipelines and TeamCity anywhere.
constexpr std::string_view kLineCommands[] = {
    "add-mask",   "add-matcher", "add-path",   "debug",         "echo",
    "endgroup",   "error",       "group",      "notice",        "remove-matcher",
    "save-state", "set-env",     "set-output", "stop-commands", "warning"};
constexpr std::string_view kCommands[] = {"##vso[", "##[", "##teamcity["};

// What .NET's Trim, with which GitHub begins, takes for white space (Char.IsWhiteSpace).
constexpr Range kBlank[] = {{0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                            {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                            {0x205F, 0x205F}, {0x3000, 0x3000}};

// Whether `text` begins with a word of lower case, in capitals or not.
bool BeginsWithWord(std::string_view text, std::string_view word) {
  return LowerCase(text.substr(0, word.size())) == word;
}

// A line may begin after any blank.
bool StartsCommand(std::string_view text, bool may_begin_line) {
  return text.front() == ':' ? may_begin_line && IsLineCommand(text) : IsCommandAnywhere(text);
}

}  // namespace

bool IsCommandAnywhere(std::string_view text) {
  return text.starts_with("##") &&
         std::any_of(std::begin(kCommands), std::end(kCommands),
                     [&](std::string_view command) { return BeginsWithWord(text, command); });
}

bool IsLineCommand(std::string_view text) {
  return text.starts_with("::") &&
         std::any_of(
             std::begin(kLineCommands), std::end(kLineCommands), [&](std::string_view word) {
               const std::string_view rest = text.substr(2);
               return BeginsWithWord(rest, word) && (rest.substr(word.size()).starts_with("::") ||
                                                     rest.substr(word.size()).starts_with(' '));
             });
}

// Names that differ in such characters only would look the same, or like another. Terminals, text
// and SVG share this list; units.ts of the page has it once more.
bool IsUnprintable(char32_t value) {
  if (value >= 0x20 && value < 0x7F) {
    return false;  // most of all text
  }
  return IsIn(kUnprintable, value) || (value & 0xFFFE) == 0xFFFE;  // the last two of every plane
}

std::string ToPrintable(std::string_view text) {
  std::string printable;
  printable.reserve(text.size());
  bool may_begin_line = true;
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    if (point.value == '\t' || point.value == '\n' || point.value == '\r') {
      printable += ' ';
    } else {
      const bool is_harmless =
          point.valid && !IsUnprintable(point.value) && !StartsCommand(text, may_begin_line);
      printable += is_harmless ? text.substr(0, point.bytes) : kReplacementUtf8;
    }
    may_begin_line = point.value >= 0x80 || point.value <= ' ' ? IsIn(kBlank, point.value) : false;
    text.remove_prefix(point.bytes);
  }
  return printable;
}

std::string ToPrintableLines(std::string_view lines) {
  std::string shown;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    shown += ToPrintable(lines.substr(0, end));
    shown += lines.substr(end, 1);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return shown;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    width += CellsOf(point.value);
    text.remove_prefix(point.bytes);
  }
  return width;
}

double CellsOfGlyph(char32_t glyph) { return static_cast<double>(CellsOf(glyph)); }

namespace {

// Whether a word of prose or of a name may end before byte `at`: not within "::" or letters.
bool EndsWord(std::string_view text, size_t at) {
  if (text.substr(0, at).ends_with(kEllipsis)) {
    return true;
  }
  constexpr std::string_view kSeparators = " _:,;<>()[]{}/|=&";
  const char before = text[at - 1];
  return kSeparators.find(before) != std::string_view::npos && (before != ':' || text[at] != ':');
}

// `bytes` of the text, or as few less as leave no word cut: half of them at least.
size_t BeforeWord(std::string_view text, size_t bytes) {
  for (size_t at = bytes; at < text.size() && at > 0 && 2 * at >= bytes; --at) {
    if (EndsWord(text, at)) {
      return at;
    }
  }
  return bytes;
}

// The same for where the rest of the text begins.
size_t AfterWord(std::string_view text, size_t begin) {
  const size_t last = begin + (text.size() - begin) / 2;
  for (size_t at = begin; at < text.size() && at > 0 && at <= last; ++at) {
    if (EndsWord(text, at)) {
      return at;
    }
  }
  return begin;
}

// `bytes` of the text without their last character, or one byte more where that is all of them.
size_t BeforeLastCharacter(std::string_view text, size_t bytes) {
  size_t at = bytes - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
    --at;
  }
  return at > 0 ? at : bytes + 1;
}

}  // namespace

std::string ShortenMiddle(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) {
    return std::string(text);
  }
  if (width == 0) {
    return {};
  }
  const size_t tail = (width - 1) / 2;
  const size_t begin = BeforeWord(text, PrefixBytes(text, width - 1 - tail));
  const size_t end = AfterWord(text, text.size() - SuffixBytes(text, tail));
  std::string shorter(text.substr(0, begin));
  shorter += kEllipsis;
  shorter += text.substr(end);
  return shorter;
}

namespace {

// Where the parameter list at the end of a signature begins, or npos. "Memcpy HtoD (Pinned ->
// Device)" has none: a list follows its function without a blank.
size_t FindParameters(std::string_view name) {
  if (!name.ends_with(')')) {
    return std::string_view::npos;
  }
  size_t depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') {
      ++depth;
    } else if (name[i] == '(' && --depth == 0) {
      return i > 0 && name[i - 1] != ' ' ? i : std::string_view::npos;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view BareName(std::string_view name) {
  constexpr std::string_view kVoid = "void ";
  const size_t parameters = FindParameters(name);
  if (parameters == std::string_view::npos) {
    return name;
  }
  name = name.substr(0, parameters);
  return name.starts_with(kVoid) ? name.substr(kVoid.size()) : name;
}

std::vector<std::string> WrapText(std::string_view text, size_t width, size_t hang) {
  BS_DCHECK(width > hang);
  std::vector<std::string> lines(1);
  const auto room = [&] { return lines.size() == 1 ? width : width - hang; };
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    std::string_view word = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (!lines.back().empty() && DisplayWidth(lines.back()) + 1 + DisplayWidth(word) > room()) {
      lines.emplace_back();
    }
    // Looks at a line of the word at a time: it may be megabytes long.
    for (size_t fits = PrefixBytes(word, room()); fits < word.size();
         fits = PrefixBytes(word, room())) {
      size_t bytes = std::max(BeforeWord(word, fits), DecodeUtf8(word).bytes);
      if (IsLineCommand(word.substr(bytes))) {
        bytes = BeforeLastCharacter(word, bytes);  // no line begins with one
      }
      lines.back() = word.substr(0, bytes);
      word.remove_prefix(bytes);
      if (!word.empty()) {
        lines.emplace_back();
      }
    }
    lines.back() += lines.back().empty() || word.empty() ? "" : " ";
    lines.back() += word;
  }
  return lines;
}

}  // namespace borescope::internal
