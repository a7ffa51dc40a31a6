// The database of Nsight Systems: docs/formats/nsys.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "borescope/ingest/cupti/cupti_trace.h"
#include "borescope/ingest/database.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// Metadata in an export of Nsight Systems about itself and the machine.

// Fills producer, base_ns and devices from the existing tables.
Result<void> ReadNsysMeta(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics);

// Records of CUDA events, which waits refer to.

// The rows of CUPTI_ACTIVITY_KIND_CUDA_EVENT: which stream an event was recorded on, and by which
// call. An event may be recorded again and again; a wait is for the last record before it. Not
// thread-safe.
class NsysEvents {
 public:
  static constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";

  struct Record {
    int64_t stream = kMissing;  // kMissing: not recorded
    int64_t correlation = -1;   // of the call, as CuptiTrace::Correlation gives it; -1 unknown
  };
  struct Wait {
    int64_t process = kMissing;
    int64_t event = kMissing;
    int64_t sync = kMissing;         // number of the record (eventSyncId), in recent exports
    int64_t correlation = kMissing;  // as recorded: calls of a process count upwards
  };

  // Counts the rows.
  Result<void> Read(const DatabaseInput& input, CuptiTrace& trace);
  Record Find(const Wait& wait) const;

 private:
  struct Row {
    int64_t process;
    int64_t number;       // of the event, or of the record
    int64_t correlation;  // as recorded
    Record record;

    auto key() const { return std::tie(process, number, correlation); }
  };

  static Record FindIn(const std::vector<Row>& rows, int64_t process, int64_t number,
                       int64_t correlation);

  std::vector<Row> by_event_;  // sorted
  std::vector<Row> by_sync_;
};

bool IsNsys(const DatabaseSchema& schema);

// Repairs and rows left out are counted in Trace::diagnostics(); an unreadable table is an error.
Result<Trace> LoadNsys(DatabaseInput input);

// What to do so that the profiler records it.
std::string_view NsysRemedy(MissingData lack);

}  // namespace borescope::internal
