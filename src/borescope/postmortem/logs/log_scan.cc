#include "borescope/postmortem/logs/log_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/base/text/sensitive.h"
#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/log_pattern.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostEvents = 10'000;
constexpr size_t kMostStreams = 4096;
constexpr size_t kTextBytes = 300;
constexpr int32_t kNoRankYet = -1;
// Pods and hosts, whose lines are those of any number of ranks.
constexpr int64_t kSourceStreams = int64_t{1} << 62U;

// Of JAX, below the exception of a barrier: a process that did not come.
const LogPattern kTask{"^/job:\\w+/replica:[0-9]+/task:([0-9]+)$"};

// Of torch.multiprocessing.spawn, before the traceback of a process.
const LogPattern kChild{"^-- Process ([0-9]+) terminated with the following error:"};

std::string_view SignalName(int signal) {
  switch (signal) {
    case 4:
      return "SIGILL";
    case 6:
      return "SIGABRT";
    case 7:
      return "SIGBUS";
    case 8:
      return "SIGFPE";
    case 9:
      return "SIGKILL";
    case 11:
      return "SIGSEGV";
    case 15:
      return "SIGTERM";
    default:
      return "";
  }
}

// The most that a traceback writes itself, and launchers and schedulers at the end: no work.
bool IsNoWork(std::string_view text) {
  constexpr std::string_view kParts[] = {
      "closing signal",     "Killing subprocess", "srun:",        "slurmstepd:", "wandb:",
      "torch/distributed/", "NCCL WARN",          "ProcessGroup", "c10::",       "File \""};
  const std::string_view begin = Trimmed(text);
  return begin.empty() || begin.starts_with("frame #") || begin.starts_with('#') ||
         std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return Contains(text, part); });
}

}  // namespace

std::string ExitText(int code) {
  if (code >= 0) {
    return fmt::format("exit code {}", code);
  }
  const std::string_view name = SignalName(-code);
  return name.empty() ? fmt::format("signal {}", -code)
                      : fmt::format("signal {} ({})", -code, name);
}

bool IsAbort(const LogEvent& event) {
  constexpr int kAborted = -6;
  return (event.kind == LogKind::kExit && event.exit_code == kAborted) ||
         (event.kind == LogKind::kFatal &&
          (event.text == "Aborted" || event.text.starts_with("signal 6 ")));
}

int64_t LogStreamOf(const LogLine& line) {
  constexpr int64_t kProcessStreams = int64_t{1} << 32U;
  constexpr uint64_t kMost = (uint64_t{1} << 61U) - 1;
  if (line.rank.has_value()) {
    return *line.rank;
  }
  if (!line.pid.has_value() && line.source.empty()) {
    return kNoRankYet;
  }
  uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, which is enough to tell a few sources apart
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3U; };
  for (const char c : line.source) {
    add(static_cast<unsigned char>(c));
  }
  for (uint64_t pid = static_cast<uint64_t>(line.pid.value_or(0)); pid > 0; pid >>= 8U) {
    add(static_cast<unsigned char>(pid));
  }
  return (line.source.empty() ? kProcessStreams : kSourceStreams) +
         static_cast<int64_t>(hash & kMost);
}

std::string_view LogKindName(LogKind kind) {
  constexpr std::string_view kNames[] = {"exception",   "out of memory", "fatal error", "exit",
                                         "timeout",     "nccl warning",  "stack",       "xid",
                                         "host memory", "cancelled",     "task failed", "machine",
                                         "no start",    "progress",      "ras",         ""};
  return kNames[static_cast<size_t>(kind)];
}

std::string WithoutSecrets(std::string_view text) {
  text = Trimmed(text.substr(0, text.find('\n')));
  std::string kept;
  size_t at = 0;
  for (const SensitiveSpan& span : FindSensitive(text)) {
    const bool is_secret = span.kind == Sensitive::kToken || span.kind == Sensitive::kSetting ||
                           span.kind == Sensitive::kAccount || span.kind == Sensitive::kUrl;
    if (is_secret) {
      kept.append(text.substr(at, span.begin - at));
      kept.append(fmt::format("<{}>", SensitiveWord(span.kind)));
      at = span.end;
    }
  }
  kept.append(text.substr(at));
  if (kept.size() > kTextBytes) {
    kept.resize(kTextBytes);
    while (!kept.empty() && (static_cast<unsigned char>(kept.back()) & 0xC0U) == 0x80U) {
      kept.pop_back();
    }
    if (!kept.empty() && static_cast<unsigned char>(kept.back()) >= 0xC0U) {
      kept.pop_back();
    }
    kept += "...";
  }
  return kept;
}

