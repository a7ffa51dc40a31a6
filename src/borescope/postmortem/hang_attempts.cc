#include "borescope/postmortem/hang_attempts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
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
      const bool counts = other != nullptr && other != &rank && !other->dump->is_cut &&
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

}  // namespace

HangModel BuildModelOfOneAttempt(std::span<const RankDump> dumps, int32_t world, int threads) {
  HangModel model = BuildHangModel(dumps, world, threads);
  const OddDumps odd = FindOddDumps(model);
  if (!odd.of_other_attempts.empty()) {
    std::vector<RankDump> kept(dumps.begin(), dumps.end());
    std::erase_if(kept, [&](const RankDump& dump) {
      return std::binary_search(odd.of_other_attempts.begin(), odd.of_other_attempts.end(),
                                dump.rank);
    });
    model = BuildHangModel(kept, model.is_world_known ? model.world : world, threads);
    model.of_other_attempts = odd.of_other_attempts;
  }
  for (const int32_t rank : odd.with_odd_clocks) {
    model.ranks[static_cast<size_t>(model.by_rank[static_cast<size_t>(rank)])].has_odd_clock = true;
  }
  if (!odd.with_odd_clocks.empty()) {
    model.newest_created_ns = 0;
    for (const HangRank& rank : model.ranks) {
      model.newest_created_ns =
          std::max(model.newest_created_ns, rank.has_odd_clock ? 0 : rank.newest_created_ns);
    }
  }
  return model;
}

}  // namespace borescope::internal
