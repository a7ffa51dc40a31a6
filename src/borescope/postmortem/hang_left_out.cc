#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "borescope/postmortem/hang_model.h"

namespace borescope::internal {
namespace {

// Whether an entry is an end of the same two ranks' transfers in the same direction.
bool IsEndOf(const HangModel& model, const HangRank& rank, const FlightEntry& entry,
             const HangOperation& transfer) {
  if (entry.group == FlightEntry::kNothing || rank.group_of[entry.group] != transfer.group) {
    return false;
  }
  const std::optional<HangOperation> one = TransferNamedBy(
      rank.dump->Name(entry), rank.rank, model.groups[transfer.group].members, transfer.group);
  return one.has_value() && one->from == transfer.from && one->to == transfer.to;
}

// By its launches of several transfers.
std::optional<LeftOutTransfer> LeftOutOfLaunch(const HangModel& model, const HangRank& rank,
                                               const HangOperation& transfer) {
  struct Launch {
    uint32_t first_entry = 0;
    bool has_it = false;
    bool is_closed = false;
  };
  std::vector<Launch> launches;
  int32_t number = FlightEntry::kNoNumber;
  const FlightDump& dump = *rank.dump;
  for (uint32_t i = 0; i < dump.entries.size(); ++i) {
    const FlightEntry& entry = dump.entries[i];
    if (entry.group == FlightEntry::kNothing || rank.group_of[entry.group] != transfer.group ||
        !entry.is_p2p) {
      continue;
    }
    if (launches.empty() || entry.p2p_seq != number) {
      launches.push_back({.first_entry = i});
      number = entry.p2p_seq;
    }
    Launch& launch = launches.back();
    launch.has_it = launch.has_it || IsEndOf(model, rank, entry, transfer);
    launch.is_closed = launch.is_closed || IsClosing(dump.Name(entry));
  }
  constexpr size_t kFewest = 4;
  const bool is_without = launches.size() >= kFewest && !launches.back().has_it &&
                          std::all_of(launches.begin(), launches.end(),
                                      [](const Launch& launch) { return launch.is_closed; }) &&
                          std::all_of(launches.begin(), launches.end() - 1,
                                      [](const Launch& launch) { return launch.has_it; });
  return is_without ? std::optional(LeftOutTransfer{.entry = launches.back().first_entry})
                    : std::nullopt;
}

// By how many it issued before each collective of the group in which it waits.
std::optional<LeftOutTransfer> LeftOutOfStep(const HangModel& model, const HangRank& rank,
                                             const HangOperation& transfer) {
  if (rank.head.size() != 1 || rank.head.front().is_p2p || rank.IsHeadLost()) {
    return std::nullopt;
  }
  const FlightDump& dump = *rank.dump;
  std::vector<size_t> issued = {0};  // before each collective
  size_t place = 0;                  // of that at which it is
  for (uint32_t i = 0; i < dump.entries.size(); ++i) {
    const FlightEntry& entry = dump.entries[i];
    if (IsEndOf(model, rank, entry, transfer)) {
      ++issued.back();
    } else if (entry.group != FlightEntry::kNothing && !entry.is_p2p &&
               rank.group_of[entry.group] == rank.head.front().group) {
      place = i == rank.head_entry ? issued.size() - 1 : place;
      issued.push_back(0);
    }
  }
  // Of the first one the ring may have lost a part, of the last one the end has not come.
  const size_t begin = dump.entries.front().record_id == 0 ? 0 : 1;
  const size_t end = issued.size() - 1;
  const bool has_before = place > begin;
  const std::span<const size_t> others =
      has_before      ? std::span(issued).subspan(begin, place - begin)
      : place < begin ? std::span<const size_t>()
                      : std::span(issued).subspan(place + 1, end - std::min(end, place + 1));
  const bool is_regular =
      !others.empty() && issued[place] < others.front() &&
      std::all_of(
          others.begin(), others.end(), [&](size_t count) { return count == others.front(); });
  return is_regular
             ? std::optional(LeftOutTransfer{
                   .entry = rank.head_entry, .issued = issued[place], .usual = others.front()})
             : std::nullopt;
}

}  // namespace

std::optional<LeftOutTransfer> LeftOutBy(const HangModel& model, const HangRank& rank,
                                         const HangOperation& transfer) {
  if (rank.is_active_only) {
    return std::nullopt;
  }
  std::optional<LeftOutTransfer> found = LeftOutOfLaunch(model, rank, transfer);
  return found.has_value() ? found : LeftOutOfStep(model, rank, transfer);
}

}  // namespace borescope::internal
