// While a program runs for us, signals meant for it reach it, and none ends us before it.
#pragma once

#include <csignal>

namespace borescope::cli {

// While it lives, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 that somebody sends to us
// go to the process `pid`. Those of the terminal, which go to all of its foreground at once, reach
// it by themselves. Ignored signals stay ignored. One at a time.
class SignalForwarding {
 public:
  explicit SignalForwarding(int pid);
  SignalForwarding(const SignalForwarding&) = delete;
  SignalForwarding& operator=(const SignalForwarding&) = delete;
  ~SignalForwarding();

 private:
  static constexpr int kSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  struct sigaction before_[6]{};
};

// Ends this process as the signal would: whoever started us sees how the program ended.
void EndBySignal(int signal);

}  // namespace borescope::cli
