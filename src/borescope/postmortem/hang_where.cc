#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/postmortem/hang_analysis.h"

namespace borescope::internal {
namespace {

std::optional<Where> ByStatus(const HangModel& model, const HangRank& rank,
                              const HangOperation& operation) {
  if (model.groups[operation.group].has_p2p || rank.dump->status.empty()) {
    return std::nullopt;  // transfers share the numbers of the status
  }
  const std::optional<int32_t> id = StatusIdOf(model, rank, operation.group);
  const FlightStatus* const status = id.has_value() ? rank.dump->StatusOf(*id) : nullptr;
  if (status == nullptr) {
    return std::nullopt;
  }
  if (operation.number <= status->completed) {
    return Where{WhereState::kDone, WhereBasis::kStatus};
  }
  return Where{operation.number <= status->enqueued ? WhereState::kOpen : WhereState::kNotIssued,
               WhereBasis::kStatus};
}

// Whether all records that both dumps have are of the same operation, and there is one: in one
// group, or in two alike, of each of which one of the two is a member.
bool HasSameProgram(const HangModel& model, const HangRank& a, const HangRank& b) {
  const std::vector<FlightEntry>& left = a.dump->entries;
  const std::vector<FlightEntry>& right = b.dump->entries;
  const auto are_like_groups = [&](const FlightEntry& x, const FlightEntry& y) {
    if (x.group == FlightEntry::kNothing || y.group == FlightEntry::kNothing) {
      return x.group == y.group;
    }
    const uint32_t own = a.group_of[x.group];
    const uint32_t other = b.group_of[y.group];
    const std::vector<int32_t>& members = model.groups[own].members;
    return own == other || (model.groups[own].description == model.groups[other].description &&
                            !std::binary_search(members.begin(), members.end(), b.rank));
  };
  size_t common = 0;
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i].record_id != right[j].record_id) {
      left[i].record_id < right[j].record_id ? ++i : ++j;
      continue;
    }
    const FlightEntry& x = left[i++];
    const FlightEntry& y = right[j++];
    const bool is_same = x.collective_seq == y.collective_seq && x.p2p_seq == y.p2p_seq &&
                         OperationName(a.dump->Name(x)) == OperationName(b.dump->Name(y)) &&
                         are_like_groups(x, y);
    if (!is_same) {
      return false;
    }
    ++common;
  }
  return common > 0;
}

std::optional<Where> ByAlignment(const HangModel& model, const HangRank& rank,
                                 const HangOperation& operation) {
  if (!rank.is_active_only || rank.dump->entries.empty()) {
    return std::nullopt;
  }
  constexpr size_t kMostAsked = 32;
  size_t asked = 0;
  for (const int32_t member : model.groups[operation.group].members) {
    const HangRank* const peer = model.Of(member);
    const IssuedOperation* const issued = peer == nullptr ? nullptr : peer->Find(operation);
    if (issued == nullptr) {
      continue;
    }
    if (HasSameProgram(model, *peer, rank)) {
      const bool is_behind =
          rank.dump->entries.back().record_id >= peer->dump->entries[issued->first_entry].record_id;
      return Where{is_behind ? WhereState::kDone : WhereState::kNotIssued, WhereBasis::kAligned};
    }
    if (++asked == kMostAsked) {
      break;
    }
  }
  return std::nullopt;
}

// Whether a rank of whose dump completed entries were left out must have been through an operation:
// few members still have it, and all that this rank has outstanding was issued after it.
bool IsPastByTime(const HangModel& model, const HangRank& rank, const HangOperation& operation) {
  const auto facts = model.heads.find(operation);
  if (!rank.is_active_only || rank.head_entry == HangRank::kNoEntry || facts == model.heads.end() ||
      facts->second.last_created_ns == 0 ||
      facts->second.recorded * 2 >= model.groups[operation.group].members.size()) {
    return false;
  }
  const int64_t oldest = rank.dump->entries[rank.head_entry].created_ns - rank.clock_ahead_ns;
  return oldest > facts->second.last_created_ns;
}

// Whether a rank has issued all transfers that a rank of the same program has issued: what that one
// has beyond its last record are other operations.
bool HasIssuedAsManyTransfers(const HangRank& rank, const HangRank& like) {
  const int64_t last = rank.dump->entries.back().record_id;
  int64_t others = 0;
  const std::vector<FlightEntry>& entries = like.dump->entries;
  for (auto entry = entries.rbegin(); entry != entries.rend() && entry->record_id > last; ++entry) {
    others += entry->is_p2p ? 0 : 1;
  }
  return entries.back().record_id - last <= others;
}

