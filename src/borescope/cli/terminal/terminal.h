// What the terminal is and can do, and the progress bar on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

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

}  // namespace borescope::cli
