// A trace or a page, served to the browsers of this machine (docs/use/open.md).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/convert.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/question.h"
#include "borescope/run.h"

namespace borescope {

// The one port of this machine from which Perfetto's page may read, as its content security policy
// says.
inline constexpr uint16_t kPerfettoPort = 9001;

// Why Perfetto's page cannot read the input as it is ("Perfetto does not unpack zstd"), and how it
// was converted; neither where it can.
struct OfferedTrace {
  std::string why;
  std::optional<ConvertReport> converted;
};

// In which form Perfetto's page gets a trace.
enum class TraceForm : uint8_t {
  kPerfetto,  // Perfetto's protobuf, a third of the size of JSON
  kJson,      // Chrome JSON: the text of the input, where it is that
};

// The banner of a page that is replaced while it is shown.
struct LiveNews {
  std::string text;  // "4 ranks at 14:05:09"
  std::vector<std::string> problems = {};
};

// Which files of a folder are complete: they have stayed the same for a while, are not empty, no
// temporary ones by their names (.tmp, .part, ...), and, where they are JSON that was written a
// moment ago, whole. Not thread-safe.
class BORESCOPE_EXPORT InputWatch {
 public:
  struct Settled {
    std::vector<std::string> paths;  // as Run::paths() names them
    size_t growing = 0;              // others, which are still being written
    bool has_changed = false;        // since the last look: other files, or others in their place
    // Why no file could be found; where that is kIo, the others are as of the look before.
    std::optional<Error> failure = {};
  };

  // `inputs` as those of Run::Open; they may lead to no file yet. A file is complete once it has
  // not changed for `quiet`.
  InputWatch(std::vector<std::string> inputs, std::chrono::milliseconds quiet);
  InputWatch(InputWatch&&) noexcept;
  InputWatch& operator=(InputWatch&&) noexcept;
  ~InputWatch();

  Settled Look();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The last steps of recordings of `borescope record` that are still being written, as they come.
// Look and json may be called from several threads at the same time.
class BORESCOPE_EXPORT StepFollower {
 public:
  // `inputs` as those of Run::Open; they may lead to nothing yet.
  explicit StepFollower(std::vector<std::string> inputs);
  StepFollower(StepFollower&&) noexcept;
  StepFollower& operator=(StepFollower&&) noexcept;
  ~StepFollower();

  // Reads what was written to one recording since the last look at it, and no log from its begin
  // again. False where it is too early for any. Blocks for as long as that takes: up to some tenths
  // of a second, or some seconds of a recording that writes tens of megabytes a second. Two threads
  // look at two recordings, of which one has little to read, so that what costs little is seen
  // every second. All looks together take a fifth of the time of one processor at most.
  bool Look();
  // For FileServer::UpdateSteps, as of the last look at each recording: an array of one object for
  // each rank that was being written at one of the looks (docs/use/open.md); "[]\n": there is none.
  std::string json() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether `inputs` are being written: a recording that still runs is among them, or files that
// grow, and none that is complete. False where they lead to nothing.
BORESCOPE_EXPORT bool AreBeingWritten(const std::vector<std::string>& inputs);

struct TimelineSource;

// A page of a report that is served, and what gives its timeline finer detail.
struct ServedReport {
  std::string html;
  std::vector<FileInfo> files = {};  // as those of Run::Report
  // Keeps recordings in memory; nullptr: the page has all there is.
  std::shared_ptr<const TimelineSource> finer = nullptr;
};

// The page of Run::Report, to be served. Its timeline gets finer detail of the recordings that
// `run` keeps in memory afterwards (OpenOptions::keep_bytes); `run` need not outlive it. Errors as
// those of Run::Report.
BORESCOPE_EXPORT Result<ServedReport> MakeServedReport(const Run& run,
                                                       const Question& question = "report",
                                                       const Run* against = nullptr);

enum class ServeEnd : uint8_t {
  kFetched,    // somebody has all of the file; of a live page, it was fetched and nobody asks any
               // more
  kTimeLimit,  // nobody has begun to fetch it
  kStopped,    // `stop` was set
};

// Serves one file over HTTP, at an address that nobody can guess, to programs of this machine. Used
// by one thread at a time, but for RemoveDrafts, UpdatePage, UpdateReport, UpdateNews and
// UpdateSteps.
class BORESCOPE_EXPORT FileServer {
 public:
  // Listens on 127.0.0.1; port 0 is any free one. kIo names the address and the cause.
  static Result<FileServer> Open(uint16_t port = kPerfettoPort);
  FileServer(FileServer&&) noexcept;
  FileServer& operator=(FileServer&&) noexcept;
  ~FileServer();

  uint16_t port() const;

  // Makes ready what Perfetto's page shows of the inputs; what is not of that form, or cannot be
  // read as it is, gets converted into a temporary file. Of `options` the output and its format are
  // not used. Errors as those of Convert.
  Result<OfferedTrace> OfferTrace(const ConvertOptions& options,
                                  TraceForm form = TraceForm::kPerfetto);
  // Makes ready a page; `name` ends its address.
  Result<void> OfferPage(std::string html, std::string_view name);
  // The same with finer detail beside it, where there is any: Serve then goes on until nobody has
  // asked for anything within `limit`, or `stop` is set.
  Result<void> OfferReport(ServedReport report, std::string_view name);

  // Makes ready a page that UpdatePage replaces while it is served; until then it says `waiting`.
  // Serve then goes on until nobody has asked for anything within `limit`, or `stop` is set.
  Result<void> OfferLivePage(std::string_view name, std::string_view waiting);
  // A report in the place of the last one: browsers that show that load this one, and stay where
  // they are in it. Also from other threads, while Serve runs. REQUIRES: a live page was offered.
  void UpdatePage(std::string html, LiveNews news);
  // The same with finer detail beside it.
  void UpdateReport(ServedReport report, LiveNews news);
  // Other news of the same page. As UpdatePage.
  void UpdateNews(LiveNews news);
  // The last steps of what is being recorded (StepFollower::json), which the page shows above all
  // else. As UpdatePage.
  void UpdateSteps(std::string json);

  // What a browser is to open. REQUIRES: a trace or a page was offered.
  const std::string& address() const;
  // Whether the browser of this machine gets the file from this port: Perfetto's page fetches from
  // kPerfettoPort alone. REQUIRES: a trace or a page was offered.
  bool is_reachable() const;

  // Ends once a program has all of the file, or nobody asked for it within `limit`, or `stop` was
  // set, by another thread or a signal handler. Blocks. REQUIRES: a trace or a page was offered.
  Result<ServeEnd> Serve(std::chrono::milliseconds limit, const std::atomic<bool>& stop);

  // Removes the temporary files of a conversion that is running, from another thread, for a process
  // that is about to end.
  void RemoveDrafts();

 private:
  struct State;
  explicit FileServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Opens the user's browser (BROWSER, else xdg-open or open), without a shell. False where none
// starts; takes a second where the browser goes on in the foreground.
BORESCOPE_EXPORT bool OpenBrowser(const std::string& address);

}  // namespace borescope
