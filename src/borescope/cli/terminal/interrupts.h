// Ctrl-C and its like, for what would leave something behind, or must end in good order.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace borescope::cli {

// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU (unless they were ignored before) go
// to a thread of its own. Threads that are started meanwhile take no signals either. One at a time.
// Where the system lets no thread start, signals do what they did before.
class Interrupts {
 public:
  // Signals set `stop`, and nothing else.
  Interrupts() : Interrupts(nullptr) {}
  // Signals call `cleanup`, in that thread, and then end the process as before.
  explicit Interrupts(std::function<void()> cleanup);
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  const std::atomic<bool>& stop() const { return stop_; }

 private:
  void Watch(const std::stop_token& token);

  const std::function<void()> cleanup_;
  sigset_t signals_{};
  sigset_t before_{};
  int wake_signal_ = 0;  // one that the watcher waits for; 0: none
  std::atomic<bool> stop_ = false;
  std::jthread watcher_;
};

}  // namespace borescope::cli
