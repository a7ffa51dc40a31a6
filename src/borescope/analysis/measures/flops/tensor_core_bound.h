// Products of 32-bit numbers on vector units of a device that has TF32, and what they take at best
// on its tensor cores. Only a bound is known of a recording: how near libraries come to it depends
// on sizes, layouts and what is multiplied beside.
#pragma once

#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// Per device row: whether it is a kernel of matrix products or convolutions of 32-bit numbers, by
// its name, that runs on vector units of an NVIDIA device of compute capability 8.0 or later.
// O(rows).
std::vector<char> ProductsOnVectorUnits(const RankView& view);

// The least that such products take on tensor cores.
struct TensorCoreBound {
  // Per device row: at least this part of what it takes. A call takes no less than its FLOPs at the
  // peak for TF32, nor than its bytes at the speed of the memory (roofs.h), all its kernels in
  // proportion; products whose cost is not known may take nothing. 1 for what is no part of them.
  std::vector<double> share;
  int64_t products_ns = 0;  // of the products today
  int64_t known_ns = 0;     // of that, what has a known cost on a known device

  // Where less is known, nothing is said.
  bool is_known() const { return products_ns > 0 && 10 * (known_ns / 9) >= products_ns; }
};

// Of the whole recording. O(rows log rows).
Result<TensorCoreBound> BoundOfTensorCores(const RankView& view, const Params& params);

}  // namespace borescope::internal
