// The time that a transfer takes by its size, as this job reaches it: t = alpha + bytes * rate.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace borescope::internal {

struct SizedTime {
  int64_t bytes = 0;  // > 0
  int64_t ns = 0;     // > 0
};

struct CommFit {
  // Nothing where sizes tell too little: fewer than 3 that span a factor of 4, or than 12 calls.
  std::optional<double> alpha_ns;
  double ns_per_byte = 0;  // > 0, or 0 where nothing is known
  // Without alpha_ns: what transfers of one size take, for sizes of several calls.
  std::map<int64_t, int64_t> ns_of_size = {};
  int64_t calls = 0;
  int64_t sizes = 0;
  // Scatter of the times about the expected ones, as a share of these; of those that are expected.
  std::optional<double> spread;

  bool is_known() const { return ns_per_byte > 0; }
  // Nothing for a size of which too little is known: a rate without a latency says nothing about
  // small messages.
  std::optional<double> ExpectedNs(int64_t bytes) const;
};

// The line below which one call in ten lies (their 10 % quantile): the least sum of distances,
// those above weighing 0.1 and those below 0.9, each by 1 / its time; alpha >= 0. Calls that others
// disturbed do not move it. Without such a line the best rate of all, and a time for each size. O(n
// log n), some 100 passes.
CommFit FitTransfer(std::vector<SizedTime> times);

// What the fit makes least, for given values.
double TransferLoss(std::span<const SizedTime> times, double alpha_ns, double ns_per_byte);

}  // namespace borescope::internal
