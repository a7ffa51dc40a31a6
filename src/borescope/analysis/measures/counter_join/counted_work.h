// What the counters of reports say about the calls of operators that modelled_work.h counts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/counter_join/measured.h"
#include "borescope/analysis/measures/flops/modelled_work.h"

namespace borescope::internal {

// Sums over some kernels; each is missing unless it is known of all of them.
struct CountedSums {
  std::optional<double> tensor_flops = 0;
  std::optional<double> vector_flops = 0;
  std::optional<double> dram_read = 0;
  std::optional<double> dram_written = 0;
  std::optional<double> dram_bytes = 0;
  std::optional<double> l2_bytes = 0;
  std::set<std::string_view> not_counted = {};  // types of operands

  void Add(const CountedSums& more);
};

// Not thread-safe. The view, the counters and the work must outlive it.
class CountedWork {
 public:
  CountedWork(const RankView& view, const RankCounters& counters, const ModelledWork& work);

  // The tensor FLOPs of a kernel that has counters.
  KnownFlops TensorFlopsOf(DeviceId id);

  // The sums over the kernels among `works`; nothing if one of them has no counters, or there are
  // none. Copies and memsets have no counters, and do not count.
  std::optional<CountedSums> SumsOf(std::span<const DeviceId> works);

 private:
  CountedSums OfKernel(DeviceId id, const MeasuredKernel& measured);

  const RankView& view_;
  const RankCounters& counters_;
  const ModelledWork& work_;
  // By the text of the name, and whether it is of a matrix operator.
  std::map<std::pair<uint32_t, bool>, std::pair<MatrixUse, std::string_view>> names_;
};

}  // namespace borescope::internal
