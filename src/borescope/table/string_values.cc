#include "borescope/table/string_values.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "borescope/base/hash/input_hash.h"
#include "borescope/base/row_limit.h"

namespace borescope::internal {
namespace {

constexpr uint32_t kFree = ~uint32_t{0};
constexpr size_t kFirstSlots = 16;

}  // namespace

void StringValues::Append(const StringValues& more) {
  std::vector<uint32_t> numbers(more.texts_.size(), kFree);
  cells_.reserve(cells_.size() + more.cells_.size());
  for (const uint32_t cell : more.cells_) {
    if (numbers[cell] == kFree) {
      numbers[cell] = Intern(more.texts_[cell]);
    }
    cells_.push_back(numbers[cell]);
  }
}

StringValues StringValues::Take(std::span<const uint32_t> rows) const {
  StringValues taken;
  taken.cells_.reserve(rows.size());
  std::vector<uint32_t> numbers(texts_.size(), kFree);
  for (const uint32_t row : rows) {
    uint32_t& number = numbers[cells_[row]];
    if (number == kFree) {
      number = static_cast<uint32_t>(taken.texts_.size());
      taken.texts_.push_back(texts_[cells_[row]]);
    }
    taken.cells_.push_back(number);
  }
  return taken;
}

std::optional<StringValues> StringValues::Of(std::vector<std::string> texts,
                                             std::vector<uint32_t> places) {
  StringValues values;
  for (const uint32_t place : places) {
    if (place > values.texts_.size() || place >= texts.size()) {
      return std::nullopt;
    }
    if (place == values.texts_.size() && values.Intern(texts[place]) != place) {
      return std::nullopt;
    }
  }
  if (values.texts_.size() != texts.size()) {
    return std::nullopt;
  }
  values.cells_ = std::move(places);
  return values;
}

uint32_t StringValues::Intern(std::string_view text) {
  if (!cells_.empty() && back() == text) {
    return cells_.back();  // texts often come in runs
  }
  if (texts_.size() * 2 >= slots_.size()) {
    Grow();
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = HashText(text) & mask;
  for (; slots_[slot] != kFree; slot = (slot + 1) & mask) {
    if (texts_[slots_[slot]] == text) {
      return slots_[slot];
    }
  }
  slots_[slot] = CheckedRows(texts_.size() + 1, "different texts in a column") - 1;
  texts_.emplace_back(text);
  return slots_[slot];
}

void StringValues::Grow() {
  slots_.assign(std::max(kFirstSlots, std::bit_ceil(texts_.size() * 2 + 1)), kFree);
  const size_t mask = slots_.size() - 1;
  for (uint32_t number = 0; number < texts_.size(); ++number) {
    size_t slot = HashText(texts_[number]) & mask;
    while (slots_[slot] != kFree) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = number;
  }
}

}  // namespace borescope::internal
