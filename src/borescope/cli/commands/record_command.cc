#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/options.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/cli/usage_error.h"
#include "borescope/convert.h"
#include "borescope/postmortem.h"
#include "borescope/record.h"
#include "borescope/table.h"
#include "borescope/text.h"

namespace borescope::cli {
namespace {

// The options of `borescope record` that say which part of a program is recorded.

constexpr std::string_view kStarts = "now, paused, after:TIME, range:TEXT, step:N or api";
constexpr std::string_view kStops = "after:TIME, range, range:TEXT, step:N or api";

// The text after a word such as "after:", or nothing where it does not begin so.
std::optional<std::string> AfterWord(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return std::nullopt;
  return std::string(text.substr(word.size()));
}

// range:TEXT, step:N or api, the value of `option`; false for another one.
Result<bool> UnderstandPoint(std::string_view option, std::string_view text, RecordRule& rule) {
  if (const std::optional<std::string> name = AfterWord("range:", text)) {
    if (name->empty()) return UsageError(fmt::format("--{}={}: no name after it", option, text));
    rule = {.point = RecordPoint::kRange, .range = *name};
    return true;
  }
  if (const std::optional<std::string> number = AfterWord("step:", text)) {
    BS_ASSIGN(const int64_t step, ParseWithin(fmt::format("{}=step", option), *number, 0,
                                              std::numeric_limits<int64_t>::max() - 1));
    rule = {.point = RecordPoint::kStep, .range = {}, .step = static_cast<uint64_t>(step)};
    return true;
  }
  if (text == "api") rule.point = RecordPoint::kCall;
  return text == "api";
}

Result<void> UnderstandStart(const std::string& text, RecordOptions& options) {
  if (text == "now" || text.empty()) return {};
  options.starts_paused = true;
  if (text == "paused") return {};
  if (const std::optional<std::string> time = AfterWord("after:", text)) {
    BS_ASSIGN(options.start_after, ParseDuration("start", *time));
    return {};
  }
  BS_ASSIGN(const bool is_known, UnderstandPoint("start", text, options.start_at));
  return is_known ? Result<void>()
                  : UsageError(fmt::format("--start: '{}' is none of {}", text, kStarts));
}

Result<void> UnderstandStop(const std::string& text, RecordOptions& options) {
  if (text.empty()) return {};
  if (const std::optional<std::string> time = AfterWord("after:", text)) {
    if (options.record_for.count() != 0) {
      return UsageError(fmt::format("--stop={} and --for: give one of the two", text));
    }
    BS_ASSIGN(options.record_for, ParseDuration("stop", *time));
    return {};
  }
  if (text == "range") {
    options.stop_at.point = RecordPoint::kRange;
    return {};
  }
  BS_ASSIGN(const bool is_known, UnderstandPoint("stop", text, options.stop_at));
  return is_known ? Result<void>()
                  : UsageError(fmt::format("--stop: '{}' is none of {}", text, kStops));
}

Result<void> UnderstandRepeat(const std::string& text, RecordOptions& options) {
  constexpr int kMostRepeats = 1'000'000;
  if (text.empty()) return {};
  options.repeat = 0;
  if (text == "always") return {};
  BS_ASSIGN(const int count, ParseCount("repeat", text, kMostRepeats));
  options.repeat = static_cast<uint32_t>(count);
  return {};
}

Result<void> UnderstandChildren(const std::string& text, RecordOptions& options) {
  if (text.empty() || text == "all") return {};
  if (const std::optional<std::string> pattern = AfterWord("match:", text)) {
    if (pattern->empty()) {
      return UsageError("--children=match: no pattern after it, such as python*");
    }
    options.children_match = *pattern;
    return {};
  }
  options.children = false;
  if (text == "none") return {};
  return UsageError(fmt::format("--children: '{}' is none of all, none or match:PATTERN", text));
}

// --start, --stop, --for, --repeat and --children. Every error names the option, its value and what
// it may be.
Result<void> UnderstandRules(const RawOptions& raw, RecordOptions& options) {
  if (const std::string& text = raw.Get("for"); !text.empty()) {
    BS_ASSIGN(options.record_for, ParseDuration("for", text));
  }
  BS_TRY(UnderstandStart(raw.Get("start"), options));
  BS_TRY(UnderstandStop(raw.Get("stop"), options));
  BS_TRY(UnderstandRepeat(raw.Get("repeat"), options));
  return UnderstandChildren(raw.Get("children"), options);
}

// The status that shells report for a program that a signal ended.
constexpr int kSignalStatus = 128;
constexpr int kMostSteps = 1'000'000;

// "0,8", the value of `option`.
Result<void> ParseNumbers(std::string_view option, std::string_view text, int smallest,
                          std::vector<int>& numbers) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    BS_ASSIGN(const int number,
              ParseCount(option, item, std::numeric_limits<int>::max(), smallest));
    numbers.push_back(number);
  }
  return {};
}

