#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/report_command.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/error.h"
#include "borescope/partial.h"
#include "borescope/serve.h"
#include "borescope/text.h"

namespace borescope::cli {
namespace {

// The report of a folder that is being written, made again whenever a rank is complete.

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

  // Shows the last steps of what is being recorded, as they come, until `stop` is requested. In
  // threads of their own, as a report may take long to make: one of two goes on with the other
  // ranks while one reads a rank that writes much.
  void FollowSteps(const StopToken& stop);

  // The exit status of the page that was made last.
  int status() const { return status_; }

 private:
  using Clock = std::chrono::steady_clock;

  Result<void> Make(const InputWatch::Settled& settled, const StopToken& stop);
  LiveNews NewsOf(const std::vector<FileInfo>& files, size_t growing) const;
  void MakeOrSayWhyNot(const InputWatch::Settled& settled, const StopToken& stop);
  // Says what has changed since the last look of that which is no reason for a new page.
  void SayWhatElseChanged(const InputWatch::Settled& settled);
  // What the page is, what is being written, and why there is no newer page, to the banner.
  void SayNews();
  // The steps as they are known now, at times. From any of the threads that follow them.
  void ShowSteps();

  const Command& command_;
  FileServer& server_;
  InputWatch watch_;
  LiveNews news_;         // of the page that is shown
  std::string failure_;   // why there is no newer page; empty if there is
  std::string unlisted_;  // why no file could be found at the last look; empty if some were
  size_t growing_ = 0;    // files, as the page says
  int status_ = 0;
  Clock::duration took_{};                  // to make the last page
  std::atomic<bool> is_recording_ = false;  // something is, so that its last steps are shown
  StepFollower follower_;
  std::mutex showing_;           // of all below, so that no older steps follow newer ones
  std::string steps_;            // as they are shown
  Clock::time_point next_show_;  // not before
};

using std::chrono::milliseconds;

constexpr milliseconds kQuiet{1000};           // for which a complete file does not change
constexpr milliseconds kLook{250};             // from one look to the next
constexpr int kStepRest = 4;                   // so many times what takes long is rested after it
constexpr std::string_view kNoSteps = "[]\n";  // what a follower has to show of no recording
// While something is recorded, its last steps are shown without a new report, which comes less
// often.
constexpr milliseconds kReportRest{10'000};

std::string LocalTime() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:%H:%M:%S}", parts);
}

std::string Counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string NothingYet(const Command& command) {
  return fmt::format("No rank is complete yet in {}", command.raw.inputs.front());
}

std::string GrowingText(size_t growing) {
  return growing == 0 ? "" : fmt::format("; {} still being written", Counted(growing, "file"));
}

// Whether the command names one folder of recordings, of which a report can be made again, and asks
// for that, or does not say what to open of a folder that is being written. kIo if
// the system cannot tell.
Result<bool> IsLive(const RawOptions& raw) {
  if (raw.inputs.size() != 1 || !raw.Get("scrub").empty() || !raw.Get("as").empty()) {
    return false;
  }
  BS_ASSIGN(const std::filesystem::file_type type, TypeOfPath(raw.inputs.front()));
  if (type != std::filesystem::file_type::directory) {
    return false;
  }
  BS_ASSIGN(const bool holds_parts, HoldParts(raw.inputs));
  return !holds_parts && (raw.Has("report") || AreBeingWritten(raw.inputs));
}

LiveReport::LiveReport(const Command& command, FileServer& server)
    : command_(command),
      server_(server),
      watch_(command.raw.inputs, kQuiet),
      follower_(command.raw.inputs),
      steps_(kNoSteps) {}

LiveNews LiveReport::NewsOf(const std::vector<FileInfo>& files, size_t growing) const {
  LiveNews news;
  size_t ranks = 0;
  for (const FileInfo& file : files) {
    ranks += file.error.empty() ? 1 : 0;
    if (!file.error.empty() && !file.skipped) {
      news.problems.push_back(file.error);
    }
  }
  news.text = fmt::format("{} at {}{}", Counted(ranks, "rank"), LocalTime(), GrowingText(growing));
  return news;
}

