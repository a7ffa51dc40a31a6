#include "borescope/ingest/nsys/nsys_events.h"

#include <algorithm>
#include <limits>

namespace borescope::internal {
namespace {

// "None" as an unsigned number.
bool IsNumber(int64_t number) {
  return number != kMissing && number >= 0 && number != std::numeric_limits<uint32_t>::max();
}

}  // namespace

Result<void> NsysEvents::Read(const DatabaseInput& input, CuptiTrace& trace) {
  enum Column : uint8_t { kProcess, kStream, kCorrelation, kEvent, kSync };
  constexpr std::string_view kColumns[] = {"globalPid", "streamId", "correlationId", "eventId",
                                           "eventSyncId"};
  BS_ASSIGN(TableRows rows, TableRows::Open(input, kTable, kColumns, trace.diagnostics()));
  BS_TRY(rows.ForEach([&] {
    trace.part().CountEvent('i', trace.part().Intern(kTable), 0);
    const int64_t process = CuptiTrace::ProcessOf(rows.Integer(kProcess));
    const int64_t recorded = rows.Integer(kCorrelation);
    const int64_t correlation = trace.Correlation(recorded, process);
    const Record record{IsNumber(rows.Integer(kStream)) ? rows.Integer(kStream) : kMissing,
                        correlation == kMissing ? -1 : correlation};
    if (IsNumber(rows.Integer(kEvent))) {
      by_event_.push_back({process, rows.Integer(kEvent), recorded, record});
    }
    if (IsNumber(rows.Integer(kSync))) {
      by_sync_.push_back({process, rows.Integer(kSync), recorded, record});
    }
  }));
  const auto in_order = [](const Row& a, const Row& b) { return a.key() < b.key(); };
  std::sort(by_event_.begin(), by_event_.end(), in_order);
  std::sort(by_sync_.begin(), by_sync_.end(), in_order);
  return {};
}

// The last row of the number whose call is not later.
NsysEvents::Record NsysEvents::FindIn(const std::vector<Row>& rows, int64_t process, int64_t number,
                                      int64_t correlation) {
  const auto past =
      std::upper_bound(rows.begin(), rows.end(), std::tuple(process, number, correlation),
                       [](const auto& key, const Row& row) { return key < row.key(); });
  if (past == rows.begin()) {
    return {};
  }
  const Row& row = *std::prev(past);
  return row.process == process && row.number == number ? row.record : Record();
}

NsysEvents::Record NsysEvents::Find(const Wait& wait) const {
  if (IsNumber(wait.sync)) {
    const Record record = FindIn(by_sync_, wait.process, wait.sync, wait.correlation);
    if (record.stream != kMissing) {
      return record;
    }
  }
  return IsNumber(wait.event) ? FindIn(by_event_, wait.process, wait.event, wait.correlation)
                              : Record();
}

}  // namespace borescope::internal
