// What changed of one thing between the base and the test run of `diff`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/verbs/diff/run_sums.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

// How the total times compare.
enum class Status : uint8_t { kAdded, kDeleted, kSlower, kFaster, kUnchanged, kCount };
std::string_view StatusName(Status status);

// How the numbers of calls compare, of what is in both runs; the name of kUnknown is empty. These
// words and those of CallTimeStatus say by themselves what is compared.
enum class CountStatus : uint8_t { kMore, kFewer, kSame, kUnknown, kCount };
std::string_view CountStatusName(CountStatus status);

// How the times of one call compare, of what is in both runs; the name of kUnknown is empty.
enum class CallTimeStatus : uint8_t { kLonger, kShorter, kSame, kUnknown, kCount };
std::string_view CallTimeStatusName(CallTimeStatus status);

// What runs are compared by: how often the counted part of a program ran in either of them.
struct RunUnits {
  int64_t base = 1;
  int64_t test = 1;
  std::string_view unit = "run";  // or "step", "token", "rank"
  int64_t base_ranks = 1;
  int64_t test_ranks = 1;

  bool is_step() const { return unit == "step"; }
  // For the title of a table: " per step"; empty where whole runs are compared.
  std::string Words() const;
};

// A sum as the mean of `units`, rounded. REQUIRES: units > 0, sum_ns >= 0.
int64_t MeanOf(int64_t sum_ns, int64_t units);
// `test` less `base` as a share of `base`, and `test` as a multiple of it; missing of nothing.
std::optional<double> ShareOfChange(int64_t base, int64_t test);
std::optional<double> RatioOf(int64_t base, int64_t test);

struct CallSum {
  int64_t count = 0;
  int64_t total_ns = 0;
};

struct NameChange {
  CallSum base;
  CallSum test;
  std::string renamed_to;  // empty if it has one name

  // Of the mean of either run.
  int64_t delta_ns(const RunUnits& units) const {
    return MeanOf(test.total_ns, units.test) - MeanOf(base.total_ns, units.base);
  }
  // What is in both runs is slower or faster where the time of a unit differs by 5 % and 1 us at
  // least; its calls are longer or shorter where it differs as much from that of as many calls.
  Status status(const RunUnits& units) const;
  CountStatus count_status(const RunUnits& units) const;
  CallTimeStatus call_time_status(const RunUnits& units) const;
};

// Kernels that have another name in the test run: another tile, architecture or library computes
// the same operator on the same shapes.

// By side (device: true) and name.
using ChangeKey = std::pair<bool, std::string>;
using Changes = std::map<ChangeKey, NameChange>;

// Makes one row of each two kernels of which one is only in the base run and the other only in the
// test run, both of one class and launched by operators of one name and shape (LaunchSumRow). If
// there are several of a class, operator and shape, the one that takes longest is paired with the
// one that takes longest, and so on; without recorded shapes only single ones are paired. A kernel
// is in one pair at most: the one in which both took most time.
void PairRenamedKernels(const std::vector<LaunchSumRow>& base,
                        const std::vector<LaunchSumRow>& test, Changes& changes);

}  // namespace borescope::internal
