#include "borescope/index/steps/steps.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/memory_limit.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

StepPattern::StepPattern(std::unique_ptr<re2::RE2> expression)
    : expression_(std::move(expression)) {}
StepPattern::~StepPattern() = default;
StepPattern::StepPattern(StepPattern&&) noexcept = default;
StepPattern& StepPattern::operator=(StepPattern&&) noexcept = default;

Result<StepPattern> StepPattern::Parse(std::string_view text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  AskForMemory(kExpressionBytes);
  auto expression = std::make_unique<re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!expression->ok()) {
    return UsageError(
        fmt::format("'{}' is not a regular expression of RE2: {}", text, expression->error()), {},
        "step_pattern");
  }
  return StepPattern(std::move(expression));
}

bool StepPattern::Matches(std::string_view name) const {
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
}

namespace {

// Cuts windows that overlap into pieces that do not.
class Cutter {
 public:
  explicit Cutter(const std::vector<Step>& steps) : steps_(steps) {}

  std::vector<Steps::Piece> Cut(std::span<const uint32_t> some) {
    for (const uint32_t step : some) {
      if (steps_[step].begin_ns < steps_[step].end_ns) {  // one of zero length contains nothing
        EndWindows(steps_[step].begin_ns);
        Start(steps_[step].begin_ns, step);
        open_.push_back(step);
      }
    }
    EndWindows(std::numeric_limits<int64_t>::max());
    pieces_.shrink_to_fit();
    return std::move(pieces_);
  }

 private:
  void Start(int64_t begin_ns, uint32_t step) {
    if (!pieces_.empty() && pieces_.back().begin_ns == begin_ns) {
      pieces_.back().step = step;
    } else {
      pieces_.push_back({begin_ns, step});
    }
  }

  // Ends windows that are over at `now_ns`; the rest of the enclosing one continues.
  void EndWindows(int64_t now_ns) {
    while (!open_.empty() && steps_[open_.back()].end_ns <= now_ns) {
      const int64_t end_ns = steps_[open_.back()].end_ns;
      while (!open_.empty() && steps_[open_.back()].end_ns <= end_ns) {
        open_.pop_back();
      }
      Start(end_ns, open_.empty() ? kNoStep : open_.back());
    }
  }

  const std::vector<Step>& steps_;
  std::vector<uint32_t> open_;  // begun and not known to have ended; the last to begin on top
  std::vector<Steps::Piece> pieces_;
};

uint32_t FindPiece(const std::vector<Steps::Piece>& pieces, int64_t ts_ns) {
  const auto after =
      std::upper_bound(pieces.begin(), pieces.end(), ts_ns,
                       [](int64_t ts, const Steps::Piece& piece) { return ts < piece.begin_ns; });
  return after == pieces.begin() ? kNoStep : std::prev(after)->step;
}

}  // namespace

std::vector<Steps::Piece> CutSteps(const std::vector<Step>& steps, std::span<const uint32_t> some) {
  return Cutter(steps).Cut(some);
}

uint32_t Steps::At(TrackId track, int64_t ts_ns) const {
  const uint32_t process = steps.empty() ? kNoProcess : process_of[track.value];
  if (process == kNoProcess) {
    return kNoStep;
  }
  return FindPiece(process == kAnyProcess ? pieces.back() : pieces[process], ts_ns);
}

namespace {

// The index of a process; kNoProcess if it has no steps.
uint32_t IndexOf(const std::vector<int64_t>& processes, int64_t pid) {
  const auto found = std::lower_bound(processes.begin(), processes.end(), pid);
  return found != processes.end() && *found == pid
             ? static_cast<uint32_t>(found - processes.begin())
             : kNoProcess;
}

// The process that launched all work on a device, by the number of the device; kAnyProcess: there
// are several.
using DeviceUsers = HashMap<int64_t, uint32_t>;

DeviceUsers FindUsers(const Trace& trace, const Correlation& correlation, const Steps& steps) {
  const Tracks& tracks = trace.tracks();
  DeviceUsers users;
  for (const uint32_t row : EachRow(trace.device().size())) {
    const HostId launch = correlation.launch_of[row];
    if (launch.valid()) {
      const uint32_t process = steps.process_of[trace.host().track[launch.value].value];
      const int64_t gpu = tracks.pid[trace.device().track[row].value];
      uint32_t& user = users.try_emplace(gpu, process).first->second;
      user = user == process ? user : kAnyProcess;
    }
  }
  return users;
}

}  // namespace

int64_t ProcessOf(const Trace& trace, HostId row) {
  return trace.tracks().pid[trace.host().track[row.value].value];
}

