#include "borescope/analysis/verbs/variance/step_statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/base/each_row.h"
#include "borescope/base/statistics/statistics.h"
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

namespace {

constexpr size_t kDraws = 1'000;
constexpr size_t kMostGroups = 509;  // a prime: no period puts its steps into one group
constexpr size_t kFirst = 3;
constexpr uint64_t kSeed = 0x5eed;

// Below `limit`, which is far below 2^32.
size_t DrawBelow(size_t limit, SplitMix64& random) { return ((random.Next() >> 32) * limit) >> 32; }

using PerDraw = std::vector<double>;  // kDraws values

// Sums over the steps of a group.
struct GroupSums {
  double steps = 0;
  double length = 0;
  double length_squared = 0;
  double work = 0;
  double work_squared = 0;
  double work_length = 0;
};

struct CauseSums {
  uint32_t group = 0;
  double ns = 0;
  double ns_length = 0;
  double ns_work = 0;
};

class Bootstrap {
 public:
  Bootstrap(const StepMatrix& matrix, const StepSpread& spread)
      : matrix_(matrix),
        spread_(spread),
        groups_(std::min(matrix.steps.size(), kMostGroups)),
        has_work_(spread.work.has_value()) {
    CenterSteps();
    DrawGroups();
    SumSteps();
  }

  std::vector<ShareLimits> Measure() {
    first_.assign(kDraws, {});
    std::vector<ShareLimits> limits;
    for (uint32_t i = 0; i < matrix_.causes.size(); ++i) {
      CheckStop();
      limits.push_back(Limit(i, SharesOf(matrix_.causes[i])));
    }
    if (has_work_) {
      limits.push_back(Limit(static_cast<uint32_t>(matrix_.causes.size()), work_share_));
    }
    FindStable(limits);
    return limits;
  }

 private:
  struct Place {
    double share = -std::numeric_limits<double>::infinity();
    uint32_t cause = std::numeric_limits<uint32_t>::max();
  };

  void CenterSteps() {
    double sum = 0;
    for (const MatrixStep& step : matrix_.steps) {
      sum += static_cast<double>(step.length_ns);
    }
    const double mean = sum / static_cast<double>(matrix_.steps.size());
    for (const MatrixStep& step : matrix_.steps) {
      length_.push_back(static_cast<double>(step.length_ns) - mean);
    }
    work_ = has_work_ ? RelativeWork(matrix_.steps) : std::vector<double>(length_.size(), 0);
  }

  void DrawGroups() {
    times_.assign(groups_, PerDraw(kDraws, 0));
    SplitMix64 random(kSeed);
    for (size_t draw = 0; draw < kDraws; ++draw) {
      for (size_t i = 0; i < groups_; ++i) {
        times_[DrawBelow(groups_, random)][draw] += 1;
      }
    }
  }

  // Neighbours, and what comes again every few steps, are in different groups.
  uint32_t GroupOf(size_t step) const { return static_cast<uint32_t>(step % groups_); }

  void AddTimes(uint32_t group, double value, PerDraw& sums) const {
    const PerDraw& times = times_[group];
    for (size_t draw = 0; draw < kDraws; ++draw) {
      sums[draw] += times[draw] * value;
    }
  }

  void SumSteps() {
    std::vector<GroupSums> of_group(groups_);
    for (size_t i = 0; i < length_.size(); ++i) {
      GroupSums& sums = of_group[GroupOf(i)];
      sums.steps += 1;
      sums.length += length_[i];
      sums.length_squared += length_[i] * length_[i];
      sums.work += work_[i];
      sums.work_squared += work_[i] * work_[i];
      sums.work_length += work_[i] * length_[i];
    }
    for (PerDraw* sums : {&steps_, &mean_length_, &variance_, &mean_work_, &work_variance_,
                          &work_with_length_, &work_share_}) {
      sums->assign(kDraws, 0);
    }
    for (uint32_t group = 0; group < groups_; ++group) {
      AddTimes(group, of_group[group].steps, steps_);
      AddTimes(group, of_group[group].length, mean_length_);
      AddTimes(group, of_group[group].length_squared, variance_);
      AddTimes(group, of_group[group].work, mean_work_);
      AddTimes(group, of_group[group].work_squared, work_variance_);
      AddTimes(group, of_group[group].work_length, work_with_length_);
    }
    for (size_t draw = 0; draw < kDraws; ++draw) {
      DivideBySteps(draw);
    }
  }

