#include "borescope/cli/launch/shell_words.h"

#include <algorithm>

namespace borescope::cli {
namespace {

// What no shell treats specially, wherever in a word it is.
bool IsPlain(char c) {
  constexpr std::string_view kPlain = "%+,-./:@_=";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

}  // namespace

std::string SingleQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    // The quotes end, an escaped quote follows, and quotes begin again.
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

std::string ShellWord(std::string_view text) {
  // Other words with "=" can be an assignment, or be looked up as a command.
  const bool may_assign = text.find('=') != std::string_view::npos && !text.starts_with('-');
  const bool is_plain =
      !text.empty() && !may_assign && std::all_of(text.begin(), text.end(), IsPlain);
  return is_plain ? std::string(text) : SingleQuoted(text);
}

}  // namespace borescope::cli
