// clock_skew: how far the clocks of the devices are from that of the host.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/critical_path/tables.h"

namespace borescope::internal {
namespace {

constexpr double kNsOfMicrosecond = 1000;

// What was done, and what does not fit together; empty where nothing had to be done.
std::string NoteOf(const DeviceClock& clock) {
  std::string note;
  if (clock.skew_ns != 0) {
    note = fmt::format(
        "The clock of this device is {:.3f} us {} that of the host. The path uses its times "
        "corrected by that; tables of device work show them as recorded.",
        std::abs(static_cast<double>(clock.skew_ns)) / kNsOfMicrosecond,
        clock.skew_ns < 0 ? "ahead of" : "after");
  }
  if (clock.contradicting > 0) {
    note += note.empty() ? "" : " ";
    note += fmt::format(
        "The clock drifts, or a record is wrong: {} of the launches and waits contradict it. Those "
        "that do by at most {:.0f} us are in the graph.",
        clock.contradicting, static_cast<double>(kMostDriftNs) / kNsOfMicrosecond);
  }
  return note;
}

}  // namespace

Table ClockTable(const RankView& view, const DeviceClocks& clocks) {
  Table table{"clock_skew", "How far the clocks of devices are from that of the host", {}};
  AddRankKey(table);
  AddInt(table, "gpu", Unit::kNone, Role::kKey, "Device number.");
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kDerived, doc);
  };
  const auto count = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kCount, Role::kDerived, doc);
  };
  ns("skew_ns",
     "What the critical path adds to times of the device, so that no work begins before its launch "
     "and no wait ends before its work.");
  ns("lowest_ns", "The least value that recorded launches allow; missing without launches.");
  ns("highest_ns", "The largest value that recorded waits allow; missing without such waits.");
  count("launches", "Launch calls and their work.");
  count("waits", "Calls that waited, by a record of the profiler, and what they waited for.");
  count("inferred_waits", "Calls that waited by their name, and what they waited for.");
  count("contradicting", "Those of the three that do not hold with skew_ns.");
  AddString(table, "help", Role::kDerived,
            "What was corrected or contradicts; missing where nothing does.");
  for (const DeviceClock& clock : clocks.clocks) {
    Row(table)
        .Int(view.rank)
        .Int(clock.device)
        .Int(clock.skew_ns)
        .MaybeInt(clock.lowest_ns)
        .MaybeInt(clock.highest_ns)
        .Int(clock.launches)
        .Int(clock.waits)
        .Int(clock.inferred)
        .Int(clock.contradicting)
        .MaybeText(NoteOf(clock));
  }
  return table;
}

}  // namespace borescope::internal
