#include "borescope/cli/terminal/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

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

}  // namespace borescope::cli
