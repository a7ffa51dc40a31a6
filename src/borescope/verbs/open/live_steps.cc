#include "borescope/verbs/open/live_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/ingest/recording/recording.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/sink/sink.h"
#include "borescope/recorder/control_page.h"
#include "borescope/recorder/run_folder.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;
using recording::LogHeader;

// Of what ended, records of devices come with the next time they are fetched, every 100 ms unless
// the recording was started with another --flush.
constexpr int64_t kFlushedByNs = 300'000'000;

// So many of the last steps are measured again until all of their work is known. What is older and
// lacks some work will not get it any more: a launch that failed has none.
constexpr size_t kOpenSteps = 8;

// The windows of steps on the host, by number: a step that several threads mark is one.
struct HostStep {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t launches = 0;
  int64_t unreported = 0;
  bool is_running = false;
};
using HostSteps = std::map<int64_t, HostStep>;

HostSteps WindowsOnHost(const RankView& view, const std::vector<int64_t>& open_begins) {
  HostSteps found;
  for (const Step& step : view.steps().steps) {
    const auto [place, is_new] =
        found.try_emplace(step.number, HostStep{step.begin_ns, step.end_ns});
    HostStep& host = place->second;
    host.begin_ns = std::min(host.begin_ns, step.begin_ns);
    host.end_ns = std::max(host.end_ns, step.end_ns);
    host.is_running = host.is_running || std::find(open_begins.begin(), open_begins.end(),
                                                   step.begin_ns) != open_begins.end();
  }
  return found;
}

// Whether a call of this name has records of its device as a rule: a function of the host that is
// queued has none.
bool HasDeviceRecords(std::string_view name) {
  return IsLaunchName(name) && name.find("HostFunc") == std::string_view::npos;
}

// Which launches of each step there are, and which of them have no work so far. A call within
// another one has its number.
void CountLaunches(const RankView& view, HostSteps& steps) {
  const HostEvents& host = view.trace.host();
  const DeviceEvents& device = view.trace.device();
  HashSet<int64_t> reported;
  for (const uint32_t row : EachRow(device.size())) {
    if (IsDeviceWork(device.kind[row])) reported.insert(device.correlation[row]);
  }
  HashSet<int64_t> counted;
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] != HostKind::kRuntime || host.detail[row] == kNoDetail ||
        !HasDeviceRecords(view.trace.Name(HostId{row}))) {
      continue;
    }
    const int64_t number = view.trace.runtime_calls().correlation[host.detail[row]];
    const uint32_t step = view.steps().At(host.track[row], host.ts_ns[row]);
    if (step == kNoStep || !IsCorrelation(number) || !counted.insert(number).second) continue;
    HostStep& found = steps.at(view.steps().steps[step].number);
    ++found.launches;
    found.unreported += reported.contains(number) ? 0 : 1;
  }
}

}  // namespace

Result<std::vector<LiveStep>> LiveStepsOf(const RankView& view, const Tail& tail,
                                          const std::vector<int64_t>& open_begins) {
  HostSteps hosts = WindowsOnHost(view, open_begins);
  if (hosts.empty()) {
    return std::vector<LiveStep>();
  }
  CountLaunches(view, hosts);
  BS_ASSIGN(const Selected selected, Selected::Make(view, {}));
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  const std::vector<StepWindow> windows = WindowsOf(view, selected, true, TracksOfLines(*times));
  BS_TRY(CheckRows(view, windows.size(), times->size()));
  // What the first step that is there lacks may be before it: idle time belongs to the step that
  // waited, and its length counts from the completion of the one before.
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  for (const auto& [number, host] : hosts) {
    if (host.begin_ns >= tail.complete_from_ns) first_ns = std::min(first_ns, host.begin_ns);
  }
  std::vector<LiveStep> steps;
  for (const StepWindow& window : windows) {
    const auto host = hosts.find(window.step);
    if (window.step == kMissing || host == hosts.end()) continue;
    const HostStep& on_host = host->second;
    if (tail.complete_from_ns > 0 && on_host.begin_ns <= first_ns) continue;
    for (size_t i = 0; i < times->size(); ++i) {
      steps.push_back({.number = window.step,
                       .gpu = (*times)[i].gpu,
                       .begin_ns = on_host.begin_ns,
                       .end_ns = on_host.end_ns,
                       .time = SplitTime((*times)[i], window.On(i)),
                       .launches = on_host.launches,
                       .unreported = on_host.unreported,
                       .is_running = on_host.is_running,
                       .may_grow = tail.last_ns < on_host.end_ns + kFlushedByNs});
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const LiveStep& a, const LiveStep& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.gpu < b.gpu;
  });
  return steps;
}

