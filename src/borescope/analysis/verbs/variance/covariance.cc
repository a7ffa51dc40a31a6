#include "borescope/analysis/verbs/variance/covariance.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

__extension__ using Wide = __int128;

constexpr double kSameWork = 0.001;
constexpr int kSafeBits = 124;  // of a sum in Wide, a sign and a difference

int BitsOf(uint64_t value) { return 64 - std::countl_zero(value); }

// Sums of products that are exact: times are taken from that of the first step, and where these
// sums would not fit, which takes weeks of steps, in a coarser unit.
class ExactSums {
 public:
  explicit ExactSums(const StepMatrix& matrix) {
    uint64_t largest = 1;
    for (const MatrixStep& step : matrix.steps) {
      largest = std::max(largest, static_cast<uint64_t>(step.length_ns));
    }
    const int bits = 2 * (BitsOf(matrix.steps.size()) + BitsOf(largest));
    shift_ = std::max(0, (bits - kSafeBits + 1) / 2);
    for (const MatrixStep& step : matrix.steps) {
      length_.push_back((step.length_ns >> shift_) - (matrix.steps[0].length_ns >> shift_));
      sum_ += length_.back();
    }
  }

  // n^2 times the covariance with the length.
  Wide WithLength(const CauseRow& cause) const {
    Wide products = 0;
    Wide sum = 0;
    for (const MatrixCell& cell : cause.cells) {
      const Wide ns = cell.ns >> shift_;
      products += ns * length_[cell.step];
      sum += ns;
    }
    return steps() * products - sum * sum_;
  }

  // n^2 times the variance.
  Wide Variance(const CauseRow& cause) const {
    Wide squares = 0;
    Wide sum = 0;
    for (const MatrixCell& cell : cause.cells) {
      const Wide ns = cell.ns >> shift_;
      squares += ns * ns;
      sum += ns;
    }
    return steps() * squares - sum * sum;
  }

  // To nanoseconds.
  double Root(Wide squares) const {
    return std::ldexp(std::sqrt(static_cast<double>(squares)), shift_);
  }

 private:
  Wide steps() const { return static_cast<Wide>(length_.size()); }

  int shift_ = 0;
  std::vector<int64_t> length_;
  Wide sum_ = 0;
};

double MeanOf(const CauseRow& cause, size_t steps) {
  Wide sum = 0;
  for (const MatrixCell& cell : cause.cells) {
    sum += cell.ns;
  }
  return static_cast<double>(sum) / static_cast<double>(steps);
}

// Sum over the steps of the cause times the amount of work, whose mean is 0.
double WithWork(const CauseRow& cause, const std::vector<double>& work) {
  double sum = 0;
  for (const MatrixCell& cell : cause.cells) {
    sum += static_cast<double>(cell.ns) * work[cell.step];
  }
  return sum;
}

// Gives what goes with the amount of work to a row of its own.
void SeparateWork(const StepMatrix& matrix, const std::vector<double>& work, double variance,
                  StepSpread& spread) {
  const auto steps = static_cast<double>(matrix.steps.size());
  double of_work = 0;
  for (const double value : work) {
    of_work += value * value;
  }
  double with_length = 0;
  for (const MatrixStep& step : matrix.steps) {
    const auto i = static_cast<size_t>(&step - matrix.steps.data());
    with_length += static_cast<double>(step.length_ns - matrix.steps[0].length_ns) * work[i];
  }
  if (work.empty() || with_length <= 0) {
    return;
  }
  // `variance` is n^2 times the variance: n times its sum of squares.
  for (size_t i = 0; i < spread.causes.size(); ++i) {
    CauseSpread& cause = spread.causes[i];
    const double with_work = WithWork(matrix.causes[i], work);
    cause.slope = with_work / of_work;
    *cause.share -= steps * cause.slope * with_length / variance;
    const double rest = cause.sd_ns * cause.sd_ns - with_work * cause.slope / (steps - 1);
    cause.sd_ns = std::sqrt(std::max(0.0, rest));
  }
  CauseSpread row;
  row.slope = with_length / of_work;
  row.share = steps * row.slope * with_length / variance;
  row.sd_ns = std::sqrt(with_length * row.slope / (steps - 1));
  spread.work = row;
}

}  // namespace

std::vector<double> RelativeWork(const std::vector<MatrixStep>& steps) {
  std::vector<double> work;
  double sum = 0;
  for (const MatrixStep& step : steps) {
    if (step.work == kMissing) {
      return {};
    }
    work.push_back(static_cast<double>(step.work));
    sum += work.back();
  }
  const double mean = sum / static_cast<double>(std::max<size_t>(steps.size(), 1));
  if (mean <= 0) {
    return {};
  }
  const auto [least, most] = std::minmax_element(work.begin(), work.end());
  if (*most - *least <= kSameWork * mean) {
    return {};
  }
  for (double& value : work) {
    value = (value - mean) / mean;
  }
  return work;
}

StepSpread SpreadOf(const StepMatrix& matrix) {
  const size_t steps = matrix.steps.size();
  const ExactSums sums(matrix);
  StepSpread spread;
  std::vector<Wide> with_length;
  Wide variance = 0;
  for (const CauseRow& cause : matrix.causes) {
    CheckStopAt(with_length.size());
    with_length.push_back(sums.WithLength(cause));
    variance += with_length.back();
    const auto pairs = static_cast<double>(steps) * static_cast<double>(steps - 1);
    const double sd_ns = steps < 2 ? 0 : sums.Root(sums.Variance(cause)) / std::sqrt(pairs);
    spread.causes.push_back({MeanOf(cause, steps), sd_ns, std::nullopt, 0});
  }
  spread.is_alike = std::all_of(
      matrix.steps.begin(), matrix.steps.end(),
      [&](const MatrixStep& step) { return step.length_ns == matrix.steps[0].length_ns; });
  if (spread.is_alike || variance <= 0 || steps < kStepsForShares) {
    return spread;
  }
  for (size_t i = 0; i < with_length.size(); ++i) {
    spread.causes[i].share = static_cast<double>(with_length[i]) / static_cast<double>(variance);
  }
  const std::vector<double> work = RelativeWork(matrix.steps);
  if (!work.empty()) {
    SeparateWork(matrix, work, sums.Root(variance) * sums.Root(variance), spread);
  }
  return spread;
}

}  // namespace borescope::internal
