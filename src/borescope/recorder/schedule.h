// Starting and stopping a run by the clock.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "borescope/base/result.h"
#include "borescope/recorder/control_page.h"

namespace borescope::internal {

// Zero: not by the clock.
struct ScheduleTimes {
  std::chrono::nanoseconds start_after{};  // from now
  std::chrono::nanoseconds record_for{};   // from the first start on, whoever started
  bool repeats = false;                    // it may start again, and is then recorded for as long

  bool is_empty() const { return start_after.count() == 0 && record_for.count() == 0; }
};

// A thread that does so while this lives.
class Schedule {
 public:
  // A null pointer for times that are empty; kIo where no thread can be made.
  static Result<std::unique_ptr<Schedule>> Make(ControlPage page, ScheduleTimes times);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule();

 private:
  Schedule(ControlPage page, ScheduleTimes times) : page_(std::move(page)), times_(times) {}
  void Run();
  bool Sleep(std::chrono::nanoseconds time);
  bool AwaitStart();

  ControlPage page_;
  ScheduleTimes times_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

}  // namespace borescope::internal
