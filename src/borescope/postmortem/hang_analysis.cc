#include "borescope/postmortem/hang_analysis.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {
constexpr int64_t kDayNs = 86'400 * kSecondNs;

// Whether it is known, and not concluded from what other ranks did.
bool IsRecorded(const Where& where) {
  return where.basis == WhereBasis::kRecorded || where.basis == WhereBasis::kOrder ||
         where.basis == WhereBasis::kStatus;
}

bool StandsAt(const HangRank& rank, const HangOperation& operation) {
  return std::binary_search(rank.head.begin(), rank.head.end(), operation);
}

// ---- the graph ----

struct Node {
  enum class Type : uint8_t { kOperation, kLaunch, kIdle, kNoDump };
  Type type = Type::kOperation;
  HangOperation operation;  // of kOperation
  int32_t rank = 0;         // of the others

  friend auto operator<=>(const Node&, const Node&) = default;
};

struct Edge {
  size_t to = 0;
  HangOperation because;
  int32_t rank = 0;  // that is not there
  Where where;
  bool is_of_launch = false;  // the rank is there, but what it launched with it cannot end
};

// Which rank waits for which.
class WaitGraph {
 public:
  // `differing`: transfers at which both ends are, but with different sizes or types.
  WaitGraph(const HangModel& model, std::set<HangOperation> differing)
      : model_(model), differing_(std::move(differing)) {
    for (const HangRank& rank : model_.ranks) {
      if (!rank.head.empty()) {
        nodes_.push_back(NodeOf(rank));
      }
    }
    for (const HangOperation& operation : differing_) {
      nodes_.push_back({.type = Node::Type::kOperation, .operation = operation, .rank = 0});
    }
    Unify();
    const size_t heads = nodes_.size();
    std::vector<Node> ends;
    for (size_t i = 0; i < heads; ++i) {
      for (const HangOperation& operation : OperationsOf(nodes_[i])) {
        for (const int32_t member : model_.MembersOf(operation)) {
          const HangRank* const rank = model_.Of(member);
          if (rank == nullptr) {
            ends.push_back({.type = Node::Type::kNoDump, .operation = {}, .rank = member});
          } else if (rank->head.empty()) {
            ends.push_back(NodeOf(*rank));
          }
        }
      }
    }
    nodes_.insert(nodes_.end(), ends.begin(), ends.end());
    Unify();
    edges_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      CheckStop();
      for (const HangOperation& operation : OperationsOf(nodes_[i])) {
        AddEdges(i, operation);
      }
    }
    AddWaitsForLaunches();
    into_.resize(nodes_.size());
    for (size_t from = 0; from < nodes_.size(); ++from) {
      for (size_t i = 0; i < edges_[from].size(); ++i) {
        into_[edges_[from][i].to].emplace_back(from, i);
      }
    }
    FindComponents();
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Edge>& EdgesOf(size_t node) const { return edges_[node]; }
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

  bool IsSink(const std::vector<size_t>& component) const {
    return std::all_of(component.begin(), component.end(), [&](size_t node) {
      return std::all_of(edges_[node].begin(), edges_[node].end(), [&](const Edge& edge) {
        return component_of_[edge.to] == component_of_[node];
      });
    });
  }

