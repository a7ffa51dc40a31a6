#include "borescope/scrub/json/value_stream.h"

#include <string>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr size_t kLongest = size_t{256} << 20;

bool EndsScalar(char c) {
  return IsSpace(c) || std::string_view(",]}:\"[{").find(c) != std::string_view::npos;
}

}  // namespace

bool ValueStream::HasByte(size_t at) {
  while (at >= reader_.window().size()) {
    if (at >= kLongest || !reader_.Fill()) {
      return false;
    }
  }
  return true;
}

std::optional<std::string_view> ValueStream::Next() {
  size_ = 0;
  reader_.SkipSpace();
  std::string open;  // the closing brackets expected
  bool in_string = false;
  size_t at = 0;
  for (; HasByte(at); ++at) {
    const char c = reader_.window()[at];
    if (in_string) {
      at += c == '\\' ? 1 : 0;
      in_string = c != '"';
      if (!in_string && open.empty()) {
        size_ = at + 1;
        return reader_.window().substr(0, size_);
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) {
        return std::nullopt;
      }
      open.pop_back();
      if (open.empty()) {
        size_ = at + 1;
        return reader_.window().substr(0, size_);
      }
    } else if (open.empty()) {
      while (HasByte(at) && !EndsScalar(reader_.window()[at])) {
        ++at;
      }
      size_ = at;
      return at == 0 ? std::nullopt : std::optional(reader_.window().substr(0, at));
    }
  }
  size_ = reader_.window().size();
  return at >= kLongest ? std::nullopt : std::optional(std::string_view());
}

}  // namespace borescope::internal
