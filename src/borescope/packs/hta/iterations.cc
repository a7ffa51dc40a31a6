#include "borescope/packs/hta/iterations.h"

#include <algorithm>
#include <set>

#include "borescope/base/stop.h"

namespace borescope::internal {

HtaIterations::HtaIterations(const HtaFrame& frame) : frame_(frame) {
  ListSteps();
  MakePieces();
  std::sort(kept_.begin(), kept_.end());
  kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
}

void HtaIterations::ListSteps() {
  const Trace& trace = frame_.trace();
  const auto add = [&](const HtaTimes& times, StringId name, bool is_kept) {
    const int64_t number = HtaFrame::StepNumberOf(trace.Text(name));
    windows_.push_back({times.ts_us, times.end_us(), number});
    if (is_kept) {
      kept_.push_back(number);
    }
  };
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    CheckStopAt(row);
    if (frame_.IsStep(trace.host().name[row])) {
      add(frame_.TimesOf(HostId{row}), trace.host().name[row], frame_.Keeps(HostId{row}));
    }
  }
  std::stable_sort(windows_.begin(), windows_.end(),
                   [](const Window& a, const Window& b) { return a.begin_us < b.begin_us; });
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    CheckStopAt(row);
    if (frame_.IsStep(trace.device().name[row])) {
      const DeviceId id{row};
      add(frame_.TimesOf(id), trace.device().name[row], frame_.Repeats(id) > 0);
    }
  }
}

// Cuts time where a window begins or ends.
void HtaIterations::MakePieces() {
  struct Cut {
    double ts_us;
    size_t window;
    bool begins;
  };
  std::vector<Cut> cuts;
  for (size_t i = 0; i < windows_.size(); ++i) {
    if (windows_[i].begin_us < windows_[i].end_us) {
      cuts.push_back({windows_[i].begin_us, i, true});
      cuts.push_back({windows_[i].end_us, i, false});
    }
  }
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const Cut& a, const Cut& b) { return a.ts_us < b.ts_us; });
  std::set<size_t> open;
  for (size_t i = 0; i < cuts.size(); ++i) {
    if (cuts[i].begins) {
      open.insert(cuts[i].window);
    } else {
      open.erase(cuts[i].window);
    }
    if (i + 1 == cuts.size() || cuts[i + 1].ts_us > cuts[i].ts_us) {
      pieces_.push_back({cuts[i].ts_us, open.empty() ? kNone : windows_[*open.rbegin()].number});
    }
  }
}

int64_t HtaIterations::At(double ts_us) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), ts_us,
                       [](double ts, const Piece& piece) { return ts < piece.begin_us; });
  return after == pieces_.begin() ? kNone : std::prev(after)->number;
}

int64_t HtaIterations::Of(HostId id) const { return At(frame_.TimesOf(id).ts_us); }

int64_t HtaIterations::Of(DeviceId id) const {
  const int64_t stream = frame_.StreamOf(id);
  if (stream < 0) {
    return At(frame_.TimesOf(id).ts_us);
  }
  const HostId launch = frame_.LaunchOf(id);
  return stream == 0 || !launch.valid() ? kNone : Of(launch);
}

int64_t HtaIterations::Of(const HtaRow& row) const {
  return row.device.valid() ? Of(row.device) : Of(row.op);
}

}  // namespace borescope::internal
