#include "borescope/cli/terminal/interrupts.h"

#include <ctime>
#include <system_error>
#include <utility>

namespace borescope::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

// As in a background job of a script, or under nohup.
bool IsIgnored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupts::Interrupts(std::function<void()> cleanup) : cleanup_(std::move(cleanup)) {
  sigemptyset(&signals_);
  for (const int signal : kSignals) {
    if (!IsIgnored(signal)) {
      sigaddset(&signals_, signal);
      wake_signal_ = signal;
    }
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  try {
    watcher_ = std::jthread([this](const std::stop_token& token) { Watch(token); });
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // no more threads: signals end us as before
  }
}

Interrupts::~Interrupts() {
  if (watcher_.joinable()) {
    watcher_.request_stop();
    if (wake_signal_ != 0) {
      pthread_kill(watcher_.native_handle(), wake_signal_);  // its nap costs every command 50 ms
    }
    watcher_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
}

void Interrupts::Watch(const std::stop_token& token) {
  constexpr timespec kNap{0, 50'000'000};
  while (!token.stop_requested()) {
    const int signal = sigtimedwait(&signals_, nullptr, &kNap);
    if (signal < 0 || token.stop_requested()) {
      continue;
    }
    stop_ = true;
    if (cleanup_) {
      cleanup_();
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
      raise(signal);
    }
  }
}

}  // namespace borescope::cli