Result<void> LiveReport::Make(const InputWatch::Settled& settled, const StopToken& stop) {
  const Clock::time_point begin = Clock::now();
  Result<ServedReport> report = MakeReportOf(command_, settled.paths, stop);
  took_ = Clock::now() - begin;
  if (!report.ok()) {
    return report.error();
  }
  status_ = StatusOf(report->files);
  growing_ = settled.growing;
  news_ = NewsOf(report->files, growing_);
  failure_.clear();
  server_.UpdateReport(std::move(*report), news_);
  if (!unlisted_.empty()) {
    SayNews();
  }
  return {};
}

Result<void> LiveReport::MakeFirst() {
  const InputWatch::Settled settled = watch_.Look();
  if (settled.failure.has_value() && settled.failure->code == ErrorCode::kIo) {
    return *settled.failure;
  }
  growing_ = settled.growing;
  SayWhatElseChanged(settled);
  return settled.paths.empty() ? Result<void>() : Make(settled, {});
}

void LiveReport::MakeOrSayWhyNot(const InputWatch::Settled& settled, const StopToken& stop) {
  const Result<void> made = Make(settled, stop);
  if (stop.stop_requested()) {
    return;
  }
  if (!made.ok()) {
    // Kept until there is a newer page, so that the next look says it, too.
    growing_ = settled.growing;
    failure_ =
        fmt::format("at {} no newer page could be made: {}", LocalTime(), made.error().Sentence());
    SayNews();
    if (!command_.raw.Has("quiet")) {
      WriteMessageLine("borescope: " + failure_);
    }
  } else if (!command_.raw.Has("quiet")) {
    WriteMessageLine("borescope: " + news_.text);
  }
}

void LiveReport::SayWhatElseChanged(const InputWatch::Settled& settled) {
  std::string unlisted = settled.failure.has_value() ? settled.failure->Sentence() : "";
  const bool is_growth = settled.growing != growing_ && !news_.text.empty();
  if (unlisted == unlisted_ && !is_growth) {
    return;
  }
  growing_ = settled.growing;
  unlisted_ = std::move(unlisted);
  SayNews();
}

void LiveReport::Watch(const StopToken& stop) {
  bool is_due = false;
  Clock::time_point next = Clock::now();
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(kLook);
    const InputWatch::Settled settled = watch_.Look();
    is_due = is_due || settled.has_changed;
    SayWhatElseChanged(settled);
    if (is_due && !settled.paths.empty() && Clock::now() >= next) {
      MakeOrSayWhyNot(settled, stop);
      next = Clock::now() +
             (is_recording_ ? std::max<Clock::duration>(kReportRest, kStepRest * took_) : took_);
      is_due = false;
    }
  }
}

void LiveReport::FollowSteps(const StopToken& stop) {
  while (!stop.stop_requested()) {
    try {
      const bool has_looked = follower_.Look();
      ShowSteps();
      if (!has_looked) {
        std::this_thread::sleep_for(kLook / 5);
      }
    } catch (const std::bad_alloc&) {
      // Steps are an extra: without memory the page goes on with its report alone.
      is_recording_ = false;
      return;
    }
  }
}

void LiveReport::ShowSteps() {
  const std::scoped_lock lock(showing_);
  const Clock::time_point begin = Clock::now();
  if (begin < next_show_) {
    return;
  }
  std::string json = follower_.json();
  is_recording_ = json != kNoSteps;
  if (json != steps_) {
    steps_ = json;
    server_.UpdateSteps(std::move(json));
  }
  next_show_ = begin + std::max<Clock::duration>(kLook, kStepRest * (Clock::now() - begin));
}

void LiveReport::SayNews() {
  LiveNews news = news_;
  news.text = !news.text.empty() ? news.text.substr(0, news.text.find(';'))
              : failure_.empty() ? NothingYet(command_)
                                 : "No rank could be read yet";
  news.text += GrowingText(growing_);
  if (!failure_.empty()) {
    news.problems.push_back(failure_);
  }
  if (!unlisted_.empty()) {
    news.problems.push_back(unlisted_);
  }
  server_.UpdateNews(std::move(news));
}

struct OpenRequest {
  ConvertOptions trace;  // what is read of a trace
  TraceForm form = TraceForm::kPerfetto;
  uint16_t port = kPerfettoPort;
  std::chrono::seconds limit{300};
};

