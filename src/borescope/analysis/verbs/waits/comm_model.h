// What transfers should take: a model for every kind of collective of a job, and those that took
// far longer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// The time that a transfer takes by its size, as this job reaches it: t = alpha + bytes * rate.
// Pure.

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

// How NCCL moves data, as the name of its kernel says.
struct CommAlgorithm {
  std::string algorithm;  // "RING"; empty: not known
  std::string protocol;   // "LL128"

  friend bool operator<(const CommAlgorithm& a, const CommAlgorithm& b) {
    return std::tie(a.algorithm, a.protocol) < std::tie(b.algorithm, b.protocol);
  }
};
CommAlgorithm AlgorithmOf(std::string_view kernel);

struct CommModels {
  struct Model {
    std::string collective;
    std::string group;
    int64_t group_size = kMissing;
    CommAlgorithm how;
    std::optional<double> bus_factor;
    CommFit fit;
    double best_bytes_per_ns = 0;
  };
  static constexpr uint32_t kNone = ~uint32_t{0};

  std::vector<Model> models;
  std::vector<uint32_t> model_of;  // by collective; kNone where its size is not known

  // The time that a transfer should take, in whole ns; kMissing where nothing is expected.
  int64_t ExpectedNs(const WaitRun& run, size_t collective) const;
};

// REQUIRES: the run is divided. O(n log n).
CommModels FitCommModels(const WaitRun& run, const CollectiveKeys& keys);

// comm_model: latency and bandwidth of each.
Table CommModelTable(const CommModels& models);

// comm_slow: transfers of more than twice the expected time, and more than 20 us above it.
Table CommSlowTable(const WaitRun& run, const CollectiveKeys& keys, const CommModels& models);

}  // namespace borescope::internal
