#include "borescope/cli/terminal/signal_forwarding.h"

#include <sys/resource.h>

#include <atomic>
#include <cerrno>

namespace borescope::cli {
namespace {

std::atomic<int> g_target = 0;  // a handler has no other way to know

void Forward(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  const bool is_sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
  const int target = g_target.load(std::memory_order_relaxed);
  if (is_sent && target > 0) kill(target, signal);
  errno = saved;
}

}  // namespace

SignalForwarding::SignalForwarding() {
  sigset_t ours;
  sigemptyset(&ours);
  struct sigaction action{};
  action.sa_sigaction = Forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaddset(&ours, signal);
  sigprocmask(SIG_BLOCK, &ours, &mask_before_);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

void SignalForwarding::SendTo(int pid) {
  g_target.store(pid);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

SignalForwarding::~SignalForwarding() {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &before_[i], nullptr);
  }
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  g_target.store(0);
}

void EndBySignal(int signal) {
  // The core would be ours, and of no use.
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
}

}  // namespace borescope::cli
