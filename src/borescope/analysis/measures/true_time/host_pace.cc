#include "borescope/analysis/measures/true_time/host_pace.h"

#include <algorithm>
#include <vector>

#include "borescope/analysis/measures/time/quantiles.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr size_t kLeastPairs = 200;
constexpr int64_t kLongCallNs = 100'000;
constexpr int64_t kMicrosecondNs = 1000;
// Of times in whole microseconds the middle half is averaged, which is that much above the median.
constexpr double kRoundedFactor = 0.9;

// The mean of the middle half.
double MiddleMean(std::vector<int64_t>& values) {
  std::sort(values.begin(), values.end());
  const size_t begin = values.size() / 4;
  const size_t end = values.size() - begin;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) {
    sum += static_cast<double>(values[i]);
  }
  return sum / static_cast<double>(end - begin);
}

class PaceMeter {
 public:
  explicit PaceMeter(const RankView& view) : view_(view), host_(view.trace.host()) {}

  HostPace Measure() {
    FindChildren();
    CollectGaps();
    CollectLaunches();
    HostPace pace;
    pace.is_rounded = IsRounded();
    pace.first_pairs = first_ns_.size();
    pace.last_pairs = last_ns_.size();
    pace.first_ns = Middle(first_ns_, pace.is_rounded);
    pace.last_ns = Middle(last_ns_, pace.is_rounded);
    pace.launch_ns = launch_ns_.empty() ? 0 : Quantile(launch_ns_, 0.5);
    return pace;
  }

 private:
  static double Middle(std::vector<int64_t>& values, bool is_rounded) {
    return values.empty() ? 0
           : is_rounded   ? kRoundedFactor * MiddleMean(values)
                          : Quantile(values, 0.5);
  }

  bool Counts(uint32_t row) const {
    const HostKind kind = host_.kind[row];
    return kind == HostKind::kOp || kind == HostKind::kAnnotation || kind == HostKind::kRuntime;
  }

  // Rows are in preorder, so that the children of an event come in the order of their begins.
  void FindChildren() {
    around_.assign(host_.size(), HostId{});
    first_.assign(host_.size(), HostId{});
    last_.assign(host_.size(), HostId{});
    for (uint32_t row = 0; row < host_.size(); ++row) {
      CheckStopAt(row);
      const HostId parent = view_.index.tree.parent[row];
      if (parent.valid()) {
        around_[row] = Counts(parent.value) ? parent : around_[parent.value];
      }
      const HostId around = around_[row];
      if (around.valid() && Counts(row)) {
        last_[around.value] = HostId{row};
        first_[around.value] = first_[around.value].valid() ? first_[around.value] : HostId{row};
      }
    }
  }

  void CollectGaps() {
    for (uint32_t row = 0; row < host_.size(); ++row) {
      CheckStopAt(row);
      if (host_.kind[row] != HostKind::kOp || !first_[row].valid()) {
        continue;
      }
      if (host_.kind[first_[row].value] == HostKind::kOp) {
        first_ns_.push_back(host_.ts_ns[first_[row].value] - host_.ts_ns[row]);
      }
      const int64_t last_ns = host_.end_ns(HostId{row}) - host_.end_ns(last_[row]);
      if (host_.kind[last_[row].value] == HostKind::kOp && last_ns >= 0) {
        last_ns_.push_back(last_ns);
      }
    }
  }

  void CollectLaunches() {
    for (uint32_t row = 0; row < host_.size(); ++row) {
      CheckStopAt(row);
      if (host_.kind[row] == HostKind::kRuntime && host_.detail[row] != kNoDetail &&
          host_.dur_ns[row] < kLongCallNs &&
          !view_.index.correlation.DevicesOf(host_.detail[row]).empty()) {
        launch_ns_.push_back(host_.dur_ns[row]);
      }
    }
  }

  bool IsRounded() const {
    for (uint32_t row = 0; row < host_.size(); ++row) {
      if (host_.ts_ns[row] % kMicrosecondNs != 0 || host_.dur_ns[row] % kMicrosecondNs != 0) {
        return false;
      }
    }
    return true;
  }

  const RankView& view_;
  const HostEvents& host_;
  std::vector<HostId> around_;  // per row: the innermost event around it that counts
  std::vector<HostId> first_;   // per row: its first child that counts
  std::vector<HostId> last_;
  std::vector<int64_t> first_ns_, last_ns_, launch_ns_;
};

}  // namespace

std::optional<double> HostPace::operator_ns() const {
  return std::min(first_pairs, last_pairs) < kLeastPairs ? std::nullopt
                                                         : std::optional(first_ns + last_ns);
}

HostPace MeasurePace(const RankView& view) { return PaceMeter(view).Measure(); }

}  // namespace borescope::internal
