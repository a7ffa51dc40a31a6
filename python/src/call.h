// Calls of the engine from Python: on a thread of their own, so that the calling thread can look
// for Ctrl-C meanwhile.
#pragma once

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "borescope/progress.h"
#include "failure.h"

namespace borescope::python {

// One call. The engine works on another thread without the GIL; the calling thread wakes up 100
// times a second to run Python's signal handlers and to report progress. An exception of either
// stops the engine, which is waited for, and is then what the call raises.
class Call {
 public:
  // `progress` is None or a callable that takes done_bytes, total_bytes, done_files, total_files.
  // It hears the same again while nothing is loaded, so that it can stop the engine at any time.
  explicit Call(nanobind::object progress) : progress_(std::move(progress)) {}

  // The value that `work` returns in a Result. REQUIRES: the GIL is held.
  template <class Work>
  auto Run(Work work) {
    using Outcome = decltype(work());
    std::optional<Outcome> outcome;
    RunUntyped([&] { outcome.emplace(work()); });
    return Value(std::move(*outcome));
  }

  StopToken stop() const { return stop_.get_token(); }
  ProgressCallback progress();

 private:
  void RunUntyped(const std::function<void()>& work);
  void WaitFor(const std::function<void()>& work);
  // Runs handlers of signals and reports progress; keeps what they raise, and stops the engine.
  void LookAround();
  void Report();

  nanobind::object progress_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;          // under mutex_
  Progress latest_;            // under mutex_: nothing of no file before anything is loaded
  std::exception_ptr failed_;  // by the engine: out of memory
  std::exception_ptr raised_;  // by Python, in the calling thread
};

}  // namespace borescope::python
