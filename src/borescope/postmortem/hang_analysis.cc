#include "borescope/postmortem/hang_analysis.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/postmortem/wait_graph.h"

namespace borescope::internal {
namespace {

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
        if (!has_mismatch && component.size() > 1) {
          const std::vector<size_t> core = Deadlock(graph_, component);
          if (!core.empty()) Add(OrderCulprits(model_, graph_, core));
        }
        continue;
      }
      const WaitNode& node = graph_.nodes()[component.front()];
      if (component.size() > 1) {
        if (!has_mismatch) AddCircle(component);
      } else if (node.type == WaitNode::Type::kIdle) {
        if (!has_mismatch) AddIdle(component.front());
      } else if (node.type == WaitNode::Type::kNoDump) {
        if (!graph_.EdgesInto(component.front()).empty()) {
          absent.emplace_back(node.rank, component.front());
        }
      } else if (node.type == WaitNode::Type::kOperation && graph_.IsDiffering(node.operation)) {
        AddDiffering(node.operation);
      } else if (!IsInMismatch(node)) {
        AddOperation(component.front());
        stuck.push_back(component.front());
      }
    }
    AddAbsent(std::move(absent));
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
        culprit.certainty = IsMajority(mismatch) ? Certainty::kCertain : Certainty::kCannotTell;
        culprit.evidence = mismatch.operation;
        SetTimes(model_, culprit, mismatch.others.empty() ? mismatch.ranks : mismatch.others);
        result_.culprits.push_back(culprit);
      }
    }
  }

  // Whether those who agree are more than half of the members of whom the dumps show what they did:
  // of a few that came most may be wrong.
  bool IsMajority(const HangMismatch& mismatch) const {
    const std::vector<int32_t> members = model_.MembersOf(mismatch.operation);
    const auto whole = std::count_if(members.begin(), members.end(),
                                     [&](int32_t member) { return model_.IsWhole(member); });
    return mismatch.has_majority && mismatch.others.size() * 2 > static_cast<size_t>(whole);
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

  bool IsInMismatch(const WaitNode& node) const {
    const std::vector<HangOperation> operations = graph_.OperationsOf(node);
    return std::any_of(operations.begin(), operations.end(), [&](const HangOperation& operation) {
      return mismatched_groups_.contains(operation.group);
    });
  }

  // ---- ranks without a dump ----

  // `absent`: these, and their nodes.
  void AddAbsent(std::vector<std::pair<int32_t, size_t>> absent) {
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
  }

  // ---- ranks that did not come ----

  // Of the operations in which others wait for a node: the one with most ranks.
  void SetEvidence(HangCulprit& culprit, size_t node) {
    const WaitEdge* best = nullptr;
    std::vector<int32_t> waiting;
    int64_t earliest = 0;
    for (const auto& [from, index] : graph_.EdgesInto(node)) {
      const WaitEdge& edge = graph_.EdgesOf(from)[index];
      const std::vector<int32_t>& there = graph_.RanksAt(from);
      const int64_t created = Earliest(model_, there, edge.because);
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
    SetTimes(model_, culprit, waiting);
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
      SetTimes(model_, culprit, in_time);
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
      SetTimes(model_, culprit, ranks);
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
        SetTimes(model_, culprit, graph_.RanksAt(node));
        result_.culprits.push_back(culprit);
      }
    }
  }

  // ---- ranks that wait for each other ----

  void AddCircle(const std::vector<size_t>& component) {
    const std::optional<size_t> stuck = StuckInTransfer(graph_, component);
    if (stuck.has_value()) {
      AddStuckTransfer(*stuck);
    } else {
      Add(OrderCulprits(model_, graph_, component));
    }
  }

  void Add(std::vector<HangCulprit> culprits) {
    result_.culprits.insert(result_.culprits.end(), culprits.begin(), culprits.end());
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

  // ---- the whole ----

  void FindWaits() {
    result_.waits_for.resize(model_.ranks.size());
    for (size_t i = 0; i < model_.ranks.size(); ++i) {
      const HangRank& rank = model_.ranks[i];
      if (rank.head.empty()) {
        continue;
      }
      std::vector<int32_t>& waits = result_.waits_for[i];
      for (const WaitEdge& edge : graph_.EdgesOf(graph_.IndexOf(WaitGraph::NodeOf(rank)))) {
        if (edge.rank != rank.rank) {
          waits.push_back(edge.rank);
        }
      }
      std::sort(waits.begin(), waits.end());
      waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    }
  }

  // Whether the dump of a rank may be of another attempt, or of a moment before the others'.
  bool MayBeOlder(const HangRank& rank) const {
    constexpr int64_t kNoClockIsSoFarOff = 60 * kSecondNs;
    return rank.has_odd_clock || rank.is_behind ||
           std::abs(rank.clock_ahead_ns) >= kNoClockIsSoFarOff;
  }

  // Whether the dumps of all members are there and whole, and surely of this attempt and moment.
  bool IsWhole(const HangOperation& operation) {
    const auto [at, is_new] = whole_.try_emplace(operation, true);
    if (is_new) {
      const std::vector<int32_t> members = model_.MembersOf(operation);
      at->second = std::all_of(members.begin(), members.end(), [&](int32_t member) {
        return model_.IsWhole(member) && !MayBeOlder(*model_.Of(member));
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
    const bool has_other_fault =
        std::any_of(result_.culprits.begin(), result_.culprits.end(), [](const HangCulprit& one) {
          return one.is_primary && one.kind != HangKind::kDeviceStuck;
        });
    for (HangCulprit& culprit : result_.culprits) {
      const HangRank* const rank = model_.Of(culprit.rank);
      const HangRank* const waiting = model_.Of(culprit.waiting_rank);
      // Of a device that stopped: its head may wait for an older operation that a dump lacks; and
      // beside another fault, or where others went on for long, it is likelier that the dump is of
      // a moment at which the device had not yet come to it.
      constexpr int64_t kLong = 30 * kSecondNs;
      const bool is_doubtful =
          culprit.kind == HangKind::kDeviceStuck &&
          (any_lacks || has_other_fault ||
           (rank != nullptr && model_.newest_created_ns - rank->newest_created_ns > kLong));
      if (is_doubtful) {
        Lower(culprit.certainty, Certainty::kLikely);
      }
      for (const HangRank* const at : {rank, waiting}) {
        const bool is_weak = at != nullptr && (at->may_lack_older || !at->dump->IsWhole());
        if (is_weak && culprit.certainty == Certainty::kCertain) {
          culprit.certainty = Certainty::kLikely;
        }
      }
      if (rank != nullptr && (rank->is_apart || MayBeOlder(*rank))) {
        Lower(culprit.certainty, Certainty::kLikely);
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
