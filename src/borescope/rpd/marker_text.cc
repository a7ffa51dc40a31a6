#include "borescope/rpd/marker_text.h"

#include <fmt/format.h>

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

namespace {

constexpr std::string_view kSequence = ", seq = ";
constexpr std::string_view kCall = ", op_id = ";
constexpr std::string_view kSizes = ", sizes = ";
constexpr std::string_view kInputs = ", input_op_ids = ";
constexpr std::string_view kKeys[] = {kSequence, kCall, kSizes, kInputs};

// The position of the first of the keys at or after `from`, or the end.
size_t FirstKey(std::string_view text, size_t from = 0) {
  size_t first = text.size();
  for (const std::string_view key : kKeys) {
    first = std::min(first, text.substr(0, first).find(key, from));
  }
  return first;
}

// The value after `key`, up to the next key; empty if there is none.
std::string_view ValueOf(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  const size_t begin = at + key.size();
  return text.substr(begin, FirstKey(text, begin) - begin);
}

int64_t NumberOf(std::string_view text, std::string_view key) {
  const ParsedNumber number = ParseInteger(ValueOf(text, key));
  return number.status == NumberStatus::kOk ? number.value : kMissing;
}

bool IsListOfNumbers(std::string_view text) {
  constexpr size_t kMost = 16 * 1024;
  return text.size() <= kMost && text.starts_with('[') && text.ends_with(']') &&
         text.find_first_not_of("[]0123456789-, ") == std::string_view::npos;
}

}  // namespace

MarkerText ParseMarker(std::string_view text) {
  MarkerText marker;
  const size_t name_end = FirstKey(text);
  marker.name = text.substr(0, name_end);
  marker.is_operator = name_end < text.size() || text.starts_with("aten::");
  if (name_end < text.size()) {
    const std::string_view values = text.substr(name_end);
    marker.sequence = NumberOf(values, kSequence);
    marker.record_function_id = NumberOf(values, kCall);
    marker.sizes = ValueOf(values, kSizes);
  }
  if (marker.record_function_id == 0) {  // PyTorch counts from 1
    marker.record_function_id = kMissing;
  }
  return marker;
}

std::string MarkerDetails(const MarkerText& marker) {
  const bool has_sizes = IsListOfNumbers(marker.sizes);
  if (!IsOfOneCall(marker) && !has_sizes) {
    return {};
  }
  std::string text;
  const auto end = std::back_inserter(text);
  if (marker.sequence >= 0) {
    fmt::format_to(end, "{}{}", kSequence, marker.sequence);
  }
  fmt::format_to(end, "{}{}", kCall, std::max<int64_t>(marker.record_function_id, 0));
  if (has_sizes) {
    fmt::format_to(end, "{}{}{}[]", kSizes, marker.sizes, kInputs);
  }
  return text;
}

bool NeedsOwnPlace(std::string_view name) {
  return name.size() > kLongText || FirstKey(name) < name.size();
}

}  // namespace borescope::internal