LogEvent LogScanner::EventAt(LogKind kind, const LogLine& line, int64_t number) const {
  LogEvent event;
  event.kind = kind;
  event.line = number;
  event.rank = line.rank;
  event.basis = line.basis;
  event.is_place = line.is_place;
  event.pid = line.pid;
  event.host = line.source;
  event.unix_ns = line.unix_ns;
  event.year_ns = line.year_ns;
  event.is_time_least = line.is_time_least;
  return event;
}

std::optional<size_t> LogScanner::Add(LogEvent event) {
  const std::string key = fmt::format("{}/{}/{}/{}/{}/{}", static_cast<int>(event.kind),
                                      event.rank.value_or(kNoRankYet), event.pid.value_or(-1),
                                      event.host, event.text, event.program_line);
  const auto [place, is_new] = equal_.try_emplace(key, events_.size());
  if (!is_new) {
    LogEvent& known = events_[place->second];
    const uint64_t count = known.count + 1;
    if ((known.is_no_end && !event.is_no_end) || known.count == 0) {
      known = std::move(event);  // the program went on after the earlier ones
    }
    known.count = count;
    return place->second;
  }
  if (events_.size() < kMostEvents) {
    events_.push_back(std::move(event));
    return place->second;
  }
  equal_.erase(place);
  return std::nullopt;
}

void LogScanner::Take(std::string_view raw, int64_t number) {
  const bool is_inside = !traces_.empty() || !groups_.empty() ||
                         summary_.part != Summary::Part::kNone || !detailed_.empty() ||
                         IsInMpi(number);
  const LogTopics topics = TopicsOf(raw);
  const bool is_of_interest = topics != 0;
  has_mpi_word_ = has_mpi_word_ || Has(topics, LogTopic::kMpiWord);
  line_ = number;
  if (!is_inside && !is_of_interest && open_aftermaths_ == 0) {
    KeepTime(raw, number);
    KeepRecent(raw);
    return;
  }
  LogLine line =
      IsValidUtf8(raw) ? CleanLogLine(raw, kept_) : CleanLogLine(ToValidUtf8(raw), kept_);
  prefixes_.TakeOff(line);
  TakeTimeBefore(line);
  KeepTime(raw, number);
  KeepRecent(raw);
  if ((is_inside || is_of_interest) && TakeGroup(line, number)) {
    return;
  }
  if (is_inside || is_of_interest) {
    const bool is_taken =
        TakeDetail(line) || TakeTrace(topics, line, number) || TakeSummary(line, number) ||
        (Has(topics, LogTopic::kChain) && TakeChain(line)) || TakeSingle(topics, line, number);
    if (is_taken) {
      return;
    }
  }
  TakeAftermath(line);
}

// Whether a launcher of MPI may still be writing one thing, for which it needs several lines.
bool LogScanner::IsInMpi(int64_t number) const {
  constexpr int64_t kMostLines = 8;
  return mpi_.has_value() && number - mpi_->line <= kMostLines;
}

// "10:12:34" near the begin: perhaps a line with a time. Bars of progress have others.
void LogScanner::KeepTime(std::string_view raw, int64_t number) {
  constexpr size_t kLooked = 48;
  constexpr size_t kKept = 120;
  constexpr size_t kClock = 6;  // "0:12:3"
  const std::string_view begin = raw.substr(0, kLooked);
  for (size_t at = begin.find(':'); at != std::string_view::npos; at = begin.find(':', at + 1)) {
    const std::string_view clock = begin.substr(at == 0 ? 0 : at - 1, kClock);
    const bool is_clock = clock.size() == kClock && IsDigit(clock[0]) && IsDigit(clock[2]) &&
                          IsDigit(clock[3]) && clock[4] == ':' && IsDigit(clock[5]);
    if (is_clock && !Contains(begin.substr(0, at), "%|")) {
      timed_.assign(raw.substr(0, kKept));
      timed_line_ = number;
      return;
    }
  }
}

