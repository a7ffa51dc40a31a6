#include "borescope/record.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "borescope/engine/access.h"
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

// Opens the page of a run, and starts or stops it.
Result<bool> Change(const std::string& folder, bool (internal::ControlPage::*change)()) {
  BS_ASSIGN(internal::ControlPage page, internal::ControlPage::Open(folder));
  return (page.*change)();
}

// Reads a profile, to see that it can be read.
AttachedProfile Look(internal::AttachedProcess process) {
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
  BS_ASSIGN(const internal::SkippedCalls skipped, SkippedIn(options));
  auto state = std::make_unique<State>();  // before the program, as all that takes memory
  BS_ASSIGN(internal::RecordRun run, internal::RecordRun::Start(command, options, skipped));
  state->run.emplace(std::move(run));
  return Recording(std::move(state));
}

int Recording::pid() const { return state_->run->program(); }

std::string Recording::warning() const { return state_->run->warning(); }

Result<RecordReport> Recording::Wait() { return state_->run->Wait(); }

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
  BS_ASSIGN(internal::AttachOutcome outcome, internal::AttachTo(request));
  AttachReport report{.folder = std::move(outcome.folder),
                      .profiles = {},
                      .silent = {outcome.silent.begin(), outcome.silent.end()}};
  for (internal::AttachedProcess& process : outcome.processes) {
    report.profiles.push_back(Look(std::move(process)));
  }
  return report;
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
  BS_ASSIGN(internal::ControlPage page, internal::ControlPage::Open(folder));
  const internal::FlushReport report = page.Flush(deadline);
  return FlushRecordingReport{.answered = report.answered, .silent = report.silent};
}

Result<void> CopyRecording(const std::string& folder, const std::string& output) {
  return internal::CopyRun(folder, output);
}

Result<Answer> RecordingStatus(const std::string& folder) {
  return AnswerWith(internal::StatusOfRun(folder));
}

}  // namespace borescope
