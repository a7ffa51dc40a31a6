#include "borescope/analysis/measures/time/largest_events.h"

#include <utility>

#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

// By how much each of few exceeds the mean of the others, and the longest of them.
constexpr int64_t kMuchLonger = 10;
constexpr int64_t kLonger = 3;

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
  if (sum.count < kLeastMany) {
    return {};
  }
  FewEvents found;
  FewEvents few;
  for (size_t place = 0; place < kMostFew; ++place) {
    const int64_t ns = sum.largest_ns[place];
    ++few.events;
    AddSaturatingTo(few.ns, ns);
    const int64_t others_ns = SubtractSaturating(sum.all_ns, few.ns);
    const int64_t mean_ns = others_ns / (sum.count - static_cast<int64_t>(few.events));
    const bool stands_out =
        ns > 0 && ns / kMuchLonger >= mean_ns && ns / kLonger >= sum.largest_ns[place + 1];
    found = few.ns > others_ns && stands_out ? few : found;
  }
  return found;
}

}  // namespace borescope::internal
