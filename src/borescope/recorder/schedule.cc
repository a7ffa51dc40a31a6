#include "borescope/recorder/schedule.h"

#include <utility>

#include "borescope/recorder/signals.h"

namespace borescope::internal {

Schedule::Schedule(ControlPage page, ScheduleTimes times) : page_(std::move(page)), times_(times) {
  thread_ = std::thread([this] { Run(); });
}

Schedule::~Schedule() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// False if it is to end before.
bool Schedule::Sleep(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return is_ending_; });
}

void Schedule::Run() {
  BlockAllSignals();
  if (times_.start_after.count() != 0) {
    if (!Sleep(times_.start_after)) return;
    page_.Start();
  }
  if (times_.record_for.count() == 0) return;
  constexpr auto kLookEvery = std::chrono::milliseconds(2);
  while (!page_.is_recording()) {
    if (!Sleep(kLookEvery)) return;
  }
  if (Sleep(times_.record_for)) page_.Stop();
}

}  // namespace borescope::internal