namespace {

struct ProgramLogs {
  std::vector<std::string> paths;  // but for those of launchers
  std::vector<LogHeader> headers;
};

ProgramLogs LogsOfPrograms(const std::vector<std::string>& logs) {
  ProgramLogs found;
  for (const std::string& path : logs) {
    const Result<std::optional<LogHeader>> header = RecordingHeaderOf(path);
    // What cannot be read now is looked at the next time.
    if (!header.ok() || !header->has_value()) continue;
    if (((*header)->flags & recording::kIsLauncher) != 0) continue;
    found.paths.push_back(path);
    found.headers.push_back(**header);
  }
  return found;
}

bool IsSealed(const LogHeader& header) { return (header.flags & recording::kSealed) != 0; }

Result<bool> IsPaused(const std::string& log) {
  BS_ASSIGN(const ControlPage page, ControlPage::OpenToRead(fs::path(log).parent_path().string()));
  return !page.is_recording();
}

// Of all processes together: it runs while one does. `doubt`: why it cannot be seen whether one
// that runs is paused.
WriterState StateOf(const ProgramLogs& logs, const std::vector<LogEnd>& ends, bool has_grown,
                    std::string& doubt) {
  bool has_died = false;
  bool is_elsewhere = false;
  for (const LogHeader& header : logs.headers) {
    if (IsSealed(header)) continue;
    if (IsWriterAlive(header)) {
      const Result<bool> is_paused = IsPaused(logs.paths.front());
      if (!is_paused.ok()) doubt = is_paused.error().Sentence();
      return is_paused.ok() && *is_paused ? WriterState::kPaused : WriterState::kRunning;
    }
    const bool has_end = std::any_of(ends.begin(), ends.end(),
                                     [&](const LogEnd& end) { return end.pid == header.pid; });
    is_elsewhere = is_elsewhere || !IsOfThisMachine(header);
    has_died = has_died || (IsOfThisMachine(header) && !has_end);
  }
  if (has_grown && (has_died || is_elsewhere)) return WriterState::kRunning;
  return has_died       ? WriterState::kDied
         : is_elsewhere ? WriterState::kElsewhere
                        : WriterState::kEnded;
}

bool MayGrow(WriterState state) {
  return state == WriterState::kRunning || state == WriterState::kPaused ||
         state == WriterState::kElsewhere;
}

bool IsAtWork(const ProgramLogs& logs) {
  return std::any_of(logs.headers.begin(), logs.headers.end(), [](const LogHeader& header) {
    return !IsSealed(header) && (IsWriterAlive(header) || !IsOfThisMachine(header));
  });
}

// In the place of what was known of the same steps.
void TakeSteps(std::vector<LiveStep> fresh, LiveRank& rank) {
  if (fresh.empty()) return;
  rank.has_steps = true;
  while (!rank.steps.empty() && rank.steps.back().begin_ns >= fresh.front().begin_ns) {
    rank.steps.pop_back();
  }
  for (LiveStep& step : fresh) rank.steps.push_back(step);
  std::set<int64_t> devices;
  for (const LiveStep& step : rank.steps) devices.insert(step.gpu);
  while (rank.steps.size() > StepWatch::kSteps * devices.size()) rank.steps.pop_front();
}

// Where to read from the next time: the begin of the step before the first that is not whole.
int64_t NextFrom(const std::deque<LiveStep>& steps, int64_t before) {
  std::vector<const LiveStep*> begins;  // one for each step
  std::vector<bool> is_whole;
  for (const LiveStep& step : steps) {
    if (begins.empty() || begins.back()->begin_ns != step.begin_ns) {
      begins.push_back(&step);
      is_whole.push_back(true);
    }
    is_whole.back() = is_whole.back() && step.is_whole();
  }
  size_t open = begins.size() > kOpenSteps ? begins.size() - kOpenSteps : 0;
  while (open < begins.size() && is_whole[open]) ++open;
  // The last one is measured again as well: its end depends on what follows.
  open = std::min(open, begins.size() - std::min<size_t>(begins.size(), 1));
  return open == 0 ? before : std::max(before, begins[open - 1]->begin_ns);
}

}  // namespace

bool IsRunning(const std::vector<std::string>& logs) {
  const ProgramLogs programs = LogsOfPrograms(logs);
  return std::any_of(programs.headers.begin(), programs.headers.end(), [](const LogHeader& header) {
    return !IsSealed(header) && IsWriterAlive(header);
  });
}

bool IsAnyRecording(const std::vector<std::string>& inputs) {
  Result<std::vector<InputFile>> found = ExpandInputs(inputs);
  if (found.ok()) {
    found = GroupRecordings(std::move(*found));
  }
  if (!found.ok()) {
    return false;  // who reads them says why
  }
  return std::any_of(found->begin(), found->end(),
                     [](const InputFile& file) { return IsRunning(file.logs); });
}