void FindProcesses(const Trace& trace, const std::vector<HostId>& annotations, Steps& steps) {
  for (const HostId row : annotations) {
    steps.processes.push_back(ProcessOf(trace, row));
  }
  std::sort(steps.processes.begin(), steps.processes.end());
  steps.processes.erase(std::unique(steps.processes.begin(), steps.processes.end()),
                        steps.processes.end());
  const Tracks& tracks = trace.tracks();
  if (steps.processes.size() == 1) {
    // Annotations may be recorded under another number of their process than its calls.
    steps.process_of.assign(tracks.size(), 0);
    return;
  }
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool is_host = tracks.kind[track] == TrackKind::kHost;
    const int64_t pid = is_host ? tracks.pid[track] : tracks.process[track];
    steps.process_of.push_back(!is_host && pid == kMissing ? kAnyProcess
                                                           : IndexOf(steps.processes, pid));
  }
}

void FindProcessesOfDevices(const Trace& trace, const Correlation& correlation, Steps& steps) {
  const Tracks& tracks = trace.tracks();
  const DeviceUsers users = FindUsers(trace, correlation, steps);
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (steps.process_of[track] == kAnyProcess) {
      const auto found = users.find(tracks.pid[track]);
      steps.process_of[track] = found == users.end() ? kAnyProcess : found->second;
    }
  }
}

void CountSharedSteps(const Trace& trace, const Steps& steps, Diagnostics& diagnostics) {
  if (steps.processes.size() < 2) {
    return;
  }
  const Tracks& tracks = trace.tracks();
  std::map<int64_t, std::set<uint32_t>> users;  // by device
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice && steps.process_of[track] != kNoProcess) {
      users[tracks.pid[track]].insert(steps.process_of[track]);
    }
  }
  for (const auto& [gpu, processes] : users) {
    if (processes.size() > 1 || processes.contains(kAnyProcess)) {
      diagnostics.Count(Diag::kSharedSteps, Diagnostics::kNoByte, fmt::format("device {}", gpu));
    }
  }
}

namespace {

// What texts of a recording mean to steps, by their StringId.
enum class NameKind : uint8_t { kNone, kStep, kServerStep };

std::vector<NameKind> KindsOfNames(const Trace& trace, const StepPattern* pattern) {
  std::vector<NameKind> kinds(trace.strings().size(), NameKind::kNone);
  for (const uint32_t i : EachRow(kinds.size())) {
    const std::string_view name = trace.Text(StringId{i});
    if (pattern != nullptr) {
      kinds[i] = pattern->Matches(name) ? NameKind::kStep : NameKind::kNone;
    } else if (StepNumber(name).has_value()) {
      kinds[i] = NameKind::kStep;
    } else if (IsServerStep(name)) {
      kinds[i] = NameKind::kServerStep;
    }
  }
  return kinds;
}

// Rows of training steps. Recordings of 2022 and before have their annotations as plain operators.
std::vector<HostId> FindTraining(const Trace& trace, const std::vector<NameKind>& kinds) {
  const HostEvents& host = trace.host();
  std::vector<HostId> found;
  for (const uint32_t row : EachRow(host.size())) {
    if (kinds[host.name[row].value] == NameKind::kStep &&
        (host.kind[row] == HostKind::kAnnotation || host.kind[row] == HostKind::kOp)) {
      found.push_back(HostId{row});
    }
  }
  return found;
}

// Annotations of a kind that are not inside another one of their thread.
std::vector<HostId> FindOutermost(const Trace& trace, const std::vector<NameKind>& kinds,
                                  NameKind kind) {
  const HostEvents& host = trace.host();
  std::vector<HostId> found;
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] != HostKind::kAnnotation || kinds[host.name[row].value] != kind) {
      continue;
    }
    const bool is_inside = !found.empty() && host.track[found.back().value] == host.track[row] &&
                           host.ts_ns[row] < host.end_ns(found.back());
    if (!is_inside) {
      found.push_back(HostId{row});
    }
  }
  return found;
}

std::vector<HostId> FindAnnotations(const Trace& trace, const StepPattern* pattern) {
  const std::vector<NameKind> kinds = KindsOfNames(trace, pattern);
  if (pattern != nullptr) {
    return FindOutermost(trace, kinds, NameKind::kStep);
  }
  std::vector<HostId> training = FindTraining(trace, kinds);
  return training.empty() ? FindOutermost(trace, kinds, NameKind::kServerStep) : training;
}

