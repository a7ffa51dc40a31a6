#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/postmortem/hang_model.h"

namespace borescope::internal {
namespace {

using GroupKey = std::pair<std::string, std::vector<int32_t>>;
// Lists of ranks, which many dumps share: distinguished by where they lie.
using RankSpan = std::span<const int32_t>;

// The members of a group as a dump lists them; nullptr where it does not.
const FlightGroup* Listed(const FlightDump& dump, std::string_view name) {
  const auto at =
      std::lower_bound(dump.groups.begin(), dump.groups.end(), name,
                       [](const FlightGroup& group, std::string_view n) { return group.name < n; });
  return at == dump.groups.end() || at->name != name || at->ranks.empty() ? nullptr : &*at;
}

// gloo lists one group, without a name: the members of the group that the process made last.
bool ListsNewestAlone(const FlightDump& dump) {
  return dump.groups.size() == 1 && dump.groups.front().name.empty();
}

bool IsMember(std::span<const int32_t> members, int32_t rank) {
  return std::binary_search(members.begin(), members.end(), rank);
}

std::string_view NewestGroup(const FlightDump& dump) {
  std::string_view newest;
  for (const FlightGroupName& named : dump.named_groups) {
    if (named.description != "default_pg" &&
        (newest.empty() || IsGroupNameBefore(newest, named.name))) {
      newest = named.name;
    }
  }
  return newest;
}

// How many ranks the job has.
struct World {
  int32_t ranks = 0;
  bool is_known = false;  // else there may be more
  bool is_told = false;   // by the user or by lists of members
};

// The groups of all dumps, numbered; which of them the names of each dump mean.
class GroupTable {
 public:
  GroupTable(std::span<const RankDump> dumps, const World& world) : world_(world) {
    std::set<std::pair<std::string_view, const int32_t*>> listed;
    const auto list = [&](std::string_view name, RankSpan ranks) {
      if (listed.emplace(name, ranks.data()).second) {
        lists_[std::string(name)].push_back(ranks);
      }
    };
    for (const RankDump& dump : dumps) {
      for (const FlightGroupName& named : dump.dump->named_groups) {
        recorders_[std::string(named.name)].push_back(dump.rank);
      }
      for (const FlightGroup& group : dump.dump->groups) {
        list(group.name, group.ranks);
      }
    }
    for (auto& [name, ranks] : recorders_) {
      std::sort(ranks.begin(), ranks.end());
      ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    }
    TakeListsOfNewest(dumps);
    for (auto& [name, lists] : lists_) {
      std::sort(lists.begin(), lists.end(), IsListBefore());
    }
    all_.resize(static_cast<size_t>(world_.ranks));
    std::iota(all_.begin(), all_.end(), 0);
  }

  // The groups that the names of a dump mean, in the order of FlightDump::named_groups.
  std::vector<uint32_t> Find(const RankDump& of) {
    std::vector<uint32_t> found;
    const std::string_view first_default = FirstDefault(*of.dump);
    for (const FlightGroupName& named : of.dump->named_groups) {
      bool is_inferred = false;
      bool is_guessed = false;
      const bool is_default = named.description == "default_pg" && named.name == first_default;
      const RankSpan members = MembersOf(of, named, is_default, is_inferred, is_guessed);
      found.push_back(NumberOf(named, members, is_inferred, is_guessed));
    }
    return found;
  }

  std::vector<HangGroup>& groups() { return groups_; }

