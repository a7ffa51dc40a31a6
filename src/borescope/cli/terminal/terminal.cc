#include "borescope/cli/terminal/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include "borescope/cli/options/values.h"
#include "borescope/output.h"
#include "borescope/text.h"

namespace borescope::cli {

namespace {

constexpr int kDefaultWidth = 80;
constexpr int kLargestWidth = 1000;
constexpr size_t kBarWidth = 30;
constexpr auto kFirstShown = std::chrono::milliseconds(300);
constexpr auto kBetween = std::chrono::milliseconds(100);
constexpr std::string_view kClearLine = "\r\x1b[K";

std::string BarLine(const Progress& progress) {
  const std::string files =
      progress.total_files > 1
          ? fmt::format("  {} of {} files", progress.done_files, progress.total_files)
          : "";
  if (progress.total_bytes == 0) {
    return fmt::format("{}reading {}{}", kClearLine, FormatBytes(progress.done_bytes), files);
  }
  const double part = std::min(
      1.0, static_cast<double>(progress.done_bytes) / static_cast<double>(progress.total_bytes));
  const auto full = static_cast<size_t>(part * static_cast<double>(kBarWidth));
  return fmt::format("{}[{:#<{}}{:.<{}}] {:3.0f} %{}", kClearLine, "", full, "", kBarWidth - full,
                     part * 100, files);
}

}  // namespace

int TerminalWidth() {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    constexpr int kMostColumns = 2'147'483'647;
    if (const Result<int> width = ParseCount("columns", columns, kMostColumns); width.ok()) {
      return std::min(*width, kLargestWidth);
    }
  }
  winsize size{};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col > 0) {
    return std::min<int>(size.ws_col, kLargestWidth);
  }
  return kDefaultWidth;
}

bool TerminalHasColours() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') &&
         term != nullptr && std::string_view(term) != "dumb";
}

void WriteMessage(std::string_view text) {
  DescriptorWriter sink(STDERR_FILENO, "standard error");
  static_cast<void>(sink.Write(text));
}

void WriteMessageLine(std::string_view line) { WriteMessage(ToPrintable(line) + "\n"); }

ProgressBar::ProgressBar(const RawOptions& raw)
    : allowed_(isatty(STDERR_FILENO) != 0 && !raw.Has("quiet") && !raw.Has("no-progress")),
      next_(std::chrono::steady_clock::now() + kFirstShown) {}

ProgressBar::~ProgressBar() {
  if (shown_) {
    WriteMessage(kClearLine);
  }
}

ProgressCallback ProgressBar::Callback() {
  if (!allowed_) {
    return {};
  }
  return [this](const Progress& progress) { Show(progress); };
}

void ProgressBar::Show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) {
    return;
  }
  next_ = now + kBetween;
  shown_ = true;
  WriteMessage(BarLine(progress));
}

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