// What selects is what the report is about; a trace is shown whole, or a window of it.

Result<void> CheckForTrace(const RawOptions& raw) {
  if (raw.inputs.empty()) {
    return UsageError("no INPUT; name a trace file, a directory of them, or - for standard input");
  }
  const auto is_of_trace = [](std::string_view name) {
    return name == "step" || name == "begin" || name == "end";
  };
  for (const ParameterInfo& parameter : FindTask("report")->parameters) {
    const std::string option = OptionName(parameter);
    if (!is_of_trace(option) && raw.Has(option)) {
      return UsageError(fmt::format("--{} is an option of the report; add --report", option));
    }
  }
  if (raw.Has("captures")) {
    return UsageError("--captures is an option of the report; add --report");
  }
  return {};
}

Result<OpenRequest> UnderstandOpen(const RawOptions& raw) {
  constexpr int kLongestSeconds = 86'400;
  constexpr int kLastPort = 65'535;
  if (!raw.Get("format").empty() || !raw.Get("output").empty()) {
    return UsageError("open writes no file; convert and report do");
  }
  OpenRequest request;
  if (!raw.Has("report")) {
    BS_TRY(CheckForTrace(raw));
  }
  BS_ASSIGN(request.trace.scrub, ParseScrub(raw));
  request.trace.begin = raw.Get("begin");
  request.trace.end = raw.Get("end");
  request.trace.steps = raw.Get("step");
  if (!raw.Get("as").empty() && raw.Get("as") != "perfetto" && raw.Get("as") != "json") {
    return UsageError("--as: '" + raw.Get("as") + "' is not known; it takes perfetto or json");
  }
  if (!raw.Get("as").empty() && raw.Has("report")) {
    return UsageError("--as is the form of a trace; leave out --report");
  }
  request.form = raw.Get("as") == "json" ? TraceForm::kJson : TraceForm::kPerfetto;
  BS_ASSIGN(request.trace.threads, ParseThreads(raw.Get("threads")));
  BS_TRY(KeepMemoryLimit(raw));
  if (!raw.Get("port").empty()) {
    BS_ASSIGN(const int port, ParseCount("port", raw.Get("port"), kLastPort, 0));
    request.port = static_cast<uint16_t>(port);
  }
  if (!raw.Get("timeout").empty()) {
    BS_ASSIGN(const int seconds, ParseCount("timeout", raw.Get("timeout"), kLongestSeconds));
    request.limit = std::chrono::seconds(seconds);
  }
  return request;
}

// ---- What is served ----

// What keeps the timeline from being complete or right; the verbs that analyse report the rest.
void ReportConversion(const OfferedTrace& offered) {
  const ConvertReport& report = *offered.converted;
  const auto events = static_cast<int64_t>(report.written);
  WriteMessageLine(fmt::format("borescope: converted for the timeline: {} event{}; {}",
                               GroupDigits(events), events == 1 ? "" : "s", offered.why));
  if (report.skipped != 0) {
    WriteMessageLine(SkippedLine(report.skipped));
  }
  std::vector<Diagnostic> odd = report.diagnostics;
  std::erase_if(odd, [](const Diagnostic& one) { return one.severity == Severity::kInfo; });
  ReportQuality(odd);
}

// A signal removes what is half converted.
Result<OfferedTrace> OfferWithProgress(const Command& command, const OpenRequest& request,
                                       FileServer& server) {
  const Interrupts interrupts([&] {
    server.RemoveDrafts();
    UndoUnfinished();
  });
  ProgressBar bar(command.raw);
  ConvertOptions options = request.trace;
  options.progress = bar.Callback();
  options.inputs = command.raw.inputs;
  return server.OfferTrace(options, request.form);
}

// Returns the exit status of what was read.
Result<int> OfferTrace(const Command& command, const OpenRequest& request, FileServer& server) {
  BS_ASSIGN(const OfferedTrace offered, OfferWithProgress(command, request, server));
  if (offered.converted.has_value() && !command.raw.Has("quiet")) {
    ReportConversion(offered);
  }
  return kDone;
}

Result<int> OfferReport(const Command& command, FileServer& server) {
  const Interrupts interrupts(UndoUnfinished);
  BS_ASSIGN(ServedReport report, MakeReport(command));
  const int status = StatusOf(report.files);
  BS_TRY(server.OfferReport(std::move(report), "report.html"));
  return status;
}

