#include "borescope/record.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "borescope/api/access.h"
#include "borescope/ingest/cupti/cupti_callbacks.h"
#include "borescope/ingest/cupti/cupti_names.h"
#include "borescope/ingest/load.h"
#include "borescope/recorder/attach/attach.h"
#include "borescope/recorder/control_page.h"
#include "borescope/recorder/record_run.h"
#include "borescope/recorder/run_copy.h"
#include "borescope/recorder/run_log.h"
#include "borescope/verbs/record/run_status.h"

namespace borescope {
namespace {

internal::RunRule Inside(const RecordRule& rule) {
  constexpr internal::RulePoint kPoints[] = {
      internal::RulePoint::kNone, internal::RulePoint::kRange, internal::RulePoint::kStep,
      internal::RulePoint::kCall};
  return {
      .point = kPoints[static_cast<size_t>(rule.point)], .range = rule.range, .step = rule.step};
}

// The functions of CUDA have numbers, several for each that has changed or uses another stream.
void AddNumbers(std::string_view name, std::string (*name_of)(int64_t), std::vector<int>& numbers) {
  constexpr int kMostNumbers = 1024;
  for (int number = 1; number < kMostNumbers; ++number) {
    if (internal::ApiName(name_of(number)) == name) numbers.push_back(number);
  }
}

bool IsName(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
}

Result<internal::SkippedCalls> SkippedIn(const RecordOptions& options) {
  internal::SkippedCalls skipped;
  for (const std::string& name : options.api_skip) {
    const size_t before = skipped.runtime.size() + skipped.driver.size();
    AddNumbers(name, internal::RuntimeApiName, skipped.runtime);
    AddNumbers(name, internal::DriverApiName, skipped.driver);
    if (skipped.runtime.size() + skipped.driver.size() != before) continue;
    if (!IsName(name) || name.starts_with("cu")) {
      return internal::UsageError(name + " is no function of CUDA, HIP or RCCL",
                                  "name one as the table calls does", "api_skip");
    }
    skipped.others.push_back(name);
  }
  return skipped;
}

internal::RecordRunOptions Inside(const RecordOptions& options) {
  return {.output = options.output,
          .starts_paused = options.starts_paused || options.start_after.count() != 0,
          .with_nvtx = options.nvtx,
          .with_roctx = options.roctx,
          .with_cuda = options.cuda,
          .with_rocm = options.rocm,
          .api = options.api,
          .with_children = options.children,
          .children_match = options.children_match,
          .with_memory = options.memory,
          .with_sync = options.sync,
          .is_warm = options.warm,
          .with_graph_nodes = options.graph_nodes,
          .max_bytes = options.max_bytes,
          .ring = options.ring,
          .times = {.start_after = options.start_after, .record_for = options.record_for},
          .rules = {.start = Inside(options.start_at),
                    .stop = Inside(options.stop_at),
                    .repeat = options.repeat},
          .ranks = options.ranks,
          .spool = options.spool,
          .flush = options.flush,
          .sample = options.sample,
          .python = {.ops = options.ops,
                     .shapes = options.shapes,
                     .ops_steps = options.ops_steps,
                     .functions = options.python,
                     .rpd_compat = options.rpd_compat},
          .replaces_others = options.force,
          .replaces_folder = options.replace};
}

RecordReport Outside(internal::RecordRun::Report report) {
  return {.folder = std::move(report.target.folder),
          .converted = std::move(report.target.converted),
          .status = report.end.status,
          .signal = report.end.signal,
          .processes = report.processes,
          .running = report.running,
          .bytes = report.bytes,
          .is_sampled = report.has_launchers_log,
          .never_started = std::move(report.never_started),
          .failed_logs = std::move(report.failed_logs),
          .trouble = std::move(report.trouble),
          .never_stopped = std::move(report.never_stopped),
          .duration = report.duration};
}

// Opens the page of a run, and starts or stops it.
Result<bool> Change(const std::string& folder, bool (internal::ControlPage::*change)()) {
  return Mapped(internal::ControlPage::Open(folder),
                [change](internal::ControlPage page) { return (page.*change)(); });
}

// Reads a profile, to see that it can be read.
AttachedProfile Check(internal::AttachedProcess process) {
  AttachedProfile profile{.pid = process.pid,
                          .file = std::move(process.file),
                          .events = 0,
                          .trouble = std::move(process.trouble)};
  if (!profile.trouble.empty()) return profile;
  const Result<internal::Trace> trace = internal::LoadFile(profile.file, {});
  if (trace.ok()) {
    profile.events = trace->host().size() + trace->device().size();
  } else {
    profile.trouble = WithOptions(trace.error().Sentence());
  }
  return profile;
}

}  // namespace

struct Recording::State {
  std::optional<internal::RecordRun> run;  // nothing: it has not begun
};

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

Result<Recording> Recording::Start(const std::vector<std::string>& command,
                                   const RecordOptions& options) {
  if (command.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "no program to record",
                 .remedy = "name it with its arguments"};
  }
  constexpr auto kLeastSample = std::chrono::milliseconds(1);
  if (options.sample.count() != 0 && options.sample < kLeastSample) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "samples more often than every millisecond",
                 .remedy = "sample every 100 ms, or less often"};
  }
  Result<internal::SkippedCalls> skipped = SkippedIn(options);
  if (!skipped.ok()) return skipped.error();
  internal::RecordRunOptions inside = Inside(options);
  inside.skipped_calls = std::move(*skipped);
  auto state = std::make_unique<State>();  // before the program, as all that takes memory
  return Mapped(internal::RecordRun::Start(command, inside), [&](internal::RecordRun run) {
    state->run.emplace(std::move(run));
    return Recording(std::move(state));
  });
}