  // For each node that waits: the one node that it waits for in the end, if it is one alone.
  std::vector<std::optional<size_t>> SoleEnds() const {
    constexpr size_t kNone = SIZE_MAX;
    constexpr size_t kSeveral = SIZE_MAX - 1;
    std::vector<size_t> end_of(components_.size(), kNone);
    std::vector<size_t> open(components_.size(), 0);  // edges to components not seen to their end
    std::vector<size_t> ready;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      for (const Edge& edge : edges_[node]) {
        open[component_of_[node]] += component_of_[edge.to] != component_of_[node] ? 1 : 0;
      }
    }
    for (size_t i = 0; i < components_.size(); ++i) {
      if (open[i] == 0) {
        end_of[i] = components_[i].size() == 1 ? components_[i].front() : kSeveral;
        ready.push_back(i);
      }
    }
    std::vector<char> waits(components_.size(), 0);
    while (!ready.empty()) {
      CheckStop();
      const size_t done = ready.back();
      ready.pop_back();
      for (const size_t to : components_[done]) {
        for (const auto& [from, index] : into_[to]) {
          const size_t waiting = component_of_[from];
          if (waiting == done) {
            continue;
          }
          waits[waiting] = 1;
          end_of[waiting] =
              end_of[waiting] == kNone || end_of[waiting] == end_of[done] ? end_of[done] : kSeveral;
          if (--open[waiting] == 0) {
            ready.push_back(waiting);
          }
        }
      }
    }
    std::vector<std::optional<size_t>> ends(nodes_.size());
    for (size_t node = 0; node < nodes_.size(); ++node) {
      const size_t component = component_of_[node];
      if (waits[component] != 0 && end_of[component] < kSeveral) {
        ends[node] = end_of[component];
      }
    }
    return ends;
  }

  std::vector<HangOperation> OperationsOf(const Node& node) const {
    switch (node.type) {
      case Node::Type::kOperation:
        return {node.operation};
      case Node::Type::kLaunch:
        return model_.Of(node.rank)->head;
      default:
        return {};
    }
  }

  bool IsDiffering(const HangOperation& operation) const { return differing_.contains(operation); }

  size_t IndexOf(const Node& node) const {
    return static_cast<size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) -
                               nodes_.begin());
  }

  static Node NodeOf(const HangRank& rank) {
    if (rank.head.empty()) {
      return {.type = rank.IsUnknown() ? Node::Type::kNoDump : Node::Type::kIdle,
              .operation = {},
              .rank = rank.rank};
    }
    return rank.head.size() == 1
               ? Node{.type = Node::Type::kOperation, .operation = rank.head.front(), .rank = 0}
               : Node{.type = Node::Type::kLaunch, .operation = {}, .rank = rank.rank};
  }

 private:
  void Unify() {
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  }

  // Whether members can only have finished an operation if all of them began it.
  bool NeedsAllMembers(const HangOperation& operation, std::span<const int32_t> members) const {
    for (const int32_t member : members) {
      const HangRank* const rank = model_.Of(member);
      const IssuedOperation* const issued = rank == nullptr ? nullptr : rank->Find(operation);
      if (issued != nullptr) {
        const std::string_view name = rank->dump->Name(rank->dump->entries[issued->first_entry]);
        // With gloo work that failed, as its peer died, looks like work that is done.
        return !name.starts_with("gloo:") && NeedsAll(OperationName(name));
      }
    }
    return false;
  }

  void AddEdges(size_t node, const HangOperation& operation) {
    if (IsDiffering(operation) && nodes_[node].type == Node::Type::kLaunch) {
      const int32_t own = nodes_[node].rank;
      const Node to = {.type = Node::Type::kOperation, .operation = operation, .rank = 0};
      edges_[node].push_back({.to = IndexOf(to),
                              .because = operation,
                              .rank = operation.from == own ? operation.to : operation.from,
                              .where = {WhereState::kOpen, WhereBasis::kRecorded}});
      return;
    }
    const std::vector<int32_t> members = model_.MembersOf(operation);
    std::vector<Where> wheres;
    wheres.reserve(members.size());
    for (const int32_t member : members) {
      wheres.push_back(WhereIs(model_, member, operation));
    }
    // What others finished all members began: who left nothing did so, too.
    const bool all_began =
        !operation.is_p2p &&
        std::any_of(wheres.begin(), wheres.end(),
                    [](const Where& where) {
                      return where.state == WhereState::kDone && IsRecorded(where);
                    }) &&
        NeedsAllMembers(operation, members);
    const bool lacks_dump = std::any_of(members.begin(), members.end(), [&](int32_t member) {
      return model_.Of(member) == nullptr;
    });
    const std::vector<uint32_t> later =
        lacks_dump ? GroupsDoneLater(operation, members) : std::vector<uint32_t>();
    for (size_t i = 0; i < members.size(); ++i) {
      const int32_t member = members[i];
      const Where where = wheres[i];
      const HangRank* const rank = model_.Of(member);
      if (where.state == WhereState::kDone ||
          (where.state == WhereState::kOpen && StandsAt(*rank, operation)) ||
          IsMetByAny(operation, member)) {
        continue;
      }
      if (all_began && where.state == WhereState::kNoDump) {
        began_unseen_[node].push_back(member);
        continue;
      }
      if (rank == nullptr && IsMemberOfAny(later, member)) {
        continue;  // it issued this one as well, before what it took part in
      }
      const Node to = rank == nullptr
                          ? Node{.type = Node::Type::kNoDump, .operation = {}, .rank = member}
                          : NodeOf(*rank);
      edges_[node].push_back(
          {.to = IndexOf(to), .because = operation, .rank = member, .where = where});
    }
  }

  // Groups with a collective that others finished, so that all members began it, and that every
  // dump with both has after `operation`: who took part in it issued `operation` before, if it runs
  // the same program.
  std::vector<uint32_t> GroupsDoneLater(const HangOperation& operation,
                                        std::span<const int32_t> members) const {
    std::map<HangOperation, bool> is_later;  // of collectives that somebody finished
    constexpr size_t kMostAsked = 4;
    size_t asked = 0;
    for (const int32_t member : members) {
      const HangRank* const rank = model_.Of(member);
      const IssuedOperation* const issued =
          rank == nullptr || operation.is_p2p ? nullptr : rank->Find(operation);
      if (issued == nullptr) {
        continue;
      }
      for (const IssuedOperation& other : rank->operations) {
        const FlightEntry& entry = rank->dump->entries[other.first_entry];
        const std::string_view name = rank->dump->Name(entry);
        if (!other.is_outstanding && !name.starts_with("gloo:") && NeedsAll(OperationName(name))) {
          const bool is_after = other.first_entry > issued->first_entry;
          const auto at =
              is_later.try_emplace({.group = other.group, .number = other.number}, true);
          at.first->second = at.first->second && is_after;
        }
      }
      if (++asked == kMostAsked) {
        break;
      }
    }
    std::set<uint32_t> groups;
    for (const auto& [other, is_after] : is_later) {
      if (is_after) groups.insert(other.group);
    }
    return {groups.begin(), groups.end()};
  }

  bool IsMemberOfAny(std::span<const uint32_t> groups, int32_t rank) const {
    return std::any_of(groups.begin(), groups.end(), [&](uint32_t group) {
      const std::vector<int32_t>& members = model_.groups[group].members;
      return !model_.groups[group].is_guessed &&
             std::binary_search(members.begin(), members.end(), rank);
    });
  }

  // Several transfers that were launched together end together: who is at one of them waits as
  // well for what the launch of the other side waits for.
  void AddWaitsForLaunches() {
    const bool has_launch = std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
      return node.type == Node::Type::kLaunch;
    });
    if (!has_launch) {
      return;
    }
    std::vector<std::set<size_t>> targets(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const Edge& edge : edges_[i]) {
        targets[i].insert(edge.to);
      }
    }
    for (bool has_changed = true; has_changed;) {
      CheckStop();
      has_changed = false;
      for (size_t i = 0; i < nodes_.size(); ++i) {
        for (const HangOperation& operation : OperationsOf(nodes_[i])) {
          has_changed =
              (operation.is_p2p && AddWaitForLaunch(i, operation, targets[i])) || has_changed;
        }
      }
    }
  }

  bool AddWaitForLaunch(size_t node, const HangOperation& operation, std::set<size_t>& targets) {
    if (IsDiffering(operation)) {
      return false;  // that is why it cannot end
    }
    bool has_added = false;
    for (const int32_t member : {operation.from, operation.to}) {
      const HangRank* const rank = model_.Of(member);
      if (rank == nullptr || rank->head.size() < 2 || !StandsAt(*rank, operation)) {
        continue;
      }
      const size_t to = IndexOf(NodeOf(*rank));
      if (to != node && !edges_[to].empty() && targets.insert(to).second) {
        edges_[node].push_back({.to = to,
                                .because = operation,
                                .rank = member,
                                .where = {WhereState::kOpen, WhereBasis::kRecorded},
                                .is_of_launch = true});
        has_added = true;
      }
    }
    return has_added;
  }

  // A send whose receiver takes from anybody.
  bool IsMetByAny(const HangOperation& operation, int32_t member) const {
    if (!operation.is_p2p || member != operation.to) {
      return false;
    }
    HangOperation any = operation;
    any.from = HangOperation::kAnyRank;
    any.number = 0;
    const HangRank* const rank = model_.Of(member);
    return rank != nullptr && StandsAt(*rank, any);
  }

  // Tarjan's algorithm, without recursion. Components come in the order of their first node.
  void FindComponents() {
    at_.resize(nodes_.size());
    for (const HangRank& rank : model_.ranks) {
      if (!rank.head.empty()) {
        at_[IndexOf(NodeOf(rank))].push_back(rank.rank);
      }
    }
    constexpr size_t kNone = SIZE_MAX;
    std::vector<size_t> number(nodes_.size(), kNone);
    std::vector<size_t> low(nodes_.size(), 0);
    std::vector<char> on_stack(nodes_.size(), 0);
    std::vector<size_t> stack;
    component_of_.assign(nodes_.size(), 0);
    size_t next = 0;
    struct Visit {
      size_t node;
      size_t edge;
    };
    for (size_t root = 0; root < nodes_.size(); ++root) {
      if (number[root] != kNone) {
        continue;
      }
      std::vector<Visit> visits = {{root, 0}};
      number[root] = low[root] = next++;
      stack.push_back(root);
      on_stack[root] = 1;
      while (!visits.empty()) {
        Visit& visit = visits.back();
        const size_t node = visit.node;
        if (visit.edge < edges_[node].size()) {
          const size_t to = edges_[node][visit.edge++].to;
          if (number[to] == kNone) {
            number[to] = low[to] = next++;
            stack.push_back(to);
            on_stack[to] = 1;
            visits.push_back({to, 0});
          } else if (on_stack[to] != 0) {
            low[node] = std::min(low[node], number[to]);
          }
          continue;
        }
        visits.pop_back();
        if (!visits.empty()) {
          low[visits.back().node] = std::min(low[visits.back().node], low[node]);
        }
        if (low[node] == number[node]) {
          components_.push_back(TakeComponent(node, stack, on_stack));
        }
      }
    }
    std::sort(components_.begin(), components_.end());
    for (size_t i = 0; i < components_.size(); ++i) {
      for (const size_t node : components_[i]) {
        component_of_[node] = i;
      }
    }
  }

  static std::vector<size_t> TakeComponent(size_t root, std::vector<size_t>& stack,
                                           std::vector<char>& on_stack) {
    std::vector<size_t> component;
    size_t node = SIZE_MAX;
    while (node != root) {
      node = stack.back();
      stack.pop_back();
      on_stack[node] = 0;
      component.push_back(node);
    }
    std::sort(component.begin(), component.end());
    return component;
  }

  const HangModel& model_;
  std::set<HangOperation> differing_;
  std::vector<Node> nodes_;
  std::vector<std::vector<Edge>> edges_;
  std::vector<std::vector<std::pair<size_t, size_t>>> into_;
  std::map<size_t, std::vector<int32_t>> began_unseen_;
  std::vector<std::vector<int32_t>> at_;
  std::vector<std::vector<size_t>> components_;
  std::vector<size_t> component_of_;
};