Result<void> OfferLive(const Command& command, FileServer& server, LiveReport& report) {
  const Interrupts interrupts(UndoUnfinished);
  BS_TRY(server.OfferLivePage(
      "report.html", NothingYet(command) + "; this page shows the report as soon as one is."));
  return report.MakeFirst();
}

// ---- Serving ----

// How the browser, on whichever machine, gets to the file.
std::string WaysTo(const FileServer& server, std::chrono::seconds limit) {
  const uint16_t wanted = server.is_reachable() ? server.port() : kPerfettoPort;
  const std::string forward = fmt::format("ssh -L {}:127.0.0.1:{} HOST", wanted, server.port());
  return server.is_reachable()
             ? fmt::format(
                   "borescope: open this address within {} s; Ctrl-C ends the wait\n"
                   "borescope: on another machine, first: {}\n",
                   limit.count(), forward)
             : fmt::format(
                   "borescope: Perfetto fetches from port {} only; first, there: {}\n"
                   "borescope: then open this address within {} s\n",
                   kPerfettoPort, forward, limit.count());
}

// Where to look, on standard output unless a browser was opened.
int Announce(const Command& command, const FileServer& server, std::chrono::seconds limit) {
  const bool talks = !command.raw.Has("quiet");
  const std::string& address = server.address();
  if (server.is_reachable() && !command.raw.Has("no-browser") && OpenBrowser(address)) {
    WriteMessage(talks ? fmt::format("borescope: opened in the browser: {}\n", address) : "");
    return kDone;
  }
  WriteMessage(talks ? WaysTo(server, limit) : "");
  return Print(address + "\n");
}

Result<int> Serve(const Command& command, FileServer& server, std::chrono::seconds limit,
                  const Interrupts& interrupts) {
  BS_ASSIGN(const ServeEnd end, server.Serve(limit, interrupts.stop()));
  if (end == ServeEnd::kTimeLimit) {
    return Fail(fmt::format("nobody fetched the {} within {} s; --timeout waits longer",
                            command.raw.Has("report") ? "report" : "trace", limit.count()));
  }
  return kDone;
}

// A folder may be written while its report is shown.
Result<int> OpenLiveReport(const Command& command, const OpenRequest& request, FileServer& server) {
  LiveReport report(command, server);
  if (!command.raw.Has("report") && !command.raw.Has("quiet")) {
    WriteMessageLine(fmt::format(
        "borescope: {} is still being written: its report and last steps are shown as they come; "
        "--as perfetto shows what it holds by now in Perfetto",
        command.raw.inputs.front()));
  }
  BS_TRY(OfferLive(command, server, report));
  const Interrupts interrupts;
  const int announced = Announce(command, server, request.limit);
  if (announced != kDone) {
    return announced;
  }
  std::jthread watcher([&](const StopToken& stop) { report.Watch(stop); });
  std::jthread follower([&](const StopToken& stop) { report.FollowSteps(stop); });
  std::jthread other_follower([&](const StopToken& stop) { report.FollowSteps(stop); });
  const Result<int> served = Serve(command, server, request.limit, interrupts);
  watcher.request_stop();
  follower.request_stop();
  other_follower.request_stop();
  watcher.join();
  follower.join();
  other_follower.join();
  return served.ok() ? std::max(*served, report.status()) : served;
}

}  // namespace

Result<int> RunOpenVerb(const Command& command) {
  BS_ASSIGN(const OpenRequest request, UnderstandOpen(command.raw));
  BS_ASSIGN(FileServer server, FileServer::Open(request.port));
  BS_ASSIGN(const bool is_live, IsLive(command.raw));
  if (is_live) {
    return OpenLiveReport(command, request, server);
  }
  BS_ASSIGN(const int read, command.raw.Has("report") ? OfferReport(command, server)
                                                      : OfferTrace(command, request, server));
  const Interrupts interrupts;
  if (const int announced = Announce(command, server, request.limit); announced != kDone) {
    return announced;
  }
  BS_ASSIGN(const int served, Serve(command, server, request.limit, interrupts));
  return std::max(read, served);
}

}  // namespace borescope::cli
