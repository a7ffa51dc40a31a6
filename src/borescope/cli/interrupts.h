// Ctrl-C and its like, for a verb that leaves something behind when it ends at once.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace borescope::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP (unless they were ignored before) go to a thread of
// its own: it calls `cleanup` and lets the signal end the process as ever, or, once BeginServing
// was called, only sets `stop`. Threads that are started meanwhile take no signals either. One at a
// time.
class Interrupts {
 public:
  explicit Interrupts(std::function<void()> cleanup);
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  void BeginServing() { is_serving_ = true; }
  const std::atomic<bool>& stop() const { return stop_; }

 private:
  void Watch(const std::stop_token& token);

  const std::function<void()> cleanup_;
  sigset_t signals_{};
  sigset_t before_{};
  std::atomic<bool> is_serving_ = false;
  std::atomic<bool> stop_ = false;
  std::jthread watcher_;
};

}  // namespace borescope::cli