// ---- what sinks mean ----

class Diagnosis {
 public:
  Diagnosis(const HangModel& model, HangResult& result)
      : model_(model), result_(result), graph_(model, DifferingTransfers(result)) {}

  void Make() {
    AddMismatches();
    const bool has_mismatch = !result_.culprits.empty();
    std::vector<std::pair<int32_t, size_t>> absent;  // ranks without a dump, their nodes
    std::vector<size_t> stuck;                       // operations that all members came to
    for (const std::vector<size_t>& component : graph_.components()) {
      if (!graph_.IsSink(component)) {
        if (!has_mismatch && component.size() > 1) AddDeadlock(component);
        continue;
      }
      const Node& node = graph_.nodes()[component.front()];
      if (component.size() > 1) {
        if (!has_mismatch) AddCircle(component);
      } else if (node.type == Node::Type::kIdle) {
        if (!has_mismatch) AddIdle(component.front());
      } else if (node.type == Node::Type::kNoDump) {
        if (!graph_.EdgesInto(component.front()).empty()) {
          absent.emplace_back(node.rank, component.front());
        }
      } else if (node.type == Node::Type::kOperation && graph_.IsDiffering(node.operation)) {
        AddDiffering(node.operation);
      } else if (!IsInMismatch(node)) {
        AddOperation(component.front());
        stuck.push_back(component.front());
      }
    }
    const bool is_primary = result_.culprits.empty();
    // What a cut dump lacks is no reason to suspect its rank where another one is known.
    std::erase_if(absent,
                  [&](const auto& one) { return !is_primary && model_.Of(one.first) != nullptr; });
    // Of several, those explain the hang without whom somebody would wait for nobody.
    std::set<size_t> needed;
    if (absent.size() > 1) {
      const std::vector<std::optional<size_t>> ends = graph_.SoleEnds();
      for (const auto& [rank, node] : absent) {
        if (std::find(ends.begin(), ends.end(), node) != ends.end()) {
          needed.insert(node);
        }
      }
    }
    for (const auto& [rank, node] : absent) {
      HangCulprit culprit = {.rank = rank, .kind = HangKind::kNoDump};
      culprit.is_primary = is_primary && (needed.empty() || needed.contains(node));
      // Of several without a dump, some may be innocent; and all where another one is at fault.
      const bool is_one_of_several = needed.empty() ? absent.size() > 1 : needed.size() > 1;
      const bool is_doubtful =
          !culprit.is_primary || is_one_of_several || model_.Of(rank) != nullptr;
      culprit.certainty = is_doubtful ? Certainty::kCannotTell : Certainty::kLikely;
      SetEvidence(culprit, node);
      result_.culprits.push_back(culprit);
    }
    AddUnseen(stuck);
    FindWaits();
    Finish();
  }

 private:
  // ---- mismatches ----

  void AddMismatches() {
    for (const HangMismatch& mismatch : result_.mismatches) {
      if (!mismatch.is_primary) {
        continue;
      }
      mismatched_groups_.insert(mismatch.operation.group);
      for (const int32_t rank : mismatch.ranks) {
        HangCulprit culprit = {.rank = rank, .kind = mismatch.kind};
        culprit.certainty = mismatch.has_majority ? Certainty::kCertain : Certainty::kCannotTell;
        culprit.evidence = mismatch.operation;
        SetTimes(culprit, mismatch.others.empty() ? mismatch.ranks : mismatch.others);
        result_.culprits.push_back(culprit);
      }
    }
  }

  static std::set<HangOperation> DifferingTransfers(const HangResult& result) {
    std::set<HangOperation> differing;
    for (const HangMismatch& mismatch : result.mismatches) {
      if (mismatch.operation.is_p2p) differing.insert(mismatch.operation);
    }
    return differing;
  }

  // A transfer whose ends wait for nobody else, and differ.
  void AddDiffering(const HangOperation& operation) {
    for (HangMismatch& mismatch : result_.mismatches) {
      if (mismatch.operation == operation) {
        mismatch.is_primary = true;
        AddAll(mismatch.kind, mismatch.ranks, operation, Certainty::kCannotTell);
      }
    }
  }

