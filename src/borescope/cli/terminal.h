// What the terminal is and can do, and the progress bar on it.
#pragma once

#include <chrono>
#include <string_view>

#include "borescope/session.h"

namespace borescope::cli {

// Cells per line: COLUMNS if set, else the width of the terminal on standard output, else 80.
int TerminalWidth();

// True when standard output is a terminal, no dumb one, and NO_COLOR is not set.
bool TerminalHasColours();

// True when standard error is a terminal.
bool ErrorIsTerminal();

// Writes to standard error as it is; failures there have nowhere to be told.
void Talk(std::string_view text);

// Writes one line there. Names of files and texts out of them may hold anything, escape sequences
// and line ends too: what is not printable reaches no terminal.
void TalkLine(std::string_view line);

// A bar on standard error that is gone without a trace once the object is. Appears only when the
// work takes noticeable time. Not thread-safe: RunOptions::progress serialises its calls.
class ProgressBar {
 public:
  ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  void Show(const Progress& progress);

 private:
  std::chrono::steady_clock::time_point next_;
  bool shown_ = false;
};

}  // namespace borescope::cli
