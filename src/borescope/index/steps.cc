#include "borescope/index/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

std::vector<Step> FindSteps(const Trace& trace) {
  const HostEvents& host = trace.host();
  std::vector<Step> steps;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    // Recordings of 2022 and before have step annotations as plain operators.
    if (host.kind[row] != HostKind::kAnnotation && host.kind[row] != HostKind::kOp) {
      continue;
    }
    if (const std::optional<int64_t> number = StepNumber(trace.Name(HostId{row}))) {
      steps.push_back({*number, host.ts_ns[row], host.end_ns(HostId{row}), HostId{row}});
    }
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::tuple(a.begin_ns, a.number, a.annotation) <
           std::tuple(b.begin_ns, b.number, b.annotation);
  });
  // Some files have a step twice, as an annotation and as an operator.
  const auto same = [](const Step& a, const Step& b) {
    return a.begin_ns == b.begin_ns && a.number == b.number;
  };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
  return steps;
}

// Cuts windows that overlap into pieces that do not.
class Cutter {
 public:
  explicit Cutter(const std::vector<Step>& steps) : steps_(steps) {}

  std::vector<Steps::Piece> Cut() {
    for (uint32_t step = 0; step < steps_.size(); ++step) {
      if (steps_[step].begin_ns < steps_[step].end_ns) {  // one of zero length contains nothing
        EndWindows(steps_[step].begin_ns);
        Start(steps_[step].begin_ns, step);
        open_.push_back(step);
      }
    }
    EndWindows(std::numeric_limits<int64_t>::max());
    pieces_.shrink_to_fit();
    return std::move(pieces_);
  }

 private:
  void Start(int64_t begin_ns, uint32_t step) {
    if (!pieces_.empty() && pieces_.back().begin_ns == begin_ns) {
      pieces_.back().step = step;
    } else {
      pieces_.push_back({begin_ns, step});
    }
  }

  // Ends windows that are over at `now_ns`; the rest of the enclosing one continues.
  void EndWindows(int64_t now_ns) {
    while (!open_.empty() && steps_[open_.back()].end_ns <= now_ns) {
      const int64_t end_ns = steps_[open_.back()].end_ns;
      while (!open_.empty() && steps_[open_.back()].end_ns <= end_ns) {
        open_.pop_back();
      }
      Start(end_ns, open_.empty() ? kNoStep : open_.back());
    }
  }

  const std::vector<Step>& steps_;
  std::vector<uint32_t> open_;  // begun and not known to have ended; the last to begin on top
  std::vector<Steps::Piece> pieces_;
};

}  // namespace

std::optional<int64_t> StepNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size() || name.size() > 32) {
    return std::nullopt;
  }
  int64_t number = 0;
  for (const char c : name.substr(kPrefix.size())) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    number = std::min<int64_t>(number * 10 + (c - '0'), int64_t{1} << 53);
  }
  return number;
}

std::string_view FoldStepName(std::string_view name) {
  return StepNumber(name).has_value() ? kAnyStep : name;
}

std::vector<Steps::Piece> CutSteps(const std::vector<Step>& steps) { return Cutter(steps).Cut(); }

uint32_t Steps::At(int64_t ts_ns) const {
  const auto after =
      std::upper_bound(pieces.begin(), pieces.end(), ts_ns,
                       [](int64_t ts, const Piece& piece) { return ts < piece.begin_ns; });
  return after == pieces.begin() ? kNoStep : std::prev(after)->step;
}

Steps BuildSteps(const Trace& trace, const Correlation& correlation) {
  Steps result;
  result.steps = FindSteps(trace);
  if (result.steps.empty()) {
    return result;
  }
  result.pieces = CutSteps(result.steps);
  const DeviceEvents& device = trace.device();
  result.device_step.resize(device.size());
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const HostId launch = correlation.launch_of[row];
    result.device_step[row] =
        result.At(launch.valid() ? trace.host().ts_ns[launch.value] : device.ts_ns[row]);
  }
  return result;
}

void CountSharedSteps(const Trace& trace, const Steps& steps, Diagnostics& diagnostics) {
  std::set<int64_t> processes;
  for (const Step& step : steps.steps) {
    processes.insert(trace.tracks().pid[trace.host().track[step.annotation.value].value]);
  }
  if (processes.size() < 2) {
    return;
  }
  const size_t more = processes.size() - 2;
  diagnostics.CountMany(
      Diag::kSharedSteps, processes.size(), Diagnostics::kNoByte,
      fmt::format("processes {} and {}{}", *processes.begin(), *std::next(processes.begin()),
                  more == 0 ? "" : fmt::format(", and {} more", more)));
}

}  // namespace borescope::internal
