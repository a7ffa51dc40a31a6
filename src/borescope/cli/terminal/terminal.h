// What the terminal is and can do, and the progress bar on it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>

#include "borescope/cli/options/options.h"
#include "borescope/progress.h"

namespace borescope::cli {

// Cells per line: COLUMNS if set, else the width of the terminal on standard output, else 80.
int TerminalWidth();

// True when standard output is a terminal, no dumb one, and NO_COLOR is not set.
bool TerminalHasColours();

// Writes to standard error as it is; failures there cannot be reported anywhere.
void WriteMessage(std::string_view text);

// Writes one line there. Names of files and texts out of them may hold anything, escape sequences
// and line ends too: what is not printable reaches no terminal.
void WriteMessageLine(std::string_view line);

// A bar on standard error that is gone without a trace once the object is. Appears only on a
// terminal, unless the options forbid it, and when the work takes noticeable time. Not thread-safe:
// the library serialises its calls.
class ProgressBar {
 public:
  explicit ProgressBar(const RawOptions& raw);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  // What shows how far the library is; empty where no bar may appear. The bar must outlive it.
  ProgressCallback Callback();

 private:
  void Show(const Progress& progress);

  bool allowed_;
  std::chrono::steady_clock::time_point next_;
  bool shown_ = false;
};

// Ctrl-C and its like, for what would leave something behind, or must end in good order.

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

// While a program runs for us, signals meant for it reach it, and none ends us before it.

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
