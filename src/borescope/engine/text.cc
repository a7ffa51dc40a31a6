#include "borescope/text.h"

#include "borescope/base/text/nearest.h"
#include "borescope/base/version.h"
#include "borescope/engine/question/question.h"
#include "borescope/output/units/units.h"
#include "borescope/output/utf8.h"
#include "borescope/version.h"

namespace borescope {

std::string_view Version() { return internal::Version(); }

std::string GroupDigits(int64_t value) { return internal::GroupDigits(value); }

std::string FormatBytes(uint64_t bytes) { return internal::FormatBytes(bytes); }

std::string ToPrintable(std::string_view text) { return internal::ToPrintable(text); }

std::vector<std::string> WrapText(std::string_view text, size_t width) {
  return internal::WrapText(text, width);
}

std::vector<std::string> SplitList(std::string_view text) { return internal::SplitList(text); }

std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates) {
  return internal::Nearest(word, candidates);
}

}  // namespace borescope
