// The database of nvprof: docs/formats/nvprof.md.
#pragma once

#include <string_view>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/cupti/cupti_trace.h"
#include "borescope/ingest/database.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// The ranges of CUPTI_ACTIVITY_KIND_MARKER: a row for the start and a row for the end, linked by a
// number, in any order.

class NvprofMarkers {
 public:
  NvprofMarkers(TextTable& strings, CuptiTrace& trace) : strings_(strings), trace_(trace) {}

  // Adds all rows of the table.
  Result<void> Read(const DatabaseInput& input);

 private:
  // The owner of a marker: a thread, or a process as a whole.
  struct Owner {
    int64_t process = kMissing;
    int64_t thread = kMissing;
    bool is_process = false;
    auto operator<=>(const Owner&) const = default;
  };
  struct Start {
    int64_t ts_ns = kMissing;
    int64_t name = kMissing;
    int64_t domain = kMissing;
    Owner owner{};
  };
  struct Range {
    Start start{};
    int64_t end_ns = kMissing;
    Owner end_owner{};
  };

  void Add(TableRows& row);
  Owner OwnerOf(TableRows& row);
  TrackId TrackOf(const Range& range);
  void AddRange(const Range& range);
  void AddOpenRanges();

  TextTable& strings_;
  CuptiTrace& trace_;
  HashMap<int64_t, Range> open_;  // by number; one half is known
};

bool IsNvprof(const DatabaseSchema& schema);

// Repairs and rows left out are counted in Trace::diagnostics(); an unreadable table is an error.
Result<Trace> LoadNvprof(DatabaseInput input);

// What to do so that the profiler records it.
std::string_view NvprofRemedy(MissingData lack);

}  // namespace borescope::internal
