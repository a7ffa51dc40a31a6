// Whether all numbers of a trace lead somewhere: what code that reads traces relies on, and what
// TraceBuilder and BuildIndex ensure. For traces from files that anybody may have changed.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/column_data.h"
#include "borescope/base/id.h"
#include "borescope/index/trace_index.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Checks of whole columns of numbers that refer to rows.

// Times and durations of which the sum of any two, and the difference, fit into 64 bits.
inline constexpr int64_t kMostNs = int64_t{1} << 61;
inline bool IsTime(int64_t ns) { return ns >= -kMostNs && ns <= kMostNs; }
// The end of what begins at a time and takes no longer than any.
inline bool IsEnd(int64_t end_ns, int64_t begin_ns) {
  return IsTime(begin_ns) && end_ns >= begin_ns && end_ns <= begin_ns + kMostNs;
}

// Whether no value of an enumeration lies after its last one.
template <class Kind>
bool AreKinds(const ColumnData<Kind>& kinds, Kind last) {
  return std::all_of(kinds.begin(), kinds.end(), [last](Kind kind) { return kind <= last; });
}

// Whether every number refers to one of `rows` rows. Without a branch, so that it takes no longer
// than reading them.
inline bool AreBelow(const ColumnData<uint32_t>& numbers, size_t rows) {
  uint32_t largest = 0;
  for (const uint32_t number : numbers) {
    largest = std::max(largest, number);
  }
  return numbers.empty() || largest < rows;
}
template <class Tag>
bool AreBelow(const ColumnData<Id<Tag>>& ids, size_t rows) {
  uint32_t largest = 0;
  for (const Id<Tag> id : ids) {
    largest = std::max(largest, id.value);
  }
  return ids.empty() || largest < rows;
}

// The same where the largest number of 32 bits is none: kNoDetail, or an invalid id.
template <std::convertible_to<uint32_t> Number>
bool AreBelowOrNone(const ColumnData<Number>& numbers, size_t rows) {
  uint32_t end = 0;
  for (const uint32_t number : numbers) {
    end = std::max(end, number + 1);
  }
  return end <= rows;
}
template <class Tag>
bool AreBelowOrNone(const ColumnData<Id<Tag>>& ids, size_t rows) {
  uint32_t end = 0;
  for (const Id<Tag> id : ids) {
    end = std::max(end, id.value + 1);
  }
  return end <= rows;
}

// Whether no number is below the one before it.
template <class T>
bool IsAscending(const ColumnData<T>& numbers) {
  bool is_ascending = true;
  for (size_t i = 1; i < numbers.size(); ++i) {
    is_ascending = is_ascending & (numbers[i - 1] <= numbers[i]);
  }
  return is_ascending;
}

// Checks of indexes.

// What is wrong first; empty where nothing is. Each is O(rows) and expects that FaultOfTrace has
// found the shapes of both right. The call tree; what launched what; the steps; all else.
std::string_view CallTreeFault(const Trace& trace, const TraceIndex& index);
std::string_view CorrelationFault(const Trace& trace, const TraceIndex& index);
std::string_view StepsFault(const Trace& trace, const TraceIndex& index);
std::string_view NamesFault(const Trace& trace, const TraceIndex& index);

// Whether the columns of the index have a row for each of the trace.
bool HasRowsOf(const Trace& trace, const TraceIndex& index);

// What is wrong first; nothing for a trace as TraceBuilder and BuildIndex make it. O(rows).
// REQUIRES: no captured calls.
std::optional<std::string> FaultOfTrace(const Trace& trace, const TraceIndex& index, int threads);

}  // namespace borescope::internal
