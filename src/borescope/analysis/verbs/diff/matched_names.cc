#include "borescope/analysis/verbs/diff/matched_names.h"

#include <algorithm>

#include "borescope/index/steps/steps.h"

namespace borescope::internal {
namespace {

// Shorter numbers are constants rather than addresses.
constexpr size_t kLeastAddressDigits = 6;
constexpr std::string_view kHexPrefix = "0x";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::string WithoutAddresses(std::string_view name) {
  std::string text;
  size_t begin = 0;
  for (size_t at = name.find(kHexPrefix); at != std::string_view::npos;
       at = name.find(kHexPrefix, at)) {
    at += kHexPrefix.size();
    const auto end = static_cast<size_t>(
        std::find_if_not(name.begin() + static_cast<std::ptrdiff_t>(at), name.end(), IsHexDigit) -
        name.begin());
    if (end - at >= kLeastAddressDigits) {
      text += name.substr(begin, at - begin);
      text += '*';
      begin = end;
    }
  }
  return text += name.substr(begin);
}

// "file.py(12): function" without the number.
std::string WithoutLine(std::string_view name) {
  constexpr std::string_view kEnd = "): ";
  for (size_t end = name.find(kEnd); end != std::string_view::npos;
       end = name.find(kEnd, end + 1)) {
    const size_t open = name.find_last_not_of("0123456789", end == 0 ? 0 : end - 1);
    if (open != std::string_view::npos && name[open] == '(' && open + 1 < end) {
      return std::string(name.substr(0, open)) + std::string(name.substr(end + 1));
    }
  }
  return std::string(name);
}

std::string WithoutNumbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (!IsDigit(c)) {
      text += c;
    } else if (text.empty() || text.back() != '*') {
      text += '*';
    }
  }
  return text;
}

}  // namespace

std::string MatchedHostName(std::string_view name, HostKind kind) {
  const std::string_view folded = FoldStepName(name);
  if (folded == kAnyStep) {
    return std::string(folded);
  }
  if (kind == HostKind::kAnnotation && IsServerStep(name)) {
    return WithoutNumbers(name);
  }
  const std::string text = WithoutAddresses(name);
  return kind == HostKind::kPython ? WithoutLine(text) : text;
}

std::string MatchedWorkName(std::string_view name) { return WithoutAddresses(name); }

}  // namespace borescope::internal
