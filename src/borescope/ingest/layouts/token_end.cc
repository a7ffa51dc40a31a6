#include "borescope/ingest/layouts/token_end.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr int kDeepest = 64;  // one bit for the kind of each open bracket

bool IsOfScalar(char c) {
  return c > ' ' && c < 0x7f && std::string_view(R"("\,:[]{})").find(c) == std::string_view::npos;
}

// The brackets of a list or object that are open.
class Brackets {
 public:
  // False for a bracket that closes another kind, for one too many, and for what is neither a
  // bracket nor white space.
  bool Take(char c) {
    if (c == '[' || c == '{') {
      braces_ = braces_ << 1 | (c == '{' ? 1 : 0);
      return ++depth_ <= kDeepest;
    }
    if (c == ']' || c == '}') {
      const bool is_right = (braces_ & 1) == (c == '}' ? 1U : 0U);
      braces_ >>= 1;
      --depth_;
      return is_right;
    }
    return IsSpace(c);
  }
  bool all_closed() const { return depth_ == 0; }

 private:
  uint64_t braces_ = 0;
  int depth_ = 0;
};

// After the string that starts at `quote` in a list or object. Null as well if no separator follows
// it: the TolerantParser takes such a quotation mark for one of the text.
const char* ElementEnd(const char* quote, const char* end) {
  const char* close = StringEnd(quote + 1, end);
  if (close == nullptr) {
    return nullptr;
  }
  const char* next = close + 1;
  while (IsSpace(*next) && next < end) {
    ++next;
  }
  return *next == ',' || *next == ']' || *next == '}' || *next == ':' ? close + 1 : nullptr;
}

}  // namespace

const char* RareScalarEnd(const char* at, const char* end) {
  while (at < end && IsOfScalar(*at)) {
    ++at;
  }
  return at;
}

const char* RareStringEnd(const char* at, const char* first, const char* end) {
  bool is_ascii = true;
  for (const char* stop = first; stop < end; ++stop) {
    if (*stop == '"') {
      const std::string_view text(at, static_cast<size_t>(stop - at));
      return is_ascii || IsValidUtf8(text) ? stop : nullptr;
    }
    stop += *stop == '\\' ? 1 : 0;
    const auto byte = static_cast<unsigned char>(*stop);
    is_ascii = is_ascii && byte < 0x80;
    if (byte < ' ') {
      return nullptr;
    }
  }
  return nullptr;
}

const char* ContainerEnd(const char* at, const char* end) {
  Brackets open;
  while (at < end) {
    uint32_t others = ByteBlock(at).EndsPlainList();
    const char* next = at + ByteBlock::kBytes;
    for (; others != 0; others &= others - 1) {
      const char* stop = at + std::countr_zero(others);
      if (*stop == '"') {
        next = ElementEnd(stop, end);
        break;
      }
      if (!open.Take(*stop)) {
        return nullptr;
      }
      if (open.all_closed()) {
        return stop < end ? stop + 1 : nullptr;
      }
    }
    if (next == nullptr) {
      return nullptr;
    }
    at = next;
  }
  return nullptr;
}

}  // namespace borescope::internal
