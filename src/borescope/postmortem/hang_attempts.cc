#include "borescope/postmortem/hang_attempts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/postmortem/findings.h"

namespace borescope::internal {
namespace {

struct OddDumps {
  std::vector<int32_t> of_other_attempts;
  std::vector<int32_t> with_odd_clocks;
};

// As far apart are folders of attempts (dump_files.cc); clocks of hosts seldom are.
constexpr int64_t kApartNs = 600 * kSecondNs;

// A rank's part of a collective that needs all members.
struct TimedPart {
  uint32_t rank = 0;  // of the model
  int64_t issued_ns = 0;
  int64_t finished_ns = 0;  // 0: it did not finish
};

// With how many members of its groups the times of a rank could be compared, and of how many they
// are apart from its own.
struct Votes {
  size_t peers = 0;
  size_t apart = 0;
};

// What members of a group did of the collectives that need all of them, by number.
std::map<int32_t, std::vector<TimedPart>> TimedPartsOf(const HangModel& model, uint32_t group) {
  std::map<int32_t, std::vector<TimedPart>> found;
  for (const int32_t member : model.groups[group].members) {
    CheckStop();
    const HangRank* const rank = model.Of(member);
    if (rank == nullptr) {
      continue;
    }
    for (const IssuedOperation& issued : rank->InGroup(group)) {
      const FlightEntry& first = rank->dump->entries[issued.first_entry];
      const FlightEntry& last = rank->dump->entries[issued.last_entry];
      const bool is_known =
          first.created_ns > 0 && (issued.is_outstanding || last.discovered_finished_ns > 0);
      if (is_known && NeedsAll(OperationName(rank->dump->Name(first)))) {
        found[issued.number].push_back(
            {.rank = static_cast<uint32_t>(rank - model.ranks.data()),
             .issued_ns = first.created_ns,
             .finished_ns = issued.is_outstanding ? 0 : last.discovered_finished_ns});
      }
    }
  }
  return found;
}

// For each rank of `parts`: of how many others it finished before they issued, or issued after they
// had finished. Of several operations that with most of them, and most that are apart, counts.
void Compare(std::span<const TimedPart> parts, std::map<uint32_t, Votes>& in_group) {
  if (parts.size() < 2) {
    return;
  }
  std::vector<int64_t> issued;
  std::vector<int64_t> finished;
  std::vector<int64_t> issued_of_finished;
  for (const TimedPart& part : parts) {
    issued.push_back(part.issued_ns);
    if (part.finished_ns > 0) {
      finished.push_back(part.finished_ns);
      issued_of_finished.push_back(part.issued_ns);
    }
  }
  std::sort(issued.begin(), issued.end());
  std::sort(finished.begin(), finished.end());
  std::sort(issued_of_finished.begin(), issued_of_finished.end());
  for (const TimedPart& part : parts) {
    // What it has not finished it may have waited in, but not that long before others issued what
    // they finished.
    const int64_t end = part.finished_ns == 0 ? part.issued_ns : part.finished_ns;
    const std::vector<int64_t>& times = part.finished_ns == 0 ? issued_of_finished : issued;
    const auto after = times.end() - std::upper_bound(times.begin(), times.end(), end + kApartNs);
    const auto before =
        std::lower_bound(finished.begin(), finished.end(), part.issued_ns - kApartNs) -
        finished.begin();
    Votes& votes = in_group[part.rank];
    const size_t peers = parts.size() - 1;
    const auto apart = static_cast<size_t>(after + before);
    if (peers > votes.peers || (peers == votes.peers && apart > votes.apart)) {
      votes = {.peers = peers, .apart = apart};
    }
  }
}

// Whether nothing contradicts that a rank is of the attempt of the others, but its times.
bool Fits(const HangModel& model, const HangRank& rank, std::span<const char> is_apart) {
  for (auto first = rank.operations.begin(); first != rank.operations.end();) {
    const std::span<const IssuedOperation> own = rank.InGroup(first->group);
    const uint32_t group = first->group;
    first += static_cast<std::ptrdiff_t>(own.size());
    const auto needs_all = [](const HangRank& of, const IssuedOperation& issued) {
      return NeedsAll(OperationName(of.dump->Name(of.dump->entries[issued.first_entry])));
    };
    const auto newest_finished = [&](const HangRank& of) -> std::optional<int32_t> {
      const std::span<const IssuedOperation> in_group = of.InGroup(group);
      for (size_t i = in_group.size(); i-- > 0;) {
        if (!in_group[i].is_outstanding && needs_all(of, in_group[i])) {
          return in_group[i].number;
        }
      }
      return std::nullopt;
    };
    const std::optional<int32_t> finished = newest_finished(rank);
    for (const int32_t member : model.groups[group].members) {
      const HangRank* const other = model.Of(member);
      const bool counts = other != nullptr && other != &rank && other->dump->IsWhole() &&
                          is_apart[static_cast<size_t>(other - model.ranks.data())] == 0 &&
                          !other->InGroup(group).empty();
      if (!counts) {
        continue;
      }
      const std::optional<int32_t> theirs = newest_finished(*other);
      const bool is_left_open = theirs.has_value() && !rank.is_active_only &&
                                finished.value_or(own.front().number - 1) < *theirs;
      const bool is_ahead = finished.has_value() && !other->is_active_only &&
                            other->InGroup(group).back().number < *finished;
      if (is_left_open || is_ahead) {
        return false;
      }
    }
  }
  return true;
}

OddDumps FindOddDumps(const HangModel& model) {
  OddDumps odd;
  int64_t first = 0;
  int64_t last = 0;
  for (const HangRank& rank : model.ranks) {
    if (const int64_t newest = rank.newest_created_ns; newest > 0) {
      first = first == 0 ? newest : std::min(first, newest);
      last = std::max(last, newest);
    }
  }
  if (last - first <= kApartNs) {
    return odd;  // as good as always
  }
  std::vector<Votes> votes(model.ranks.size());
  for (uint32_t group = 0; group < model.groups.size(); ++group) {
    std::map<uint32_t, Votes> in_group;
    for (const auto& [number, parts] : TimedPartsOf(model, group)) {
      Compare(parts, in_group);
    }
    for (const auto& [rank, of_group] : in_group) {
      votes[rank].peers += of_group.peers;
      votes[rank].apart += of_group.apart;
    }
  }
  std::vector<char> is_apart(model.ranks.size(), 0);
  size_t compared = 0;
  size_t apart = 0;
  for (size_t i = 0; i < votes.size(); ++i) {
    is_apart[i] = votes[i].apart * 2 > votes[i].peers ? 1 : 0;
    compared += votes[i].peers > 0 ? 1 : 0;
    apart += is_apart[i] != 0 ? 1 : 0;
  }
  const bool has_majority = apart * 2 < compared;
  for (size_t i = 0; i < votes.size(); ++i) {
    if (is_apart[i] == 0) {
      continue;
    }
    const HangRank& rank = model.ranks[i];
    const bool may_be = !has_majority || Fits(model, rank, is_apart);
    (may_be ? odd.with_odd_clocks : odd.of_other_attempts).push_back(rank.rank);
  }
  return odd;
}

// ---- dumps that are older than those of the others ----

struct OlderDumps {
  std::vector<int32_t> left_out;  // ranks; ascending
  std::vector<int32_t> in_doubt;  // likewise
};

// How far a member had come in a group.
struct Stand {
  const HangRank* rank = nullptr;
  std::optional<int32_t> finished;  // the latest collective that surely ended
  int64_t finished_ns = 0;          // when it saw that; 0: not recorded
  bool is_concluded = false;        // from what its dump lacks
  int32_t first_outstanding = INT32_MAX;
};

// The largest number that a rank issued in a group; nothing where its dump does not show it.
std::optional<int32_t> LargestIssued(const HangModel& model, const HangRank& rank, uint32_t group) {
  const FlightDump& dump = *rank.dump;
  std::optional<int32_t> largest;
  const std::span<const IssuedOperation> own = rank.InGroup(group);
  // Where completed records were left out, what follows an outstanding one is there.
  const bool is_last_here = !own.empty() && (own.back().is_outstanding || dump.HasNoGaps());
  if (dump.lost_entries == 0 && is_last_here) {
    largest = own.back().number;
  } else if (dump.lost_entries == 0 && own.empty() && rank.has_all_records && dump.HasNoGaps()) {
    largest = 0;
  }
  if (!model.groups[group].has_p2p) {  // else the numbers may be those of transfers
    const std::optional<int32_t> id = StatusIdOf(model, rank, group);
    if (const FlightStatus* const status = id.has_value() ? dump.StatusOf(*id) : nullptr;
        status != nullptr) {
      const auto enqueued = static_cast<int32_t>(
          std::clamp<int64_t>(status->enqueued, 0, std::numeric_limits<int32_t>::max()));
      largest = std::max(largest.value_or(0), enqueued);
    }
  }
  return largest;
}

// Whether a member gave an operation up, or saw it end as its communicator was aborted.
bool IsGivenUp(const HangRank& rank, const IssuedOperation& issued) {
  const FlightEntry& entry = rank.dump->entries[issued.last_entry];
  return issued.is_outstanding && (entry.discovered_finished_ns > 0 || entry.is_retired);
}

// Whether all members have to come to what an entry says. With gloo failed work looks like
// finished.
bool NeedsAllMembers(const FlightDump& dump, const FlightEntry& entry) {
  const std::string_view name = dump.Name(entry);
  return !name.starts_with("gloo:") && NeedsAll(OperationName(name));
}

// Whether that is so of all collectives that members recorded in a group.
bool AllNeedAll(const HangModel& model, uint32_t group) {
  const std::vector<int32_t>& members = model.groups[group].members;
  return std::all_of(members.begin(), members.end(), [&](int32_t member) {
    const HangRank* const rank = model.Of(member);
    const std::span<const IssuedOperation> own =
        rank == nullptr ? std::span<const IssuedOperation>() : rank->InGroup(group);
    return std::all_of(own.begin(), own.end(), [&](const IssuedOperation& issued) {
      return NeedsAllMembers(*rank->dump, rank->dump->entries[issued.first_entry]);
    });
  });
}

// The latest collective that needs all members and that a rank finished while nothing older was
// outstanding: what ends after that may have been aborted. `limit`: numbers from there on were
// given up by a member. `all_need_all`: AllNeedAll of the group.
void FindFinished(Stand& stand, uint32_t group, int32_t limit, bool all_need_all) {
  const HangRank& rank = *stand.rank;
  const FlightDump& dump = *rank.dump;
  const std::span<const IssuedOperation> own = rank.InGroup(group);
  if (own.empty() || !dump.IsWhole() || rank.has_odd_clock || rank.may_lack_older ||
      rank.IsHeadLost()) {
    return;
  }
  for (size_t i = own.size(); i-- > 0;) {
    const FlightEntry& first = dump.entries[own[i].first_entry];
    const FlightEntry& last = dump.entries[own[i].last_entry];
    const bool is_sure = !own[i].is_outstanding && own[i].number < limit &&
                         own[i].number < stand.first_outstanding &&
                         own[i].last_entry < rank.head_entry && last.timeout_ms > 0;
    if (is_sure && NeedsAllMembers(dump, first)) {
      stand.finished = own[i].number;
      stand.finished_ns = last.discovered_finished_ns;
      return;
    }
  }
  // What a dump of outstanding operations lacks before the first of a group is complete.
  const int32_t before = own.front().number - 1;
  if (rank.is_active_only && before > 0 && before < limit && all_need_all) {
    stand.finished = before;
    stand.is_concluded = true;
  }
}

std::vector<Stand> StandsIn(const HangModel& model, uint32_t group) {
  std::vector<Stand> stands;
  int32_t limit = INT32_MAX;
  for (const int32_t member : model.groups[group].members) {
    CheckStop();
    const HangRank* const rank = model.Of(member);
    if (rank == nullptr) {
      continue;
    }
    Stand stand;
    stand.rank = rank;
    for (const IssuedOperation& issued : rank->InGroup(group)) {
      if (issued.is_outstanding) {
        stand.first_outstanding = std::min(stand.first_outstanding, issued.number);
        limit = IsGivenUp(*rank, issued) ? std::min(limit, issued.number) : limit;
      }
    }
    stands.push_back(stand);
  }
  // Only dumps that hold nothing completed need it.
  const bool all_need_all =
      std::any_of(stands.begin(), stands.end(),
                  [](const Stand& stand) { return stand.rank->is_active_only; }) &&
      AllNeedAll(model, group);
  for (Stand& stand : stands) {
    FindFinished(stand, group, limit, all_need_all);
  }
  return stands;
}

// By how many collectives each rank of the job lags behind what others finished, at most; 0: it
// issued these, but saw none of them end.
using Lags = std::map<int32_t, int32_t>;

// Whether the dump of the member that finished most is of the same attempt as the others: else
// it is that which lags.
bool NoteLags(const HangModel& model, uint32_t group, const Stand& ahead,
              std::span<const Stand> stands, Lags& lags) {
  bool is_of_attempt = true;
  for (const Stand& stand : stands) {
    const HangRank& rank = *stand.rank;
    const std::span<const IssuedOperation> own = rank.InGroup(group);
    const bool is_up_to_date = !own.empty() && own.back().number >= *ahead.finished &&
                               stand.first_outstanding >= *ahead.finished;
    if (rank.rank == ahead.rank->rank || is_up_to_date || rank.has_odd_clock ||
        !rank.dump->IsWhole()) {
      continue;
    }
    const std::optional<int32_t> issued = LargestIssued(model, rank, group);
    const bool has_not_seen = !ahead.is_concluded && stand.first_outstanding < *ahead.finished;
    if (!has_not_seen && (!issued.has_value() || *issued >= *ahead.finished)) {
      continue;
    }
    const int64_t end =
        std::max(ahead.rank->newest_created_ns,
                 ahead.finished_ns == 0 ? 0 : ahead.finished_ns - ahead.rank->clock_ahead_ns);
    const bool is_older = rank.newest_created_ns <= end;
    const int32_t lag = !issued.has_value() ? 0 : std::max(*ahead.finished - *issued, 0);
    int32_t& most = lags[is_older ? rank.rank : ahead.rank->rank];
    most = std::max(most, lag);
    is_of_attempt = is_of_attempt && is_older;
  }
  return is_of_attempt;
}

OlderDumps FindOlderDumps(const HangModel& model) {
  Lags lags;
  for (uint32_t group = 0; group < model.groups.size(); ++group) {
    if (model.groups[group].is_inferred) {
      continue;
    }
    std::vector<Stand> stands = StandsIn(model, group);
    std::stable_sort(stands.begin(), stands.end(), [](const Stand& a, const Stand& b) {
      return a.finished.value_or(INT32_MIN) > b.finished.value_or(INT32_MIN);
    });
    for (const Stand& ahead : stands) {
      if (!ahead.finished.has_value() || NoteLags(model, group, ahead, stands, lags)) {
        break;
      }
    }
  }
  // A rank that left out operations, or a dump of seconds before, lags by few.
  constexpr int32_t kMostInDoubt = 8;
  OlderDumps older;
  for (const auto& [rank, lag] : lags) {
    (lag > kMostInDoubt ? older.left_out : older.in_doubt).push_back(rank);
  }
  return older;
}

// Ranks of whose newest record others issued work more than its timeout later.
void FindApart(HangModel& model) {
  for (HangRank& rank : model.ranks) {
    const int64_t behind = model.newest_created_ns - rank.newest_created_ns;
    if (behind < kSecondNs || rank.newest_created_ns == 0 || !rank.dump->IsWhole() ||
        rank.has_odd_clock) {
      continue;
    }
    int64_t timeout_ns = 0;
    for (const FlightEntry& entry : rank.dump->entries) {
      timeout_ns = std::max(timeout_ns, entry.timeout_ms * kMillisecondNs);
    }
    rank.is_apart = timeout_ns > 0 && behind > timeout_ns;
  }
}

HangModel ModelWithout(std::span<const int32_t> ranks, const HangModel& model,
                       std::vector<RankDump>& dumps, int32_t world, int threads) {
  std::erase_if(dumps, [&](const RankDump& dump) {
    return std::binary_search(ranks.begin(), ranks.end(), dump.rank);
  });
  return BuildHangModel(dumps, model.is_world_known ? model.world : world, threads);
}

void MarkOddClocks(HangModel& model, std::span<const int32_t> ranks) {
  for (HangRank& rank : model.ranks) {
    rank.has_odd_clock = std::binary_search(ranks.begin(), ranks.end(), rank.rank);
  }
}

}  // namespace

HangModel BuildModelOfOneAttempt(std::span<const RankDump> dumps, int32_t world, int threads) {
  std::vector<RankDump> kept(dumps.begin(), dumps.end());
  HangModel model = BuildHangModel(kept, world, threads);
  const OddDumps odd = FindOddDumps(model);
  if (!odd.of_other_attempts.empty()) {
    model = ModelWithout(odd.of_other_attempts, model, kept, world, threads);
  }
  MarkOddClocks(model, odd.with_odd_clocks);
  OlderDumps older = FindOlderDumps(model);
  const std::vector<int32_t> left_out = std::move(older.left_out);
  if (!left_out.empty()) {
    model = ModelWithout(left_out, model, kept, world, threads);
    MarkOddClocks(model, odd.with_odd_clocks);
    older = FindOlderDumps(model);
  }
  model.of_other_attempts = odd.of_other_attempts;
  model.with_older_dumps = left_out;
  for (const std::vector<int32_t>* const ranks : {&older.left_out, &older.in_doubt}) {
    for (const int32_t rank : *ranks) {
      model.ranks[static_cast<size_t>(model.by_rank[static_cast<size_t>(rank)])].is_behind = true;
    }
  }
  if (!odd.with_odd_clocks.empty()) {
    model.newest_created_ns = 0;
    for (const HangRank& rank : model.ranks) {
      model.newest_created_ns =
          std::max(model.newest_created_ns, rank.has_odd_clock ? 0 : rank.newest_created_ns);
    }
  }
  FindApart(model);
  return model;
}

}  // namespace borescope::internal
