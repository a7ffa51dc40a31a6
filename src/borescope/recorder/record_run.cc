#include "borescope/recorder/record_run.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <new>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "borescope/base/io/foreign_links.h"
#include "borescope/base/io/paths.h"
#include "borescope/recorder/control_page.h"
#include "borescope/recorder/process_facts.h"
#include "borescope/recorder/program.h"
#include "borescope/recorder/run_folder.h"
#include "borescope/recorder/run_log.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {

namespace {

namespace fs = std::filesystem;

Error SpoolError(const std::string& path, const std::string& what, const std::error_code& error) {
  return {ErrorCode::kIo, what + ": " + error.message(), {}, path};
}

std::error_code LastError() { return {errno, std::generic_category()}; }

// All that is in one folder, into another that is made. The cause of a failure alone.
Result<void> CopyFiles(const fs::path& from, const fs::path& to) {
  if (mkdir(to.c_str(), 0700) != 0) {
    return SpoolError(to.string(), "cannot be made", LastError());
  }
  BS_ASSIGN(const std::vector<std::string> names, NamesIn(from.string()));
  std::error_code error;
  for (const std::string& name : names) {
    // Not only files: traces of other profilers may have folders of their own.
    fs::copy(from / name, to / name, fs::copy_options::recursive, error);
    if (error) return SpoolError((to / name).string(), "cannot be copied", error);
  }
  return {};
}

}  // namespace

Result<std::string> MakeSpool(const std::string& folder, const std::string& spool) {
  std::error_code error;
  const fs::path absolute = fs::absolute(spool, error);
  const fs::path place =
      absolute / (fs::path(folder).filename().string() + "." + std::to_string(getpid()));
  BS_TRY(CheckNoForeignLink(place.string()));
  if (error || mkdir(place.c_str(), 0700) != 0) {
    return SpoolError(place.string(), "cannot be made", error ? error : LastError());
  }
  fs::create_directory_symlink(place, folder, error);
  if (!error) return place.string();
  rmdir(place.c_str());
  return SpoolError(folder, "cannot be made", error);
}

Result<void> MoveFromSpool(const std::string& place, const std::string& folder) {
  const std::string part = folder + ".part";
  Result<void> moved = CopyFiles(place, part);
  std::error_code error;
  std::error_code ignored;
  if (moved.ok()) {
    fs::remove(folder, error);
    if (!error) fs::rename(part, folder, error);
    if (error) moved = SpoolError(folder, "cannot be replaced", error);
  }
  if (!moved.ok()) {
    fs::remove_all(part, ignored);
    return Error{ErrorCode::kIo,
                 "the recording stays in " + place + ": " + moved.error().Sentence(),
                 {},
                 folder};
  }
  fs::remove_all(place, ignored);
  return {};
}

void RemoveSpool(const std::string& place, const std::string& folder) {
  std::error_code ignored;
  fs::remove(folder, ignored);
  fs::remove_all(place, ignored);
}

