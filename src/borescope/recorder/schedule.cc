#include "borescope/recorder/schedule.h"

#include <string>
#include <system_error>
#include <utility>

#include "borescope/recorder/signals.h"

namespace borescope::internal {

Result<std::unique_ptr<Schedule>> Schedule::Make(ControlPage page, ScheduleTimes times) {
  if (times.is_empty()) return std::unique_ptr<Schedule>();
  std::unique_ptr<Schedule> schedule(new Schedule(std::move(page), times));
  try {
    schedule->thread_ = std::thread([self = schedule.get()] { self->Run(); });
  } catch (const std::system_error& error) {
    return Error{ErrorCode::kIo,
                 std::string("no thread can be made that starts and stops: ") + error.what()};
  }
  return schedule;
}

Schedule::~Schedule() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
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
  do {
    if (!AwaitStart() || !Sleep(times_.record_for)) return;
    page_.EndAll(!times_.repeats);
  } while (times_.repeats);
}

// False if it is to end before.
bool Schedule::AwaitStart() {
  constexpr auto kLookEvery = std::chrono::milliseconds(2);
  while (!page_.is_recording()) {
    if (!Sleep(kLookEvery)) return false;
  }
  return true;
}

}  // namespace borescope::internal
