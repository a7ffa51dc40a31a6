#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/terminal/signal_forwarding.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/convert.h"
#include "borescope/record.h"
#include "borescope/text.h"

namespace borescope::cli {
namespace {

// The status that shells report for a program that a signal ended.
constexpr int kSignalStatus = 128;
constexpr int kMostSteps = 1'000'000;

bool IsSet(const RawOptions& raw, std::string_view flag) { return raw.Param(flag) == "true"; }

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
  options.ops = raw.Param("ops");
  options.shapes = IsSet(raw, "shapes");
  options.python = raw.python;
  options.rpd_compat = IsSet(raw, "rpd-compat");
  if (const std::string steps = raw.Param("ops-steps"); !steps.empty()) {
    CLI_ASSIGN(const int count, ParseCount("ops-steps", steps, kMostSteps));
    options.ops_steps = static_cast<uint64_t>(count);
  }
  if (options.rpd_compat) TakeRpdVariables(options);
  return {};
}

Result<RecordOptions> UnderstandRecord(const RawOptions& raw) {
  RecordOptions options{.output = raw.output,
                        .starts_paused = IsSet(raw, "paused"),
                        .nvtx = !IsSet(raw, "no-nvtx"),
                        .roctx = !IsSet(raw, "no-roctx"),
                        .cuda = !IsSet(raw, "no-cuda"),
                        .children = !IsSet(raw, "no-children"),
                        .memory = IsSet(raw, "memory"),
                        .sync = IsSet(raw, "sync"),
                        .graph_nodes = IsSet(raw, "graph-nodes"),
                        .force = IsSet(raw, "force"),
                        .replace = IsSet(raw, "replace")};
  if (const std::string size = raw.Param("max-bytes"); !size.empty()) {
    CLI_ASSIGN(options.max_bytes, ParseSize("max-bytes", size));
  }
  CLI_TRY(UnderstandPython(raw, options));
  return options;
}

std::string EndOf(const RecordReport& report) {
  return report.signal != 0 ? fmt::format("the program was ended by signal {} ({})", report.signal,
                                          strsignal(report.signal))
                            : fmt::format("the program ended with status {}", report.status);
}

void ReportRecording(const RecordReport& report) {
  const double seconds = std::chrono::duration<double>(report.duration).count();
  WriteMessageLine(fmt::format("borescope: {}, after {:.1f} s", EndOf(report), seconds));
  if (report.processes == 0) {
    WriteMessageLine(fmt::format(
        "borescope: {}: nothing was recorded: the program used neither NVTX, ROCTX, CUDA nor "
        "borescope_record.h, or is statically linked",
        report.folder));
    return;
  }
  constexpr double kMegabyte = 1e6;
  WriteMessageLine(fmt::format(
      "borescope: recorded {}: {} process{}, {:.1f} MB{}", report.folder,
      GroupDigits(static_cast<int64_t>(report.processes)), report.processes == 1 ? "" : "es",
      static_cast<double>(report.bytes) / kMegabyte,
      report.running == 0 ? "" : fmt::format("; {} still run and record", report.running)));
}

// Into the file that -o named. A failure is reported, but does not hide the program's status.
void ConvertRecording(const RecordReport& report, const Command& command) {
  const std::string inputs[] = {report.folder};
  const Result<ConvertReport> converted = Convert(inputs, report.converted, {});
  if (!converted.ok()) {
    FailWith(converted.error(), command);
  } else if (!command.raw.quiet) {
    WriteMessageLine(fmt::format("borescope: wrote {}: {} events", report.converted,
                                 GroupDigits(static_cast<int64_t>(converted->written))));
  }
}

void Conclude(const RecordReport& report, const Command& command) {
  if (!command.raw.quiet) ReportRecording(report);
  if (report.processes == 0) return;
  if (!report.converted.empty()) ConvertRecording(report, command);
  if (!command.raw.quiet) {
    WriteMessageLine(fmt::format("borescope: next: borescope summary {}", report.folder));
  }
}

int RecordProgram(const Command& command) {
  const Result<RecordOptions> options = UnderstandRecord(command.raw);
  if (!options.ok()) return FailWith(options.error(), command);
  SignalForwarding forwarding;
  Result<Recording> recording = Recording::Start(command.raw.program, *options);
  if (!recording.ok()) return FailWith(recording.error(), command);
  forwarding.SendTo(recording->pid());
  const Result<RecordReport> report = recording->Wait();
  if (!report.ok()) return FailWith(report.error(), command);
  Conclude(*report, command);
  if (report->signal != 0) EndBySignal(report->signal);
  return report->signal != 0 ? kSignalStatus + report->signal : report->status;
}

// ---- start, stop, status ----

int ChangeRun(const Command& command, const std::string& folder, bool starts) {
  const Result<bool> is_recording = starts ? StartRecording(folder) : StopRecording(folder);
  if (!is_recording.ok()) return FailWith(is_recording.error(), command);
  if (!command.raw.quiet) {
    WriteMessageLine(
        fmt::format("borescope: {} {}", folder, *is_recording ? "records" : "is paused"));
  }
  return kDone;
}

int ShowStatus(const Command& command, const std::string& folder) {
  const Result<OutputOptions> output = UnderstandOutput(command.raw);
  if (!output.ok()) return FailWith(output.error(), command);
  const Result<Answer> answer = RecordingStatus(folder);
  return answer.ok() ? WriteAnswer(*output, *answer, command) : FailWith(answer.error(), command);
}

int ControlRun(const Command& command) {
  const std::vector<std::string>& words = command.raw.inputs;
  const std::string& task = words.front();
  const bool is_known = task == "start" || task == "stop" || task == "status";
  if (!is_known) {
    return FailWith(UsageError(fmt::format("record: put -- before the program: borescope record "
                                           "[OPTIONS] -- {} ...",
                                           task)),
                    command);
  }
  if (words.size() != 2) {
    return FailWith(UsageError(fmt::format("record {0}: name one folder of a run: borescope record "
                                           "{0} NAME.bsr",
                                           task)),
                    command);
  }
  return task == "status" ? ShowStatus(command, words[1])
                          : ChangeRun(command, words[1], task == "start");
}

}  // namespace

int RunRecordVerb(const Command& command) {
  if (!command.raw.program.empty()) {
    return command.raw.inputs.empty()
               ? RecordProgram(command)
               : FailWith(UsageError(fmt::format("record: '{}' is no option; what comes before -- "
                                                 "is for borescope",
                                                 command.raw.inputs.front())),
                          command);
  }
  if (!command.raw.inputs.empty()) return ControlRun(command);
  return FailWith(UsageError("record: no program; borescope record -- PROGRAM [ARGUMENT]..."),
                  command);
}

}  // namespace borescope::cli