namespace {

// The options with all that follows from them.
struct RecordPlan : RecordOptions {
  SkippedCalls skipped_calls;
  ScheduleTimes times;
  RunRules rules;
  PythonPlan python_plan;
};

std::string ListOf(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
  return list;
}

std::string ListOf(const std::vector<int>& numbers) {
  std::vector<std::string> words;
  words.reserve(numbers.size());
  for (const int number : numbers) words.push_back(std::to_string(number));
  return ListOf(words);
}

// For the library, which knows these names.
std::string LibraryOptions(const RecordPlan& options) {
  std::string text;
  const auto add = [&](bool is_set, const std::string& option) {
    if (is_set) text += (text.empty() ? "" : ";") + option;
  };
  add(!options.nvtx, "no-nvtx");
  add(!options.roctx, "no-roctx");
  add(!options.cuda, "no-cuda");
  add(options.rocm, "rocm");
  const std::string gpus = options.rocm ? RocmGpus() : std::string();
  add(!gpus.empty(), "rocm-gpus=" + gpus);
  add(!options.api.empty(), "api=" + options.api);
  const SkippedCalls& skipped = options.skipped_calls;
  add(!skipped.runtime.empty(), "skip-runtime=" + ListOf(skipped.runtime));
  add(!skipped.driver.empty(), "skip-driver=" + ListOf(skipped.driver));
  add(!skipped.others.empty(), "api-skip=" + ListOf(skipped.others));
  add(!options.children, "children=none");
  add(!options.children_match.empty(), "children-match=" + EncodedName(options.children_match));
  add(options.memory, "memory");
  add(options.sync, "sync");
  add(!options.counters.empty(), "counters=" + ListOf(options.counters));
  add(!options.counters_kernels.empty(),
      "counters-kernels=" + EncodedName(options.counters_kernels));
  add(options.counters_skip != 0, "counters-skip=" + std::to_string(options.counters_skip));
  add(options.counters_count != 0, "counters-count=" + std::to_string(options.counters_count));
  add(options.warm, "warm");
  add(options.graph_nodes, "graphs=node");
  const auto milliseconds = [](std::chrono::nanoseconds time) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count());
  };
  add(options.ring.count() != 0, "ring-ms=" + milliseconds(options.ring));
  add(!options.ranks.empty(), "ranks=" + ListOf(options.ranks));
  add(options.flush.count() != 0, "flush-ms=" + milliseconds(options.flush));
  add(options.max_bytes != 0, "max-bytes=" + std::to_string(options.max_bytes));
  for (const std::string& word : WordsOf(options.rules)) add(true, word);
  return text;
}

// An empty run is nothing to keep.
void RemoveEmptyRun(const std::string& folder, const std::string& place) {
  if (place != folder) return RemoveSpool(place, folder);
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::path(folder) / recording::kControlName, ignored);
  std::filesystem::remove(folder, ignored);
}

// Logs are mapped, which a network file system cannot serve at its speed: they are moved there
// afterwards.
std::string SpoolFor(const std::string& folder, const RecordPlan& options) {
  if (!options.spool.empty() || !IsOnNetwork(folder)) return options.spool;
  std::error_code ignored;
  const std::string local = std::filesystem::temp_directory_path(ignored).string();
  return local.empty() || IsOnNetwork(local) ? std::string() : local;
}

// The folder that logs are written into.
Result<std::string> MakePlace(const std::string& folder, const RecordPlan& options) {
  BS_TRY(MakeRunFolder(folder, options.replace));
  const std::string spool = SpoolFor(folder, options);
  if (spool.empty()) return folder;
  std::error_code ignored;
  std::filesystem::remove(folder, ignored);
  return MakeSpool(folder, spool);
}

Result<Environment> EnvironmentFor(const std::string& library, const std::string& folder,
                                   const RecordPlan& options) {
  std::error_code ignored;
  Environment environment = OwnEnvironment();
  BS_TRY(AddInjection({.library = library,
                       .folder = std::filesystem::absolute(folder, ignored).string(),
                       .options = LibraryOptions(options),
                       .with_nvtx = options.nvtx,
                       .with_cuda = options.cuda,
                       .with_rocm = options.rocm,
                       .replaces_others = options.force},
                      environment));
  if (options.python_plan.ops == "nvtx" && !options.nvtx) {
    return UsageError("`ops`=nvtx has PyTorch write ranges of NVTX",
                      "leave one of them out, or record with `ops`=profile", "no_nvtx");
  }
  BS_TRY(AddPython(options.python_plan, library, environment));
  return environment;
}