Result<void> UnderstandRanks(const std::string& text, RecordOptions& options) {
  constexpr size_t kMostRanks = 64;
  BS_TRY(ParseNumbers("rank-only", text, 0, options.ranks));
  if (options.ranks.size() <= kMostRanks) return {};
  return UsageError(fmt::format("--rank-only: more than {} ranks", kMostRanks));
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    items.emplace_back(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(items.back().size() + 1, text.size()));
  }
  return items;
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What the scripts of rocmProfileData set for its tracer.
void TakeRpdVariables(RecordOptions& options) {
  if (options.output.empty()) options.output = Variable("RPDT_FILENAME");
  options.starts_paused = options.starts_paused || Variable("RPDT_AUTOSTART") == "0";
}

Result<void> UnderstandPython(const RawOptions& raw, RecordOptions& options) {
  options.ops = raw.Get("ops");
  options.shapes = raw.Has("shapes");
  options.python = raw.Get("python");
  options.rpd_compat = raw.Has("rpd-compat");
  options.postmortem = raw.Has("postmortem");
  if (const std::string& steps = raw.Get("ops-steps"); !steps.empty()) {
    BS_ASSIGN(const int count, ParseCount("ops-steps", steps, kMostSteps));
    options.ops_steps = static_cast<uint64_t>(count);
  }
  if (options.rpd_compat) TakeRpdVariables(options);
  return {};
}

Result<void> UnderstandCounters(const RawOptions& raw, RecordOptions& options) {
  options.counters = SplitList(raw.Get("counters"));
  options.counters_kernels = raw.Get("counters-kernels");
  if (const std::string& skip = raw.Get("counters-skip"); !skip.empty()) {
    BS_ASSIGN(const int number,
              ParseCount("counters-skip", skip, std::numeric_limits<int>::max(), 0));
    options.counters_skip = static_cast<uint64_t>(number);
  }
  if (const std::string& count = raw.Get("counters-count"); !count.empty()) {
    BS_ASSIGN(const int number,
              ParseCount("counters-count", count, std::numeric_limits<int>::max()));
    options.counters_count = static_cast<uint64_t>(number);
  }
  return {};
}

Result<RecordOptions> UnderstandRecord(const RawOptions& raw) {
  RecordOptions options{.output = raw.Get("output"),
                        .starts_paused = raw.Has("paused"),
                        .nvtx = !raw.Has("no-nvtx"),
                        .roctx = !raw.Has("no-roctx"),
                        .cuda = !raw.Has("no-cuda"),
                        .rocm = raw.Has("rocm"),
                        .api = raw.Get("api"),
                        .api_skip = SplitList(raw.Get("api-skip")),
                        .children = !raw.Has("no-children"),
                        .memory = raw.Has("memory"),
                        .sync = raw.Has("sync"),
                        .warm = raw.Has("warm"),
                        .graph_nodes = raw.Has("graph-nodes"),
                        .force = raw.Has("force"),
                        .replace = raw.Has("replace")};
  BS_TRY(UnderstandCounters(raw, options));
  if (const std::string& size = raw.Get("max-bytes"); !size.empty()) {
    BS_ASSIGN(options.max_bytes, ParseSize("max-bytes", size));
  }
  BS_TRY(UnderstandPython(raw, options));
  const auto take_time = [&raw](std::string_view name,
                                std::chrono::nanoseconds& time) -> Result<void> {
    if (const std::string& text = raw.Get(name); !text.empty()) {
      BS_ASSIGN(time, ParseDuration(name, text));
    }
    return {};
  };
  BS_TRY(UnderstandRules(raw, options));
  BS_TRY(UnderstandRanks(raw.Get("rank-only"), options));
  BS_TRY(take_time("ring", options.ring));
  BS_TRY(take_time("flush", options.flush));
  BS_TRY(take_time("sample", options.sample));
  options.spool = raw.Get("spool");
  return options;
}

constexpr int kUnknownStatus = -1;  // of RecordReport

