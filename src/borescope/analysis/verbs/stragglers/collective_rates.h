// Bus bandwidth without waiting. A collective moves its data in the time in which all ranks are in
// it, and that is the shortest participation of all: every other rank waited first. Beside it
// stands the raw rate, of all calls with their waiting.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/table/table.h"

namespace borescope::internal {

class CollectiveRates {
 public:
  struct Kind {
    std::string collective;  // CollectiveKindName
    std::string group;
    int64_t group_size;  // kMissing: not recorded

    friend bool operator<(const Kind& a, const Kind& b) {
      return std::tie(a.collective, a.group, a.group_size) <
             std::tie(b.collective, b.group, b.group_size);
    }
  };

  // One collective, with the calls of at least two ranks. The result does not depend on the order
  // of collectives.
  void Add(const Kind& kind, std::span<const MatchedCall> calls);
  Table Build() const;

 private:
  struct Sums {
    int64_t count = 0;
    TimeCovered time;    // of all calls; covered: of known size
    int64_t bytes = 0;   // of all calls of known size
    TimeCovered shared;  // the shortest of each collective; covered: of known size
    int64_t shared_bytes = 0;
    int64_t waited_ns = 0;
    int64_t begin_skew_ns = 0;
    int64_t most_begin_skew_ns = 0;
    int64_t end_skew_ns = 0;
    int64_t most_end_skew_ns = 0;
  };

  std::map<Kind, Sums> kinds_;
};

}  // namespace borescope::internal