// Tracebacks have no time of their own. That of a logger's line about the failure, which is
// directly above, is theirs; any other line above only shows that they were not written before.
void LogScanner::TakeTimeBefore(LogLine& line) {
  if (line.unix_ns != 0 || line.year_ns != 0 || timed_.empty() ||
      !Contains(line.text, "Traceback (most recent call last)")) {
    return;
  }
  const LogLine before = CleanLogLine(ToValidUtf8(timed_), timed_kept_);
  if (before.rank != line.rank && before.rank.has_value()) {
    return;
  }
  constexpr std::string_view kWords[] = {"ERROR", "Error",  "error",  "CRITICAL", "FATAL",
                                         "xcept", "failed", "Failed", "raceback"};
  constexpr int64_t kMostLines = 2;
  const bool is_about_it =
      line_ - timed_line_ <= kMostLines &&
      std::any_of(std::begin(kWords), std::end(kWords),
                  [&](std::string_view word) { return Contains(timed_, word); });
  line.unix_ns = before.unix_ns;
  line.year_ns = before.year_ns;
  line.is_time_least = !is_about_it;
}

void LogScanner::EndAttempt() {
  for (LogEvent& event : events_) {
    const bool is_crash = !event.is_consequence &&
                          (event.kind == LogKind::kException ||
                           event.kind == LogKind::kOutOfMemory || event.kind == LogKind::kFatal);
    if (is_crash && !event.is_no_end) {
      event.is_no_end = true;
      event.goes_on_to = line_;
    } else if (is_crash || event.is_consequence || event.kind == LogKind::kExit ||
               event.kind == LogKind::kTimeout || event.kind == LogKind::kProgress) {
      event.count = 0;
    }
  }
}

bool LogScanner::TakeSingle(LogTopics topics, const LogLine& line, int64_t number) {
  if ((Has(topics, LogTopic::kWatchdog) && TakeWatchdog(line, number)) ||
      (Has(topics, LogTopic::kTorch) && TakeTorch(line, number))) {
    thrown_.erase(LogStreamOf(line));  // it was the text of that exception
    return true;
  }
  return (Has(topics, LogTopic::kThrown) && TakeThrown(line, number)) ||
         (Has(topics, LogTopic::kKernel) && TakeKernel(line, number)) ||
         (Has(topics, LogTopic::kMachine) && TakeMachine(line, number)) ||
         (Has(topics, LogTopic::kScheduler) && TakeScheduler(line, number)) ||
         (Has(topics, LogTopic::kKubernetes) && TakeKubernetes(line, number)) ||
         (Has(topics, LogTopic::kLauncher) && TakeLauncher(line, number)) ||
         ((Has(topics, LogTopic::kMpi) || IsInMpi(number)) && TakeMpi(line, number)) ||
         (Has(topics, LogTopic::kCrash) && TakeCrash(line, number)) ||
         (Has(topics, LogTopic::kShell) && TakeShell(line, number)) ||
         (Has(topics, LogTopic::kNoStart) && TakeNoStart(line, number));
}

// ---- exceptions, and what follows them ----

// What it was raised from, or while what was handled: of these one counts.
void LogScanner::JoinHandled(int64_t stream, LogEvent& event) {
  const auto found = handled_.find(stream);
  if (found == handled_.end()) {
    return;
  }
  LogEvent& first = events_[found->second.place];
  event.is_consequence = event.is_consequence || first.is_consequence;
  // What the other one is of says more only if it is lack of memory.
  const bool is_first_telling = first.kind == LogKind::kOutOfMemory;
  (is_first_telling ? event : first).is_no_end = true;
  if (found->second.is_direct && first.text == event.text) {
    // The same one, which came from another process: there it was raised.
    event.program_line = first.program_line.empty() ? event.program_line : first.program_line;
  } else if (found->second.is_direct) {
    event.cause = first.text;
  }
  handled_.erase(found);
}