void StepWatch::Read(const std::vector<std::string>& logs, Followed& followed) {
  LiveRank& rank = followed.rank;
  const bool is_first = rank.log_bytes == 0;
  Result<Tail> tail = followed.tail.Read(logs, followed.from_ns, {});
  rank.trouble = !tail.ok()                 ? tail.error().Sentence()
                 : tail->unreadable.empty() ? ""
                                            : tail->unreadable.front().Sentence();
  if (!tail.ok()) return;
  rank.log_bytes = tail->log_bytes;
  rank.unread_bytes = tail->unread_bytes;
  rank.ends = tail->ends;
  rank.last_ns = tail->last_ns;
  const ProgramLogs programs = LogsOfPrograms(logs);
  rank.doubt.clear();
  rank.state = StateOf(programs, rank.ends, tail->new_bytes != 0, rank.doubt);
  if (tail->new_bytes != 0 && tail->trace.meta().base_ns.has_value()) {
    rank.base_ns = *tail->trace.meta().base_ns;
  }
  if (tail->new_bytes != 0) {
    const TraceIndex index = BuildIndex(tail->trace, 1);
    Result<std::vector<LiveStep>> steps =
        LiveStepsOf({.rank = 0, .trace = tail->trace, .index = index}, *tail, tail->open_begins);
    rank.trouble = steps.ok() ? "" : steps.error().Sentence();
    if (steps.ok()) {
      rank.are_steps_missed =
          rank.are_steps_missed || (!is_first && tail->complete_from_ns > followed.from_ns);
      TakeSteps(std::move(*steps), rank);
    }
  }
  if (!MayGrow(rank.state)) {
    for (LiveStep& step : rank.steps) step.may_grow = false;
    followed.is_over = tail->new_bytes == 0;
  }
  followed.from_ns = NextFrom(rank.steps, followed.from_ns);
}

void StepWatch::Follow(const std::vector<std::string>& logs, Followed& followed) {
  const ProgramLogs programs = LogsOfPrograms(logs);
  if (programs.paths.empty() || followed.is_over) return;
  followed.is_followed = followed.is_followed || IsAtWork(programs);
  if (!followed.is_followed) return;
  const LogHeader& first = programs.headers.front();
  followed.rank.rank = first.rank < 0 ? kMissing : first.rank;
  followed.rank.name = fs::path(programs.paths.front()).parent_path().filename().string();
  Read(programs.paths, followed);
}

namespace {

// The turn to see which recordings there are; no log has this name.
constexpr const char* kListing = "";

}  // namespace

StepWatch::StepWatch(std::vector<std::string> inputs, TailLimits limits)
    : inputs_(std::move(inputs)), limits_(limits) {
  pace_.Add(kListing);
}

void StepWatch::List() {
  Result<std::vector<InputFile>> found = ExpandInputs(inputs_);
  if (found.ok()) {
    found = GroupRecordings(std::move(*found));
  }
  if (!found.ok()) return;  // the banner of the report says why
  const std::scoped_lock lock(mutex_);
  for (InputFile& file : *found) {
    if (file.logs.empty()) continue;
    pace_.Add(file.path);
    recordings_.try_emplace(file.path, Recording{.followed = {.tail = RecordingTail(limits_)}})
        .first->second.logs = std::move(file.logs);
  }
}

void StepWatch::LookAt(const std::string& path) {
  Recording* recording = nullptr;
  std::vector<std::string> logs;
  {
    const std::scoped_lock lock(mutex_);
    recording = &recordings_.at(path);
    logs = recording->logs;
  }
  Followed& followed = recording->followed;
  Follow(logs, followed);
  const std::scoped_lock lock(mutex_);
  if (followed.is_followed) recording->shown = followed.rank;
  if (followed.is_over) pace_.Remove(path);
}

bool StepWatch::Look() {
  std::optional<std::string> name;
  {
    const std::scoped_lock lock(mutex_);
    name = pace_.Begin(LookPace::Clock::now());
  }
  if (!name.has_value()) {
    return false;
  }
  // Whatever happens, the next one can be looked at.
  struct Ends {
    StepWatch& watch;
    const std::string& name;
    ~Ends() {
      const std::scoped_lock lock(watch.mutex_);
      watch.pace_.End(name, LookPace::Clock::now());
    }
  } ends{*this, *name};
  name->empty() ? List() : LookAt(*name);
  return true;
}

std::vector<LiveRank> StepWatch::ranks() const {
  std::vector<LiveRank> ranks;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [path, recording] : recordings_) {
      if (recording.shown.has_value()) ranks.push_back(*recording.shown);
    }
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const LiveRank& a, const LiveRank& b) { return a.rank < b.rank; });
  return ranks;
}