 private:
  // gloo lists the members of the group that was made last, without its name: that of the newest
  // one of which the dump has an entry, unless it made another one since and has not used it. Then
  // ranks that recorded that name are not in the list, though other lists show no other group of
  // the name that they are in.
  void TakeListsOfNewest(std::span<const RankDump> dumps) {
    std::map<std::string_view, NewestLists> by_name;
    std::set<int32_t> with_entries;  // ranks with whole dumps
    for (const RankDump& dump : dumps) {
      if (dump.dump->IsWhole() && !dump.dump->entries.empty()) {
        with_entries.insert(dump.rank);
      }
      const std::string_view newest = NewestGroup(*dump.dump);
      if (ListsNewestAlone(*dump.dump) && !newest.empty()) {
        by_name[newest].insert(dump.dump->groups.front().ranks);
      }
    }
    for (const auto& [name, lists] : by_name) {
      CheckStop();
      const std::vector<int32_t>& recorders = recorders_[std::string(name)];
      std::set<int32_t> listed;  // where no rank is in two lists
      const bool are_apart = std::all_of(lists.begin(), lists.end(), [&](RankSpan list) {
        return std::all_of(list.begin(), list.end(),
                           [&](int32_t rank) { return listed.insert(rank).second; });
      });
      const bool are_all_listed = std::all_of(recorders.begin(), recorders.end(),
                                              [&](int32_t rank) { return listed.contains(rank); });
      constexpr size_t kMostAtOdds = 64;
      if (!are_apart && lists.size() > kMostAtOdds) {
        continue;  // nobody knows
      }
      for (const RankSpan list : lists) {
        const bool may_be =
            are_apart ? are_all_listed
                      : std::all_of(recorders.begin(), recorders.end(), [&](int32_t rank) {
                          return IsMember(list, rank) || IsInOther(lists, list, rank);
                        });
        if (!may_be) {
          continue;
        }
        lists_[std::string(name)].push_back(list);
        const bool have_all_used_it = std::all_of(list.begin(), list.end(), [&](int32_t rank) {
          return IsMember(recorders, rank) || !with_entries.contains(rank);
        });
        if (!have_all_used_it) {
          doubtful_.insert(list.data());
        }
      }
    }
  }

  struct IsListBefore {
    bool operator()(RankSpan a, RankSpan b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };
  using NewestLists = std::set<RankSpan, IsListBefore>;

  // Whether one of the lists has that rank, and nobody of `list`.
  static bool IsInOther(const NewestLists& lists, RankSpan list, int32_t rank) {
    return std::any_of(lists.begin(), lists.end(), [&](RankSpan other) {
      return IsMember(other, rank) && std::none_of(other.begin(), other.end(), [&](int32_t member) {
               return IsMember(list, member);
             });
    });
  }

  // A process has one default group.
  static std::string_view FirstDefault(const FlightDump& dump) {
    const auto first = std::find_if(
        dump.named_groups.begin(), dump.named_groups.end(),
        [](const FlightGroupName& group) { return group.description == "default_pg"; });
    return first == dump.named_groups.end() ? std::string_view() : first->name;
  }

  RankSpan MembersOf(const RankDump& of, const FlightGroupName& named, bool is_default,
                     bool& is_inferred, bool& is_guessed) const {
    if (const FlightGroup* const listed = Listed(*of.dump, named.name);
        listed != nullptr && IsMember(listed->ranks, of.rank)) {
      return listed->ranks;
    }
    if (is_default) {
      is_guessed = !world_.is_known;
      return all_;
    }
    // What another process lists under that name.
    if (const auto lists = lists_.find(std::string(named.name)); lists != lists_.end()) {
      for (const RankSpan list : lists->second) {
        if (IsMember(list, of.rank)) {
          is_inferred = doubtful_.contains(list.data());
          return list;
        }
      }
    }
    is_inferred = true;
    return recorders_.at(std::string(named.name));
  }

  uint32_t NumberOf(const FlightGroupName& named, RankSpan members, bool is_inferred,
                    bool is_guessed) {
    const auto [seen, is_first] = seen_.try_emplace(std::pair(named.name, members.data()), 0);
    if (is_first) {
      const auto [at, is_new] = numbers_.try_emplace(
          GroupKey(named.name, std::vector<int32_t>(members.begin(), members.end())),
          static_cast<uint32_t>(groups_.size()));
      if (is_new) {
        groups_.push_back({.name = std::string(named.name),
                           .description = std::string(named.description),
                           .members = at->first.second,
                           .is_inferred = is_inferred,
                           .is_guessed = is_guessed});
      }
      seen->second = at->second;
    }
    HangGroup& group = groups_[seen->second];
    group.is_guessed = group.is_guessed && is_guessed;
    return seen->second;
  }