std::string EndOf(const RecordReport& report) {
  if (report.status == kUnknownStatus) {
    return fmt::format("the program ended, and the system does not say how; the exit status is {}",
                       kFailed);
  }
  return report.signal != 0 ? fmt::format("the program was ended by signal {} ({})", report.signal,
                                          strsignal(report.signal))
                            : fmt::format("the program ended with status {}", report.status);
}

// Why no process has a log, as far as it is known.
std::string WhyEmpty(const RecordReport& report, const Command& command) {
  if (!report.never_started.empty()) return report.never_started;
  if (!report.failed_logs.empty()) return report.failed_logs;
  const std::string& children = command.raw.Get("children");
  const std::string& ranks = command.raw.Get("rank-only");
  return fmt::format(
      "the program used neither NVTX, ROCTX, CUDA nor borescope_record.h, or is statically "
      "linked, or could not open the folder (another user, no descriptors left){}{}",
      children.starts_with("match:")
          ? fmt::format("; of what it started, only {} was to be recorded", children.substr(6))
          : "",
      ranks.empty() ? "" : fmt::format("; only ranks {} were to be recorded", ranks));
}

// Of logs, of which short ones are as right as long ones.
std::string SizeText(uint64_t bytes) {
  constexpr double kKilobyte = 1e3;
  constexpr double kMegabyte = 1e6;
  const auto size = static_cast<double>(bytes);
  return size < kMegabyte ? fmt::format("{:.0f} kB", size / kKilobyte)
                          : fmt::format("{:.1f} MB", size / kMegabyte);
}

void ReportRecording(const RecordReport& report, const Command& command) {
  const double seconds = std::chrono::duration<double>(report.duration).count();
  WriteMessageLine(fmt::format("borescope: {}, after {:.1f} s", EndOf(report), seconds));
  if (!report.trouble.empty()) return;
  if (report.processes == 0 || !report.never_started.empty()) {
    WriteMessageLine(ToPrintable(
        fmt::format("borescope: {}: nothing was recorded{}: {}", report.folder,
                    report.is_sampled ? " but samples and marks" : "", WhyEmpty(report, command))));
    return;
  }
  WriteMessageLine(fmt::format(
      "borescope: recorded {}: {} process{}, {}{}", report.folder,
      GroupDigits(static_cast<int64_t>(report.processes)), report.processes == 1 ? "" : "es",
      SizeText(report.bytes),
      report.running == 0 ? "" : fmt::format("; {} still run and record", report.running)));
  if (!report.failed_logs.empty()) {
    WriteMessageLine(ToPrintable(fmt::format("borescope: {}", report.failed_logs)));
  }
  if (!report.never_stopped.empty()) {
    WriteMessageLine(ToPrintable(
        fmt::format("borescope: recording went on until the end: {}", report.never_stopped)));
  }
}

// Into the file that -o named. A failure is reported, but does not hide the program's status.
void ConvertRecording(const RecordReport& report, const Command& command) {
  const Result<ConvertReport> converted =
      Convert({.inputs = {report.folder}, .output = report.converted});
  if (!converted.ok()) {
    FailWith(converted.error(), command);
  } else if (!command.raw.Has("quiet")) {
    WriteMessageLine(fmt::format("borescope: wrote {}: {} events", report.converted,
                                 GroupDigits(static_cast<int64_t>(converted->written))));
  }
}

// Of a program that died: what its dumps and error files say, the causes alone.
void ReportVerdict(const RecordReport& report) {
  if (report.postmortem.empty() || (report.status == 0 && report.signal == 0)) return;
  const Result<PostmortemReport> verdict = Postmortem(std::vector{report.postmortem});
  if (!verdict.ok()) {
    // A folder without any of the files is no fault: a program may die before it writes one.
    if (verdict.error().code != ErrorCode::kUnsupportedFormat) {
      WriteMessageLine("borescope: no verdict: " + ToPrintable(verdict.error().Sentence()));
    }
    return;
  }
  Table findings;
  Column finding;
  Column severity;
  if (!verdict->answer.Find("postmortem", &findings) || !findings.Find("finding", &finding) ||
      !findings.Find("severity", &severity)) {
    return;
  }
  const auto cell = [&](std::string_view name, size_t row) {
    Column column;
    const bool is_there = findings.Find(name, &column) && !column.IsMissing(row);
    return is_there ? std::string(column.Text(row)) : std::string();
  };
  for (size_t row = 0; row < findings.num_rows(); ++row) {
    if (severity.Text(row) != "error") continue;
    const std::string ranks = cell("ranks", row);
    const std::string where = cell("where", row);
    WriteMessageLine(ToPrintable(fmt::format("borescope: {}{}{}", finding.Text(row),
                                             ranks.empty() ? "" : " (ranks: " + ranks + ")",
                                             where.empty() ? "" : ": " + where)));
  }
  WriteMessageLine(
      ToPrintable(fmt::format("borescope: why: borescope postmortem {}", report.postmortem)));
}

