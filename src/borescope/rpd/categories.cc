#include "borescope/rpd/categories.h"

#include <algorithm>
#include <iterator>

#include "borescope/json/number.h"

namespace borescope::internal {
namespace {

struct Word {
  HostKind kind;
  std::string_view text;
};
constexpr Word kWords[] = {{HostKind::kPython, "python_function"},
                           {HostKind::kAnnotation, "user_annotation"},
                           {HostKind::kOp, "cpu_op"},
                           {HostKind::kRuntime, "runtime"},
                           {HostKind::kOther, "overhead"}};
constexpr std::string_view kForwardThread = "cpu_op, fwd_thread = ";

}  // namespace

std::string TextOf(const RpdCategory& category) {
  if (category.kind == HostKind::kOp && category.forward_thread != kMissing) {
    return std::string(kForwardThread) + std::to_string(category.forward_thread);
  }
  const auto* const word =
      std::find_if(std::begin(kWords), std::end(kWords),
                   [&](const Word& each) { return each.kind == category.kind; });
  return std::string(word->text);
}

std::optional<RpdCategory> ParseRpdCategory(std::string_view text) {
  if (text.starts_with(kForwardThread)) {
    const ParsedNumber thread = ParseInteger(text.substr(kForwardThread.size()));
    const bool is_thread = thread.status == NumberStatus::kOk;
    return RpdCategory{HostKind::kOp, is_thread ? thread.value : kMissing};
  }
  const auto* const word = std::find_if(std::begin(kWords), std::end(kWords),
                                        [&](const Word& each) { return each.text == text; });
  return word == std::end(kWords) ? std::nullopt
                                  : std::optional<RpdCategory>(RpdCategory{word->kind, kMissing});
}

}  // namespace borescope::internal