void LogScanner::AddException(int64_t stream, LogEvent event) {
  // A kernel's own line has no prefix of a rank.
  const auto own = asserted_.find(stream);
  const auto asserted = own != asserted_.end() ? own : asserted_.find(kNoRankYet);
  if (asserted != asserted_.end() && Contains(event.text, "device-side assert")) {
    event.cause = asserted->second;
  }
  event.is_no_end = ignored_.erase(stream) > 0;
  JoinHandled(stream, event);
  if (const auto child = child_.find(stream); child != child_.end()) {
    if (!event.rank.has_value()) {
      event.rank = child->second;
      event.basis = LogRankBasis::kLocal;
    }
    child_.erase(child);
  }
  AddCrash(stream, std::move(event));
}

// Something that ends a process, unless its log shows that it went on.
void LogScanner::AddCrash(int64_t stream, LogEvent event) {
  if (const auto earlier = aftermaths_.find(stream); earlier != aftermaths_.end()) {
    EndAftermath(earlier->second);
  }
  const bool is_no_end = event.is_no_end;
  const std::optional<size_t> place = Add(std::move(event));
  if (!place.has_value()) {
    return;
  }
  last_exception_[stream] = *place;
  if (!is_no_end && (aftermaths_.size() < kMostStreams || aftermaths_.contains(stream))) {
    BeginAftermath(stream, *place);
  }
}

void LogScanner::BeginAftermath(int64_t stream, size_t place) {
  Aftermath& after = aftermaths_[stream];
  // Other processes that write to the same log may go on for a few steps without this one. What it
  // outlived before it outlives again, as its next step shows.
  constexpr uint32_t kOfOne = 3;
  constexpr uint32_t kOfSeveral = 6;
  const bool is_of_several = stream < 0 || stream >= kSourceStreams;
  after.enough = after.outlived.contains(place) ? 1 : is_of_several ? kOfSeveral : kOfOne;
  after.exceptions.insert(place);
  for (WorkShape& shape : after.shapes) {
    shape.steps = {};
    shape.lines = 0;
    shape.lines_since = 0;
  }
  // Exceptions may come in any number: each line is looked at once.
  if (stream == kNoRankYet && kept_recent_ >= std::max(recent_.size(), size_t{1})) {
    after.before = RecentWork();
    kept_recent_ = 0;
  }
  open_aftermaths_ += after.is_open ? 0 : 1;
  after.is_open = true;
}

// The margin of exceptions that were raised together is taken off `line`. Whether all of it is
// margin: a line between two of them.
bool LogScanner::TakeGroup(LogLine& line, int64_t number) {
  const int64_t stream = LogStreamOf(line);
  std::string_view text = line.text;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (text.starts_with("+ Exception Group Traceback (most recent call last):")) {
    if (groups_.size() < kMostStreams) groups_.insert(stream);
    line.text = text.substr(2);
    return false;
  }
  if (!groups_.contains(stream)) {
    return false;
  }
  if (text.starts_with('|')) {
    line.text = text.substr(text.starts_with("| ") ? 2 : 1);
    return false;
  }
  const bool is_rule =
      text.starts_with('+') && text.find_first_not_of("+- 0123456789.") == std::string_view::npos;
  if (!is_rule) {
    groups_.erase(stream);
    return false;
  }
  // What follows "+---- 2 ----" is one of them, perhaps without frames.
  Trace trace;
  trace.kind = Trace::Kind::kPython;
  trace.line = number + 1;
  trace.unix_ns = line.unix_ns;
  trace.year_ns = line.year_ns;
  trace.is_time_least = line.is_time_least;
  if (text.find_first_of("0123456789") != std::string_view::npos && traces_.size() < kMostStreams) {
    Trace& place = traces_[std::pair(stream, line.output)];
    ClearFrames(place);
    place = std::move(trace);
  }
  return true;
}

// "During handling of the above exception, another exception occurred:", and what Python reports
// without ending anything.
bool LogScanner::TakeChain(const LogLine& line) {
  const int64_t stream = LogStreamOf(line);
  const std::string_view text = Trimmed(line.text);
  const bool is_direct = text.starts_with("The above exception was the direct cause");
  int32_t place = 0;
  const bool is_child = Finds(text, kChild, &place);
  if (is_direct || is_child || text.starts_with("During handling of the above exception")) {
    if (const auto last = last_exception_.find(stream); last != last_exception_.end()) {
      handled_[stream] = {last->second, is_direct};
    }
    if (is_child && child_.size() < kMostStreams) child_[stream] = place;
    return true;
  }
  if (text.starts_with("Exception ignored in") || text.starts_with("--- Logging error")) {
    if (ignored_.size() < kMostStreams) ignored_.insert(stream);
    return true;
  }
  // NCCL's own words, which PyTorch writes after its exception.
  if (const auto last = last_exception_.find(stream);
      text == "Last error:" && last != last_exception_.end()) {
    if (detailed_.size() < kMostStreams) detailed_[stream] = last->second;
    return true;
  }
  return false;
}