// The first of NAME.postmortem, NAME-2.postmortem, ... that does not exist, made: for what PyTorch
// leaves of a run in NAME.bsr. It is beside that one, which only logs belong into.
Result<std::string> MakePostmortemFolder(const std::string& run) {
  std::error_code error;
  std::filesystem::path name = std::filesystem::absolute(run, error);
  if (name.extension() == ".bsr") name.replace_extension();
  constexpr int kMostFolders = 1000;
  for (int i = 1; i <= kMostFolders && !error; ++i) {
    std::string folder = name.string() + (i == 1 ? "" : "-" + std::to_string(i)) + ".postmortem";
    if (std::filesystem::create_directory(folder, error)) return folder;
  }
  return Error{ErrorCode::kIo,
               "the folder of dumps cannot be made: " +
                   (error ? error.message()
                          : "there are " + std::to_string(kMostFolders) + " of them already"),
               {},
               name.string() + ".postmortem"};
}

Result<void> CheckApi(const RecordPlan& options) {
  constexpr std::string_view kChoices[] = {"", "all", "launch", "none"};
  if (std::find(std::begin(kChoices), std::end(kChoices), options.api) == std::end(kChoices)) {
    return UsageError(options.api + " is none of all, launch, none", {}, "api");
  }
  // As many as the library keeps.
  constexpr size_t kMostBytes = 500;
  if (ListOf(options.skipped_calls.others).size() <= kMostBytes) return {};
  return UsageError(
      "names of more than " + std::to_string(kMostBytes) + " bytes that are not of CUDA",
      "`api`=launch leaves out most calls", "api_skip");
}

bool IsMetricName(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  });
}

// As many as the library keeps, as kMostCounters and kMostCountedLaunches there say.
Result<void> CheckCounters(const RecordPlan& options) {
  constexpr size_t kMostMetrics = 64;
  constexpr size_t kMostBytes = 4000;
  constexpr uint64_t kMostLaunches = 1000;
  if (options.counters.empty()) {
    const bool has_others = !options.counters_kernels.empty() || options.counters_skip != 0 ||
                            options.counters_count != 0;
    return has_others ? UsageError("no counters to measure",
                                   "name some with `counters`, or leave out what says of which "
                                   "kernels",
                                   "counters")
                      : Result<void>();
  }
  if (!options.cuda) {
    return UsageError("counters are measured by CUPTI", "leave out `no_cuda`", "counters");
  }
  for (const std::string& name : options.counters) {
    if (!IsMetricName(name)) {
      return UsageError("\"" + name + "\" is no name of a metric",
                        "metrics are named as by Nsight Compute: dram__bytes_read.sum", "counters");
    }
  }
  if (options.counters.size() > kMostMetrics || ListOf(options.counters).size() > kMostBytes) {
    return UsageError("more than " + std::to_string(kMostMetrics) + " metrics",
                      "each pass of a kernel measures a few", "counters");
  }
  if (options.counters_count > kMostLaunches) {
    return UsageError("more than " + std::to_string(kMostLaunches) + " launches",
                      "each is replayed several times", "counters_count");
  }
  return options.counters_kernels.empty()
             ? Result<void>()
             : CheckName("`counters_kernels`=", options.counters_kernels);
}

// With what is meant where the options say nothing; an error where they contradict each other.
Result<RecordPlan> PlanOf(const RecordOptions& given, const SkippedCalls& skipped) {
  RecordPlan options;
  static_cast<RecordOptions&>(options) = given;
  options.skipped_calls = skipped;
  options.times = {.start_after = given.start_after, .record_for = given.record_for};
  options.rules = {.start = given.start_at, .stop = given.stop_at, .repeat = given.repeat};
  options.python_plan = {.ops = given.ops,
                         .shapes = given.shapes,
                         .ops_steps = given.ops_steps,
                         .functions = given.python,
                         .rpd_compat = given.rpd_compat};
  options.starts_paused = given.starts_paused || given.start_after.count() != 0;
  BS_TRY(CheckApi(options));
  BS_TRY(CheckCounters(options));
  const bool is_timed = options.times.record_for.count() != 0;
  BS_ASSIGN(options.rules, CompleteRules(options.rules, is_timed));
  options.times.repeats = options.rules.repeat != 1 ||  //
                          options.rules.start.point == RecordPoint::kCall;
  options.starts_paused = options.starts_paused || options.rules.starts();
  options.python_plan.counts_steps = options.rules.start.point == RecordPoint::kStep ||
                                     options.rules.stop.point == RecordPoint::kStep;
  if (!options.children_match.empty()) {
    BS_TRY(CheckName("`children`=match:", options.children_match));
  }
  return options;
}

}  // namespace

