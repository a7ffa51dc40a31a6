// While a program runs for us, signals meant for it reach it, and none ends us before it.
#pragma once

#include <array>
#include <csignal>

namespace borescope::cli {

// While it lives, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 that somebody sends to us
// wait until there is a program, and then go to it. Those of the terminal, which go to all of its
// foreground at once, reach it by themselves. Ignored signals stay ignored. One at a time.
class SignalForwarding {
 public:
  SignalForwarding();
  SignalForwarding(const SignalForwarding&) = delete;
  SignalForwarding& operator=(const SignalForwarding&) = delete;
  ~SignalForwarding();

  // The process that signals go to from now on.
  void SendTo(int pid);

 private:
  static constexpr std::array kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, kSignals.size()> before_{};
  sigset_t mask_before_{};
};

// Ends this process as the signal would: whoever started us sees how the program ended.
void EndBySignal(int signal);

}  // namespace borescope::cli