int Recording::pid() const { return state_->run->program(); }

std::string Recording::warning() const { return state_->run->warning(); }

Result<RecordReport> Recording::Wait() { return Outside(state_->run->Wait()); }

Result<AttachReport> AttachRecording(const AttachOptions& options) {
  if (options.pids.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "no process to attach to",
                 .remedy = "name the number of one that runs PyTorch"};
  }
  internal::AttachRequest request{
      .pids = {options.pids.begin(), options.pids.end()},
      .folder = options.output,
      .duration = std::chrono::ceil<std::chrono::milliseconds>(options.duration),
      .iterations = static_cast<uint32_t>(std::max(0, options.iterations)),
      .waits = options.on_wait};
  return Mapped(internal::AttachTo(request), [](internal::AttachOutcome outcome) {
    AttachReport report{.folder = std::move(outcome.folder),
                        .profiles = {},
                        .silent = {outcome.silent.begin(), outcome.silent.end()}};
    for (internal::AttachedProcess& process : outcome.processes) {
      report.profiles.push_back(Check(std::move(process)));
    }
    return report;
  });
}

Result<bool> StartRecording(const std::string& folder) {
  return Change(folder, &internal::ControlPage::Start);
}

Result<bool> StopRecording(const std::string& folder) {
  return Change(folder, &internal::ControlPage::Stop);
}

Result<void> MarkRecording(const std::string& folder, const std::string& text) {
  return internal::MarkRun(folder, text);
}

Result<FlushRecordingReport> FlushRecording(const std::string& folder,
                                            std::chrono::nanoseconds deadline) {
  return Mapped(internal::ControlPage::Open(folder), [deadline](internal::ControlPage page) {
    const internal::FlushReport report = page.Flush(deadline);
    return FlushRecordingReport{.answered = report.answered, .silent = report.silent};
  });
}

Result<void> CopyRecording(const std::string& folder, const std::string& output) {
  return internal::CopyRun(folder, output);
}

Result<Answer> RecordingStatus(const std::string& folder) {
  return Mapped(internal::StatusOfRun(folder), [](internal::Document document) {
    return AnswerAccess::Make(std::move(document));
  });
}

}  // namespace borescope
