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
    schedule->thread_ = std::thread([self = schedule.get()] {
      self->Run();
      self->has_ended_.store(true);
    });
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
  if (!thread_.joinable()) return;
  // Again until it has: it may be about to wait, and the page says nothing of the end.
  while (!has_ended_.load()) {
    page_.WakeWaiting();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  thread_.join();
}

// False if it is to end before.
bool Schedule::Sleep(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return is_ending_.load(); });
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

// False if it is to end before. Whoever starts wakes us; where that does not reach us, as on some
// sandboxes, we look now and then.
bool Schedule::AwaitStart() {
  constexpr auto kLookEvery = std::chrono::milliseconds(50);
  while (!is_ending_.load()) {
    const uint32_t seen = page_.generation();
    if (page_.is_recording()) return true;
    page_.AwaitChange(seen, kLookEvery);
  }
  return false;
}

}  // namespace borescope::internal
