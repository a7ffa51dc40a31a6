// Steps and what their lengths consist of: the matrix that all of variance is computed from.
// Internal to variance/.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/row.h"

namespace borescope::internal {

struct MatrixStep {
  int64_t number = 0;
  int64_t length_ns = 0;
  int64_t work = kMissing;  // FLOPs
  uint32_t occurrence = 0;  // which of the steps of this number it is, from 0
};

struct CauseKey {
  int64_t rank = kMissing;  // kMissing: of what a typical rank does
  std::string cause;
  std::string name;  // empty for none

  friend bool operator<(const CauseKey& a, const CauseKey& b) {
    return std::tie(a.rank, a.cause, a.name) < std::tie(b.rank, b.cause, b.name);
  }
};

struct MatrixCell {
  uint32_t step = 0;  // index into StepMatrix::steps
  int64_t ns = 0;     // of a rank compared with others it may be negative
};

struct CauseRow {
  CauseKey key;
  std::vector<MatrixCell> cells;  // by step; those left out are 0
};

// The cells of a step add up to its length.
struct StepMatrix {
  std::vector<MatrixStep> steps;  // by number and occurrence
  std::vector<CauseRow> causes;   // by key
};

}  // namespace borescope::internal
