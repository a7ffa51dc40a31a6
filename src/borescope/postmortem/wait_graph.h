// Which rank of a job waits for which: a graph of the operations at which ranks are and of ranks
// that are at none, its circles, and what is wrong in these.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "borescope/postmortem/hang_analysis.h"
#include "borescope/postmortem/hang_model.h"

namespace borescope::internal {

struct WaitNode {
  enum class Type : uint8_t { kOperation, kLaunch, kIdle, kNoDump };
  Type type = Type::kOperation;
  HangOperation operation;  // of kOperation
  int32_t rank = 0;         // of the others

  friend auto operator<=>(const WaitNode&, const WaitNode&) = default;
};

struct WaitEdge {
  size_t to = 0;
  HangOperation because;
  int32_t rank = 0;  // that is not there
  Where where;
  bool is_of_launch = false;  // the rank is there, but what it launched with it cannot end
};

// An edge leads from an operation to what a member of it waits for. Immutable; the model outlives
// it.
class WaitGraph {
 public:
  // `differing`: transfers at which both ends are, but with different sizes or types.
  WaitGraph(const HangModel& model, std::set<HangOperation> differing);

  const std::vector<WaitNode>& nodes() const { return nodes_; }
  const std::vector<WaitEdge>& EdgesOf(size_t node) const { return edges_[node]; }
  // The nodes from which edges lead to a node, and their numbers there.
  const std::vector<std::pair<size_t, size_t>>& EdgesInto(size_t node) const { return into_[node]; }
  // The ranks that are at a node, ascending.
  const std::vector<int32_t>& RanksAt(size_t node) const { return at_[node]; }
  // Members of the operation of a node that began it, as others finished it, but left no dump.
  std::span<const int32_t> BeganUnseen(size_t node) const {
    const auto found = began_unseen_.find(node);
    return found == began_unseen_.end() ? std::span<const int32_t>() : found->second;
  }
  const std::vector<std::vector<size_t>>& components() const { return components_; }
  size_t ComponentOf(size_t node) const { return component_of_[node]; }

  bool IsSink(const std::vector<size_t>& component) const;
  // For each node that waits: the one node that it waits for in the end, if it is one alone.
  std::vector<std::optional<size_t>> SoleEnds() const;
  std::vector<HangOperation> OperationsOf(const WaitNode& node) const;
  size_t IndexOf(const WaitNode& node) const;
  static WaitNode NodeOf(const HangRank& rank);

  bool IsDiffering(const HangOperation& operation) const { return differing_.contains(operation); }

 private:
  void Unify();
  // Whether members can only have finished an operation if all of them began it.
  bool NeedsAllMembers(const HangOperation& operation, std::span<const int32_t> members) const;
  void AddEdges(size_t node, const HangOperation& operation);
  // Groups with a collective that others finished, so that all members began it, and that every
  // dump with both has after `operation`: who took part in it issued `operation` before, if it runs
  // the same program.
  std::vector<uint32_t> GroupsDoneLater(const HangOperation& operation,
                                        std::span<const int32_t> members) const;
  bool IsMemberOfAny(std::span<const uint32_t> groups, int32_t rank) const;
  // Several transfers that were launched together end together: who is at one of them waits as
  // well for what the launch of the other side waits for.
  void AddWaitsForLaunches();
  bool AddWaitForLaunch(size_t node, const HangOperation& operation, std::set<size_t>& targets);
  // A send whose receiver takes from anybody.
  bool IsMetByAny(const HangOperation& operation, int32_t member) const;
  // Tarjan's algorithm, without recursion. Components come in the order of their first node.
  void FindComponents();
  static std::vector<size_t> TakeComponent(size_t root, std::vector<size_t>& stack,
                                           std::vector<char>& on_stack);

  const HangModel& model_;
  std::set<HangOperation> differing_;
  std::vector<WaitNode> nodes_;
  std::vector<std::vector<WaitEdge>> edges_;
  std::vector<std::vector<std::pair<size_t, size_t>>> into_;
  std::map<size_t, std::vector<int32_t>> began_unseen_;
  std::vector<std::vector<int32_t>> at_;
  std::vector<std::vector<size_t>> components_;
  std::vector<size_t> component_of_;
};

// Whether it is known, and not concluded from what other ranks did.
bool IsRecorded(const Where& where);
// Whether a rank is at an operation.
bool StandsAt(const HangRank& rank, const HangOperation& operation);

// Circles of ranks that wait for each other (wait_circles.cc). `component`: one of the graph.

// The node without whose weak waits nobody waits in a circle, if there is one alone: then the
// other ends are through, and what is left is that its own device stopped. Where each of several
// would do, as where two ranks wait to receive from each other first, they are in disorder.
std::optional<size_t> StuckInTransfer(const WaitGraph& graph, const std::vector<size_t>& component);
// The ranks of a component, which wait for each other in different operations: the primary ones are
// those whose arrival would end it.
std::vector<HangCulprit> OrderCulprits(const HangModel& model, const WaitGraph& graph,
                                       const std::vector<size_t>& component);
// The nodes of a component that cannot go on, whatever those do for which they wait besides. What
// the dumps do not show, and what only follows from a launch, makes no circle.
std::vector<size_t> Deadlock(const WaitGraph& graph, const std::vector<size_t>& component);

}  // namespace borescope::internal
