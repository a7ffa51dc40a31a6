// Numbers of rows for loops over tables that may have very many: a stop that is requested meanwhile
// leaves the loop, as CheckStopAt does (stop.h).
//
//   for (const uint32_t row : EachRow(device.size())) ...
#pragma once

#include <cstddef>
#include <cstdint>

#include "borescope/base/stop.h"

namespace borescope::internal {

template <class Number>
class StoppableRange {
 public:
  class Iterator {
   public:
    explicit Iterator(Number at) : at_(at) {}
    Number operator*() const {
      CheckStopAt(at_);
      return at_;
    }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    Number at_;
  };

  // From 0, or `begin`, to `end` - 1; none where that is no later.
  explicit StoppableRange(size_t end) : StoppableRange(0, end) {}
  StoppableRange(Number begin, size_t end)
      : begin_(begin), end_(begin < end ? static_cast<Number>(end) : begin) {}

  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  Number begin_;
  Number end_;
};

using EachRow = StoppableRange<uint32_t>;
using EachIndex = StoppableRange<size_t>;

}  // namespace borescope::internal
