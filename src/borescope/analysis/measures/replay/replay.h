// Runs a recording again: one pass over its nodes in their order, each as early as what it
// depends on allows.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/measures/replay/replay_graph.h"

namespace borescope::internal {

// A dependency that the recording does not have.
struct AddedDependency {
  Place place;
  Place source;  // before `place`
  int64_t ns;
};

// What has to pass, and what is depended on, in one run.
struct ReplayLags {
  std::vector<int64_t> ns;             // per dependency of the graph
  std::vector<AddedDependency> added;  // by place
};

// Times and lags are at most this, whatever a hostile recording says: sums stay within 64 bits.
inline constexpr int64_t kLongestLagNs = int64_t{1} << 60;
// The lag of a dependency that does not hold.
inline constexpr int64_t kNoDependency = -(int64_t{1} << 60);

// Per place the time since the begin of the recording. Pure; O(places + dependencies).
std::vector<int64_t> Replay(const ReplayGraph& graph, const ReplayLags& lags);
// The same into `times`: new memory for them costs as much as the replay.
void Replay(const ReplayGraph& graph, const ReplayLags& lags, std::vector<int64_t>& times);

// The dependencies with their measured lengths, which give the recording back to the nanosecond.
void SetMeasuredLags(const ReplayGraph& graph, ReplayLags& lags);
// Own times, and a lag for each class.
void SetLags(const ReplayGraph& graph, const std::vector<int64_t>& lag_of_class, ReplayLags& lags);

// How long each stretch takes in a run, and all together. `times` per place.
std::vector<int64_t> StretchTimes(const ReplayGraph& graph, const std::vector<int64_t>& times);
int64_t TotalTime(const ReplayGraph& graph, const std::vector<int64_t>& times);
// As recorded, per place since the begin of the recording.
std::vector<int64_t> MeasuredTimes(const ReplayGraph& graph);

// What decided when a place was reached.
struct Decision {
  Place source = kNoPlace;  // kNoPlace: it depends on nothing
  uint32_t edge = kNoEdge;  // kNoEdge: an added dependency
};
Decision DecisionAt(const ReplayGraph& graph, const ReplayLags& lags,
                    const std::vector<int64_t>& times, Place place);
// The moment at which the last stretch is complete; kNoPlace where nothing is.
Place LastDone(const ReplayGraph& graph, const std::vector<int64_t>& times);
// Calls visit(place, decision) for the places on the longest way to the completion of the last
// stretch, the last one first, back to the begin of the first.
template <class Visit>
void WalkPathOfReplay(const ReplayGraph& graph, const ReplayLags& lags,
                      const std::vector<int64_t>& times, const Visit& visit) {
  const int64_t begin_ns = times[graph.begin];
  Place place = LastDone(graph, times);
  while (place != kNoPlace && times[place] >= begin_ns) {
    const Decision decision = DecisionAt(graph, lags, times, place);
    visit(place, decision);
    place = decision.source;
  }
}
// The places alone.
std::vector<Place> PathOfReplay(const ReplayGraph& graph, const ReplayLags& lags,
                                const std::vector<int64_t>& times);

}  // namespace borescope::internal
