// The report of a folder that is being written, made again whenever a rank is complete.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/error.h"
#include "borescope/serve.h"

namespace borescope::cli {

// Whether the command names one folder of recordings, of which a report can be made again. kIo if
// the system cannot tell.
Result<bool> IsLive(const RawOptions& raw);

// Makes pages for a server, one at a time, and no more often than making one takes.
class LiveReport {
 public:
  // Both outlive it.
  LiveReport(const Command& command, FileServer& server);

  // The page of what is complete by now, if anything is. Errors are those of the report.
  Result<void> MakeFirst();
  // Looks for changes and replaces the page, until `stop` is requested. What cannot be read does
  // not end it: the page stays, and says so.
  void Watch(const StopToken& stop);

  // The exit status of the page that was made last.
  int status() const { return status_; }

 private:
  using Clock = std::chrono::steady_clock;

  Result<void> Make(const InputWatch::Settled& settled, const StopToken& stop);
  LiveNews NewsOf(const std::vector<FileInfo>& files, size_t growing) const;
  void MakeOrSayWhyNot(const InputWatch::Settled& settled, const StopToken& stop);
  // What the page is, what is being written, and why there is no newer page, to the banner.
  void SayNews();

  const Command& command_;
  FileServer& server_;
  InputWatch watch_;
  LiveNews news_;        // of the page that is shown
  std::string failure_;  // why there is no newer page; empty if there is
  size_t growing_ = 0;   // files, as the page says
  int status_ = 0;
  Clock::duration took_{};  // to make the last page
};

}  // namespace borescope::cli
