#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/hang_model.h"

namespace borescope::internal {
namespace {

// What is less than that apart is no clock: the watchdog sees work end up to a second late.
constexpr int64_t kLeastNs = 2 * kSecondNs;
// What is more is another attempt of the job, or an odd clock (hang_attempts.cc).
constexpr int64_t kMostNs = 600 * kSecondNs;
constexpr size_t kFewestMembers = 3;
constexpr size_t kFewestCompared = 3;
constexpr size_t kMostCompared = 16;  // the newest of a group

int64_t MiddleOf(std::vector<int64_t>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// When members saw the newest collectives of a group end that nobody leaves before all came, by
// number: pairs of a place in the model and a time.
using Ends = std::map<int32_t, std::vector<std::pair<size_t, int64_t>>>;
Ends NewestEnds(const HangModel& model, uint32_t group) {
  Ends ends;
  for (const int32_t member : model.groups[group].members) {
    CheckStop();
    const HangRank* const rank = model.Of(member);
    if (rank == nullptr) {
      continue;
    }
    const std::span<const IssuedOperation> issued = rank->InGroup(group);
    size_t taken = 0;
    for (size_t i = issued.size(); i-- > 0 && taken < kMostCompared;) {
      const FlightEntry& last = rank->dump->entries[issued[i].last_entry];
      const FlightEntry& first = rank->dump->entries[issued[i].first_entry];
      if (!issued[i].is_outstanding && last.discovered_finished_ns > 0 &&
          NeedsAll(OperationName(rank->dump->Name(first)))) {
        ends[issued[i].number].emplace_back(static_cast<size_t>(rank - model.ranks.data()),
                                            last.discovered_finished_ns);
        ++taken;
      }
    }
  }
  return ends;
}

}  // namespace

void FindClocks(HangModel& model) {
  std::vector<uint32_t> groups;
  for (uint32_t group = 0; group < model.groups.size(); ++group) {
    if (model.groups[group].members.size() >= kFewestMembers) groups.push_back(group);
  }
  // The largest first: there the middle is that of most hosts.
  std::stable_sort(groups.begin(), groups.end(), [&](uint32_t a, uint32_t b) {
    return model.groups[a].members.size() > model.groups[b].members.size();
  });
  std::vector<char> is_known(model.ranks.size(), 0);
  for (const uint32_t group : groups) {
    const std::vector<int32_t>& members = model.groups[group].members;
    const bool is_any_new = std::any_of(members.begin(), members.end(), [&](int32_t member) {
      const HangRank* const rank = model.Of(member);
      return rank != nullptr && is_known[static_cast<size_t>(rank - model.ranks.data())] == 0;
    });
    if (!is_any_new) {
      continue;
    }
    std::map<size_t, std::vector<int64_t>> apart;  // by place in the model
    for (const auto& [number, ends] : NewestEnds(model, group)) {
      if (ends.size() < kFewestMembers) {
        continue;
      }
      std::vector<int64_t> times;
      times.reserve(ends.size());
      for (const auto& [rank, time] : ends) {
        // Members whose clock is known already are on the common one.
        times.push_back(time - model.ranks[rank].clock_ahead_ns);
      }
      const int64_t middle = MiddleOf(times);
      for (const auto& [rank, time] : ends) {
        if (is_known[rank] == 0) apart[rank].push_back(time - middle);
      }
    }
    for (auto& [rank, differences] : apart) {
      if (differences.size() < kFewestCompared) {
        continue;
      }
      is_known[rank] = 1;
      const auto [least, most] = std::minmax_element(differences.begin(), differences.end());
      const bool is_steady = SubtractSaturating(*most, *least) < kSecondNs;
      const int64_t ahead = MiddleOf(differences);
      if (is_steady && std::abs(ahead) >= kLeastNs && std::abs(ahead) < kMostNs) {
        model.ranks[rank].clock_ahead_ns = ahead;
        model.ranks[rank].newest_created_ns -= ahead;
      }
    }
  }
}

}  // namespace borescope::internal
