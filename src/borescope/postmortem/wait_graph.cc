#include "borescope/postmortem/wait_graph.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "borescope/base/stop.h"

namespace borescope::internal {

bool IsRecorded(const Where& where) {
  return where.basis == WhereBasis::kRecorded || where.basis == WhereBasis::kOrder ||
         where.basis == WhereBasis::kStatus;
}

bool StandsAt(const HangRank& rank, const HangOperation& operation) {
  return std::binary_search(rank.head.begin(), rank.head.end(), operation);
}

WaitGraph::WaitGraph(const HangModel& model, std::set<HangOperation> differing)
    : model_(model), differing_(std::move(differing)) {
  for (const HangRank& rank : model_.ranks) {
    if (!rank.head.empty()) {
      nodes_.push_back(NodeOf(rank));
    }
  }
  for (const HangOperation& operation : differing_) {
    nodes_.push_back({.type = WaitNode::Type::kOperation, .operation = operation, .rank = 0});
  }
  Unify();
  const size_t heads = nodes_.size();
  std::vector<WaitNode> ends;
  for (size_t i = 0; i < heads; ++i) {
    for (const HangOperation& operation : OperationsOf(nodes_[i])) {
      for (const int32_t member : model_.MembersOf(operation)) {
        const HangRank* const rank = model_.Of(member);
        if (rank == nullptr) {
          ends.push_back({.type = WaitNode::Type::kNoDump, .operation = {}, .rank = member});
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

bool WaitGraph::IsSink(const std::vector<size_t>& component) const {
  return std::all_of(component.begin(), component.end(), [&](size_t node) {
    return std::all_of(edges_[node].begin(), edges_[node].end(), [&](const WaitEdge& edge) {
      return component_of_[edge.to] == component_of_[node];
    });
  });
}

std::vector<std::optional<size_t>> WaitGraph::SoleEnds() const {
  constexpr size_t kNone = SIZE_MAX;
  constexpr size_t kSeveral = SIZE_MAX - 1;
  std::vector<size_t> end_of(components_.size(), kNone);
  std::vector<size_t> open(components_.size(), 0);  // edges to components not seen to their end
  std::vector<size_t> ready;
  for (size_t node = 0; node < nodes_.size(); ++node) {
    for (const WaitEdge& edge : edges_[node]) {
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

std::vector<HangOperation> WaitGraph::OperationsOf(const WaitNode& node) const {
  switch (node.type) {
    case WaitNode::Type::kOperation:
      return {node.operation};
    case WaitNode::Type::kLaunch:
      return model_.Of(node.rank)->head;
    default:
      return {};
  }
}

size_t WaitGraph::IndexOf(const WaitNode& node) const {
  return static_cast<size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) - nodes_.begin());
}

WaitNode WaitGraph::NodeOf(const HangRank& rank) {
  if (rank.head.empty()) {
    return {.type = rank.IsUnknown() ? WaitNode::Type::kNoDump : WaitNode::Type::kIdle,
            .operation = {},
            .rank = rank.rank};
  }
  return rank.head.size() == 1
             ? WaitNode{.type = WaitNode::Type::kOperation,
                        .operation = rank.head.front(),
                        .rank = 0}
             : WaitNode{.type = WaitNode::Type::kLaunch, .operation = {}, .rank = rank.rank};
}

void WaitGraph::Unify() {
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
}

bool WaitGraph::NeedsAllMembers(const HangOperation& operation,
                                std::span<const int32_t> members) const {
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

void WaitGraph::AddEdges(size_t node, const HangOperation& operation) {
  if (IsDiffering(operation) && nodes_[node].type == WaitNode::Type::kLaunch) {
    const int32_t own = nodes_[node].rank;
    const WaitNode to = {.type = WaitNode::Type::kOperation, .operation = operation, .rank = 0};
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
  const bool all_began = !operation.is_p2p &&
                         std::any_of(wheres.begin(), wheres.end(),
                                     [](const Where& where) {
                                       return where.state == WhereState::kDone && IsRecorded(where);
                                     }) &&
                         NeedsAllMembers(operation, members);
  const bool lacks_dump = std::any_of(members.begin(), members.end(),
                                      [&](int32_t member) { return model_.Of(member) == nullptr; });
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
    const WaitNode to =
        rank == nullptr ? WaitNode{.type = WaitNode::Type::kNoDump, .operation = {}, .rank = member}
                        : NodeOf(*rank);
    edges_[node].push_back(
        {.to = IndexOf(to), .because = operation, .rank = member, .where = where});
  }
}

std::vector<uint32_t> WaitGraph::GroupsDoneLater(const HangOperation& operation,
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
        const auto at = is_later.try_emplace({.group = other.group, .number = other.number}, true);
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

bool WaitGraph::IsMemberOfAny(std::span<const uint32_t> groups, int32_t rank) const {
  return std::any_of(groups.begin(), groups.end(), [&](uint32_t group) {
    const std::vector<int32_t>& members = model_.groups[group].members;
    return !model_.groups[group].is_guessed &&
           std::binary_search(members.begin(), members.end(), rank);
  });
}

void WaitGraph::AddWaitsForLaunches() {
  const bool has_launch = std::any_of(nodes_.begin(), nodes_.end(), [](const WaitNode& node) {
    return node.type == WaitNode::Type::kLaunch;
  });
  if (!has_launch) {
    return;
  }
  std::vector<std::set<size_t>> targets(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const WaitEdge& edge : edges_[i]) {
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

bool WaitGraph::AddWaitForLaunch(size_t node, const HangOperation& operation,
                                 std::set<size_t>& targets) {
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

bool WaitGraph::IsMetByAny(const HangOperation& operation, int32_t member) const {
  if (!operation.is_p2p || member != operation.to) {
    return false;
  }
  HangOperation any = operation;
  any.from = HangOperation::kAnyRank;
  any.number = 0;
  const HangRank* const rank = model_.Of(member);
  return rank != nullptr && StandsAt(*rank, any);
}

void WaitGraph::FindComponents() {
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

std::vector<size_t> WaitGraph::TakeComponent(size_t root, std::vector<size_t>& stack,
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

}  // namespace borescope::internal
