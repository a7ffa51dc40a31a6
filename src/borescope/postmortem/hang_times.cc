#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "borescope/postmortem/hang_analysis.h"

namespace borescope::internal {
namespace {

constexpr int64_t kDayNs = 86'400 * kSecondNs;

// Whether a file was written when a dump at a timeout is: from half of it on, for whoever gives
// up first, and not so late that it can only be the time of a copy.
bool IsAgeOfTimeout(const HangRank* rank, const HangOperation& operation,
                    std::optional<int64_t> age) {
  const FlightEntry* const entry = LastEntryOf(rank, operation);
  if (entry == nullptr || entry->timeout_ms <= 0 || !age.has_value()) {
    return false;
  }
  constexpr int64_t kToWrite = 60 * kSecondNs;
  const int64_t timeout_ns = entry->timeout_ms * kMillisecondNs;
  return *age >= timeout_ns / 2 && *age <= 2 * timeout_ns + kToWrite;
}

// When the watchdog ended an operation that did not finish; 0 where it did not.
int64_t GivenUpAt(const HangRank* rank, const HangOperation& operation) {
  const FlightEntry* const entry = LastEntryOf(rank, operation);
  return entry != nullptr && entry->discovered_finished_ns > 0 && IsOutstanding(*rank->dump, *entry)
             ? entry->discovered_finished_ns - rank->clock_ahead_ns
             : 0;
}

// From `since` until the file of a rank was written; nothing where its time is not that.
std::optional<int64_t> AgeByFile(const HangModel& model, const HangRank& rank, int64_t since) {
  if (rank.modified_ns == 0) {
    return std::nullopt;
  }
  // Files have the time of the rank's host or of a server: of two that may be, the earlier one.
  const int64_t by_common = rank.modified_ns - rank.clock_ahead_ns;
  for (const int64_t written :
       {std::min(by_common, rank.modified_ns), std::max(by_common, rank.modified_ns)}) {
    const int64_t after = written - model.newest_created_ns;
    if (after > -kSecondNs && after < kDayNs) {
      return written - since;
    }
  }
  return std::nullopt;
}

bool AllIssuedWithin(const HangModel& model, int64_t span_ns) {
  return std::all_of(model.ranks.begin(), model.ranks.end(), [&](const HangRank& rank) {
    return rank.newest_created_ns == 0 || !rank.dump->IsWhole() ||
           model.newest_created_ns - rank.newest_created_ns < span_ns;
  });
}

// Whether the watchdog of a rank gave up an operation: it is no longer watched, and not done.
bool IsGivenUp(const HangRank* rank, const HangOperation& operation) {
  const FlightEntry* const entry = LastEntryOf(rank, operation);
  return entry != nullptr && entry->is_retired && IsOutstanding(*rank->dump, *entry);
}

HangShown Shown(const HangModel& model, const HangCulprit& culprit,
                std::span<const int32_t> waiting, std::optional<int64_t> age) {
  const HangRank* const rank = model.Of(culprit.waiting_rank);
  if (std::any_of(waiting.begin(), waiting.end(),
                  [&](int32_t one) { return IsGivenUp(model.Of(one), culprit.evidence); })) {
    return HangShown::kShown;
  }
  if (rank == nullptr) {
    return HangShown::kAssumed;
  }
  if (const FlightEntry* const entry = LastEntryOf(rank, culprit.evidence); entry != nullptr) {
    // The time of a file is no proof of a hang: a copy has the time at which it was copied.
    const int64_t timeout_ns = entry->timeout_ms * kMillisecondNs;
    if (timeout_ns > 0 && culprit.waited_ns >= timeout_ns / 2) {
      return HangShown::kShown;
    }
  }
  constexpr int64_t kShort = 10 * kSecondNs;
  return age.has_value() && *age < kShort && AllIssuedWithin(model, kShort) ? HangShown::kNotShown
                                                                            : HangShown::kAssumed;
}

}  // namespace

const FlightEntry* LastEntryOf(const HangRank* rank, const HangOperation& operation) {
  if (rank == nullptr) {
    return nullptr;
  }
  const IssuedOperation* const issued = rank->Find(operation);
  const IssuedTransfer* const transfer = rank->FindTransfer(operation);
  return issued != nullptr     ? &rank->dump->entries[issued->last_entry]
         : transfer != nullptr ? &rank->dump->entries[transfer->last_entry]
                               : nullptr;
}

int64_t Earliest(const HangModel& model, std::span<const int32_t> ranks,
                 const HangOperation& operation) {
  int64_t earliest = 0;
  for (const int32_t rank : ranks) {
    const HangRank* const at = model.Of(rank);
    const bool has_time = at != nullptr && !at->has_odd_clock;
    const int64_t issued = has_time ? model.IssuedAt(*at, operation) : 0;
    earliest = issued != 0 && (earliest == 0 || issued < earliest) ? issued : earliest;
  }
  return earliest;
}

void SetTimes(const HangModel& model, HangCulprit& culprit, std::span<const int32_t> waiting) {
  culprit.waiting = waiting.size();
  culprit.since_ns = Earliest(model, waiting, culprit.evidence);
  for (const int32_t rank : waiting) {
    const HangRank* const at = model.Of(rank);
    if (at == nullptr || at->has_odd_clock) {
      continue;
    }
    const bool came_first = model.IssuedAt(*at, culprit.evidence) == culprit.since_ns;
    if (came_first && (culprit.waiting_rank < 0 || rank < culprit.waiting_rank)) {
      culprit.waiting_rank = rank;
    }
  }
  const HangRank* const first = model.Of(culprit.waiting_rank);
  const std::optional<int64_t> age = first == nullptr || culprit.since_ns == 0
                                         ? std::nullopt
                                         : AgeByFile(model, *first, culprit.since_ns);
  const int64_t until = std::max(model.newest_created_ns, GivenUpAt(first, culprit.evidence));
  culprit.waited_ns = culprit.since_ns == 0 ? 0 : std::max<int64_t>(until - culprit.since_ns, 0);
  culprit.shown = Shown(model, culprit, waiting, age);
  if (culprit.shown != HangShown::kShown && IsAgeOfTimeout(first, culprit.evidence, age)) {
    culprit.shown = HangShown::kShown;
    culprit.is_shown_by_file = true;
    culprit.waited_ns = *age;
  }
}

}  // namespace borescope::internal