void Conclude(const RecordReport& report, const Command& command) {
  if (!command.raw.Has("quiet")) {
    ReportRecording(report, command);
  } else if (report.status == kUnknownStatus) {
    WriteMessageLine(fmt::format("borescope: {}", EndOf(report)));
  }
  if (!report.samples_end.empty()) {  // also with -q: they were asked for
    WriteMessageLine(
        ToPrintable(fmt::format("borescope: samples are missing: {}", report.samples_end)));
  }
  if (!report.trouble.empty()) {
    WriteMessageLine(ToPrintable(fmt::format("borescope: {}", report.trouble)));
    return;
  }
  if (report.processes == 0 && !report.is_sampled) return;
  if (!report.converted.empty()) ConvertRecording(report, command);
  if (!command.raw.Has("quiet")) {
    WriteMessageLine(fmt::format("borescope: next: borescope summary {}", report.folder));
  }
}

// A message while or after the program runs, which must not suffer from what we cannot say.
void TryToSay(const std::function<void()>& say) {
  try {
    say();
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kLine =
        "borescope: out of memory; what is recorded is in the folder\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine.data(), kLine.size());
  } catch (const std::exception& failed) {
    WriteMessageLine(ToPrintable(
        fmt::format("borescope: {}; what is recorded is in the folder", failed.what())));
  }
}

Result<int> RecordProgram(const Command& command) {
  BS_ASSIGN(const RecordOptions options, UnderstandRecord(command.raw));
  SignalForwarding forwarding;
  BS_ASSIGN(Recording recording, Recording::Start(command.raw.program, options));
  forwarding.SendTo(recording.pid());
  TryToSay([&] {
    if (const std::string warning = recording.warning();
        !warning.empty() && !command.raw.Has("quiet")) {
      WriteMessageLine("borescope: " + ToPrintable(warning));
    }
  });
  BS_ASSIGN(const RecordReport report, recording.Wait());
  TryToSay([&] { Conclude(report, command); });
  if (!command.raw.Has("quiet")) {
    TryToSay([&] { ReportVerdict(report); });
  }
  if (report.signal != 0) EndBySignal(report.signal);
  if (report.signal != 0) return kSignalStatus + report.signal;
  return report.status == kUnknownStatus ? kFailed : report.status;
}

// ---- --attach ----

void ReportProfile(const AttachedProfile& profile) {
  WriteMessageLine(profile.trouble.empty()
                       ? fmt::format("borescope: process {} wrote {}: {} events", profile.pid,
                                     profile.file,
                                     GroupDigits(static_cast<int64_t>(profile.events)))
                       : fmt::format("borescope: process {}: {}: {}", profile.pid, profile.file,
                                     profile.trouble));
}

Result<AttachOptions> UnderstandAttach(const RawOptions& raw) {
  AttachOptions options{.pids = {}, .output = raw.Get("output")};
  BS_TRY(ParseNumbers("attach", raw.Get("attach"), 1, options.pids));
  const std::string& time = raw.Get("for");
  const std::string& steps = raw.Get("iterations");
  if (!time.empty() && !steps.empty()) {
    return UsageError("--for and --iterations: give one of the two");
  }
  if (!time.empty()) {
    BS_ASSIGN(options.duration, ParseDuration("for", time));
  }
  if (!steps.empty()) {
    BS_ASSIGN(options.iterations, ParseCount("iterations", steps, 1'000'000));
  }
  return options;
}

Result<int> AttachToProcesses(const Command& command) {
  BS_ASSIGN(AttachOptions options, UnderstandAttach(command.raw));
  if (!command.raw.Has("quiet")) {
    options.on_wait = [] {
      WriteMessageLine("borescope: waiting for the processes to ask, which they do every 5 s");
    };
  }
  BS_ASSIGN(const AttachReport report, AttachRecording(options));
  bool is_whole = report.silent.empty();
  for (const AttachedProfile& profile : report.profiles) {
    is_whole = is_whole && profile.trouble.empty();
    if (!command.raw.Has("quiet") || !profile.trouble.empty()) ReportProfile(profile);
  }
  for (const int pid : report.silent) {
    WriteMessageLine(
        fmt::format("borescope: process {} did not ask: start it with "
                    "KINETO_USE_DAEMON=1, in this network namespace",
                    pid));
  }
  if (!command.raw.Has("quiet") && !report.profiles.empty()) {
    WriteMessageLine(fmt::format("borescope: next: borescope summary {}", report.folder));
  }
  return is_whole ? kDone : kFailed;
}

