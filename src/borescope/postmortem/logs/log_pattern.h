// Regular expressions of lines of logs.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <mutex>
#include <string_view>

#include "borescope/base/memory_limit.h"

namespace borescope::internal {

// A regular expression that is compiled when it is first asked. Safe from any thread.
class LogPattern {
 public:
  explicit constexpr LogPattern(const char* text) : text_(text) {}

  const re2::RE2& operator*() const {
    std::call_once(once_, [this] {
      AskForMemory(kExpressionBytes);
      expression_ = std::make_unique<re2::RE2>(text_);
    });
    return *expression_;
  }

 private:
  const char* text_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<re2::RE2> expression_;
};

// Whether something in `text` matches; the groups of the pattern go to `parts`.
template <class... Parts>
bool Finds(std::string_view text, const LogPattern& pattern, Parts*... parts) {
  return RE2::PartialMatch(text, *pattern, parts...);
}

}  // namespace borescope::internal