bool LogScanner::TakeDetail(const LogLine& line) {
  const auto found = detailed_.find(LogStreamOf(line));
  if (found == detailed_.end()) {
    return false;
  }
  LogEvent& event = events_[found->second];
  int32_t task = 0;
  constexpr size_t kMostTasks = 4096;
  if (event.is_consequence && event.blamed.size() < kMostTasks && Finds(line.text, kTask, &task)) {
    event.blamed.push_back(task);
    return true;  // perhaps with more
  }
  detailed_.erase(found);
  if (!event.blamed.empty()) {
    return false;
  }
  if (event.cause.empty() && event.kind == LogKind::kException) {
    event.cause = WithoutSecrets(line.text);
    event.is_consequence = event.is_consequence || IsConsequenceText(event.cause);
    if (IsDeviceOutOfMemory(event.cause)) event.kind = LogKind::kOutOfMemory;
  }
  return true;
}

// Whole numbers of the line, and the rest of it. Bars of progress change their length.
LogScanner::WorkShape LogScanner::WorkShapeOf(std::string_view text) {
  constexpr size_t kMostText = 400;
  text = text.substr(0, kMostText);
  WorkShape seen;
  uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, which is enough to tell a few shapes apart
  const auto add = [&](char c) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U; };
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsDigit(text[i])) {
      const bool is_of_bar =
          Contains("#=->.| ", text.substr(i, 1)) || static_cast<unsigned char>(text[i]) >= 0x80U;
      if (!is_of_bar) add(text[i]);
      continue;
    }
    size_t end = i;
    while (end < text.size() && IsDigit(text[end])) ++end;
    const auto is_joined = [](char c) { return c == '.' || c == ':' || c == '_'; };
    const bool is_whole =
        (i == 0 || !is_joined(text[i - 1])) && (end == text.size() || !is_joined(text[end]) ||
                                                end + 1 == text.size() || !IsDigit(text[end + 1]));
    const std::optional<int64_t> number = ParseNumber<int64_t>(text.substr(i, end - i));
    if (is_whole && number.has_value() && seen.columns < seen.largest.size()) {
      seen.largest[seen.columns++] = *number;
    }
    add('0');
    i = end - 1;
  }
  seen.hash = hash;
  return seen;
}

LogScanner::WorkShape* LogScanner::AddWork(std::vector<WorkShape>& shapes, std::string_view text) {
  const WorkShape seen = WorkShapeOf(text);
  const auto place = std::find_if(shapes.begin(), shapes.end(),
                                  [&](const WorkShape& shape) { return shape.hash == seen.hash; });
  if (place == shapes.end()) {
    constexpr size_t kMostShapes = 32;
    if (seen.columns == 0 || shapes.size() == kMostShapes) {
      return nullptr;
    }
    shapes.push_back(seen);
    return &shapes.back();
  }
  const bool is_first = *std::max_element(place->steps.begin(), place->steps.end()) == 0;
  bool has_grown = false;
  for (size_t i = 0; i < seen.columns; ++i) {
    if (seen.largest[i] > place->largest[i]) {
      place->largest[i] = seen.largest[i];
      ++place->steps[i];
      has_grown = true;
    }
  }
  place->lines_since += is_first ? 0 : 1;
  if (has_grown) {
    place->lines += place->lines_since;
    place->lines_since = 0;
  }
  return &*place;
}

std::optional<uint32_t> LogScanner::WorkShape::Writers() const {
  const uint32_t most = *std::max_element(steps.begin(), steps.end());
  return most > 1 && lines % (most - 1) == 0 ? std::optional(lines / (most - 1)) : std::nullopt;
}

