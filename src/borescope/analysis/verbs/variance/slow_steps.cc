#include "borescope/analysis/verbs/variance/slow_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

__extension__ using WideSum = __int128;

constexpr double kOutlier = 3.5 * 1.4826;
// Of the median: where most steps are equal, a nanosecond more is no outlier.
constexpr double kLeastOutlier = 0.01;
constexpr size_t kNamedCauses = 3;
constexpr std::string_view kOtherWork = "other amount of work";

// To the nearest integer, halves up.
int64_t RoundedMean(WideSum sum, size_t count) {
  const auto n = static_cast<WideSum>(count);
  const WideSum doubled = 2 * sum + n;
  const WideSum quotient = doubled / (2 * n);
  return static_cast<int64_t>(doubled < 0 && doubled % (2 * n) != 0 ? quotient - 1 : quotient);
}

// Steps as they usually are: those between the 40th and the 60th percentile of length.
class UsualStep {
 public:
  explicit UsualStep(const StepMatrix& matrix) : is_usual_(matrix.steps.size(), 0) {
    std::vector<uint32_t> order(matrix.steps.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return matrix.steps[a].length_ns < matrix.steps[b].length_ns;
    });
    const size_t last = order.size() - 1;
    for (size_t i = 0; i < order.size(); ++i) {
      is_usual_[order[i]] = 10 * i >= 4 * last && 10 * i <= 6 * last ? 1 : 0;
    }
    is_usual_[order[last / 2]] = 1;
    WideSum sum = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      count_ += is_usual_[i] != 0 ? 1 : 0;
      sum += is_usual_[i] != 0 ? matrix.steps[i].length_ns : 0;
    }
    length_ns_ = RoundedMean(sum, count_);
  }

  int64_t length_ns() const { return length_ns_; }

  int64_t PartOf(const CauseRow& cause) const {
    WideSum sum = 0;
    for (const MatrixCell& cell : cause.cells) {
      sum += is_usual_[cell.step] != 0 ? cell.ns : 0;
    }
    return RoundedMean(sum, count_);
  }

  double MeanOf(const std::vector<double>& values) const {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      sum += is_usual_[i] != 0 ? values[i] : 0;
    }
    return sum / static_cast<double>(count_);
  }

 private:
  std::vector<char> is_usual_;  // per step
  size_t count_ = 0;
  int64_t length_ns_ = 0;
};

// Puts a cause among the first three, the longest first; of equal ones the first that came.
void AddCause(SlowStep& step, const CauseKey& key, int64_t ns, bool with_ranks) {
  const auto after = std::find_if(step.causes.begin(), step.causes.end(),
                                  [&](const SlowCause& known) { return known.ns < ns; });
  if (ns <= 0 || (after == step.causes.end() && step.causes.size() == kNamedCauses)) {
    return;
  }
  step.causes.insert(after, {DescribeCause(key, with_ranks), ns});
  step.causes.resize(std::min(step.causes.size(), kNamedCauses));
}

// The steps to show, slowest first.
std::vector<SlowStep> ChooseSteps(const StepMatrix& matrix, int64_t usual_ns) {
  const double outlier_ns = UsualLengthOf(matrix.steps).outlier_ns();
  std::vector<SlowStep> steps;
  for (uint32_t i = 0; i < matrix.steps.size(); ++i) {
    const int64_t length_ns = matrix.steps[i].length_ns;
    if (length_ns > usual_ns) {
      const bool is_outlier =
          matrix.steps.size() >= kStepsForShares && static_cast<double>(length_ns) > outlier_ns;
      steps.push_back({i, length_ns - usual_ns, is_outlier, {}, 0});
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const SlowStep& a, const SlowStep& b) { return a.over_ns > b.over_ns; });
  if (matrix.steps.size() >= kStepsForShares && !steps.empty()) {
    const auto usual = std::find_if(steps.begin() + 1, steps.end(),
                                    [](const SlowStep& step) { return !step.is_outlier; });
    steps.erase(usual, steps.end());
  }
  return steps;
}

// Compares causes of the chosen steps with those of the usual one.
class StepComparer {
 public:
  StepComparer(const StepMatrix& matrix, const StepSpread& spread, bool with_ranks)
      : matrix_(matrix), spread_(spread), with_ranks_(with_ranks), usual_(matrix) {
    if (spread.work) {
      work_ = RelativeWork(matrix.steps);
      usual_work_ = usual_.MeanOf(work_);
    }
  }

  std::vector<SlowStep> Compare() {
    std::vector<SlowStep> steps = ChooseSteps(matrix_, usual_.length_ns());
    std::vector<uint32_t> place(matrix_.steps.size(), kNotChosen);
    for (uint32_t i = 0; i < steps.size(); ++i) {
      place[steps[i].step] = i;
    }
    std::vector<int64_t> of_work(steps.size(), 0);
    for (size_t i = 0; i < matrix_.causes.size(); ++i) {
      CheckStop();
      AddCauseTo(i, place, steps, of_work);
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      AddCause(steps[i], {kMissing, std::string(kOtherWork), {}}, of_work[i], false);
      steps[i].rest_ns = steps[i].over_ns;
      for (const SlowCause& cause : steps[i].causes) {
        steps[i].rest_ns -= cause.ns;
      }
    }
    return steps;
  }

 private:
  static constexpr uint32_t kNotChosen = ~uint32_t{0};

  void AddCauseTo(size_t index, const std::vector<uint32_t>& place, std::vector<SlowStep>& steps,
                  std::vector<int64_t>& of_work) const {
    const CauseRow& cause = matrix_.causes[index];
    const int64_t usual_ns = usual_.PartOf(cause);
    for (const MatrixCell& cell : cause.cells) {
      if (place[cell.step] == kNotChosen) {
        continue;
      }
      const double work = work_.empty() ? 0 : work_[cell.step] - usual_work_;
      const int64_t by_work = std::llround(spread_.causes[index].slope * work);
      of_work[place[cell.step]] += by_work;
      AddCause(steps[place[cell.step]], cause.key, cell.ns - usual_ns - by_work, with_ranks_);
    }
  }

  const StepMatrix& matrix_;
  const StepSpread& spread_;
  bool with_ranks_;
  UsualStep usual_;
  std::vector<double> work_;
  double usual_work_ = 0;
};

}  // namespace

double UsualLength::outlier_ns() const {
  return median_ns + std::max(kOutlier * mad_ns, kLeastOutlier * median_ns);
}

UsualLength UsualLengthOf(const std::vector<MatrixStep>& steps) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const MatrixStep& step : steps) {
    values.push_back(static_cast<double>(step.length_ns));
  }
  UsualLength usual;
  usual.median_ns = Quantile(std::span(values), 0.5);
  for (double& value : values) {
    value = std::abs(value - usual.median_ns);
  }
  usual.mad_ns = Quantile(std::span(values), 0.5);
  return usual;
}

std::string DescribeCause(const CauseKey& key, bool with_rank) {
  std::string text;
  if (with_rank && key.rank != kMissing) {
    text = "rank " + std::to_string(key.rank) + " ";
  }
  text += key.cause;
  return key.name.empty() ? text : text + " " + ShortName(key.name);
}

std::vector<SlowStep> FindSlowSteps(const StepMatrix& matrix, const StepSpread& spread,
                                    bool with_ranks) {
  return StepComparer(matrix, spread, with_ranks).Compare();
}

}  // namespace borescope::internal
