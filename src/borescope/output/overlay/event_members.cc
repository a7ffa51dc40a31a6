#include "borescope/output/overlay/event_members.h"

#include <algorithm>

#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kSpace = " \n\t\r";

size_t SkipSpace(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

// Behind the string whose opening quotation mark stands at `at`.
size_t SkipString(std::string_view text, size_t at) {
  return std::min(FindClosingQuote(text, at + 1) + 1, text.size());
}

// Behind the value that starts at `at`: before the comma or bracket that follows. Whatever stands
// before those is taken for the value: an event that was repaired when it was read may have a text
// with quotation marks in the middle, which ends the walk of a JsonCursor.
size_t SkipValue(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = SkipString(text, at);
      continue;
    }
    const bool closes = c == '}' || c == ']';
    if (depth == 0 && (closes || c == ',')) {
      return at;
    }
    depth += c == '{' || c == '[' ? 1 : 0;
    depth -= closes ? 1 : 0;
    ++at;
  }
  return at;
}

// Adds a member behind the others. REQUIRES: as FindMember.
std::string WithMember(std::string_view object, std::string_view member) {
  const size_t end = object.find_last_not_of(kSpace, object.size() - 2) + 1;
  std::string result(object.substr(0, end));
  result.append(end == 1 ? "" : ", ").append(member).append(object.substr(end));
  return result;
}

}  // namespace

std::optional<std::string_view> FindMember(std::string_view object, std::string_view key) {
  std::optional<std::string_view> found;
  size_t at = SkipSpace(object, 1);
  while (at < object.size() && object[at] == '"') {
    const size_t key_end = SkipString(object, at);
    const std::string_view name = object.substr(at + 1, key_end - at - 2);
    at = SkipSpace(object, key_end);
    if (at == object.size() || object[at] != ':') {
      break;
    }
    const size_t begin = SkipSpace(object, at + 1);
    const size_t end = SkipValue(object, begin);
    if (name == key) {
      const std::string_view value = object.substr(begin, end - begin);
      found = value.substr(0, value.find_last_not_of(kSpace) + 1);
    }
    at = SkipSpace(object, std::min(end + 1, object.size()));
  }
  return found;
}

std::string MarkedCritical(std::string_view event) {
  const std::optional<std::string_view> args = FindMember(event, "args");
  if (!args.has_value()) {
    return WithMember(event, R"("args": {"critical": 1})");
  }
  if (args->size() < 2 || args->front() != '{' || args->back() != '}') {
    return WithMember(event, R"("critical": 1)");
  }
  const auto begin = static_cast<size_t>(args->data() - event.data());
  std::string result(event.substr(0, begin));
  result.append(WithMember(*args, R"("critical": 1)")).append(event.substr(begin + args->size()));
  return result;
}

}  // namespace borescope::internal
