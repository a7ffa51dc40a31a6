// Asynchronous ranges of a Chrome trace: one begins with an event of phase "b" and ends with one of
// phase "e" of the same category and id, on any thread and anywhere in the text. Of several with
// one id, the one that began last ends first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// Collects both kinds of events of a piece of the text, then of all of it.
class AsyncRanges {
 public:
  // An event of the text: the key that links it to its other half, its time and its position.
  struct Edge {
    std::string key;
    int64_t ts_ns = 0;
    uint64_t byte = 0;
  };

  // A range begins; `host_row` is its row, of zero length so far.
  void Begin(Edge edge, size_t host_row) { edges_.push_back({std::move(edge), host_row}); }
  // One ends.
  void End(Edge edge) { edges_.push_back({std::move(edge), kNoRow}); }

  // Adds those of a piece whose host rows were counted from `first_row` on.
  void Append(const AsyncRanges& more, size_t first_row);

  // Sets the length of every range. Events without their other half are counted: a begin keeps zero
  // length (kMissingDuration), an end is left out (kDanglingReference). REQUIRES: all rows are in
  // `builder`, which is not finished.
  void Close(TraceBuilder& builder) const;

 private:
  static constexpr size_t kNoRow = SIZE_MAX;
  struct Half {
    Edge edge;
    size_t host_row;  // kNoRow for an end
  };

  std::vector<Half> edges_;
};

}  // namespace borescope::internal
