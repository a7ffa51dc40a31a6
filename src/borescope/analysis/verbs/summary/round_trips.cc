#include "borescope/analysis/verbs/summary/round_trips.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {
namespace {

// Smaller ones are parameters and results; fewer rounds are no pattern.
constexpr int64_t kLeastBytes = 64 * 1024;
constexpr int64_t kLeastRounds = 5;

// What is known of the copies of one size on one device.
struct Size {
  int64_t rounds = 0;
  int64_t copies = 0;
  int64_t ns = 0;
  int64_t there_ns = kMissing;  // since when it is on the device, and was not copied back
};

struct Copy {
  Interval time;
  int64_t bytes;
  CopyKind kind;
};

Table NewRoundTrips() {
  Table table{"round_trips", "Copies to the device and back", {}};
  AddRankKey(table);
  AddInt(table, "bytes", Unit::kBytes, Role::kKey, "Size of each copy.");
  const auto sum = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddInt(table, name, unit, Role::kSum, doc);
  };
  sum("rounds", Unit::kCount, "To the device, a kernel, and back.");
  sum("copies", Unit::kCount, "Copies of this size.");
  sum("total_ns", Unit::kNanoseconds, "Sum of their durations.");
  return table;
}

// The large copies of a device to the host and from it, by begin.
std::vector<Copy> LargeCopies(const RankView& view, const Selected& selected,
                              const std::vector<uint32_t>& tracks) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& all = view.trace.tracks();
  std::vector<Copy> copies;
  for (const uint32_t track : tracks) {
    for (uint32_t row = all.first_row[track]; row < all.end_row[track]; ++row) {
      CheckStopAt(row);
      const uint32_t detail = device.detail[row];
      if (device.kind[row] != DeviceKind::kMemcpy || detail == kNoDetail ||
          view.trace.copies().bytes[detail] < kLeastBytes || !selected.Keeps(DeviceId{row})) {
        continue;
      }
      const CopyKind kind = ClassifyCopy(DeviceKind::kMemcpy, view.trace.Name(DeviceId{row}));
      if (kind == CopyKind::kHostToDevice || kind == CopyKind::kDeviceToHost) {
        copies.push_back({{device.ts_ns[row], device.end_ns(DeviceId{row})},
                          view.trace.copies().bytes[detail],
                          kind});
      }
    }
  }
  std::stable_sort(copies.begin(), copies.end(),
                   [](const Copy& a, const Copy& b) { return a.time.begin < b.time.begin; });
  return copies;
}

// Whether a part of the set lies between two times.
bool RunsBetween(const IntervalSet& set, int64_t begin_ns, int64_t end_ns) {
  const auto next = std::partition_point(
      set.begin(), set.end(), [&](const Interval& part) { return part.end <= begin_ns; });
  return next != set.end() && next->begin < end_ns;
}

void AddCopy(const Copy& copy, const IntervalSet& compute, Size& size) {
  ++size.copies;
  AddSaturatingTo(size.ns, copy.time.length());
  if (copy.kind == CopyKind::kHostToDevice) {
    size.there_ns = copy.time.end;
  } else if (size.there_ns != kMissing && RunsBetween(compute, size.there_ns, copy.time.begin)) {
    ++size.rounds;
    size.there_ns = kMissing;
  }
}

// "2.05 GB"
std::string FormatSize(int64_t bytes) {
  constexpr double kThousand = 1e3;
  auto value = static_cast<double>(bytes);
  std::string_view unit = "bytes";
  for (const std::string_view next : {"kB", "MB", "GB", "TB"}) {
    if (value >= kThousand) {
      value /= kThousand;
      unit = next;
    }
  }
  return unit == "bytes" ? fmt::format("{} bytes", bytes) : fmt::format("{:.2f} {}", value, unit);
}

}  // namespace

Table RoundTripsTable(const RankView& view, const Selected& selected) {
  Table table = NewRoundTrips();
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    std::map<int64_t, Size> sizes;  // by bytes
    for (const Copy& copy : LargeCopies(view, selected, time.tracks)) {
      AddCopy(copy, time.compute, sizes[copy.bytes]);
    }
    for (const auto& [bytes, size] : sizes) {
      if (size.rounds >= kLeastRounds) {
        Row(table).Int(view.rank).Int(bytes).Int(size.rounds).Int(size.copies).Int(size.ns);
      }
    }
  }
  return table;
}

std::string RoundTrips::Words() const {
  return fmt::format("{} to the device and back in {} rounds, {} in all", FormatSize(bytes), rounds,
                     FormatSize(all_bytes));
}

namespace {

int64_t MultiplySaturating(int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return b > 0 && a > kMost / b ? kMost : a * b;
}

}  // namespace

std::optional<RoundTrips> FindRoundTrips(const SummaryTables& tables) {
  const Table& table = tables.round_trips;
  RoundTrips found;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int64_t bytes = Ints(table, "bytes")[row];
    AddSaturatingTo(found.ns, Ints(table, "total_ns")[row]);
    const int64_t copies = Ints(table, "copies")[row];
    AddSaturatingTo(found.all_bytes, MultiplySaturating(bytes, copies));
    if (Ints(table, "rounds")[row] > found.rounds) {
      found.rounds = Ints(table, "rounds")[row];
      found.bytes = bytes;
    }
  }
  const int64_t all_ns = SumOf(tables.copies, "total_ns");
  return found.rounds > 0 && found.ns > SubtractSaturating(all_ns, found.ns) ? std::optional(found)
                                                                             : std::nullopt;
}

}  // namespace borescope::internal