Result<RecordRun> RecordRun::Start(const std::vector<std::string>& words,
                                   const RecordOptions& given, const SkippedCalls& skipped) {
  BS_ASSIGN(const RecordPlan options, PlanOf(given, skipped));
  BS_ASSIGN(RunTarget target, TargetOfRun(options.output));
  BS_ASSIGN(const std::string library, FindRecorderLibrary());
  // Before anything is made: what the environment cannot hold is an error of its own.
  BS_TRY(EnvironmentFor(library, target.folder, options));
  BS_ASSIGN(std::string place, MakePlace(target.folder, options));
  BS_ASSIGN(Environment environment, EnvironmentFor(library, place, options));
  std::string postmortem;
  if (options.postmortem) {
    Result<std::string> made = MakePostmortemFolder(target.folder);
    if (!made.ok()) {
      RemoveEmptyRun(target.folder, place);
      return made.error();
    }
    postmortem = *std::move(made);
    AddPostmortem(postmortem, environment);
  }
  Result<ControlPage> page = ControlPage::Make(place, !options.starts_paused);
  Result<std::unique_ptr<Schedule>> schedule =
      page.ok() ? Schedule::Make(std::move(*page), options.times) : page.error();
  // All that takes memory comes before the program, which has nobody to wait for it otherwise.
  RecordRun run(std::move(target), std::move(place));
  run.rules_ = options.rules;
  run.postmortem_ = std::move(postmortem);
  if (options.rocm) run.warning_ = WhyNoRocm();
  run.starts_by_clock_ = options.times.start_after.count() != 0;
  const Result<pid_t> program =
      schedule.ok() ? StartProgram(words, environment) : Result<pid_t>(schedule.error());
  if (!program.ok()) {
    if (schedule.ok()) schedule->reset();
    run.TakePostmortem();
    RemoveEmptyRun(run.target_.folder, run.place_);
    return program.error();
  }
  run.Follow(*program, std::move(*schedule), options.sample);
  return run;
}

void RecordRun::Follow(pid_t program, std::unique_ptr<Schedule> schedule,
                       std::chrono::nanoseconds sample) {
  program_ = program;
  schedule_ = std::move(schedule);
  begin_ = Clock::now();
  if (sample.count() <= 0) return;
  try {
    sampling_ = std::make_unique<Sampling>(place_, program_, sample);
  } catch (const std::bad_alloc&) {
    sampling_.reset();               // a recording without samples is better than none
    samples_end_ = "out of memory";  // so short that it takes none
  }
}

std::string RecordRun::TakePostmortem() {
  if (postmortem_.empty()) return {};
  std::error_code ignored;
  const bool was_empty = std::filesystem::remove(postmortem_, ignored);  // folders with files stay
  return was_empty ? std::string() : std::move(postmortem_);
}

namespace {

void AddSentence(const std::string& sentence, std::string& text) {
  text += (text.empty() ? "" : "; ") + sentence;
}

}  // namespace

