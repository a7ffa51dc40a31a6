// What transfers should take: a model for every kind of collective of a job, and those that took
// far longer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/verbs/waits/comm_fit.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/table/table.h"

namespace borescope::internal {

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