bool LogScanner::WorkShape::HasSeveral() const {
  const uint32_t most = *std::max_element(steps.begin(), steps.end());
  return most > 1 && lines * 2 >= (most - 1) * 3;
}

// The last lines of a log without ranks: which of its lines each process writes once in a step
// shows after an exception whether one is missing.
void LogScanner::KeepRecent(std::string_view raw) {
  constexpr size_t kLines = 256;
  constexpr size_t kBytes = 200;
  ++kept_recent_;
  if (recent_.size() < kLines) {
    recent_.emplace_back(raw.substr(0, kBytes));
    return;
  }
  recent_[next_recent_].assign(raw.substr(0, kBytes));
  next_recent_ = (next_recent_ + 1) % kLines;
}

std::vector<LogScanner::WorkShape> LogScanner::RecentWork() {
  std::vector<WorkShape> shapes;
  std::string kept;
  for (size_t i = 0; i < recent_.size(); ++i) {
    const std::string& raw = recent_[(next_recent_ + i) % recent_.size()];
    LogLine line = CleanLogLine(ToValidUtf8(raw), kept);
    prefixes_.TakeOff(line);
    if (LogStreamOf(line) < 0 && !IsNoWork(line.text)) AddWork(shapes, line.text);
  }
  return shapes;
}

void LogScanner::TakeAftermath(const LogLine& line) {
  const auto found = aftermaths_.find(LogStreamOf(line));
  if (found == aftermaths_.end()) {
    return;
  }
  Aftermath& after = found->second;
  if (!after.is_open || IsNoWork(line.text)) {
    return;
  }
  const WorkShape* const shape = AddWork(after.shapes, line.text);
  if (shape == nullptr || std::none_of(shape->steps.begin(), shape->steps.end(),
                                       [&](uint32_t steps) { return steps >= after.enough; })) {
    return;
  }
  after.went_on = true;
  after.is_open = false;
  --open_aftermaths_;
  // There are as many lines for each step as processes that write one.
  after.writers_after = shape->Writers();
  after.is_of_several = shape->HasSeveral();
  const auto same = std::find_if(after.before.begin(), after.before.end(),
                                 [&](const WorkShape& of) { return of.hash == shape->hash; });
  after.writers_before = same == after.before.end() ? std::nullopt : same->Writers();
}

// If it went on, none of these ended it.
void LogScanner::EndAftermath(Aftermath& after) {
  if (!after.went_on) {
    return;
  }
  // Of processes that write to one log without saying which is which: if each step is there less
  // often than before, one of them ended; if nobody knows how often it was there, one may have.
  const bool are_known = after.writers_after.has_value() && after.writers_before.has_value();
  const bool is_one_missing = are_known && *after.writers_after < *after.writers_before;
  const bool is_unclear = !are_known && after.is_of_several;
  for (const size_t place : after.exceptions) {
    LogEvent& event = events_[place];
    if (is_one_missing) {
      event.writers_before = *after.writers_before;
      event.writers_after = *after.writers_after;
    } else if (!event.is_no_end) {
      event.is_no_end = true;
      event.is_end_unclear = is_unclear;
      event.goes_on_to = line_;
    }
  }
  if (!is_one_missing) after.outlived.merge(after.exceptions);
  after.exceptions.clear();
  after.went_on = false;
}

std::vector<LogEvent> LogScanner::Finish() {
  for (auto& [key, trace] : traces_) {
    EndCutTrace(key.first, trace);
  }
  traces_.clear();
  for (auto& [stream, process] : spied_) {
    EndSpied(process);
  }
  for (auto& [stream, event] : thrown_) {
    AddCrash(stream, std::move(event));
  }
  thrown_.clear();
  for (auto& [stream, after] : aftermaths_) {
    EndAftermath(after);
  }
  EndSummaryEntry();
  for (LogEvent& event : events_) {
    if (event.is_place && !has_mpi_word_) {
      event.rank.reset();  // any program writes numbers in brackets
      event.basis = LogRankBasis::kNone;
    }
  }
  std::erase_if(events_, [](const LogEvent& event) { return event.count == 0; });
  std::stable_sort(events_.begin(), events_.end(),
                   [](const LogEvent& a, const LogEvent& b) { return a.line < b.line; });
  return std::move(events_);
}

}  // namespace borescope::internal
