#include "borescope/ingest/cupti/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr size_t kLongestMangled = 1 << 14;
// Limits for one name: its length before it is tried, and the length of the result.
constexpr double kMostGrowth = 1 << 22;
constexpr size_t kLongestName = 1 << 16;
constexpr size_t kMostWritten = size_t{1} << 26;

// An upper bound of the length of the demangled name. All repetitions are references to earlier
// parts (S_, S0_, ... in order of appearance; T_, T0_, ... to arguments of a template that is
// closed by an E), and expand to at most everything written up to there.
class GrowthBound {
 public:
  explicit GrowthBound(std::string_view mangled) : text_(mangled) {}

  double Get() {
    while (at_ < text_.size() && size_ <= kMostGrowth) {
      const char c = text_[at_];
      if (IsDigit(c)) {
        SkipName();
      } else if ((c == 'S' || c == 'T') && ReferenceEnd() != 0) {
        c == 'S' ? AddSubstitution() : AddArgument();
      } else {
        closed_ = c == 'E' ? size_ + 1 : closed_;
        Grow(1);
      }
    }
    return size_;
  }

 private:
  // Single letters expand to words ("unsigned long long") of at most this length.
  static constexpr double kWordBytes = 24;

  void Grow(size_t chars) {
    size_ += kWordBytes * static_cast<double>(chars);
    at_ += chars;
  }

  // A name follows its length.
  void SkipName() {
    size_t length = 0;
    while (at_ < text_.size() && IsDigit(text_[at_]) && length < kLongestMangled) {
      length = length * 10 + static_cast<size_t>(text_[at_++] - '0');
    }
    length = std::min(length, text_.size() - at_);
    at_ += length;
    size_ += static_cast<double>(length) + kWordBytes;
  }

  // The position of the underscore that ends a reference at `at_`; 0 if it is not a reference.
  size_t ReferenceEnd() const {
    size_t end = at_ + 1;
    while (end < text_.size() &&
           (IsDigit(text_[end]) || (text_[end] >= 'A' && text_[end] <= 'Z'))) {
      ++end;
    }
    return end < text_.size() && text_[end] == '_' ? end : 0;
  }

  void AddSubstitution() {
    const size_t end = ReferenceEnd();
    size_t number = 0;  // S_ is 0, S0_ is 1
    for (size_t i = at_ + 1; i < end && number < kLongestMangled; ++i) {
      number = number * 36 +
               static_cast<size_t>(IsDigit(text_[i]) ? text_[i] - '0' : text_[i] - 'A' + 10);
    }
    number += end > at_ + 1 ? 1 : 0;
    at_ = end + 1;
    if (number >= first_use_.size() && number < kLongestMangled) {
      first_use_.resize(number + 1, size_);  // all up to this one are complete
    }
    size_ += number < first_use_.size() ? first_use_[number] : size_;
  }

  void AddArgument() {
    at_ = ReferenceEnd() + 1;
    size_ += std::max(closed_, kWordBytes);
  }

  std::string_view text_;
  size_t at_ = 0;
  double size_ = 0;
  double closed_ = 0;  // the size up to the last E
  std::vector<double> first_use_;
};

struct Free {
  void operator()(char* text) const { std::free(text); }  // NOLINT: as __cxa_demangle wants it
};

}  // namespace

std::string Demangler::operator()(std::string_view mangled) {
  std::string name(mangled);
  if (!mangled.starts_with("_Z") || mangled.size() > kLongestMangled || written_ > kMostWritten ||
      GrowthBound(mangled).Get() > kMostGrowth) {
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, Free> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  constexpr int kNoMemory = -1;
  if (status == kNoMemory) {
    throw std::bad_alloc();  // the mangled name would be another answer
  }
  if (status != 0 || text == nullptr) {
    return name;
  }
  const std::string_view readable = text.get();
  written_ += readable.size();
  return readable.size() > kLongestName ? name : std::string(readable);
}

}  // namespace borescope::internal
