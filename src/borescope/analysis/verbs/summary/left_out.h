// Time of devices that says nothing about how they are used, and is left out of idle time and of
// the spans that shares are relative to. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/analysis/verbs/summary/summary_tables.h"

namespace borescope::internal {

struct LeftOut {
  // Of ranks whose whole processes were recorded: until the first launch, and after the last work.
  int64_t process_head_ns = 0;
  int64_t process_tail_ns = 0;
  // The same and more: what a clock jumped over at an end, what is missing after the end of a file.
  int64_t head_ns = 0;
  int64_t tail_ns = 0;
  int64_t before_recording_ns = 0;  // in which a device worked on what was not recorded

  int64_t all_ns() const;
  // Of a column of idle_causes.
  int64_t Of(std::string_view column) const;
  // "; without 1.2 ms before the first launch" and so on; nothing if nothing is left out.
  std::string Words() const;
};

// REQUIRES: tables.left_out.
LeftOut FindLeftOut(const SummaryTables& tables);

// The same for each device: a row for each of idle_causes, the times of which add up to LeftOut.
Table LeftOutTable(const SummaryTables& tables);

// Of a row of idle_causes: what is left out of its span. REQUIRES: tables.left_out.
int64_t LeftOutOfDevice(const SummaryTables& tables, size_t row);

// Whether the time of a column of idle_causes is left out on the device of a row of it.
// REQUIRES: tables.left_out.
bool IsLeftOut(const SummaryTables& tables, size_t row, std::string_view column);

// The rows of devices of which something is left out.
Table ShownLeftOut(const Table& left_out);

// The time of all devices without that: the whole of the shares of the verdict, the card and the
// page. Exposed communication and copies are shares of it.
int64_t ObservedSpan(const SummaryTables& tables);

}  // namespace borescope::internal
