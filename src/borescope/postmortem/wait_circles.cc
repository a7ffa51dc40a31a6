#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "borescope/postmortem/wait_graph.h"

namespace borescope::internal {
namespace {

// Whether a node waits for a transfer of which the other end may have finished its part: nothing
// in its dump speaks of it, and it does not hold all of its records.
bool IsWeak(const WaitEdge& edge) {
  return edge.because.is_p2p && edge.where.state == WhereState::kNotIssued &&
         edge.where.basis == WhereBasis::kAbsent;
}

// Those of a component that still wait for each other without these edges.
template <class Test>
std::vector<size_t> Circles(const WaitGraph& graph, const std::vector<size_t>& component,
                            const Test& is_left_out) {
  // Takes away what waits for nothing that is left, until nothing changes.
  std::map<size_t, size_t> waits;  // of those that are left: for how many of these
  std::vector<size_t> free;
  for (const size_t node : component) {
    const std::vector<WaitEdge>& edges = graph.EdgesOf(node);
    waits[node] =
        static_cast<size_t>(std::count_if(edges.begin(), edges.end(), [&](const WaitEdge& edge) {
          return !is_left_out(node, edge) &&
                 std::binary_search(component.begin(), component.end(), edge.to);
        }));
    if (waits[node] == 0) {
      free.push_back(node);
    }
  }
  while (!free.empty()) {
    const size_t node = free.back();
    free.pop_back();
    for (const auto& [from, index] : graph.EdgesInto(node)) {
      const auto waiting = waits.find(from);
      const bool is_counted =
          waiting != waits.end() && !is_left_out(from, graph.EdgesOf(from)[index]);
      if (is_counted && --waiting->second == 0) {
        free.push_back(from);
      }
    }
  }
  std::vector<size_t> circles;
  for (const auto& [node, count] : waits) {
    if (count > 0) circles.push_back(node);
  }
  return circles;
}

// Whether the operations of a component still wait for each other without the edges of which
// `is_left_out(from, edge)` is true.
template <class Test>
bool HasCycle(const WaitGraph& graph, const std::vector<size_t>& component,
              const Test& is_left_out) {
  return !Circles(graph, component, is_left_out).empty();
}

// How many walks over all edges of a component are worth it.
size_t TriesIn(const WaitGraph& graph, const std::vector<size_t>& component) {
  constexpr size_t kMostTried = 256;
  constexpr size_t kMostSteps = size_t{1} << 28U;
  size_t edges = 1;
  for (const size_t node : component) {
    edges += graph.EdgesOf(node).size();
  }
  return std::clamp<size_t>(kMostSteps / edges, 1, kMostTried);
}

const std::vector<int32_t>& AtHeadOf(const HangModel& model, const WaitGraph& graph, int32_t rank) {
  return graph.RanksAt(graph.IndexOf(WaitGraph::NodeOf(*model.Of(rank))));
}

// Of what a rank launched together, that in which it waits for others of these.
HangOperation WaitsIn(const HangModel& model, const WaitGraph& graph, int32_t rank,
                      const std::vector<size_t>& component) {
  const size_t node = graph.IndexOf(WaitGraph::NodeOf(*model.Of(rank)));
  const std::vector<WaitEdge>& edges = graph.EdgesOf(node);
  for (const bool is_of_launch : {false, true}) {
    for (const WaitEdge& edge : edges) {
      if (edge.is_of_launch == is_of_launch &&
          std::binary_search(component.begin(), component.end(), edge.to)) {
        return edge.because;
      }
    }
  }
  return model.Of(rank)->head.front();
}

// A transfer in which the other end waits, and of which a rank has not issued its own.
struct MissingTransfer {
  HangOperation operation;
  int32_t peer = 0;
  std::optional<LeftOutTransfer> left_out;
};

std::optional<MissingTransfer> MissingAt(const HangModel& model, const WaitGraph& graph,
                                         int32_t rank, const std::vector<size_t>& component) {
  std::optional<MissingTransfer> found;
  for (const size_t node : component) {
    for (const WaitEdge& edge : graph.EdgesOf(node)) {
      // It has not issued its end, or a later one takes a place after the one at which it is.
      const bool is_missing = edge.rank == rank && edge.because.is_p2p && !edge.is_of_launch &&
                              edge.where.state != WhereState::kNoDump;
      if (!is_missing) {
        continue;
      }
      MissingTransfer one = {
          .operation = edge.because,
          .peer = edge.because.from == rank ? edge.because.to : edge.because.from,
          .left_out = std::nullopt};
      if (edge.where.basis != WhereBasis::kAbsent) {
        one.left_out = LeftOutBy(model, *model.Of(rank), edge.because);
      }
      if (!found.has_value() || one.left_out.has_value()) {
        found = one;
      }
    }
  }
  return found;
}

// The ranks at a component, ascending.
std::vector<int32_t> RanksIn(const WaitGraph& graph, const std::vector<size_t>& component) {
  std::vector<int32_t> ranks;
  for (const size_t node : component) {
    const std::vector<int32_t>& there = graph.RanksAt(node);
    ranks.insert(ranks.end(), there.begin(), there.end());
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// Of these, the ranks without whom none of the others would wait in a circle.
std::vector<int32_t> Breakers(const WaitGraph& graph, const std::vector<size_t>& component,
                              std::span<const int32_t> ranks) {
  std::vector<int32_t> breakers;
  const size_t tries = TriesIn(graph, component);
  for (size_t i = 0; i < ranks.size() && i < tries; ++i) {
    const bool is_needed = !HasCycle(
        graph, component, [&](size_t, const WaitEdge& edge) { return edge.rank == ranks[i]; });
    if (is_needed) {
      breakers.push_back(ranks[i]);
    }
  }
  return breakers;
}

// Which ranks to name first: who left out a transfer, or else who is where the fewest are.
struct NamedFirst {
  std::set<int32_t> primary;
  // Who waits for an end of a transfer that its peer went past: which of the two is wrong nobody
  // knows.
  std::set<int32_t> either;
};

// `missing`: transfers, by the rank that has not issued its end.
NamedFirst FirstOf(const HangModel& model, const WaitGraph& graph,
                   std::span<const int32_t> breakers,
                   const std::map<int32_t, MissingTransfer>& missing) {
  size_t fewest = SIZE_MAX;
  for (const int32_t rank : breakers) {
    fewest = std::min(fewest, AtHeadOf(model, graph, rank).size());
  }
  const bool is_any_left_out = std::any_of(missing.begin(), missing.end(), [](const auto& one) {
    return one.second.left_out.has_value();
  });
  NamedFirst first;
  for (const int32_t rank : breakers) {
    const auto own = missing.find(rank);
    const bool is_it = is_any_left_out ? own != missing.end() && own->second.left_out.has_value()
                                       : AtHeadOf(model, graph, rank).size() == fewest;
    if (is_it) first.primary.insert(rank);
  }
  for (const auto& [rank, one] : missing) {
    if (!is_any_left_out && first.primary.contains(one.peer) && !first.primary.contains(rank)) {
      first.either.insert({rank, one.peer});
    }
  }
  first.primary.insert(first.either.begin(), first.either.end());
  return first;
}

}  // namespace

std::optional<size_t> StuckInTransfer(const WaitGraph& graph,
                                      const std::vector<size_t>& component) {
  std::optional<size_t> only;
  size_t tries = TriesIn(graph, component);
  for (const size_t node : component) {
    const std::vector<WaitEdge>& edges = graph.EdgesOf(node);
    const bool may_be = std::any_of(edges.begin(), edges.end(), IsWeak);
    if (!may_be || HasCycle(graph, component, [&](size_t from, const WaitEdge& edge) {
          return from == node && IsWeak(edge);
        })) {
      if (may_be && --tries == 0) return std::nullopt;
      continue;
    }
    if (only.has_value()) {
      return std::nullopt;
    }
    only = node;
  }
  return only;
}

std::vector<size_t> Deadlock(const WaitGraph& graph, const std::vector<size_t>& component) {
  return Circles(graph, component, [&](size_t, const WaitEdge& edge) {
    return edge.is_of_launch || !IsRecorded(edge.where);
  });
}

std::vector<HangCulprit> OrderCulprits(const HangModel& model, const WaitGraph& graph,
                                       const std::vector<size_t>& component) {
  const std::vector<int32_t> ranks = RanksIn(graph, component);
  const std::vector<int32_t> breakers = Breakers(graph, component, ranks);
  std::map<int32_t, MissingTransfer> missing;
  for (const int32_t rank : breakers) {
    if (const std::optional<MissingTransfer> one = MissingAt(model, graph, rank, component);
        one.has_value()) {
      missing[rank] = *one;
    }
  }
  const NamedFirst first = FirstOf(model, graph, breakers, missing);
  std::vector<HangCulprit> culprits;
  for (const int32_t rank : ranks) {
    HangCulprit culprit = {.rank = rank, .kind = HangKind::kOrder};
    culprit.is_primary = breakers.empty() || first.primary.contains(rank);
    culprit.certainty = first.either.contains(rank) ? Certainty::kCannotTell : Certainty::kLikely;
    const auto own = missing.find(rank);
    if (own != missing.end() && own->second.left_out.has_value()) {
      culprit.evidence = own->second.operation;
      culprit.left_out = own->second.left_out;
      SetTimes(model, culprit, std::span(&own->second.peer, 1));
    } else {
      culprit.evidence = WaitsIn(model, graph, rank, component);
      SetTimes(model, culprit, AtHeadOf(model, graph, rank));
    }
    culprits.push_back(culprit);
  }
  return culprits;
}

}  // namespace borescope::internal
