#include "borescope/analysis/measures/time/covered_time.h"

#include <algorithm>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

namespace {

// The open rows of a thread, outermost first. A row that a later one outlives is closed when that
// one begins, as from then on the later one is the last to have begun.
class OpenRows {
 public:
  OpenRows(const HostEvents& host, std::vector<int64_t>& times) : host_(host), times_(times) {}

  void Begin(HostId id) {
    int64_t at_ns = host_.ts_ns[id.value];
    const int64_t end_ns = host_.end_ns(id);
    while (!open_.empty() &&
           (host_.end_ns(open_.back()) <= at_ns || host_.end_ns(open_.back()) < end_ns)) {
      at_ns = TakeFrom(open_.back(), at_ns, host_.end_ns(open_.back()));
      open_.pop_back();
    }
    if (!open_.empty()) {
      TakeFrom(open_.back(), at_ns, end_ns);
    }
    times_[id.value] = host_.dur_ns[id.value];
    open_.push_back(id);
  }

  void EndThread() { open_.clear(); }

 private:
  // Returns the time from which on the next row outward loses time.
  int64_t TakeFrom(HostId open, int64_t begin_ns, int64_t end_ns) {
    times_[open.value] -= std::max<int64_t>(0, end_ns - begin_ns);
    return std::max(begin_ns, end_ns);
  }

  const HostEvents& host_;
  std::vector<int64_t>& times_;
  std::vector<HostId> open_;
};

}  // namespace

std::vector<int64_t> InnermostTimes(const Trace& trace, const std::function<bool(HostId)>& counts) {
  const HostEvents& host = trace.host();
  std::vector<int64_t> times(host.size(), 0);
  OpenRows open(host, times);
  for (const uint32_t row : EachRow(host.size())) {
    if (row > 0 && host.track[row] != host.track[row - 1]) {
      open.EndThread();
    }
    if (!counts(HostId{row})) {
      continue;
    }
    if (trace.tracks().is_async[host.track[row].value] != 0) {
      times[row] = host.dur_ns[row];
    } else {
      open.Begin(HostId{row});
    }
  }
  return times;
}

namespace {

// How many times as long as the mean of the others, and as the longest of them, each of few events
// has to be.
constexpr int64_t kMuchLonger = 10;
constexpr int64_t kLonger = 3;
// One event among fewer than kLeastMany has to be so many times as long as the mean of the others,
// of which there are at least so many.
constexpr int64_t kBeyondCompare = 100;
constexpr int64_t kLeastOthers = 4;

}  // namespace

bool LargestEvents::Add(int64_t ns) {
  ++count;
  AddSaturatingTo(all_ns, ns);
  const bool is_largest = ns > largest_ns[0];
  for (int64_t& place : largest_ns) {
    if (ns > place) {
      std::swap(ns, place);
    }
  }
  return is_largest;
}

FewEvents FindFew(const LargestEvents& sum) {
  if (sum.count <= kLeastOthers) {
    return {};
  }
  const bool are_many = sum.count >= kLeastMany;
  const int64_t times = are_many ? kMuchLonger : kBeyondCompare;
  FewEvents found;
  FewEvents few;
  for (size_t place = 0; place < (are_many ? kMostFew : 1); ++place) {
    const int64_t ns = sum.largest_ns[place];
    ++few.events;
    AddSaturatingTo(few.ns, ns);
    const int64_t others_ns = SubtractSaturating(sum.all_ns, few.ns);
    const int64_t mean_ns = others_ns / (sum.count - static_cast<int64_t>(few.events));
    const bool stands_out =
        ns > 0 && ns / times >= mean_ns && ns / kLonger >= sum.largest_ns[place + 1];
    found = few.ns > others_ns && stands_out ? few : found;
  }
  return found;
}

}  // namespace borescope::internal
