// Steps as a matrix of what their lengths consist of, and what statistics say about it: the share
// of every cause in how lengths vary and how sure that is, trends and periods. Internal to
// variance/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/row.h"

namespace borescope::internal {

// Steps and what their lengths consist of: the matrix that all of variance is computed from.

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

// How much of the variance of the length of steps goes with each cause.

// So many steps are needed for shares.
inline constexpr size_t kStepsForShares = 5;

struct CauseSpread {
  double mean_ns = 0;
  double sd_ns = 0;             // of a sample; without what goes with the amount of work
  std::optional<double> share;  // Cov(cause, length) / Var(length)
  double slope = 0;             // ns per FLOP; 0 without `work`
};

struct StepSpread {
  bool is_alike = false;            // all steps are equally long
  std::vector<CauseSpread> causes;  // as in the matrix
  // What goes with the amount of work, a row of its own; not where steps do equal work, or where
  // more work does not take longer.
  std::optional<CauseSpread> work;
};

// Covariances are exact sums of integers, so that shares, with that of `work`, add up to 1 but for
// the rounding of quotients; none for fewer than kStepsForShares steps or equal ones.
// O(steps + cells).
StepSpread SpreadOf(const StepMatrix& matrix);

// The amounts of work of the steps, less their mean and as a part of it: comparable numbers. Empty
// where not all are known, or all differ by no more than a thousandth.
std::vector<double> RelativeWork(const std::vector<MatrixStep>& steps);

// How far shares would differ had other steps of the same kind been recorded.

struct ShareLimits {
  double low = 0;  // 5th and 95th percentile
  double high = 0;
  std::optional<bool> is_stable;  // of the three largest: whether it keeps its place in 80 %
};

// The limits of the causes of the matrix, then of the amount of work if `spread` has it; empty
// where `spread` has no shares. Steps are drawn with replacement 1,000 times, by a fixed seed;
// where there are more than 509, groups of steps are drawn. O(cells + 1,000 x the cells of 509
// groups).
std::vector<ShareLimits> BootstrapShares(const StepMatrix& matrix, const StepSpread& spread);

// Whether steps get longer, and whether that repeats.

// ns per step.
struct Trend {
  double slope = 0;
  double low = 0;  // of 90 %
  double high = 0;
};

// The median of the slopes between all pairs of steps (Theil 1950, Sen 1968), over their numbers,
// with the limits of Kendall's tau; of more than 512 steps, between the medians of as many groups
// of neighbours. nullopt for fewer than five steps. O(steps log steps + 512^2). Between
// two of one number there is no slope. REQUIRES: `steps` are sorted by number.
std::optional<Trend> TrendOf(const std::vector<MatrixStep>& steps);

struct Period {
  int64_t steps = 0;       // from one to the next
  double correlation = 0;  // of the lengths of steps with those that many steps later
};

// The lag from 2 to a third of the steps, at most 256, with the largest autocorrelation, if that is
// above 0.5 and above those of both neighbours; after the trend was taken out. O(256 steps).
std::optional<Period> PeriodOf(const std::vector<MatrixStep>& steps, double slope);

// Steps that took longer than the usual one, and by what.

struct SlowCause {
  std::string what;  // empty for none
  int64_t ns = 0;
};

struct SlowStep {
  uint32_t step = 0;  // index into StepMatrix::steps
  int64_t over_ns = 0;
  bool is_outlier = false;
  std::vector<SlowCause> causes;  // the first three
  int64_t rest_ns = 0;            // with them adds up to over_ns
};

// How long steps usually take.
struct UsualLength {
  double median_ns = 0;
  double mad_ns = 0;          // median of the distances from the median
  double outlier_ns() const;  // from there on a step is an outlier
};
UsualLength UsualLengthOf(const std::vector<MatrixStep>& steps);

// How a cause is called beside its time, with the short name of a kernel: "rank 3 cpu aten::mm".
std::string DescribeCause(const CauseKey& key, bool with_rank);

// Steps beyond median + 3.5 x 1.4826 MAD, else the slowest; of fewer than kStepsForShares all that
// took longer than the usual one. Compared with the mean of the steps between the 40th and the 60th
// percentile of length, part by part. Slowest first. O(steps log steps + cells).
std::vector<SlowStep> FindSlowSteps(const StepMatrix& matrix, const StepSpread& spread,
                                    bool with_ranks);

}  // namespace borescope::internal