  void DivideBySteps(size_t draw) {
    for (PerDraw* sums :
         {&mean_length_, &variance_, &mean_work_, &work_variance_, &work_with_length_}) {
      (*sums)[draw] /= steps_[draw];
    }
    const double mean = mean_length_[draw];
    const double square = variance_[draw];
    variance_[draw] = square - mean * mean;
    // What is left of the rounding of equal lengths is no variance.
    variance_[draw] = variance_[draw] <= 1e-12 * square ? 0 : variance_[draw];
    work_variance_[draw] -= mean_work_[draw] * mean_work_[draw];
    work_with_length_[draw] -= mean_work_[draw] * mean;
    const double both = work_with_length_[draw];
    if (IsValid(draw) && HasWork(draw)) {
      work_share_[draw] = both * both / (work_variance_[draw] * variance_[draw]);
    }
  }

  bool IsValid(size_t draw) const { return variance_[draw] > 0; }
  bool HasWork(size_t draw) const { return has_work_ && work_variance_[draw] > 1e-12; }

  PerDraw SharesOf(const CauseRow& cause) const {
    PerDraw sum(kDraws, 0);
    PerDraw with_length(kDraws, 0);
    PerDraw with_work(kDraws, 0);
    for (const CauseSums& sums : SumsOf(cause)) {
      AddTimes(sums.group, sums.ns, sum);
      AddTimes(sums.group, sums.ns_length, with_length);
      if (has_work_) {
        AddTimes(sums.group, sums.ns_work, with_work);
      }
    }
    for (size_t draw = 0; draw < kDraws; ++draw) {
      if (IsValid(draw)) {
        const double mean = sum[draw] / steps_[draw];
        double both = with_length[draw] / steps_[draw] - mean * mean_length_[draw];
        if (HasWork(draw)) {
          const double work = with_work[draw] / steps_[draw] - mean * mean_work_[draw];
          both -= work * work_with_length_[draw] / work_variance_[draw];
        }
        with_length[draw] = both / variance_[draw];
      }
    }
    return with_length;
  }

  std::vector<CauseSums> SumsOf(const CauseRow& cause) const {
    std::vector<CauseSums> of_group(groups_);
    for (const MatrixCell& cell : cause.cells) {
      CauseSums& sums = of_group[GroupOf(cell.step)];
      const auto ns = static_cast<double>(cell.ns);
      sums.group = GroupOf(cell.step);
      sums.ns += ns;
      sums.ns_length += ns * length_[cell.step];
      sums.ns_work += ns * work_[cell.step];
    }
    std::erase_if(of_group, [](const CauseSums& sums) {
      return sums.ns == 0 && sums.ns_length == 0 && sums.ns_work == 0;
    });
    return of_group;
  }

  ShareLimits Limit(uint32_t cause, const PerDraw& shares) {
    std::vector<double> valid;
    for (size_t draw = 0; draw < kDraws; ++draw) {
      if (IsValid(draw)) {
        valid.push_back(shares[draw]);
        PlaceInDraw(draw, {shares[draw], cause});
      }
    }
    if (valid.empty()) {
      return {};
    }
    std::sort(valid.begin(), valid.end());
    const size_t cut = (valid.size() - 1) / 20;
    return {WithoutNoise(valid[cut]), WithoutNoise(valid[valid.size() - 1 - cut]), std::nullopt};
  }

  // What is left of the rounding of sums is no share.
  static double WithoutNoise(double share) {
    constexpr double kDigits = 1e9;
    const double rounded = std::round(share * kDigits) / kDigits;
    return rounded == 0 ? 0 : rounded;  // never -0
  }

  // Keeps the largest of each draw.
  void PlaceInDraw(size_t draw, Place place) {
    for (Place& known : first_[draw]) {
      if (place.share > known.share) {
        std::swap(place, known);
      }
    }
  }

  void FindStable(std::vector<ShareLimits>& limits) const {
    std::vector<Place> places;
    for (uint32_t i = 0; i < limits.size(); ++i) {
      const bool is_work = i == matrix_.causes.size();
      places.push_back({is_work ? *spread_.work->share : *spread_.causes[i].share, i});
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.share > b.share; });
    for (size_t place = 0; place < std::min(kFirst, places.size()); ++place) {
      size_t kept = 0;
      size_t valid = 0;
      for (size_t draw = 0; draw < kDraws; ++draw) {
        valid += IsValid(draw) ? 1 : 0;
        kept += IsValid(draw) && first_[draw][place].cause == places[place].cause ? 1 : 0;
      }
      limits[places[place].cause].is_stable = kept * 5 >= valid * 4;
    }
  }

