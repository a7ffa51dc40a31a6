#include "call.h"

#include <chrono>
#include <system_error>
#include <thread>

namespace nb = nanobind;

namespace borescope::python {

ProgressCallback Call::progress() {
  if (progress_.is_none()) {
    return {};
  }
  return [this](const Progress& progress) {
    const std::lock_guard lock(mutex_);
    latest_ = progress;
  };
}

void Call::RunUntyped(const std::function<void()>& work) {
  {
    const nb::gil_scoped_release release;
    WaitFor(work);
  }
  if (raised_ == nullptr && failed_ == nullptr) {
    LookAround();  // the last progress, and a signal that came with the end
  }
  for (const std::exception_ptr& thrown : {raised_, failed_}) {
    if (thrown != nullptr) {
      std::rethrow_exception(thrown);
    }
  }
}

void Call::WaitFor(const std::function<void()>& work) {
  constexpr std::chrono::milliseconds kNap{10};
  std::thread engine;
  try {
    engine = std::thread([&] {
      try {
        work();
      } catch (...) {
        failed_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ = true;
      changed_.notify_one();
    });
  } catch (const std::system_error&) {
    // The system has no thread left: signals and progress wait until the work is done.
    work();
    return;
  }
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kNap, [&] { return done_; })) {
    lock.unlock();
    if (raised_ == nullptr) {
      const nb::gil_scoped_acquire acquire;
      LookAround();
    }
    lock.lock();
  }
  lock.unlock();
  engine.join();
}

void Call::LookAround() {
  try {
    if (PyErr_CheckSignals() != 0) {
      throw nb::python_error();
    }
    Report();
  } catch (...) {
    raised_ = std::current_exception();
    stop_.request_stop();
  }
}

void Call::Report() {
  if (progress_.is_none()) {
    return;
  }
  Progress progress;
  {
    const std::lock_guard lock(mutex_);
    progress = latest_;
  }
  progress_(progress.done_bytes, progress.total_bytes, progress.done_files, progress.total_files);
}

}  // namespace borescope::python