  bool IsInMismatch(const Node& node) const {
    const std::vector<HangOperation> operations = graph_.OperationsOf(node);
    return std::any_of(operations.begin(), operations.end(), [&](const HangOperation& operation) {
      return mismatched_groups_.contains(operation.group);
    });
  }

  // ---- ranks that did not come ----

  // Of the operations in which others wait for a node: the one with most ranks.
  void SetEvidence(HangCulprit& culprit, size_t node) {
    const Edge* best = nullptr;
    std::vector<int32_t> waiting;
    int64_t earliest = 0;
    for (const auto& [from, index] : graph_.EdgesInto(node)) {
      const Edge& edge = graph_.EdgesOf(from)[index];
      const std::vector<int32_t>& there = graph_.RanksAt(from);
      const int64_t created = Earliest(there, edge.because);
      if (best == nullptr || there.size() > waiting.size() ||
          (there.size() == waiting.size() && created < earliest)) {
        best = &edge;
        waiting = there;
        earliest = created;
      }
    }
    if (best == nullptr) {
      return;
    }
    culprit.evidence = best->because;
    SetTimes(culprit, waiting);
    if (!IsRecorded(best->where) || model_.groups[best->because.group].is_inferred) {
      Lower(culprit.certainty, Certainty::kLikely);
    }
  }

  static void Lower(Certainty& certainty, Certainty at_most) {
    certainty = std::max(certainty, at_most);
  }

  void AddIdle(size_t node) {
    const int32_t rank = graph_.nodes()[node].rank;
    if (graph_.EdgesInto(node).empty()) {
      return;
    }
    HangCulprit culprit = {.rank = rank, .kind = HangKind::kNeverIssued};
    culprit.certainty = Certainty::kCertain;
    SetEvidence(culprit, node);
    const HangRank& at = *model_.Of(rank);
    const HangRank* const waiting = model_.Of(culprit.waiting_rank);
    const int64_t began = waiting == nullptr ? 0 : model_.IssuedAt(*waiting, culprit.evidence);
    culprit.activity = at.newest_created_ns == 0 || began == 0 || at.has_odd_clock
                           ? HangActivity::kUnknown
                       : at.newest_created_ns < began + kSecondNs ? HangActivity::kStopped
                                                                  : HangActivity::kStillIssuing;
    result_.culprits.push_back(culprit);
  }

  // ---- operations that all members came to ----

  void AddOperation(size_t node) { AddStuck(StuckAt(node)); }

  // Transfers that were launched together end together: the operations that wait for one end, with
  // those that share a launch with them, and so on.
  std::vector<HangOperation> LaunchedWith(const HangOperation& first) const {
    std::vector<HangOperation> all = {first};
    std::set<HangOperation> known = {first};
    for (size_t i = 0; i < all.size() && first.is_p2p; ++i) {
      for (const int32_t member : model_.MembersOf(all[i])) {
        const HangRank* const rank = model_.Of(member);
        if (rank == nullptr || !StandsAt(*rank, all[i])) {
          continue;
        }
        for (const HangOperation& other : rank->head) {
          const bool is_new = other.is_p2p && known.insert(other).second;
          if (is_new && IsMet(other)) all.push_back(other);
        }
      }
    }
    return all;
  }

  // Whether all members are at an operation.
  bool IsMet(const HangOperation& operation) const {
    const std::vector<int32_t> members = model_.MembersOf(operation);
    return std::all_of(members.begin(), members.end(), [&](int32_t member) {
      const HangRank* const rank = model_.Of(member);
      return rank != nullptr && StandsAt(*rank, operation);
    });
  }

  void AddStuck(const HangOperation& operation) {
    if (!explained_.insert(operation).second) {
      return;  // the other end of a transfer, launched with others
    }
    std::vector<int32_t> members;
    std::vector<int32_t> there;
    std::vector<int32_t> not_begun;
    bool is_known = model_.has_timing;
    const bool is_done = IsDoneSomewhere(operation);
    for (const HangOperation& part :
         is_done ? std::vector<HangOperation>{operation} : LaunchedWith(operation)) {
      explained_.insert(part);
      for (const int32_t member : model_.MembersOf(part)) {
        const HangRank* const rank = model_.Of(member);
        members.push_back(member);
        if (rank == nullptr || !StandsAt(*rank, part)) {
          is_known = is_known && rank != nullptr;
          continue;
        }
        there.push_back(member);
        is_known = is_known && !rank->IsHeadLost();
        if (!HasBegun(member, part)) not_begun.push_back(member);
      }
    }
    for (std::vector<int32_t>* const ranks : {&members, &there, &not_begun}) {
      std::sort(ranks->begin(), ranks->end());
      ranks->erase(std::unique(ranks->begin(), ranks->end()), ranks->end());
    }
    if (is_done) {
      AddAll(HangKind::kDeviceStuck, there, operation, StuckCertainty(there, operation));
    } else if (const std::vector<int32_t> late = TooLate(there, operation); !late.empty()) {
      AddLate(late, there, operation);
    } else if (is_known && !not_begun.empty() && not_begun.size() < there.size()) {
      AddAll(HangKind::kNotStarted, not_begun, operation, Certainty::kLikely);
    } else {
      AddAll(HangKind::kNotFinished, members, operation, Certainty::kCannotTell);
    }
  }

  void AddLate(std::span<const int32_t> late, std::span<const int32_t> there,
               const HangOperation& operation) {
    std::vector<int32_t> in_time;
    std::set_difference(there.begin(), there.end(), late.begin(), late.end(),
                        std::back_inserter(in_time));
    for (const int32_t rank : late) {
      HangCulprit culprit = {.rank = rank, .kind = HangKind::kNeverIssued};
      culprit.activity = HangActivity::kStillIssuing;
      culprit.evidence = operation;
      SetTimes(culprit, in_time);
      result_.culprits.push_back(culprit);
    }
  }

  // The ranks that issued a collective half of its timeout or more after most others had, though
  // they issued the one before in time, so that it is not their clocks.
  std::vector<int32_t> TooLate(std::span<const int32_t> there,
                               const HangOperation& operation) const {
    const FlightEntry* const entry =
        there.empty() ? nullptr : LastEntryOf(model_.Of(there.front()), operation);
    if (operation.is_p2p || entry == nullptr || entry->timeout_ms <= 0) {
      return {};
    }
    const int64_t limit = entry->timeout_ms * kMillisecondNs / 2;
    HangOperation before = operation;
    --before.number;
    const std::optional<int64_t> now = MiddleOf(there, operation);
    const std::optional<int64_t> earlier = MiddleOf(there, before);
    std::vector<int32_t> late;
    if (!now.has_value() || !earlier.has_value()) {
      return late;
    }
    for (const int32_t rank : there) {
      const HangRank& at = *model_.Of(rank);
      const int64_t issued = model_.IssuedAt(at, operation);
      const int64_t last = model_.IssuedAt(at, before);
      if (!at.has_odd_clock && issued > 0 && last > 0 && issued - *now >= limit &&
          last - *earlier < limit / 2) {
        late.push_back(rank);
      }
    }
    return late;
  }