// Sorted by time, with the numbers of their names; 0 if these have none.
std::vector<Step> FindSteps(const Trace& trace, const std::vector<HostId>& annotations,
                            const std::vector<uint32_t>& process_of) {
  const HostEvents& host = trace.host();
  std::vector<Step> steps;
  steps.reserve(annotations.size());
  for (const HostId row : annotations) {
    steps.push_back({StepNumber(trace.Name(row)).value_or(0), host.ts_ns[row.value],
                     host.end_ns(row), row, process_of[host.track[row.value].value]});
  }
  const auto place = [&](const Step& step) {
    const StringId name = host.name[step.annotation.value];
    // Equal numbers may be written differently.
    return std::tuple(step.begin_ns, step.number, step.process,
                      StepNumber(trace.Text(name)).has_value() ? 0 : name.value);
  };
  std::sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
    return std::tuple(place(a), a.annotation) < std::tuple(place(b), b.annotation);
  });
  // Some files have a step twice, as an annotation and as an operator.
  const auto same = [&](const Step& a, const Step& b) { return place(a) == place(b); };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
  return steps;
}

// Counts the steps of each process, unless all names have numbers.
void NumberSteps(const Trace& trace, Steps& result) {
  const bool have_numbers = std::all_of(
      result.steps.begin(), result.steps.end(),
      [&](const Step& step) { return StepNumber(trace.Name(step.annotation)).has_value(); });
  std::vector<int64_t> counts(have_numbers ? 0 : result.processes.size());
  for (Step& step : result.steps) {
    step.number = have_numbers ? step.number : counts[step.process]++;
  }
}

void CutByProcess(Steps& result) {
  std::vector<std::vector<uint32_t>> of_process(result.processes.size() + 1);
  for (uint32_t i = 0; i < result.steps.size(); ++i) {
    of_process[result.steps[i].process].push_back(i);
    of_process.back().push_back(i);
  }
  for (const std::vector<uint32_t>& some : of_process) {
    result.pieces.push_back(CutSteps(result.steps, some));
  }
}

ColumnData<uint32_t> StepsOfLaunches(const Trace& trace, const Correlation& correlation,
                                     const Steps& steps) {
  const HostEvents& host = trace.host();
  ColumnData<uint32_t> found(trace.device().size(), kNoStep);
  for (const uint32_t row : EachRow(found.size())) {
    if (const HostId launch = correlation.launch_of[row]; launch.valid()) {
      found[row] = steps.At(host.track[launch.value], host.ts_ns[launch.value]);
    }
  }
  return found;
}

}  // namespace

std::optional<int64_t> StepNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size() || name.size() > 32) {
    return std::nullopt;
  }
  int64_t number = 0;
  for (const char c : name.substr(kPrefix.size())) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    number = std::min<int64_t>(number * 10 + (c - '0'), int64_t{1} << 53);
  }
  return number;
}

std::string_view FoldStepName(std::string_view name) {
  return StepNumber(name).has_value() ? kAnyStep : name;
}

bool IsServerStep(std::string_view name) {
  return name.starts_with("execute_") || (name.starts_with("step[") && name.ends_with(']'));
}

Steps BuildSteps(const Trace& trace, const Correlation& correlation, const StepPattern* pattern) {
  Steps result;
  const std::vector<HostId> annotations = FindAnnotations(trace, pattern);
  if (annotations.empty()) {
    return result;
  }
  FindProcesses(trace, annotations, result);
  result.steps = FindSteps(trace, annotations, result.process_of);
  NumberSteps(trace, result);
  CutByProcess(result);
  FindProcessesOfDevices(trace, correlation, result);
  result.device_step = StepsOfLaunches(trace, correlation, result);
  return result;
}

Result<Steps> MatchSteps(const Trace& trace, const Correlation& correlation,
                         std::string_view pattern) {
  BS_ASSIGN(const StepPattern expression, StepPattern::Parse(pattern));
  Steps steps = BuildSteps(trace, correlation, &expression);
  if (steps.steps.empty()) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("`step_pattern`: no host annotation matches '{}'", pattern),
                 "borescope annotations lists those there are", trace.meta().file};
  }
  return steps;
}

namespace {

// The last step of a number.
struct LastOccurrence {
  uint32_t count = 0;  // of those before it
  int64_t end_ns = 0;  // of all its windows
  std::set<uint32_t> threads;
};

}  // namespace

std::vector<uint32_t> OccurrencesOf(const Trace& trace, const std::vector<Step>& steps) {
  std::map<std::pair<uint32_t, int64_t>, LastOccurrence> last_of;
  std::vector<uint32_t> occurrences;
  occurrences.reserve(steps.size());
  for (const size_t i : EachIndex(steps.size())) {
    const Step& step = steps[i];
    const uint32_t thread = trace.host().track[step.annotation.value].value;
    const auto [found, is_new] = last_of.try_emplace({step.process, step.number});
    LastOccurrence& last = found->second;
    if (!is_new && last.threads.contains(thread) && step.begin_ns >= last.end_ns) {
      last = {last.count + 1, step.end_ns, {}};
    }
    last.end_ns = is_new ? step.end_ns : std::max(last.end_ns, step.end_ns);
    last.threads.insert(thread);
    occurrences.push_back(last.count);
  }
  return occurrences;
}

}  // namespace borescope::internal