// ---- start, stop, mark, flush, status ----

Result<int> ChangeRun(const Command& command, const std::string& folder, bool starts) {
  BS_ASSIGN(const bool is_recording, starts ? StartRecording(folder) : StopRecording(folder));
  if (!command.raw.Has("quiet")) {
    WriteMessageLine(
        fmt::format("borescope: {} {}", folder, is_recording ? "records" : "is paused"));
  }
  return kDone;
}

Result<int> ShowStatus(const Command& command, const std::string& folder) {
  BS_ASSIGN(const OutputOptions output, UnderstandOutput(command.raw));
  BS_ASSIGN(const Answer answer, RecordingStatus(folder));
  BS_TRY(WriteAnswer(output, answer, command));
  return kDone;
}

Result<int> MarkRun(const Command& command, const std::string& folder, const std::string& text) {
  BS_TRY(MarkRecording(folder, text));
  if (!command.raw.Has("quiet")) WriteMessageLine(fmt::format("borescope: {}: marked", folder));
  return kDone;
}

// What the logs hold now, in a run of its own: the programs go on.
Result<int> CopyRun(const Command& command, const std::string& folder) {
  const std::string& name = command.raw.Get("output");
  const std::string output = name.ends_with(".bsr") ? name : name + ".bsr";
  BS_TRY(CopyRecording(folder, output));
  if (!command.raw.Has("quiet")) {
    WriteMessageLine(fmt::format("borescope: copied to {}", output));
    WriteMessageLine(fmt::format("borescope: next: borescope summary {}", output));
  }
  return kDone;
}

Result<int> FlushRun(const Command& command, const std::string& folder) {
  BS_ASSIGN(const FlushRecordingReport report, FlushRecording(folder));
  if (!command.raw.Has("quiet")) {
    WriteMessageLine(fmt::format(
        "borescope: {}: {} process{} fetched what devices did{}; records of the host are there "
        "already",
        folder, report.answered, report.answered == 1 ? "" : "es",
        report.silent == 0 ? "" : fmt::format(", {} did not within 3 s", report.silent)));
  }
  return command.raw.Get("output").empty() ? kDone : CopyRun(command, folder);
}

constexpr std::string_view kRunTasks[] = {"start", "stop", "mark", "flush", "status"};

Result<int> ControlRun(const Command& command) {
  const std::vector<std::string>& words = command.raw.inputs;
  const std::string& task = words.front();
  if (std::find(std::begin(kRunTasks), std::end(kRunTasks), task) == std::end(kRunTasks)) {
    return UsageError(
        fmt::format("record: put -- before the program: borescope record "
                    "[OPTIONS] -- {} ...",
                    task));
  }
  const bool is_mark = task == "mark";
  if (words.size() != (is_mark ? 3 : 2)) {
    return UsageError(
        fmt::format("record {0}: name one folder of a run{1}: borescope "
                    "record {0} NAME.bsr{2}",
                    task, is_mark ? " and a text" : "", is_mark ? " TEXT" : ""));
  }
  const std::string& folder = words[1];
  if (is_mark) return MarkRun(command, folder, words[2]);
  if (task == "flush") return FlushRun(command, folder);
  return task == "status" ? ShowStatus(command, folder)
                          : ChangeRun(command, folder, task == "start");
}

}  // namespace

Result<int> RunRecordVerb(const Command& command) {
  const std::vector<std::string>& inputs = command.raw.inputs;
  if (!command.raw.Get("attach").empty()) {
    if (command.raw.program.empty() && inputs.empty()) return AttachToProcesses(command);
    return UsageError("record --attach: takes processes that run, and no program");
  }
  if (!command.raw.program.empty()) {
    if (inputs.empty()) return RecordProgram(command);
    return UsageError(fmt::format(
        "record: '{}' is no option; what comes before -- is for borescope", inputs.front()));
  }
  if (!inputs.empty()) return ControlRun(command);
  return UsageError("record: no program; borescope record -- PROGRAM [ARGUMENT]...");
}

}  // namespace borescope::cli