  // The middle of the times at which ranks issued an operation.
  std::optional<int64_t> MiddleOf(std::span<const int32_t> ranks,
                                  const HangOperation& operation) const {
    std::vector<int64_t> times;
    for (const int32_t rank : ranks) {
      const int64_t issued = model_.IssuedAt(*model_.Of(rank), operation);
      if (issued > 0) times.push_back(issued);
    }
    if (times.size() < 3) {
      return std::nullopt;
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  bool IsDoneSomewhere(const HangOperation& operation) const {
    const std::vector<int32_t> members = model_.MembersOf(operation);
    return std::any_of(members.begin(), members.end(), [&](int32_t member) {
      const Where where = WhereIs(model_, member, operation);
      // What left a ring that was full of outstanding ones may be outstanding as well.
      return where.state == WhereState::kDone && where.basis != WhereBasis::kAbsent;
    });
  }

  // Of several that were launched together, the first that nobody finished.
  HangOperation StuckAt(size_t node) const {
    const std::vector<HangOperation> operations = graph_.OperationsOf(graph_.nodes()[node]);
    const auto open =
        std::find_if(operations.begin(), operations.end(),
                     [&](const HangOperation& operation) { return !IsDoneSomewhere(operation); });
    return open == operations.end() ? operations.front() : *open;
  }

  Certainty StuckCertainty(std::span<const int32_t> there, const HangOperation& operation) const {
    const HangRank& rank = *model_.Of(there.front());
    const IssuedOperation* const issued = rank.Find(operation);
    Certainty certainty =
        issued != nullptr &&
                NeedsAll(OperationName(rank.dump->Name(rank.dump->entries[issued->first_entry])))
            ? Certainty::kCertain
            : Certainty::kLikely;
    for (const int32_t member : model_.MembersOf(operation)) {
      const Where where = WhereIs(model_, member, operation);
      if (where.state == WhereState::kDone && !IsRecorded(where)) {
        Lower(certainty, Certainty::kLikely);
      }
    }
    return certainty;
  }

  bool HasBegun(int32_t rank, const HangOperation& operation) const {
    const HangRank& at = *model_.Of(rank);
    const IssuedOperation* const issued = at.Find(operation);
    const IssuedTransfer* const transfer = at.FindTransfer(operation);
    const uint32_t index = issued != nullptr     ? issued->last_entry
                           : transfer != nullptr ? transfer->last_entry
                                                 : HangRank::kNoEntry;
    if (index == HangRank::kNoEntry) {
      return false;
    }
    const FlightEntry& entry = at.dump->entries[index];
    return entry.state != FlightState::kScheduled || entry.discovered_started_ns > 0;
  }

  void AddAll(HangKind kind, std::span<const int32_t> ranks, const HangOperation& operation,
              Certainty certainty) {
    for (const int32_t rank : ranks) {
      HangCulprit culprit = {.rank = rank, .kind = kind};
      culprit.certainty = certainty;
      culprit.evidence = operation;
      SetTimes(culprit, ranks);
      result_.culprits.push_back(culprit);
    }
  }

  // Who left no dump and began an operation that others finished may have died in it: a suspect
  // beside those that are there.
  void AddUnseen(std::span<const size_t> stuck) {
    std::set<int32_t> named;
    for (const HangCulprit& culprit : result_.culprits) {
      named.insert(culprit.rank);
    }
    for (const size_t node : stuck) {
      for (const int32_t rank : graph_.BeganUnseen(node)) {
        if (!named.insert(rank).second || model_.Of(rank) != nullptr) {
          continue;
        }
        HangCulprit culprit = {.rank = rank, .kind = HangKind::kNoDump, .is_primary = false};
        culprit.certainty = Certainty::kCannotTell;
        culprit.evidence = graph_.OperationsOf(graph_.nodes()[node]).front();
        SetTimes(culprit, graph_.RanksAt(node));
        result_.culprits.push_back(culprit);
      }
    }
  }

  // ---- ranks that wait for each other ----

  void AddCircle(const std::vector<size_t>& component) {
    const std::optional<size_t> stuck = StuckInTransfer(component);
    if (stuck.has_value()) {
      AddStuckTransfer(*stuck);
    } else {
      AddOrder(component);
    }
  }

  // A rank that only seems to wait, as the other ends are through: it is stuck, or another part of
  // its launch is, at which the other end is as well.
  void AddStuckTransfer(size_t node) {
    const std::vector<HangOperation> operations = graph_.OperationsOf(graph_.nodes()[node]);
    const auto met = std::find_if(operations.begin(), operations.end(),
                                  [&](const HangOperation& operation) { return IsMet(operation); });
    if (met != operations.end()) {
      AddStuck(*met);
    } else {
      AddAll(HangKind::kDeviceStuck, graph_.RanksAt(node), StuckAt(node), Certainty::kLikely);
    }
  }

  // Whether a node waits for a transfer of which the other end may have finished its part: nothing
  // in its dump speaks of it, and it does not hold all of its records.
  static bool IsWeak(const Edge& edge) {
    return edge.because.is_p2p && edge.where.state == WhereState::kNotIssued &&
           edge.where.basis == WhereBasis::kAbsent;
  }

  // The node without whose weak waits nobody waits in a circle, if there is one alone: then the
  // other ends are through, and what is left is that its own device stopped. Where each of several
  // would do, as where two ranks wait to receive from each other first, they are in disorder.
  std::optional<size_t> StuckInTransfer(const std::vector<size_t>& component) const {
    std::optional<size_t> only;
    size_t tries = TriesIn(component);
    for (const size_t node : component) {
      const std::vector<Edge>& edges = graph_.EdgesOf(node);
      const bool may_be = std::any_of(edges.begin(), edges.end(), IsWeak);
      if (!may_be || HasCycle(component, [&](size_t from, const Edge& edge) {
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

  // How many walks over all edges of a component are worth it.
  size_t TriesIn(const std::vector<size_t>& component) const {
    constexpr size_t kMostTried = 256;
    constexpr size_t kMostSteps = size_t{1} << 28U;
    size_t edges = 1;
    for (const size_t node : component) {
      edges += graph_.EdgesOf(node).size();
    }
    return std::clamp<size_t>(kMostSteps / edges, 1, kMostTried);
  }

  // Ranks that wait for each other cannot go on, whatever those do for which they wait besides.
  // What the dumps do not show, and what only follows from a launch, makes no circle.
  void AddDeadlock(const std::vector<size_t>& component) {
    const std::vector<size_t> core = Circles(component, [&](size_t, const Edge& edge) {
      return edge.is_of_launch || !IsRecorded(edge.where);
    });
    if (!core.empty()) {
      AddOrder(core);
    }
  }

  void AddOrder(const std::vector<size_t>& component) {
    std::vector<int32_t> ranks;
    for (const size_t node : component) {
      const std::vector<int32_t>& there = graph_.RanksAt(node);
      ranks.insert(ranks.end(), there.begin(), there.end());
    }
    std::sort(ranks.begin(), ranks.end());
    std::vector<int32_t> breakers;
    const size_t tries = TriesIn(component);
    for (size_t i = 0; i < ranks.size() && i < tries; ++i) {
      const bool is_needed =
          !HasCycle(component, [&](size_t, const Edge& edge) { return edge.rank == ranks[i]; });
      if (is_needed) {
        breakers.push_back(ranks[i]);
      }
    }
    std::map<int32_t, Missing> missing;  // by who has not issued it
    size_t fewest = SIZE_MAX;
    for (const int32_t rank : breakers) {
      fewest = std::min(fewest, AtHeadOf(rank).size());
      if (const std::optional<Missing> one = MissingAt(rank, component); one.has_value()) {
        missing[rank] = *one;
      }
    }
    const bool is_any_left_out = std::any_of(missing.begin(), missing.end(), [](const auto& one) {
      return one.second.left_out.has_value();
    });
    std::set<int32_t> primary;
    for (const int32_t rank : breakers) {
      const auto own = missing.find(rank);
      const bool is_it = is_any_left_out ? own != missing.end() && own->second.left_out.has_value()
                                         : AtHeadOf(rank).size() == fewest;
      if (is_it) primary.insert(rank);
    }
    // Who waits for an end of a transfer that its peer went past: which of the two is wrong nobody
    // knows.
    std::set<int32_t> either;
    for (const auto& [rank, one] : missing) {
      if (!is_any_left_out && primary.contains(one.peer) && !primary.contains(rank)) {
        either.insert({rank, one.peer});
      }
    }
    primary.insert(either.begin(), either.end());
    for (const int32_t rank : ranks) {
      HangCulprit culprit = {.rank = rank, .kind = HangKind::kOrder};
      culprit.is_primary = breakers.empty() || primary.contains(rank);
      culprit.certainty = either.contains(rank) ? Certainty::kCannotTell : Certainty::kLikely;
      const auto own = missing.find(rank);
      if (own != missing.end() && own->second.left_out.has_value()) {
        culprit.evidence = own->second.operation;
        culprit.left_out = own->second.left_out;
        SetTimes(culprit, std::span(&own->second.peer, 1));
      } else {
        culprit.evidence = WaitsIn(rank, component);
        SetTimes(culprit, AtHeadOf(rank));
      }
      result_.culprits.push_back(culprit);
    }
  }

  // Of what a rank launched together, that in which it waits for others of these.
  HangOperation WaitsIn(int32_t rank, const std::vector<size_t>& component) const {
    const size_t node = graph_.IndexOf(WaitGraph::NodeOf(*model_.Of(rank)));
    const std::vector<Edge>& edges = graph_.EdgesOf(node);
    for (const bool is_of_launch : {false, true}) {
      for (const Edge& edge : edges) {
        if (edge.is_of_launch == is_of_launch &&
            std::binary_search(component.begin(), component.end(), edge.to)) {
          return edge.because;
        }
      }
    }
    return model_.Of(rank)->head.front();
  }

  // A transfer in which the other end waits, and of which a rank has not issued its own.
  struct Missing {
    HangOperation operation;
    int32_t peer = 0;
    std::optional<LeftOutTransfer> left_out;
  };

  std::optional<Missing> MissingAt(int32_t rank, const std::vector<size_t>& component) const {
    std::optional<Missing> found;
    for (const size_t node : component) {
      for (const Edge& edge : graph_.EdgesOf(node)) {
        // It has not issued its end, or a later one takes its place behind that at which it is.
        const bool is_missing = edge.rank == rank && edge.because.is_p2p && !edge.is_of_launch &&
                                edge.where.state != WhereState::kNoDump;
        if (!is_missing) {
          continue;
        }
        Missing one = {.operation = edge.because,
                       .peer = edge.because.from == rank ? edge.because.to : edge.because.from,
                       .left_out = std::nullopt};
        if (edge.where.basis != WhereBasis::kAbsent) {
          one.left_out = LeftOutBy(model_, *model_.Of(rank), edge.because);
        }
        if (!found.has_value() || one.left_out.has_value()) {
          found = one;
        }
      }
    }
    return found;
  }

  const std::vector<int32_t>& AtHeadOf(int32_t rank) const {
    return graph_.RanksAt(graph_.IndexOf(WaitGraph::NodeOf(*model_.Of(rank))));
  }

  // Whether the operations of a component still wait for each other without the edges of which
  // `is_left_out(from, edge)` is true.
  template <class Test>
  bool HasCycle(const std::vector<size_t>& component, const Test& is_left_out) const {
    return !Circles(component, is_left_out).empty();
  }

  // Those of a component that still wait for each other without these edges.
  template <class Test>
  std::vector<size_t> Circles(const std::vector<size_t>& component, const Test& is_left_out) const {
    // Takes away what waits for nothing that is left, until nothing changes.
    std::map<size_t, size_t> waits;  // of those that are left: for how many of these
    std::vector<size_t> free;
    for (const size_t node : component) {
      const std::vector<Edge>& edges = graph_.EdgesOf(node);
      waits[node] =
          static_cast<size_t>(std::count_if(edges.begin(), edges.end(), [&](const Edge& edge) {
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
      for (const auto& [from, index] : graph_.EdgesInto(node)) {
        const auto waiting = waits.find(from);
        const bool is_counted =
            waiting != waits.end() && !is_left_out(from, graph_.EdgesOf(from)[index]);
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

  // ---- times ----

  int64_t Earliest(std::span<const int32_t> ranks, const HangOperation& operation) const {
    int64_t earliest = 0;
    for (const int32_t rank : ranks) {
      const HangRank* const at = model_.Of(rank);
      const bool has_time = at != nullptr && !at->has_odd_clock;
      const int64_t issued = has_time ? model_.IssuedAt(*at, operation) : 0;
      earliest = issued != 0 && (earliest == 0 || issued < earliest) ? issued : earliest;
    }
    return earliest;
  }

  // The ranks that are at the evidence, and since when.
  void SetTimes(HangCulprit& culprit, std::span<const int32_t> waiting) {
    culprit.waiting = waiting.size();
    culprit.since_ns = Earliest(waiting, culprit.evidence);
    for (const int32_t rank : waiting) {
      const HangRank* const at = model_.Of(rank);
      if (at == nullptr || at->has_odd_clock) {
        continue;
      }
      const bool came_first = model_.IssuedAt(*at, culprit.evidence) == culprit.since_ns;
      if (came_first && (culprit.waiting_rank < 0 || rank < culprit.waiting_rank)) {
        culprit.waiting_rank = rank;
      }
    }
    const HangRank* const first = model_.Of(culprit.waiting_rank);
    const std::optional<int64_t> age = first == nullptr || culprit.since_ns == 0
                                           ? std::nullopt
                                           : AgeByFile(*first, culprit.since_ns);
    const int64_t until = std::max(model_.newest_created_ns, GivenUpAt(first, culprit.evidence));
    culprit.waited_ns = culprit.since_ns == 0 ? 0 : std::max<int64_t>(until - culprit.since_ns, 0);
    culprit.shown = Shown(culprit, age);
    if (culprit.shown != HangShown::kShown && IsAgeOfTimeout(first, culprit.evidence, age)) {
      culprit.shown = HangShown::kShown;
      culprit.is_shown_by_file = true;
      culprit.waited_ns = *age;
    }
  }

  // Whether a file was written when a dump at a timeout is: from half of it on, for whoever gives
  // up first, and not so late that it can only be the time of a copy.
  static bool IsAgeOfTimeout(const HangRank* rank, const HangOperation& operation,
                             std::optional<int64_t> age) {
    const FlightEntry* const entry = LastEntryOf(rank, operation);
    if (entry == nullptr || entry->timeout_ms <= 0 || !age.has_value()) {
      return false;
    }
    constexpr int64_t kToWrite = 60 * kSecondNs;
    const int64_t timeout_ns = entry->timeout_ms * kMillisecondNs;
    return *age >= timeout_ns / 2 && *age <= 2 * timeout_ns + kToWrite;
  }

  static const FlightEntry* LastEntryOf(const HangRank* rank, const HangOperation& operation) {
    if (rank == nullptr) {
      return nullptr;
    }
    const IssuedOperation* const issued = rank->Find(operation);
    const IssuedTransfer* const transfer = rank->FindTransfer(operation);
    return issued != nullptr     ? &rank->dump->entries[issued->last_entry]
           : transfer != nullptr ? &rank->dump->entries[transfer->last_entry]
                                 : nullptr;
  }

  // When the watchdog ended an operation that did not finish; 0 where it did not.
  static int64_t GivenUpAt(const HangRank* rank, const HangOperation& operation) {
    const FlightEntry* const entry = LastEntryOf(rank, operation);
    return entry != nullptr && IsOutstanding(*rank->dump, *entry) ? entry->discovered_finished_ns
                                                                  : 0;
  }

  // From `since` until the file of a rank was written; nothing where its time is not that.
  std::optional<int64_t> AgeByFile(const HangRank& rank, int64_t since) const {
    const int64_t after = rank.modified_ns - model_.newest_created_ns;
    return rank.modified_ns != 0 && after > -kSecondNs && after < kDayNs
               ? std::optional(rank.modified_ns - since)
               : std::nullopt;
  }

  HangShown Shown(const HangCulprit& culprit, std::optional<int64_t> age) const {
    const HangRank* const rank = model_.Of(culprit.waiting_rank);
    if (rank == nullptr) {
      return HangShown::kAssumed;
    }
    if (const FlightEntry* const entry = LastEntryOf(rank, culprit.evidence); entry != nullptr) {
      // The time of a file is no proof of a hang: a copy has the time at which it was copied.
      const int64_t timeout_ns = entry->timeout_ms * kMillisecondNs;
      const bool is_given_up = entry->is_retired && IsOutstanding(*rank->dump, *entry);
      if (is_given_up || (timeout_ns > 0 && culprit.waited_ns >= timeout_ns / 2)) {
        return HangShown::kShown;
      }
    }
    constexpr int64_t kShort = 10 * kSecondNs;
    return age.has_value() && *age < kShort && AllIssuedWithin(kShort) ? HangShown::kNotShown
                                                                       : HangShown::kAssumed;
  }

  bool AllIssuedWithin(int64_t span_ns) const {
    return std::all_of(model_.ranks.begin(), model_.ranks.end(), [&](const HangRank& rank) {
      return rank.newest_created_ns == 0 || rank.dump->is_cut ||
             model_.newest_created_ns - rank.newest_created_ns < span_ns;
    });
  }

  // ---- the whole ----

  void FindWaits() {
    result_.waits_for.resize(model_.ranks.size());
    for (size_t i = 0; i < model_.ranks.size(); ++i) {
      const HangRank& rank = model_.ranks[i];
      if (rank.head.empty()) {
        continue;
      }
      std::vector<int32_t>& waits = result_.waits_for[i];
      for (const Edge& edge : graph_.EdgesOf(graph_.IndexOf(WaitGraph::NodeOf(rank)))) {
        if (edge.rank != rank.rank) {
          waits.push_back(edge.rank);
        }
      }
      std::sort(waits.begin(), waits.end());
      waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    }
  }

  // Whether the dumps of all members are there and whole, and surely of this attempt.
  bool IsWhole(const HangOperation& operation) {
    const auto [at, is_new] = whole_.try_emplace(operation, true);
    if (is_new) {
      const std::vector<int32_t> members = model_.MembersOf(operation);
      at->second = std::all_of(members.begin(), members.end(), [&](int32_t member) {
        return model_.IsWhole(member) && !model_.Of(member)->has_odd_clock;
      });
    }
    return at->second;
  }

  // Whether a culprit is one only if its ring holds its oldest outstanding operation, which nobody
  // knows; and of an operation that nobody finished, if that is so of all that are there.
  bool IsDoubtful(const HangCulprit& culprit) const {
    const auto is_doubtful = [&](int32_t member) {
      const HangRank* const rank = model_.Of(member);
      return rank != nullptr && rank->IsHeadDoubtful();
    };
    switch (culprit.kind) {
      case HangKind::kOrder:
        return model_.Of(culprit.rank)->may_lack_older;
      case HangKind::kNeverIssued:
      case HangKind::kDeviceStuck:
      case HangKind::kNotStarted:
        return is_doubtful(culprit.rank);
      case HangKind::kNotFinished: {
        const std::vector<int32_t> members = model_.MembersOf(culprit.evidence);
        return std::all_of(members.begin(), members.end(), [&](int32_t member) {
          const HangRank* const rank = model_.Of(member);
          return rank == nullptr || !StandsAt(*rank, culprit.evidence) || rank->IsHeadDoubtful();
        });
      }
      default:
        return false;
    }
  }

  // Who may wait for somebody else, at an operation that left its ring, is not at fault beside
  // those of whom all is known.
  void LowerDoubtful() {
    std::vector<int> doubts;  // 2: that ranks disagree follows from what is not known
    int fewest = 2;
    for (HangCulprit& culprit : result_.culprits) {
      const bool is_doubtful = IsDoubtful(culprit);
      doubts.push_back(!is_doubtful ? 0 : culprit.kind == HangKind::kOrder ? 2 : 1);
      if (culprit.is_primary && culprit.kind != HangKind::kNoDump) {
        fewest = std::min(fewest, doubts.back());
      }
      if (is_doubtful) Lower(culprit.certainty, Certainty::kCannotTell);
    }
    for (size_t i = 0; i < doubts.size(); ++i) {
      if (doubts[i] > fewest) result_.culprits[i].is_primary = false;
    }
  }

  void Finish() {
    LowerDoubtful();
    const bool any_lacks = AnyLacks();
    for (HangCulprit& culprit : result_.culprits) {
      const HangRank* const rank = model_.Of(culprit.rank);
      const HangRank* const waiting = model_.Of(culprit.waiting_rank);
      // A head that is not the oldest outstanding operation may wait for an older one.
      const bool is_stuck = culprit.kind == HangKind::kDeviceStuck && any_lacks;
      if (is_stuck) {
        Lower(culprit.certainty, Certainty::kLikely);
      }
      for (const HangRank* const at : {rank, waiting}) {
        const bool is_weak = at != nullptr && (at->may_lack_older || at->dump->is_cut);
        if (is_weak && culprit.certainty == Certainty::kCertain) {
          culprit.certainty = Certainty::kLikely;
        }
      }
      // Another member may be at fault as well, of which nothing is known.
      if (model_.groups[culprit.evidence.group].is_guessed || !IsWhole(culprit.evidence)) {
        Lower(culprit.certainty, Certainty::kLikely);
      }
      culprit.is_primary = culprit.is_primary && culprit.kind != HangKind::kCount;
    }
    std::stable_sort(result_.culprits.begin(), result_.culprits.end(),
                     [](const HangCulprit& a, const HangCulprit& b) {
                       return std::tuple(!a.is_primary, a.kind, a.evidence, a.rank) <
                              std::tuple(!b.is_primary, b.kind, b.evidence, b.rank);
                     });
  }

  bool AnyLacks() const {
    return std::any_of(model_.ranks.begin(), model_.ranks.end(),
                       [](const HangRank& rank) { return rank.may_lack_older; });
  }

  const HangModel& model_;
  HangResult& result_;
  WaitGraph graph_;
  std::set<uint32_t> mismatched_groups_;
  std::set<HangOperation> explained_;  // at which ranks are that wait for nobody else
  std::map<HangOperation, bool> whole_;
};

}  // namespace

std::string_view HangKindName(HangKind kind) {
  constexpr std::string_view kNames[] = {"mismatch-operation",
                                         "mismatch-size-or-type",
                                         "never-issued",
                                         "device-stuck",
                                         "order",
                                         "not-started",
                                         "not-finished",
                                         "no-dump",
                                         ""};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view HangShownName(HangShown shown) {
  constexpr std::string_view kNames[] = {"shown", "assumed", "not shown", ""};
  return kNames[static_cast<size_t>(shown)];
}

std::string_view HangActivityName(HangActivity activity) {
  constexpr std::string_view kNames[] = {"", "unknown", "stopped", "still issuing", ""};
  return kNames[static_cast<size_t>(activity)];
}

namespace {

// Whether all that is found is that ranks are not there, of a group of which more members left no
// whole dump than did, or nobody knows how many it has.
bool AreTooFew(const HangModel& model, const HangResult& result) {
  std::map<HangOperation, bool> is_half_whole;
  const auto has_half = [&](const HangOperation& operation) {
    const auto [at, is_new] = is_half_whole.try_emplace(operation, false);
    if (is_new) {
      const std::vector<int32_t> members = model.MembersOf(operation);
      const auto whole = std::count_if(members.begin(), members.end(),
                                       [&](int32_t rank) { return model.IsWhole(rank); });
      at->second = static_cast<size_t>(whole) * 2 >= members.size();
    }
    return at->second;
  };
  return std::all_of(result.culprits.begin(), result.culprits.end(),
                     [&](const HangCulprit& culprit) {
                       const bool is_no_dump = culprit.kind == HangKind::kNoDump;
                       return (is_no_dump || culprit.kind == HangKind::kNotFinished) &&
                              (model.groups[culprit.evidence.group].is_guessed ||
                               (is_no_dump && !has_half(culprit.evidence)));
                     });
}

}  // namespace

HangResult AnalyseHang(const HangModel& model, int threads) {
  HangResult result;
  GroupScan scan = ScanGroups(model, threads);
  result.mismatches = std::move(scan.mismatches);
  result.late_ns = std::move(scan.late_ns);
  result.is_anything_outstanding =
      std::any_of(model.ranks.begin(), model.ranks.end(),
                  [](const HangRank& rank) { return !rank.head.empty(); });
  Diagnosis(model, result).Make();
  // What any running job may look like is no finding about a rank. Differences are, at any time.
  const bool may_run =
      std::all_of(result.culprits.begin(), result.culprits.end(), [](const HangCulprit& culprit) {
        return culprit.shown == HangShown::kNotShown &&
               culprit.kind != HangKind::kMismatchOperation &&
               culprit.kind != HangKind::kMismatchSizeOrType;
      });
  result.is_too_few = !may_run && AreTooFew(model, result);
  if (may_run || result.is_too_few) {
    result.culprits.clear();
  }
  return result;
}

}  // namespace borescope::internal