  World world_;
  std::vector<int32_t> all_;  // ranks of the job
  std::map<std::string, std::vector<RankSpan>> lists_;
  std::set<const int32_t*> doubtful_;  // of `lists_`: members have not used the group
  std::map<std::string, std::vector<int32_t>> recorders_;
  std::map<GroupKey, uint32_t> numbers_;
  std::map<std::pair<std::string_view, const int32_t*>, uint32_t> seen_;
  std::vector<HangGroup> groups_;
};

// An all_gather of the default group gives each rank the inputs of all: how many these are. Nothing
// where there is none, or they do not agree.
std::optional<int32_t> RanksByGathers(std::span<const RankDump> dumps) {
  std::optional<int64_t> ranks;
  for (const RankDump& of : dumps) {
    const FlightDump& dump = *of.dump;
    for (const FlightEntry& entry : dump.entries) {
      const bool is_of_all = entry.group != FlightEntry::kNothing &&
                             dump.named_groups[entry.group].description == "default_pg" &&
                             OperationName(dump.Name(entry)) == "all_gather";
      const int64_t in = is_of_all ? ElementsOf(dump, entry.input_sizes) : 0;
      const int64_t out = is_of_all ? ElementsOf(dump, entry.output_sizes) : 0;
      if (in == 0 || out == 0) {
        continue;
      }
      if (out % in != 0 || ranks.value_or(out / in) != out / in) {
        return std::nullopt;
      }
      ranks = out / in;
    }
  }
  return ranks.has_value() && *ranks <= FlightDump::kMostRanks
             ? std::optional(static_cast<int32_t>(*ranks))
             : std::nullopt;
}

World WorldOf(std::span<const RankDump> dumps, int32_t given) {
  World world = {.ranks = given, .is_known = given > 0, .is_told = given > 0};
  for (const RankDump& dump : dumps) {
    world.ranks = std::max(world.ranks, dump.rank + 1);
    for (const FlightGroup& group : dump.dump->groups) {
      if (!group.ranks.empty()) {
        world.ranks = std::max(world.ranks, group.ranks.back() + 1);
        world.is_told = world.is_told || !group.name.empty();
      }
    }
  }
  world.is_known = world.is_told;
  if (!world.is_known) {
    const std::optional<int32_t> gathered = RanksByGathers(dumps);
    world.is_known = gathered.has_value() && *gathered >= world.ranks;
    world.ranks = world.is_known ? *gathered : world.ranks;
  }
  return world;
}

// Sorts groups by name and members, and renumbers what refers to them.
void SortGroups(HangModel& model) {
  std::vector<uint32_t> order(model.groups.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const HangGroup& left = model.groups[a];
    const HangGroup& right = model.groups[b];
    return left.name != right.name ? IsGroupNameBefore(left.name, right.name)
                                   : left.members < right.members;
  });
  std::vector<uint32_t> place(order.size());
  std::vector<HangGroup> sorted;
  sorted.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<uint32_t>(i);
    sorted.push_back(std::move(model.groups[order[i]]));
  }
  model.groups = std::move(sorted);
  for (HangRank& rank : model.ranks) {
    for (uint32_t& group : rank.group_of) {
      group = place[group];
    }
  }
  for (size_t i = 1; i < model.groups.size(); ++i) {
    const HangGroup& a = model.groups[i - 1];
    const HangGroup& b = model.groups[i];
    std::vector<int32_t> common;
    std::set_intersection(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                          std::back_inserter(common));
    model.disagreements +=
        a.name == b.name && a.description == b.description && !common.empty() ? 1 : 0;
  }
}

}  // namespace

void PlaceRanks(std::span<const RankDump> dumps, int32_t world, HangModel& model) {
  const World known = WorldOf(dumps, world);
  model.world = known.ranks;
  model.is_world_known = known.is_known;
  model.is_world_told = known.is_told;
  model.by_rank.assign(static_cast<size_t>(model.world), -1);
  std::vector<RankDump> sorted(dumps.begin(), dumps.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const RankDump& a, const RankDump& b) { return a.rank < b.rank; });
  GroupTable table(sorted, known);
  for (const RankDump& dump : sorted) {
    HangRank rank;
    rank.rank = dump.rank;
    rank.dump = dump.dump;
    rank.modified_ns = dump.modified_ns;
    rank.group_of = table.Find(dump);
    model.by_rank[static_cast<size_t>(dump.rank)] = static_cast<int32_t>(model.ranks.size());
    model.ranks.push_back(std::move(rank));
  }
  model.groups = std::move(table.groups());
  SortGroups(model);
}

}  // namespace borescope::internal
