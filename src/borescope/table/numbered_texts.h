// NumberedTexts: appends texts that have small numbers elsewhere to a text column, where each of
// them is sought once. For tables with a row per event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "borescope/table/table.h"

namespace borescope::internal {

class NumberedTexts {
 public:
  // Numbers are below `numbers`. REQUIRES: a column of texts, which outlives this.
  NumberedTexts(Column& column, size_t numbers)
      : column_(column),
        values_(std::get<StringValues>(column.values)),
        places_(numbers, kUnknown) {}

  bool IsOf(const Column& column) const { return &column == &column_; }

  // Appends the text of this number; `text` gives it, and is asked the first time.
  template <class Get>
  void Push(size_t number, const Get& text) {
    uint32_t& place = places_[number];
    if (place == kUnknown) {
      internal::Push(column_, text());
      place = values_.numbers().back();
      return;
    }
    values_.push_number(place);
    if (!column_.missing.empty()) {
      column_.missing.push_back(0);
    }
  }

 private:
  static constexpr uint32_t kUnknown = ~uint32_t{0};

  Column& column_;
  StringValues& values_;
  std::vector<uint32_t> places_;  // by number: which of the column's texts it is
};

}  // namespace borescope::internal
