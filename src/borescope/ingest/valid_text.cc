#include "borescope/ingest/valid_text.h"

#include <algorithm>

#include "borescope/base/json_string.h"

namespace borescope {
namespace {

// How many bytes a character takes that begins with this one.
size_t BytesOf(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

}  // namespace

std::string ToValidText(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character =
        text.substr(0, BytesOf(static_cast<unsigned char>(text.front())));
    const bool is_valid = IsValidUtf8(character);
    valid.append(is_valid ? character : std::string_view("\xef\xbf\xbd"));
    text.remove_prefix(is_valid ? character.size() : 1);
  }
  return valid;
}

}  // namespace borescope