RecordReport RecordRun::Wait() {
  const ProgramEnd end = WaitForProgram(program_);
  RecordReport report{.folder = std::move(target_.folder),
                      .converted = std::move(target_.converted),
                      .postmortem = {},
                      .status = end.status,
                      .signal = end.signal};
  report.postmortem = TakePostmortem();
  ended_ns_ = MonotonicNow();
  report.duration = Clock::now() - begin_;
  if (sampling_ != nullptr) sampling_->End();
  schedule_.reset();
  // The program has ended all the same, and its status is what matters to others.
  try {
    report.samples_end = sampling_ == nullptr ? samples_end_ : sampling_->WhyEndedEarly();
    if (Result<void> concluded = Conclude(report); !concluded.ok()) {
      report.trouble = concluded.error().Sentence();
    }
  } catch (const std::bad_alloc&) {
    report.trouble = "out of memory";  // so short that it takes none
  }
  return report;
}

// Where it did not end by itself, its log does not say until when it ran. Of the programs that it
// executed one after the other the last one ended.
void RecordRun::NoteEndOfProgram(const std::vector<LogFile>& logs, const ProgramEnd& end) const {
  const LogFile* last = nullptr;
  for (const LogFile& log : logs) {
    const bool is_programs = log.header.pid == static_cast<uint32_t>(program_) &&
                             log.header.ppid == static_cast<uint32_t>(getpid());
    if (!is_programs || log.is_alive || log.is_sealed()) continue;
    if (last == nullptr || last->header.image < log.header.image) last = &log;
  }
  if (last == nullptr || (end.signal == 0 && end.status <= 0)) return;
  // Without it, what was open ends with the last record.
  static_cast<void>(
      NoteEnd(place_, last->name, ended_ns_, end.signal == 0 ? end.status : -end.signal));
}

Result<void> RecordRun::Conclude(RecordReport& report) const {
  BS_ASSIGN(const FileKind folder, KindOf(place_));
  if (folder == FileKind::kNothing) {
    return Error{ErrorCode::kIo, "was renamed or removed while the program ran",
                 "logs are where it is", place_};
  }
  std::vector<std::string> hidden;
  BS_ASSIGN(const std::vector<LogFile> logs, ListLogs(place_, &hidden));
  BS_ASSIGN(const FileKind control,
            KindOf((std::filesystem::path(place_) / recording::kControlName).string()));
  if (logs.empty() && hidden.empty() && control == FileKind::kNothing) {
    return Error{ErrorCode::kIo, "its files were removed while the program ran", {}, place_};
  }
  NoteEndOfProgram(logs, {report.status, report.signal});
  SealEnded(place_, logs);
  // A process that executes other programs has a log for each.
  std::set<std::pair<uint32_t, uint64_t>> processes;
  for (const LogFile& log : logs) {
    report.bytes += log.bytes;
    report.is_sampled |= log.is_launchers();
    if (log.is_launchers()) continue;
    processes.emplace(log.header.pid, log.header.start_time);
    report.running += log.is_alive ? 1 : 0;
  }
  report.processes = processes.size();
  JudgeRules(report);
  if (!hidden.empty()) {
    AddSentence(std::to_string(hidden.size()) +
                    (hidden.size() == 1 ? " log belongs" : " logs belong") +
                    " to another user and cannot be read: " + ListOf(hidden),
                report.failed_logs);
  }
  // Those that still run would go on in the spool: it stays, and the folder is a link to it.
  const bool is_spooled = place_ != report.folder;
  return is_spooled && report.running == 0 ? MoveFromSpool(place_, report.folder) : Result<void>();
}

void RecordRun::JudgeRules(RecordReport& report) const {
  const Result<ControlPage> page = ControlPage::OpenToRead(place_);
  if (!page.ok()) {
    report.failed_logs = "the page of the run says why logs are missing, and cannot be read: " +
                         page.error().Sentence();
    return;
  }
  report.failed_logs = page->WhyLogsFailed();
  const RuleFacts facts = page->rule_facts();
  report.never_started = WhyNeverStarted(rules_, facts, starts_by_clock_);
  report.never_stopped = WhyNeverStopped(rules_, facts);
}

}  // namespace borescope::internal