// Whether a rank finished its part of a transfer, of which it has no entry, by what a pair of ranks
// did that run the same programs in another group: there the transfer is done, and this rank has
// issued no less than its like.
bool IsDoneByLike(const HangModel& model, const HangRank& rank, const HangOperation& operation) {
  const int32_t other_end = operation.from == rank.rank ? operation.to : operation.from;
  const HangRank* const waits = model.Of(other_end);
  const IssuedTransfer* const transfer =
      waits == nullptr ? nullptr : waits->FindTransfer(operation);
  if (transfer == nullptr || !rank.dump->IsWhole() || rank.dump->entries.empty()) {
    return false;
  }
  const int64_t record = waits->dump->entries[transfer->entry].record_id;
  const HangGroup& own = model.groups[operation.group];
  const auto place = [&](int32_t member) {
    return static_cast<size_t>(std::lower_bound(own.members.begin(), own.members.end(), member) -
                               own.members.begin());
  };
  constexpr size_t kMostAsked = 8;
  size_t asked = 0;
  for (const HangGroup& group : model.groups) {
    if (&group == &own || group.members.size() != own.members.size() ||
        group.description != own.description) {
      continue;
    }
    const HangRank* const like = model.Of(group.members[place(rank.rank)]);
    const HangRank* const passed = model.Of(group.members[place(other_end)]);
    if (++asked > kMostAsked) {
      break;
    }
    if (like == nullptr || passed == nullptr || passed->dump->entries.empty() ||
        like->dump->entries.empty() || passed->IsUnknown() || passed->IsHeadDoubtful()) {
      continue;
    }
    // Where all outstanding records of that rank are later ones, it finished this one.
    const bool is_past =
        passed->dump->entries.back().record_id >= record &&
        (passed->head.empty() || (passed->head_entry != HangRank::kNoEntry &&
                                  passed->dump->entries[passed->head_entry].record_id > record));
    if (is_past && HasIssuedAsManyTransfers(rank, *like) &&
        HasSameProgram(model, *waits, *passed) && HasSameProgram(model, rank, *like)) {
      return true;
    }
  }
  return false;
}

Where WhereIsTransfer(const HangModel& model, const HangRank& rank,
                      const HangOperation& operation) {
  if (rank.FindTransfer(operation) != nullptr) {
    return {WhereState::kOpen, WhereBasis::kRecorded};
  }
  // Where both ends have all their transfers, the number counts from the first one on.
  const HangRank* const peer =
      model.Of(operation.from == rank.rank ? operation.to : operation.from);
  if (peer != nullptr && rank.HasAllTransfers(operation.group) &&
      peer->HasAllTransfers(operation.group)) {
    HangOperation first = operation;
    first.number = 0;
    const auto finished = rank.finished_transfers.find(first);
    if (finished != rank.finished_transfers.end() && operation.number < finished->second) {
      return {WhereState::kDone, WhereBasis::kRecorded};
    }
    return {WhereState::kNotIssued, WhereBasis::kOrder};
  }
  if (IsDoneByLike(model, rank, operation)) {
    return {WhereState::kDone, WhereBasis::kAligned};
  }
  return rank.dump->IsWhole() ? Where{WhereState::kNotIssued, WhereBasis::kAbsent}
                              : Where{WhereState::kNoDump, WhereBasis::kNoDump};
}

}  // namespace

Where WhereIs(const HangModel& model, int32_t rank, const HangOperation& operation) {
  const HangRank* const at = model.Of(rank);
  if (at == nullptr) {
    return {WhereState::kNoDump, WhereBasis::kNoDump};
  }
  if (operation.is_p2p) {
    return WhereIsTransfer(model, *at, operation);
  }
  if (const IssuedOperation* const issued = at->Find(operation); issued != nullptr) {
    return {issued->is_outstanding ? WhereState::kOpen : WhereState::kDone, WhereBasis::kRecorded};
  }
  const std::span<const IssuedOperation> in_group = at->InGroup(operation.group);
  if (!in_group.empty() && operation.number < in_group.back().number) {
    if (at->IsHeadLost() && at->head.front().group == operation.group &&
        operation.number >= at->head.front().number) {
      return {WhereState::kOpen, WhereBasis::kStatus};
    }
    // Evicted entries are complete, unless the ring was full of outstanding ones, or is full and
    // has no complete one of the group.
    const bool is_doubtful =
        operation.number < in_group.front().number &&
        (at->may_lack_older || (at->is_ring_full && in_group.front().is_outstanding));
    if (is_doubtful) {
      // Of a ring that is full nobody knows; else all that it has outstanding was issued later.
      const WhereBasis basis = at->is_ring_full ? WhereBasis::kAbsent : WhereBasis::kTime;
      return ByStatus(model, *at, operation).value_or(Where{WhereState::kDone, basis});
    }
    return {WhereState::kDone, WhereBasis::kOrder};
  }
  const std::optional<Where> aligned = ByAlignment(model, *at, operation);
  if (aligned.has_value() && aligned->state == WhereState::kDone) {
    return *aligned;
  }
  if (const std::optional<Where> status = ByStatus(model, *at, operation)) {
    return *status;
  }
  if (aligned.has_value() && at->dump->IsWhole()) {
    return *aligned;  // what it issued later may be complete, and left out
  }
  if (IsPastByTime(model, *at, operation)) {
    return {WhereState::kDone, WhereBasis::kTime};
  }
  if (!at->dump->IsWhole()) {
    return {WhereState::kNoDump, WhereBasis::kNoDump};  // the lost part may have it
  }
  const bool has_all = !at->dump->entries.empty() && at->dump->entries.front().record_id == 0;
  const bool is_sure = !at->is_active_only && (has_all || !in_group.empty());
  return {WhereState::kNotIssued, is_sure ? WhereBasis::kOrder : WhereBasis::kAbsent};
}

}  // namespace borescope::internal
