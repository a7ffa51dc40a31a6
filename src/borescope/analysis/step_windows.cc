#include "borescope/analysis/step_windows.h"

#include <utility>

namespace borescope {

std::vector<StepWindow> WindowsOf(const RankView& view, const Selected& selected, bool by_step) {
  if (!by_step) {
    return {{kMissing, selected.windows()}};
  }
  std::vector<StepWindow> windows;
  std::vector<Interval> in_steps;
  for (const uint32_t i : selected.steps()) {
    const Step& step = view.index.steps.steps[i];
    const Interval whole{step.begin_ns, step.end_ns};
    IntervalSet time = Clip(selected.windows(), whole);
    if (time.empty() && whole.begin < whole.end) {
      continue;  // outside the selected time
    }
    in_steps.push_back(whole);
    windows.push_back({step.number, std::move(time)});
  }
  IntervalSet outside = Subtract(selected.windows(), Union(std::move(in_steps)));
  if (!outside.empty()) {
    windows.push_back({kMissing, std::move(outside)});
  }
  return windows;
}

}  // namespace borescope
