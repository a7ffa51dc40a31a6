// Of SQL, a statement a line: lines are exchanged, repeated and left out, values get other types
// and numbers, and tables and columns the names of others: databases with other rows and schemas.

#include <algorithm>
#include <cctype>
#include <vector>

#include "mutator.h"

namespace fuzz {
namespace {

constexpr std::string_view kValues[] = {"NULL",
                                        "0",
                                        "-1",
                                        "1",
                                        "1e308",
                                        "-1e999",
                                        "0.5",
                                        "4294967296",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "''",
                                        "'a'",
                                        "'7'",
                                        "x'00ff'",
                                        "'\xff'",
                                        "char(0)",
                                        "zeroblob(9)"};

struct Range {
  size_t begin;
  size_t end;
};

bool IsWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Words, numbers and texts in quotation marks.
std::vector<Range> Tokens(std::string_view text) {
  std::vector<Range> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text[at] == '\'') {
      end = std::min(text.find('\'', at + 1), text.size() - 1) + 1;
    } else if (IsWordByte(text[at])) {
      while (end < text.size() && IsWordByte(text[end])) {
        ++end;
      }
    } else {
      at = end;
      continue;
    }
    tokens.push_back({at, end});
    at = end;
  }
  return tokens;
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

// A value or a name becomes another.
void ChangeToken(std::string& line, const std::string& other, Random& random) {
  const std::vector<Range> tokens = Tokens(line);
  const std::vector<Range> others = Tokens(other);
  if (tokens.empty() || others.empty()) {
    return;
  }
  const Range token = random.Pick(tokens);
  const Range by = random.Pick(others);
  const bool is_name = std::isalpha(static_cast<unsigned char>(line[token.begin])) != 0;
  const std::string text = is_name || random.Below(3) == 0
                               ? other.substr(by.begin, by.end - by.begin)
                               : std::string(random.Pick(kValues));
  line.replace(token.begin, token.end - token.begin, text);
}

void ChangeLines(std::vector<std::string>& lines, Random& random) {
  const size_t at = random.Below(lines.size());
  const size_t other = random.Below(lines.size());
  switch (random.Below(6)) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(other), std::string(lines[at]));
      break;
    case 2:
      std::swap(lines[at], lines[other]);
      break;
    default:
      ChangeToken(lines[at], lines[other], random);
      break;
  }
}

}  // namespace

std::string MutateSql(std::string_view input, Random& random) {
  std::vector<std::string> lines = Lines(input);
  for (size_t changes = 1 + random.Below(4); changes > 0 && !lines.empty(); --changes) {
    ChangeLines(lines, random);
  }
  return Joined(lines);
}

}  // namespace fuzz