  const StepMatrix& matrix_;
  const StepSpread& spread_;
  size_t groups_;
  bool has_work_;
  std::vector<double> length_;  // per step, less the mean
  std::vector<double> work_;    // likewise
  std::vector<PerDraw> times_;  // per group: how often it was drawn
  PerDraw steps_, mean_length_, variance_, mean_work_, work_variance_, work_with_length_;
  PerDraw work_share_;
  std::vector<std::array<Place, kFirst>> first_;  // per draw
};

}  // namespace

std::vector<ShareLimits> BootstrapShares(const StepMatrix& matrix, const StepSpread& spread) {
  if (spread.causes.empty() || !spread.causes.front().share) {
    return {};
  }
  return Bootstrap(matrix, spread).Measure();
}

namespace {

constexpr size_t kMostPoints = 512;
constexpr size_t kMostLag = 256;
constexpr double kLeastCorrelation = 0.5;
constexpr double kNinetyPercent = 1.6448536269514722;  // of a normal distribution, two-sided

struct Point {
  double number = 0;
  double length = 0;
};

// The step with the median length of each group of neighbours; its number is that of the middle.
std::vector<Point> PointsOf(const std::vector<MatrixStep>& steps) {
  const size_t groups = std::min(steps.size(), kMostPoints);
  std::vector<Point> points;
  for (size_t group = 0; group < groups; ++group) {
    const size_t begin = group * steps.size() / groups;
    const size_t end = (group + 1) * steps.size() / groups;
    std::vector<int64_t> lengths;
    for (size_t i = begin; i < end; ++i) {
      lengths.push_back(steps[i].length_ns);
    }
    const size_t middle = begin + (end - begin - 1) / 2;
    points.push_back(
        {static_cast<double>(steps[middle].number), static_cast<double>(LowerMedian(lengths))});
  }
  return points;
}

std::vector<double> SlopesOf(const std::vector<Point>& points) {
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (const size_t i : EachIndex(points.size())) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].number - points[i].number;
      if (run > 0) {  // not where numbers are so large that they are equal as such
        slopes.push_back((points[j].length - points[i].length) / run);
      }
    }
  }
  std::sort(slopes.begin(), slopes.end());
  return slopes;
}

}  // namespace

std::optional<Trend> TrendOf(const std::vector<MatrixStep>& steps) {
  if (steps.size() < kStepsForShares) {
    return std::nullopt;
  }
  const std::vector<Point> points = PointsOf(steps);
  const std::vector<double> slopes = SlopesOf(points);
  if (slopes.empty()) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(points.size());
  const auto pairs = static_cast<double>(slopes.size());
  const double width = kNinetyPercent * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const double last = pairs - 1;
  const double low = std::clamp(std::floor((pairs - width) / 2) - 1, 0.0, last);
  const double high = std::clamp(std::ceil((pairs + width) / 2), 0.0, last);
  return Trend{MedianOfSorted(slopes), slopes[static_cast<size_t>(low)],
               slopes[static_cast<size_t>(high)]};
}

std::optional<Period> PeriodOf(const std::vector<MatrixStep>& steps, double slope) {
  const size_t last = std::min(steps.size() / 3, kMostLag);
  std::vector<double> rest;
  double sum = 0;
  for (const MatrixStep& step : steps) {
    const double run = static_cast<double>(step.number) - static_cast<double>(steps[0].number);
    rest.push_back(static_cast<double>(step.length_ns) - slope * run);
    sum += rest.back();
  }
  double squares = 0;
  for (double& value : rest) {
    value -= sum / static_cast<double>(rest.size());
    squares += value * value;
  }
  if (last < 2 || squares <= 0) {
    return std::nullopt;
  }
  std::vector<double> correlation;  // by lag
  for (size_t lag = 0; lag <= last + 1; ++lag) {
    double products = 0;
    for (const size_t i : EachIndex(lag, rest.size())) {
      products += rest[i] * rest[i - lag];
    }
    correlation.push_back(products / squares);
  }
  const auto best = std::max_element(correlation.begin() + 2,
                                     correlation.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  const bool is_peak = *best > *(best - 1) && *best > *(best + 1);
  if (*best <= kLeastCorrelation || !is_peak) {
    return std::nullopt;
  }
  return Period{best - correlation.begin(), *best};
}

namespace {

__extension__ using WideSum = __int128;

constexpr double kOutlier = 3.5 * 1.4826;
// As a part of the median: where most steps are equal, a nanosecond more is no outlier.
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
