#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "borescope/base/parallel.h"
#include "borescope/postmortem/hang_model.h"

namespace borescope::internal {
namespace {

// Whether the latest numbers of the groups show outstanding operations that the dump lacks; nothing
// where it has no such numbers.
std::optional<bool> LacksByStatus(const HangRank& rank, std::span<const HangGroup> groups) {
  const FlightDump& dump = *rank.dump;
  if (dump.status.empty()) {
    return std::nullopt;
  }
  std::set<int32_t> recorded;
  for (const FlightEntry& entry : dump.entries) {
    recorded.insert(entry.pg_id);
  }
  const bool lacks_group =
      std::any_of(dump.status.begin(), dump.status.end(), [&](const FlightStatus& status) {
        return !recorded.contains(status.pg_id) &&
               status.enqueued > std::max<int64_t>(status.completed, 0);
      });
  if (lacks_group) {
    return true;
  }
  // In a group of transfers alone the numbers are those of launches: the next one has to be here.
  std::map<int32_t, int32_t> first_launch;  // outstanding
  for (const IssuedTransfer& transfer : rank.transfers) {
    const FlightEntry& entry = dump.entries[transfer.entry];
    if (groups[transfer.operation.group].has_collective) continue;
    const auto at = first_launch.try_emplace(entry.pg_id, entry.p2p_seq).first;
    at->second = std::min(at->second, entry.p2p_seq);
  }
  const bool lacks_launch =
      std::any_of(first_launch.begin(), first_launch.end(), [&](const auto& one) {
        const FlightStatus* const status = dump.StatusOf(one.first);
        return status != nullptr && std::max<int64_t>(status->completed, 0) + 1 < one.second;
      });
  if (lacks_launch) {
    return true;
  }
  std::map<int32_t, int64_t> outstanding;
  std::set<int32_t> with_transfers;
  for (const IssuedOperation& operation : rank.operations) {
    const int32_t id = dump.entries[operation.first_entry].pg_id;
    outstanding[id] += operation.is_outstanding ? 1 : 0;
    if (groups[operation.group].has_p2p) {
      with_transfers.insert(id);
    }
  }
  return std::any_of(outstanding.begin(), outstanding.end(), [&](const auto& one) {
    const FlightStatus* const status = dump.StatusOf(one.first);
    return status != nullptr && !with_transfers.contains(one.first) &&
           status->enqueued - std::max<int64_t>(status->completed, 0) > one.second;
  });
}

// Whether outstanding entries may have left the ring.
bool MayLackOlder(const HangRank& rank, std::span<const HangGroup> groups) {
  const FlightDump& dump = *rank.dump;
  if (dump.entries.empty() || dump.entries.front().record_id == 0) {
    return false;
  }
  if (const std::optional<bool> lacks = LacksByStatus(rank, groups); lacks.has_value() && *lacks) {
    return true;
  }
  if (rank.head.empty()) {
    return false;
  }
  if (!rank.is_active_only) {
    // What was before the first entries is likely to be as complete as these are.
    constexpr size_t kSome = 10;
    return rank.head_entry < std::max<size_t>(1, dump.entries.size() / kSome);
  }
  return rank.is_ring_full;  // completed entries were left out
}

// Whether a ring is full: its records have no gap, begin after the first, and are as many as
// somebody may have asked for, and as in the largest dump.
bool IsRingFull(const FlightDump& dump, size_t most) {
  const size_t count = dump.entries.size();
  constexpr size_t kFewest = 10;
  if (count < kFewest || count != most || dump.entries.front().record_id == 0) {
    return false;
  }
  const bool has_no_gap = dump.entries.back().record_id - dump.entries.front().record_id + 1 ==
                          static_cast<int64_t>(count);
  return has_no_gap && (count % 10 == 0 || (count & (count - 1)) == 0);
}

// `most` entries are in the largest dump.
void FindHead(HangRank& rank, std::span<const HangGroup> groups, size_t most) {
  uint32_t last_of_head = HangRank::kNoEntry;
  for (const IssuedOperation& operation : rank.operations) {
    rank.outstanding += operation.is_outstanding ? 1 : 0;
    if (operation.is_outstanding && operation.first_entry < rank.head_entry) {
      rank.head_entry = operation.first_entry;
      rank.head = {{.group = operation.group, .number = operation.number}};
    }
  }
  rank.outstanding += rank.transfers.size();
  for (const IssuedTransfer& transfer : rank.transfers) {
    if (transfer.entry < rank.head_entry) {
      rank.head_entry = transfer.entry;
      last_of_head = transfer.last_entry;
      rank.head.clear();
    }
  }
  if (rank.head.empty() && rank.head_entry != HangRank::kNoEntry) {
    for (const IssuedTransfer& transfer : rank.transfers) {
      if (transfer.last_entry == last_of_head) {
        rank.head.push_back(transfer.operation);
      }
    }
  }
  rank.is_ring_full = IsRingFull(*rank.dump, most);
  rank.may_lack_older = MayLackOlder(rank, groups);
}

}  // namespace

// The number by which the dump of `rank` knows a group of which it has no entry, from the dumps of
// members that have; nothing where these do not agree, or it cannot be the same there.
std::optional<int32_t> StatusIdOf(const HangModel& model, const HangRank& rank, uint32_t group) {
  if (const std::span<const IssuedOperation> own = rank.InGroup(group); !own.empty()) {
    return rank.dump->entries[own.front().first_entry].pg_id;
  }
  const auto uses = [](const FlightDump& dump, int32_t id) {
    return std::any_of(dump.entries.begin(), dump.entries.end(),
                       [id](const FlightEntry& entry) { return entry.pg_id == id; });
  };
  const auto has_same_ids = [&](const FlightDump& other) {
    return std::equal(other.status.begin(), other.status.end(), rank.dump->status.begin(),
                      rank.dump->status.end(), [](const FlightStatus& a, const FlightStatus& b) {
                        return a.pg_id == b.pg_id;
                      });
  };
  std::optional<int32_t> id;
  bool is_like_all = true;
  constexpr size_t kMostAsked = 16;
  size_t asked = 0;
  for (const int32_t member : model.groups[group].members) {
    const HangRank* const other = model.Of(member);
    if (other == nullptr || other == &rank || other->InGroup(group).empty()) {
      continue;
    }
    const int32_t theirs = other->dump->entries[other->InGroup(group).front().first_entry].pg_id;
    if (id.has_value() && *id != theirs) {
      return std::nullopt;
    }
    id = theirs;
    is_like_all = is_like_all && has_same_ids(*other->dump);
    if (++asked == kMostAsked) {
      break;
    }
  }
  return id.has_value() && (is_like_all || !uses(*rank.dump, *id)) ? id : std::nullopt;
}

namespace {

// Of one group, by the latest number of a rank: the first operation it has not finished, where that
// left the ring.
struct LostInGroup {
  bool is_lost = false;
  std::optional<HangOperation> first;  // nothing: of a group of transfers, whose pair nobody knows
};
LostInGroup FindLost(const HangModel& model, const HangRank& rank, uint32_t group,
                     const FlightStatus& status) {
  const int64_t next = std::max<int64_t>(status.completed, 0) + 1;
  if (status.enqueued < next) {
    return {};
  }
  const std::span<const IssuedOperation> own = rank.InGroup(group);
  if (model.groups[group].has_p2p) {
    // Where a group has collectives as well, these share the numbers of the status.
    const bool is_mixed = model.groups[group].has_collective;
    const bool is_here = std::any_of(
        rank.dump->entries.begin(), rank.dump->entries.end(), [&](const FlightEntry& entry) {
          return entry.group != FlightEntry::kNothing && rank.group_of[entry.group] == group &&
                 (is_mixed || entry.p2p_seq == next);
        });
    return {.is_lost = !is_here, .first = std::nullopt};
  }
  const bool is_lost = own.empty() || (next < own.front().number && own.front().is_outstanding &&
                                       status.enqueued >= own.back().number);
  return {.is_lost = is_lost,
          .first = HangOperation{.group = group, .number = static_cast<int32_t>(next)}};
}

// The outstanding collective before all that the dump has, by the latest numbers of its groups:
// completed is all up to one that left the ring. Nothing where that is so of several groups, as
// nobody knows which of these is the oldest, and where a number is older than an entry.
std::optional<HangOperation> LostHead(const HangModel& model, const HangRank& rank) {
  if (!rank.may_lack_older || !rank.dump->IsWhole() || rank.dump->status.empty()) {
    return std::nullopt;
  }
  std::optional<HangOperation> lost;
  std::set<int32_t> seen;  // numbers of groups
  for (uint32_t group = 0; group < model.groups.size(); ++group) {
    const std::vector<int32_t>& members = model.groups[group].members;
    if (!std::binary_search(members.begin(), members.end(), rank.rank)) {
      continue;
    }
    const std::optional<int32_t> id = StatusIdOf(model, rank, group);
    const FlightStatus* const status = id.has_value() ? rank.dump->StatusOf(*id) : nullptr;
    if (status == nullptr) {
      continue;
    }
    seen.insert(*id);
    const LostInGroup found = FindLost(model, rank, group, *status);
    if (found.is_lost && (lost.has_value() || !found.first.has_value())) {
      return std::nullopt;
    }
    if (found.is_lost) {
      lost = found.first;
    }
  }
  // A group of which nobody has an entry may hold an older one.
  const bool has_unknown = std::any_of(
      rank.dump->status.begin(), rank.dump->status.end(), [&](const FlightStatus& status) {
        return !seen.contains(status.pg_id) &&
               status.enqueued > std::max<int64_t>(status.completed, 0);
      });
  return has_unknown ? std::nullopt : lost;
}

// Where ranks are whose oldest operation left the ring.
void FindLostHeads(HangModel& model) {
  std::vector<std::optional<HangOperation>> lost(model.ranks.size());
  for (size_t i = 0; i < model.ranks.size(); ++i) {
    lost[i] = LostHead(model, model.ranks[i]);
  }
  for (size_t i = 0; i < model.ranks.size(); ++i) {
    if (lost[i].has_value()) {
      model.ranks[i].head = {*lost[i]};
      model.ranks[i].head_entry = HangRank::kNoEntry;
    }
  }
}

}  // namespace

void FindHeads(HangModel& model, int threads) {
  size_t most = 0;
  for (const HangRank& rank : model.ranks) {
    most = std::max(most, rank.dump->entries.size());
  }
  ParallelFor(model.ranks.size(), threads,
              [&](size_t i) { FindHead(model.ranks[i], model.groups, most); });
  FindLostHeads(model);
}

}  // namespace borescope::internal
