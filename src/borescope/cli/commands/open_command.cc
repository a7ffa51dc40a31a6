#include "borescope/cli/commands/open_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/report_command.h"
#include "borescope/cli/options/understand.h"
#include "borescope/cli/terminal/browser.h"
#include "borescope/cli/terminal/interrupts.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/verbs/open/open_trace.h"

namespace borescope::internal::cli {
namespace {

struct OpenOptions {
  ConvertOptions trace;  // what is read of a trace
  uint16_t port = kPerfettoPort;
  ServeLimits limits;
};

// Options that select what the report is about; a trace is shown whole, or a window of it.
struct ReportOption {
  std::string_view name;
  std::string RawOptions::* text;
};
constexpr ReportOption kReportOnly[] = {
    {"rank", &RawOptions::rank},
    {"step", &RawOptions::step},
    {"gpu", &RawOptions::gpu},
    {"stream", &RawOptions::stream},
    {"annotation", &RawOptions::annotation},
    {"instance", &RawOptions::instance},
    {"top", &RawOptions::top},
    {"against", &RawOptions::against},
    {"memory-limit", &RawOptions::memory_limit},
};

Result<void> CheckForTrace(const RawOptions& raw) {
  if (raw.inputs.empty()) {
    return UsageError("no INPUT; name a trace file, a directory of them, or - for standard input");
  }
  for (const ReportOption& option : kReportOnly) {
    if (!(raw.*option.text).empty()) {
      return UsageError(fmt::format("--{} is an option of the report; add --report", option.name));
    }
  }
  return {};
}

Result<OpenOptions> UnderstandOpen(const RawOptions& raw) {
  constexpr int kLongestSeconds = 86'400;
  constexpr int kLastPort = 65'535;
  if (!raw.format.empty() || !raw.output.empty()) {
    return UsageError("open writes no file; convert and report do");
  }
  OpenOptions options;
  if (!raw.report) {
    BS_TRY(CheckForTrace(raw));
  }
  options.trace.inputs = raw.inputs;
  options.trace.begin = raw.begin;
  options.trace.end = raw.end;
  if (!raw.threads.empty()) {
    BS_ASSIGN(options.trace.threads, ParseThreads(raw.threads));
  }
  if (!raw.port.empty()) {
    BS_ASSIGN(const int port, ParseCount("port", raw.port, kLastPort, 0));
    options.port = static_cast<uint16_t>(port);
  }
  if (!raw.timeout.empty()) {
    BS_ASSIGN(const int seconds, ParseCount("timeout", raw.timeout, kLongestSeconds));
    options.limits.whole = std::chrono::seconds(seconds);
  }
  return options;
}

// ---- What is served ----

// A file and the address a browser finds it at. Both stay where they are: the file may refer to
// `html`.
struct Offer {
  std::string html;
  ServedFile file;
  std::string address;
  bool is_reachable = true;  // by the browser of this machine
  int status = kDone;        // of what was read for it
};

// What keeps the timeline from being complete or right; the verbs that analyse tell the rest.
void ReportConversion(const ReadyTrace& ready) {
  const size_t events = ready.converted->written;
  WriteMessageLine(fmt::format("borescope: converted for the timeline: {} event{}; {}",
                               GroupDigits(static_cast<int64_t>(events)), events == 1 ? "" : "s",
                               ready.why));
  if (ready.converted->skipped != 0) {
    WriteMessageLine(SkippedLine(ready.converted->skipped));
  }
  std::vector<DiagnosticRow> rows = ready.converted->diagnostics;
  std::erase_if(rows, [](const DiagnosticRow& row) { return row.severity == Severity::kInfo; });
  ReportQuality(rows);
}

Result<ReadyTrace> PrepareWithProgress(const Command& command, ConvertOptions options,
                                       const std::string& folder) {
  ProgressBar bar(command.raw);
  options.progress = bar.OfFile();
  return PrepareTrace(std::move(options), folder);
}

// The temporary folder goes as soon as the file in it is open: whatever ends the process then,
// nothing stays behind.
Result<ReadyTrace> PrepareInFolder(const Command& command, const ConvertOptions& options) {
  BS_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Make());
  const auto remove = [&] { TemporaryFolder::RemoveFolder(folder.path()); };
  const Interrupts interrupts(remove);
  Result<ReadyTrace> ready = PrepareWithProgress(command, options, folder.path());
  remove();
  return ready;
}

Result<void> OfferTrace(const Command& command, const OpenOptions& options,
                        const Listener& listener, Offer& offer) {
  BS_ASSIGN(ReadyTrace ready, PrepareInFolder(command, options.trace));
  if (ready.converted.has_value() && !command.raw.quiet) {
    ReportConversion(ready);
  }
  offer.file = std::move(ready.file);
  offer.address = PerfettoAddress(offer.file);
  offer.is_reachable = listener.port() == kPerfettoPort;
  return {};
}

Result<void> OfferReport(const Command& command, const Listener& listener, Offer& offer) {
  BS_ASSIGN(const Report report, MakeReport(command));
  StringSink html;
  BS_TRY(WriteHtml(report.page, ReportTemplate(), html));
  offer.html = html.text();
  offer.status = StatusOf(report.files);
  BS_ASSIGN(offer.file, PreparePage(offer.html, "report.html"));
  offer.address = PageAddress(offer.file, listener.port());
  return {};
}

// ---- Serving ----

int64_t SecondsOf(const ServeLimits& limits) {
  return std::chrono::duration_cast<std::chrono::seconds>(limits.whole).count();
}

// How the browser, on whichever machine, gets to the file.
std::string WaysTo(const Offer& offer, uint16_t port, const ServeLimits& limits) {
  const uint16_t wanted = offer.is_reachable ? port : kPerfettoPort;
  const std::string forward = fmt::format("ssh -L {}:127.0.0.1:{} HOST", wanted, port);
  return offer.is_reachable
             ? fmt::format(
                   "borescope: open this address within {} s; Ctrl-C ends the wait\n"
                   "borescope: on another machine, first: {}\n",
                   SecondsOf(limits), forward)
             : fmt::format(
                   "borescope: Perfetto fetches from port {} only; first, there: {}\n"
                   "borescope: then open this address within {} s\n",
                   kPerfettoPort, forward, SecondsOf(limits));
}

// Where to look, on standard output unless a browser was opened.
int Announce(const Command& command, const Offer& offer, uint16_t port, const ServeLimits& limits) {
  const bool talks = !command.raw.quiet;
  if (offer.is_reachable && !command.raw.no_browser && OpenBrowser(offer.address)) {
    WriteMessage(talks ? fmt::format("borescope: opened in the browser: {}\n", offer.address) : "");
    return kDone;
  }
  WriteMessage(talks ? WaysTo(offer, port, limits) : "");
  return Print(offer.address + "\n");
}

int Serve(const Command& command, const Listener& listener, const Offer& offer,
          const ServeLimits& limits, const Interrupts& interrupts) {
  const Result<ServeEnd> end = ServeFile(listener, offer.file, limits, interrupts.stop());
  if (!end.ok()) {
    return FailWith(end.error(), command);
  }
  if (*end == ServeEnd::kTimeLimit) {
    return Fail(fmt::format("nobody fetched the {} within {} s; --timeout waits longer",
                            command.raw.report ? "report" : "trace", SecondsOf(limits)));
  }
  return kDone;
}

}  // namespace

int RunOpenVerb(const Command& command) {
  const Result<OpenOptions> options = UnderstandOpen(command.raw);
  if (!options.ok()) {
    return FailWith(options.error(), command);
  }
  const Result<Listener> listener = Listener::Open(options->port);
  if (!listener.ok()) {
    return FailWith(listener.error(), command);
  }
  Offer offer;
  const Result<void> offered = command.raw.report ? OfferReport(command, *listener, offer)
                                                  : OfferTrace(command, *options, *listener, offer);
  if (!offered.ok()) {
    return FailWith(offered.error(), command);
  }
  const Interrupts interrupts;
  const int announced = Announce(command, offer, listener->port(), options->limits);
  if (announced != kDone) {
    return announced;
  }
  return std::max(offer.status, Serve(command, *listener, offer, options->limits, interrupts));
}

}  // namespace borescope::internal::cli
