// What findings rest on beside the tables of other verbs: time of devices that is left out of
// shares, where and when the strongest evidence is, sums that few events make up, and copies that
// go to the device and back. Internal to summary/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// Time of devices that says nothing about how they are used, and is left out of idle time and of
// the spans that shares are relative to. Pure.

struct LeftOut {
  // Ranks whose whole processes were recorded: until the first launch, and after the last work.
  int64_t process_head_ns = 0;
  int64_t process_tail_ns = 0;
  // The same and more: what a clock jumped over at an end, what is missing after the end of a file.
  int64_t head_ns = 0;
  int64_t tail_ns = 0;
  int64_t before_recording_ns = 0;  // in which a device worked on what was not recorded
  int64_t hardly_used_ns = 0;       // of devices that hardly work beside others of their rank

  int64_t all_ns() const;
  // What is left out of a column of idle_causes.
  int64_t Of(std::string_view column) const;
  // "; without 1.2 ms before the first launch" and so on; nothing if nothing is left out.
  std::string Words() const;
};

// REQUIRES: tables.left_out.
LeftOut FindLeftOut(const SummaryTables& tables);

// Takes devices that are hardly used out of the tables about idle time and places, and leaves their
// idle time out (SummaryTables::hardly_used). REQUIRES: tables.device_use.
void LeaveOutHardlyUsed(SummaryTables& tables);
// Where the time after the last work of a device is left out, no other device is the reason of it.
// REQUIRES: tables.left_out, tables.device_use.
void LeaveOutHeldTails(SummaryTables& tables);

// The same for each device: a row for each of idle_causes, the times of which add up to LeftOut.
std::vector<LeftOutRow> LeftOutRows(const SummaryTables& tables);

// Whether the time of a column of idle_causes is left out on the device of a row of it.
// REQUIRES: tables.left_out.
bool IsLeftOut(const SummaryTables& tables, size_t row, std::string_view column);

// By rank and device, with those that are hardly used.
std::vector<LeftOutRow> AllLeftOut(const SummaryTables& tables);

// The rows of devices of which something is left out.
Table ShownLeftOut(std::vector<LeftOutRow> left_out);

// The time of all devices without that: the whole of the shares of the verdict, the card and the
// page. Exposed communication and copies are shares of it.
int64_t ObservedSpan(const SummaryTables& tables);

// Where the strongest evidence of a finding is: the rank, and when.

// kMissing: there is none, or it is about all.
struct FindingPlace {
  int64_t rank = kMissing;
  int64_t gpu = kMissing;
  int64_t step = kMissing;
  int64_t begin_ns = kMissing;  // on the clock of the file; both or none
  int64_t end_ns = kMissing;
};

// Table work_places of a rank: when the longest stretch of exposed communication and of exposed
// copies of each device was. O(rows of the devices).
Result<Table> WorkPlaces(const RankView& view, const Selected& selected);

// Where the cause in a column of idle_causes is longest, on the devices where that time is not left
// out; of equal ones the first. `moved`: the rows of idle_causes whose longest gap is a cause of
// its own, and is passed over. REQUIRES: tables.left_out.
FindingPlace PlaceOfIdle(const SummaryTables& tables, std::string_view column,
                         std::span<const size_t> moved);
// The same of ranks whose whole processes were recorded, where head and tail are left out.
FindingPlace PlaceOfProcessEnd(const SummaryTables& tables, std::string_view column);
// On the device of a row of idle_causes.
FindingPlace PlaceOfIdleOn(const SummaryTables& tables, std::string_view column, size_t row);

// What tables work_places and few_events call their rows; of kernels there are only such of the
// latter.
inline constexpr std::string_view kExposedCommPlace = "exposed_comm";
inline constexpr std::string_view kExposedCopyPlace = "exposed_copy";
inline constexpr std::string_view kKernelPlace = "kernel";

// The longest of these.
FindingPlace PlaceOfWork(const SummaryTables& tables, std::string_view what);
// The longest launch of a kernel, on the devices where it takes a tenth of the kernel time or more.
FindingPlace PlaceOfKernel(const SummaryTables& tables, std::string_view name);

// The longest step of a rank.
FindingPlace PlaceOfStep(const SummaryTables& tables, int64_t rank, std::optional<int64_t> process,
                         int64_t step);

// The wait for a rank that was longest, on the clock of that rank.
FindingPlace PlaceOfStraggler(const SummaryTables& tables, int64_t rank);

// "+8.912ms", as --begin and --end take it.
std::string Offset(int64_t ns);

// "rank 0, GPU 1, +8.912ms to +9.443ms", with times as --begin and --end take them. Empty of no
// place.
std::string WordsOfPlace(const SummaryTables& tables, const FindingPlace& place);

// Whether one to three of many events make up most of a sum: then these are what happened, and no
// pattern of the program.

// Table few_events of a rank: for each device and sum that the verdict speaks of its largest events
// beside all of them, and where the largest is. O(rows of the devices).
Result<Table> FewEventsTable(const RankView& view, const Selected& selected,
                             const Selection& selection);

// Sums over all devices on which few events make up most of a sum.
struct FewOfMany {
  int64_t events = 0;     // on each of these devices, the most of any
  int64_t of_events = 0;  // on the device with the largest event
  int64_t devices = 0;
  int64_t ns = 0;      // of few events, on these devices
  int64_t all_ns = 0;  // on all devices
  int64_t largest_ns = 0;
  // The following are of the largest event.
  std::string name;  // empty: it has none
  int64_t stream = kMissing;
  bool is_first = false;  // of the events of its sum, by time
  FindingPlace place = {};

  // "1 of 64 collectives takes 17.5 s, rank 0, GPU 0, +1.000ms to +17501.000ms, stream 7:
  // all_reduce". `what`: the events.
  std::string Words(const SummaryTables& tables, std::string_view what) const;
};

// Missing unless few events make up more than half of the sum over all devices. `name`: of a
// kernel.
std::optional<FewOfMany> FindFewOfMany(const SummaryTables& tables, std::string_view what,
                                       std::string_view name = {});

// Steps that are much longer than the others of their rank, and of their process where several of
// the rank have steps.
struct LongSteps {
  size_t steps = 0;
  size_t of_steps = 0;
  double share = 0;  // of the time that all steps take beyond the median
};
std::optional<LongSteps> FindLongSteps(const SummaryTables& tables, int64_t rank,
                                       std::optional<int64_t> process);

// Arrays that go to the device and back again and again, around kernels: they could stay there.

// Table round_trips of a rank: for each device and size of copies how often copies to the device
// are followed, after a kernel, by copies of the same size back to the host. Addresses are seldom
// recorded, so that equal sizes are taken for the same array. O(rows of the devices).
Table RoundTripsTable(const RankView& view, const Selected& selected);

// Table host_use of a rank: what its main thread does; no rows where it has device work, or no main
// thread (FindThreads). Of several main threads that whose events fill the most time. In
// host_use.cc. O(rows of the host).
Table HostUseTable(const RankView& view, const Selected& selected);

// Sums over all devices.
struct RoundTrips {
  int64_t rounds = 0;     // of the size that makes most of them
  int64_t bytes = 0;      // this size
  int64_t all_bytes = 0;  // moved by such copies
  int64_t ns = 0;         // that these take

  // "2.05 GB to the device and back in 50 rounds, 102.40 GB in all"
  std::string Words() const;
};

// Missing unless such copies take most of the time of all copies.
std::optional<RoundTrips> FindRoundTrips(const SummaryTables& tables);

}  // namespace borescope::internal