namespace {

std::string_view StateName(WriterState state) {
  switch (state) {
    case WriterState::kRunning:
      return "running";
    case WriterState::kPaused:
      return "paused";
    case WriterState::kEnded:
      return "ended";
    case WriterState::kDied:
      return "died";
    case WriterState::kElsewhere:
      return "elsewhere";
  }
  return "";
}

std::string EndText(const LiveRank& rank) {
  for (const LogEnd& end : rank.ends) {
    if (end.kind == recording::EndKind::kParent && end.status < 0) {
      return fmt::format("Process {} was ended by signal {}.", end.pid, -end.status);
    }
    if (end.kind == recording::EndKind::kParent && end.status > 0) {
      return fmt::format("Process {} has ended with status {}.", end.pid, end.status);
    }
  }
  return "The recording has ended.";
}

std::string StateText(const LiveRank& rank) {
  switch (rank.state) {
    case WriterState::kRunning:
      return rank.doubt.empty()
                 ? "The recording is running."
                 : "The process runs. Whether it records or is paused cannot be seen: " +
                       rank.doubt;
    case WriterState::kPaused:
      return "The recording is paused.";
    case WriterState::kEnded:
      return EndText(rank);
    case WriterState::kDied:
      return "The process is gone, and did not end its log: it was killed. What it had recorded is "
             "here.";
    case WriterState::kElsewhere:
      return "The recording is of another machine: whether its process still runs cannot be seen "
             "from here.";
  }
  return "";
}

std::vector<std::string> NotesOf(const LiveRank& rank) {
  std::vector<std::string> notes;
  if (!rank.trouble.empty()) {
    notes.push_back(rank.trouble);
  }
  if (!rank.has_steps && rank.trouble.empty()) {
    notes.push_back(
        fmt::format("No step so far. To have steps, {}.", RecordingRemedy(MissingData::kSteps)));
  }
  if (rank.are_steps_missed) {
    notes.emplace_back(
        "Some steps are missing: more was recorded between two looks than one look reads.");
  }
  if (rank.unread_bytes != 0) {
    notes.push_back(fmt::format(
        "{} MB of the log are still to be read for names: until then, communication may count as "
        "compute.",
        (rank.unread_bytes >> 20U) + 1));
  }
  return notes;
}

void PutNumber(JsonWriter& json, std::string_view key, int64_t value) {
  json.Key(key);
  value == kMissing ? json.Null() : json.Int(value);
}

std::string_view StepStateName(const LiveStep& step) {
  if (step.is_running) return "running";
  return step.is_whole() ? "whole" : "partial";
}

void PutStep(JsonWriter& json, const LiveRank& rank, const LiveStep& step) {
  json.BeginObject();
  json.Key("step");
  json.Int(step.number);
  PutNumber(json, "gpu", step.gpu);
  PutNumber(json, "begin_ms",
            rank.base_ns == 0 ? kMissing : AddSaturating(rank.base_ns, step.begin_ns) / 1'000'000);
  json.Member("state", StepStateName(step));
  PutNumber(json, "host_ns", step.end_ns - step.begin_ns);
  PutNumber(json, "span_ns", step.time.span_ns);
  PutNumber(json, "busy_ns", step.time.busy_ns);
  PutNumber(json, "compute_ns", step.time.compute_ns);
  PutNumber(json, "exposed_comm_ns", step.time.exposed_comm_ns);
  PutNumber(json, "exposed_copy_ns", step.time.exposed_copy_ns);
  PutNumber(json, "idle_ns", step.time.idle_ns);
  PutNumber(json, "launches", step.launches);
  PutNumber(json, "unreported", step.unreported);
  json.EndObject();
}

void PutRank(JsonWriter& json, const LiveRank& rank) {
  json.BeginObject();
  PutNumber(json, "rank", rank.rank);
  json.Member("name", rank.name);
  json.Member("state", StateName(rank.state));
  json.Member("text", StateText(rank));
  json.Key("notes");
  json.BeginArray();
  for (const std::string& note : NotesOf(rank)) json.String(note);
  json.EndArray();
  json.Key("steps");
  json.BeginArray();
  for (const LiveStep& step : rank.steps) PutStep(json, rank, step);
  json.EndArray();
  json.EndObject();
}

}  // namespace

std::string JsonOfSteps(const std::vector<LiveRank>& ranks) {
  StringSink sink;
  JsonWriter json(sink);
  json.BeginArray();
  for (const LiveRank& rank : ranks) PutRank(json, rank);
  json.EndArray();
  return json.Finish().ok() ? sink.text() : std::string("[]");
}

}  // namespace borescope::internal
