#include "borescope/analysis/verbs/roofline/work_sweep.h"

#include <algorithm>
#include <bit>

#include "borescope/base/check.h"

namespace borescope::internal {
namespace {

struct Change {
  int64_t ns;
  uint32_t kind;
  bool begins;
};

std::vector<Change> ChangesOf(const std::vector<KindOfTime>& works) {
  std::vector<Change> changes;
  changes.reserve(2 * works.size());
  for (const KindOfTime& work : works) {
    if (work.time.begin < work.time.end) {
      changes.push_back({work.time.begin, work.kind, true});
      changes.push_back({work.time.end, work.kind, false});
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.ns < b.ns; });
  return changes;
}

void Append(IntervalSet& set, Interval time) {
  if (time.begin == time.end) return;
  if (!set.empty() && set.back().end == time.begin) {
    set.back().end = time.end;
  } else {
    set.push_back(time);
  }
}

}  // namespace

std::vector<IntervalSet> DivideTime(const std::vector<KindOfTime>& works, size_t kinds) {
  BS_CHECK(kinds <= 64);
  std::vector<IntervalSet> sets(kinds);
  std::vector<uint32_t> running(kinds);
  uint64_t any_running = 0;  // a bit for each kind
  int64_t since = 0;
  for (const Change& change : ChangesOf(works)) {
    if (any_running != 0) {
      Append(sets[static_cast<size_t>(std::countr_zero(any_running))], {since, change.ns});
    }
    since = change.ns;
    const uint64_t bit = uint64_t{1} << change.kind;
    change.begins ? ++running[change.kind] : --running[change.kind];
    any_running = running[change.kind] > 0 ? any_running | bit : any_running & ~bit;
  }
  return sets;
}

}  // namespace borescope::internal
