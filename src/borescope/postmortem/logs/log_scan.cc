#include "borescope/postmortem/logs/log_scan.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "borescope/base/memory_limit.h"
#include "borescope/base/text/sensitive.h"
#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/xid_catalog.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostEvents = 10'000;
constexpr size_t kMostTraces = 4096;
constexpr size_t kMostFrames = 200;
constexpr size_t kTextBytes = 300;
constexpr int32_t kNoRank = -1;

// A regular expression that is compiled when it is first asked.
class Pattern {
 public:
  explicit constexpr Pattern(const char* text) : text_(text) {}

  const re2::RE2& operator*() const {
    std::call_once(once_, [this] {
      AskForMemory(kExpressionBytes);
      expression_ = std::make_unique<re2::RE2>(text_);
    });
    return *expression_;
  }

 private:
  const char* text_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<re2::RE2> expression_;
};

// Most lines have none of these: one pass shows that.
const Pattern kAnyOfInterest{
    "Traceback \\(most recent|most recent call first|Fatal Python error|"
    "Watchdog caught collective|watchdog got stuck|watchdog thread terminated|"
    "out of memory\\. Tried|NCCL WARN|NVRM: Xid|Killed process|oom.kill|"
    "CANCELLED AT|srun: error|Failures:|Root Cause \\(first|memory limit|"
    "During handling of the above|The above exception was the direct|Exception ignored in|"
    "--- Logging error|\\(exitcode: |exits with return code|died with <Signals|"
    "returned non-zero exit status|noticed that process rank|The first process to do so|"
    "Process name: |RUNNING AT |EXIT CODE: |Exit code: |KILLED BY SIGNAL|"
    "=>> PBS: job killed: |TERM_(?:RUN|MEM)LIMIT: |mpirun|mpiexec|MPI_Abort|BAD TERMINATION"};

// Launchers of MPI, which can write the rank in brackets before each line.
const Pattern kMpiWord{"mpirun|mpiexec|MPI_Abort|BAD TERMINATION|RUNNING AT |srun: error"};

const Pattern kTimeoutLine{
    "(?:\\[PG ID [0-9]+ PG GUID ([^\\]]*?) Rank ([0-9]+)\\] *|\\[Rank ([0-9]+)\\] *)?"
    "Watchdog caught collective operation timeout: WorkNCCL\\((?:SeqNum=([0-9]+), )?"
    "OpType=(\\w+)[^)]*?, Timeout\\(ms\\)=([0-9]+)\\) ran for ([0-9]+) milliseconds"};
const Pattern kWatchdogStuck{
    "Rank ([0-9]+)\\].*watchdog got stuck for ([0-9]+) seconds without making progress"};
const Pattern kWatchdogEnded{
    "Rank ([0-9]+)\\].*watchdog thread terminated with exception: (CUDA error: [^\\n]+)"};
const Pattern kNcclWarningLine{
    "(?:^|[ \\]])([\\w.-]+):([0-9]+):[0-9]+ \\[-?[0-9]+\\] .*NCCL WARN +(.*)"};

const Pattern kFrameLine{"^ +File \"(.*)\", line ([0-9]+)(?:, in | in )(.*)$"};
const Pattern kExceptionLine{"^([A-Za-z_][\\w]*(?:\\.[\\w]+)*)(?:: (.*))?$"};
const Pattern kGroupLine{"\\([0-9]+ sub-exceptions?\\)$"};
const Pattern kFatalLine{"^Fatal Python error: (.*)$"};
const Pattern kFaultThread{"^(Current thread|Thread) 0x[0-9a-f]+ .*\\(most recent call first\\):"};

const Pattern kSummaryRank{"^ +rank +: ([0-9]+) \\(local_rank: [0-9]+\\)"};
const Pattern kSummaryHost{"^ +host +: (\\S+)"};
const Pattern kSummaryExit{"^ +exitcode +: (-?[0-9]+) \\(pid: ([0-9]+)\\)"};
const Pattern kSummaryTime{"^ +time +: (\\S+)"};
const Pattern kSummaryRule{"^(?:=+|-+)$"};

const Pattern kAgentLine{
    "failed \\(exitcode: (-?[0-9]+)\\) local_rank: ([0-9]+) \\(pid: ([0-9]+)\\)"};
const Pattern kReturnCode{"exits with return code = (-?[0-9]+)"};
const Pattern kDiedWith{"died with <Signals\\.\\w+: ([0-9]+)>"};
const Pattern kReturned{"CalledProcessError: .* returned non-zero exit status ([0-9]+)"};
const Pattern kMpiSignal{
    "(?:mpirun|mpiexec|orterun|prterun) noticed that process rank ([0-9]+) with PID ([0-9]+) on "
    "node "
    "(\\S+) exited on signal ([0-9]+)"};
const Pattern kMpiProcess{"^ *Process name: \\[(?:\\[[0-9]+,[0-9]+\\],|[^\\],]*,)([0-9]+)\\]"};
const Pattern kMpiExit{"^ *Exit code: +([0-9]+)"};
const Pattern kHydraProcess{"^= +(?:RANK ([0-9]+) )?PID ([0-9]+) RUNNING AT (\\S+)"};
const Pattern kHydraExit{"^= +EXIT CODE: ([0-9]+)"};
const Pattern kHydraSignal{"^= +KILLED BY SIGNAL: ([0-9]+)"};

const Pattern kXidLine{"NVRM: Xid \\(PCI:([0-9a-fA-F:.]+)\\): ([0-9]+)(?:, pid='?([0-9]+))?"};
const Pattern kKilledLine{"Killed process ([0-9]+) \\(([^)]*)\\)(?:.*?anon-rss:([0-9]+)kB)?"};
const Pattern kKilledInGroup{"oom-kill:constraint=(\\w+).*task=([^,]*),pid=([0-9]+)"};

const Pattern kCancelledLine{
    "error: \\*\\*\\* (JOB|STEP) \\S+ (?:ON (\\S+) )?CANCELLED AT (\\S+) "
    "(?:DUE TO (TIME LIMIT|PREEMPTION|NODE FAILURE))?"};
const Pattern kOomEvents{
    "error: (?:Detected [0-9]+ oom[_-]kill event|Exceeded (?:job|step) memory limit)"};
const Pattern kPbsLimit{"=>> PBS: job killed: (walltime|p?v?mem)\\b.* exceeded limit ([0-9]+\\w*)"};
const Pattern kLsfLimit{"\\bTERM_(RUNLIMIT|MEMLIMIT): job killed after reaching LSF"};
const Pattern kNodeFailure{"^srun: error: Node failure on (\\S+)"};
const Pattern kTaskLine{
    "^srun: error: (\\S+): tasks? ([0-9,-]+): "
    "(Out Of Memory|Killed|Terminated|Exited with exit code [0-9]+|Segmentation fault|"
    "Bus error|Aborted|Floating point exception|Illegal instruction)"};

template <class... Parts>
bool Finds(std::string_view text, const Pattern& pattern, Parts*... parts) {
  return RE2::PartialMatch(text, *pattern, parts...);
}

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

std::string ExitText(int code) {
  if (code >= 0) {
    return fmt::format("exit code {}", code);
  }
  const std::string_view name = SignalName(-code);
  return name.empty() ? fmt::format("signal {}", -code)
                      : fmt::format("signal {} ({})", -code, name);
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

// Of an exception that was raised while another one was handled.
bool IsChained(std::string_view text) {
  return text.starts_with("During handling of the above exception") ||
         text.starts_with("The above exception was the direct cause");
}

// Who wrote a line: a rank; a process, above all ranks; -1 of nobody in particular.
int64_t StreamOf(const LogLine& line) {
  constexpr int64_t kProcesses = int64_t{1} << 32U;
  constexpr int64_t kMostProcesses = int64_t{1} << 32U;
  if (line.rank.has_value()) {
    return *line.rank;
  }
  return line.pid.has_value() ? kProcesses + *line.pid % kMostProcesses : kNoRank;
}

// Exceptions of launchers, which report those of their children.
bool IsOfLauncher(std::string_view type) {
  return type.ends_with("ChildFailedError") || type.ends_with("CalledProcessError");
}

}  // namespace

std::string_view LogKindName(LogKind kind) {
  constexpr std::string_view kNames[] = {"exception",   "out of memory", "fatal error", "exit",
                                         "timeout",     "nccl warning",  "stack",       "xid",
                                         "host memory", "cancelled",     "task failed", ""};
  return kNames[static_cast<size_t>(kind)];
}

bool IsConsequenceText(std::string_view text) {
  constexpr std::string_view kParts[] = {
      "Watchdog caught collective operation timeout",
      "Some NCCL operations have failed or timed out",
      "Connection closed by peer",
      "Connection reset by peer",
      "Connection was likely closed. Did the remote server shutdown or crash",
      "NCCL communicator was aborted",
      "ncclRemoteError",
      "NCCL remote error",
      "remote process exited or there was a network error",
      "Got Signal: 15",
      "got signal: 15",
      "failed to recv, got 0 bytes",
      "ray.exceptions.RayActorError",
      "ray.exceptions.ActorDiedError",
      "ray.exceptions.WorkerCrashedError",
      "Signals.SIGTERM"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return Contains(text, part); });
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
  event.unix_ns = line.unix_ns;
  event.year_ns = line.year_ns;
  return event;
}

std::optional<size_t> LogScanner::Add(LogEvent event) {
  const std::string key =
      fmt::format("{}/{}/{}/{}/{}", static_cast<int>(event.kind), event.rank.value_or(kNoRank),
                  event.pid.value_or(-1), event.text, event.program_line);
  const auto [place, is_new] = equal_.try_emplace(key, events_.size());
  if (!is_new) {
    LogEvent& known = events_[place->second];
    const uint64_t count = known.count + 1;
    if (known.is_no_end && !event.is_no_end) {
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
  const bool is_inside =
      !traces_.empty() || !groups_.empty() || summary_.part != Summary::Part::kNone;
  const bool is_of_interest = Finds(raw, kAnyOfInterest);
  has_mpi_word_ = has_mpi_word_ || (is_of_interest && Finds(raw, kMpiWord));
  line_ = number;
  if (!is_inside && !is_of_interest && open_aftermaths_ == 0) {
    return;
  }
  LogLine line = CleanLogLine(ToValidUtf8(raw), kept_);
  if ((is_inside || is_of_interest) && TakeGroup(line, number)) {
    return;
  }
  if (is_inside || is_of_interest) {
    if (TakeTrace(line, number) || TakeSummary(line, number) || TakeChain(line)) {
      return;
    }
    if (!is_inside || Finds(line.text, kAnyOfInterest)) {
      TakeSingle(line, number);
    }
  }
  if (!is_of_interest) {
    TakeAftermath(line);
  }
}

// ---- exceptions, and what follows them ----

void LogScanner::AddException(int64_t stream, LogEvent event) {
  event.is_no_end = ignored_.erase(stream) > 0;
  const auto handled = handled_.find(stream);
  if (handled != handled_.end()) {
    LogEvent& first = events_[handled->second];
    event.is_consequence = event.is_consequence || first.is_consequence;
    // What the other one is of says more only if it is lack of memory.
    const bool is_first_telling = first.kind == LogKind::kOutOfMemory;
    (is_first_telling ? event : first).is_no_end = true;
    handled_.erase(handled);
  }
  if (const auto earlier = aftermaths_.find(stream); earlier != aftermaths_.end()) {
    EndAftermath(earlier->second);
  }
  const bool is_no_end = event.is_no_end;
  const std::optional<size_t> place = Add(std::move(event));
  if (!place.has_value()) {
    return;
  }
  last_exception_[stream] = *place;
  if (!is_no_end && (aftermaths_.size() < kMostTraces || aftermaths_.contains(stream))) {
    BeginAftermath(stream, *place);
  }
}

void LogScanner::BeginAftermath(int64_t stream, size_t place) {
  Aftermath& after = aftermaths_[stream];
  // Other processes that write to the same log may go on for a few steps without this one. What it
  // outlived before it outlives again, as its next step shows.
  constexpr uint32_t kOfOne = 3;
  constexpr uint32_t kOfSeveral = 6;
  after.enough = after.outlived.contains(place) ? 1 : stream < 0 ? kOfSeveral : kOfOne;
  after.exceptions.insert(place);
  for (Aftermath::Shape& shape : after.shapes) {
    shape.steps = {};
  }
  open_aftermaths_ += after.is_open ? 0 : 1;
  after.is_open = true;
}

// The margin of exceptions that were raised together is taken off `line`. Whether all of it is
// margin: a line between two of them.
bool LogScanner::TakeGroup(LogLine& line, int64_t number) {
  const int64_t stream = StreamOf(line);
  std::string_view text = line.text;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (text.starts_with("+ Exception Group Traceback (most recent call last):")) {
    if (groups_.size() < kMostTraces) groups_.insert(stream);
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
  if (text.find_first_of("0123456789") != std::string_view::npos && traces_.size() < kMostTraces) {
    traces_.insert_or_assign(stream, std::move(trace));
  }
  return true;
}

// "During handling of the above exception, another exception occurred:", and what Python reports
// without ending anything.
bool LogScanner::TakeChain(const LogLine& line) {
  const int64_t stream = StreamOf(line);
  if (IsChained(line.text)) {
    if (const auto last = last_exception_.find(stream); last != last_exception_.end()) {
      handled_[stream] = last->second;
    }
    return true;
  }
  if (line.text.starts_with("Exception ignored in") || line.text.starts_with("--- Logging error")) {
    if (ignored_.size() < kMostTraces) ignored_.insert(stream);
    return true;
  }
  return false;
}

void LogScanner::TakeAftermath(const LogLine& line) {
  const auto found = aftermaths_.find(StreamOf(line));
  if (found == aftermaths_.end()) {
    return;
  }
  Aftermath& after = found->second;
  if (!after.is_open || IsNoWork(line.text)) {
    return;
  }
  // Whole numbers of the line, and the rest of it. Bars of progress change their length.
  constexpr size_t kMostText = 400;
  const std::string_view text = line.text.substr(0, kMostText);
  Aftermath::Shape seen;
  size_t columns = 0;
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
    if (is_whole && number.has_value() && columns < seen.largest.size()) {
      seen.largest[columns++] = *number;
    }
    add('0');
    i = end - 1;
  }
  seen.hash = hash;
  const auto place =
      std::find_if(after.shapes.begin(), after.shapes.end(),
                   [&](const Aftermath::Shape& shape) { return shape.hash == hash; });
  if (place == after.shapes.end()) {
    constexpr size_t kMostShapes = 32;
    if (columns > 0 && after.shapes.size() < kMostShapes) after.shapes.push_back(seen);
    return;
  }
  for (size_t i = 0; i < columns; ++i) {
    if (seen.largest[i] > place->largest[i]) {
      place->largest[i] = seen.largest[i];
      after.went_on = after.went_on || ++place->steps[i] >= after.enough;
    }
  }
  if (after.went_on) {
    after.is_open = false;
    --open_aftermaths_;
  }
}

// If it went on, none of these ended it.
void LogScanner::EndAftermath(Aftermath& after) {
  if (!after.went_on) {
    return;
  }
  for (const size_t place : after.exceptions) {
    if (!events_[place].is_no_end) {
      events_[place].is_no_end = true;
      events_[place].goes_on_to = line_;
    }
  }
  after.outlived.merge(after.exceptions);
  after.exceptions.clear();
  after.went_on = false;
}

bool LogScanner::TakeFrame(Trace& trace, std::string_view text) {
  std::string file;
  std::string function;
  int64_t number = 0;
  if (!Finds(text, kFrameLine, &file, &number, &function)) {
    return false;
  }
  if (trace.files.size() == kMostFrames && trace.kind == Trace::Kind::kPython) {
    trace.files.erase(trace.files.begin());
    trace.functions.erase(trace.functions.begin());
    trace.numbers.erase(trace.numbers.begin());
  }
  if (trace.files.size() < kMostFrames) {
    trace.files.push_back(std::move(file));
    trace.functions.push_back(std::move(function));
    trace.numbers.push_back(number);
  }
  return true;
}

std::string LogScanner::LineOf(const Trace& trace) const {
  std::vector<ProgramFrame> frames;
  frames.reserve(trace.files.size());
  for (size_t i = 0; i < trace.files.size(); ++i) {
    frames.push_back({trace.files[i], trace.functions[i], trace.numbers[i]});
  }
  if (trace.kind == Trace::Kind::kPython) {
    std::reverse(frames.begin(), frames.end());
  }
  return WithoutSecrets(lines_->LineOf(frames));
}

bool LogScanner::TakeTrace(const LogLine& line, int64_t number) {
  const int64_t stream = StreamOf(line);
  const auto open = traces_.find(stream);
  if (open != traces_.end()) {
    Trace& trace = open->second;
    const bool is_taken = trace.kind == Trace::Kind::kPython ? TakePython(stream, trace, line)
                                                             : TakeFault(trace, line, number);
    if (trace.kind == Trace::Kind::kNone) {
      traces_.erase(open);
    }
    if (is_taken) {
      return true;
    }
  }
  Trace trace;
  trace.line = number;
  trace.unix_ns = line.unix_ns;
  trace.year_ns = line.year_ns;
  std::string word;
  if (Contains(line.text, "Traceback (most recent call last):")) {
    trace.kind = Trace::Kind::kPython;
  } else if (Finds(line.text, kFatalLine, &word)) {
    trace.kind = Trace::Kind::kFault;
    trace.fatal = WithoutSecrets(word);
  } else if (Finds(line.text, kFaultThread, &word)) {
    trace.kind = Trace::Kind::kFault;
    trace.is_current = word == "Current thread";
  } else {
    return false;
  }
  if (traces_.size() < kMostTraces) {
    traces_.insert_or_assign(stream, std::move(trace));
  }
  return true;
}

// Frames, the lines of source below them, and the exception at the end, which is not indented.
bool LogScanner::TakePython(int64_t stream, Trace& trace, const LogLine& line) {
  const std::string_view text = line.text;
  if (text.empty() || text.front() == ' ' || text.front() == '\t') {
    TakeFrame(trace, text);
    return true;
  }
  if (text.starts_with("ray.exceptions.RayTaskError(")) {
    trace.files.clear();  // the frames of the worker follow
    trace.functions.clear();
    trace.numbers.clear();
    return true;
  }
  std::string type;
  std::string message;
  if (Finds(text, kExceptionLine, &type, &message) && !IsChained(text)) {
    LogEvent event = EventAt(LogKind::kException, line, trace.line);
    event.unix_ns = trace.unix_ns;
    event.year_ns = trace.year_ns;
    event.program_line = LineOf(trace);
    event.out_of_memory = postmortem::ParseOomMessage(text);
    event.kind = event.out_of_memory.has_value() ? LogKind::kOutOfMemory : LogKind::kException;
    event.text = WithoutSecrets(text);
    event.is_consequence = IsConsequenceText(text);
    if (!IsOfLauncher(type)) {
      AddException(stream, std::move(event));
      // Of several that were raised together each says more than that they were.
      const auto last = last_exception_.find(stream);
      if (groups_.contains(stream) && last != last_exception_.end() && Finds(text, kGroupLine)) {
        handled_[stream] = last->second;
      }
    } else {
      TakeLauncher(line, trace.line);
    }
  }
  trace.kind = Trace::Kind::kNone;
  return Finds(text, kExceptionLine);
}

// One or more threads with frames, with empty lines between them.
bool LogScanner::TakeFault(Trace& trace, const LogLine& line, int64_t number) {
  std::string word;
  if (TakeFrame(trace, line.text) || Trimmed(line.text).empty()) {
    return true;
  }
  if (Finds(line.text, kFaultThread, &word)) {
    const bool is_current = word == "Current thread";
    if (!trace.files.empty()) {
      if (trace.is_current || !is_current) {
        return true;  // the stack that counts is there
      }
      trace.files.clear();
      trace.functions.clear();
      trace.numbers.clear();
    }
    trace.is_current = is_current;
    trace.line = trace.fatal.empty() ? number : trace.line;
    return true;
  }
  if (line.text.starts_with("Python runtime state:") || line.text.starts_with("  ...")) {
    return true;
  }
  EndFault(trace, line);
  return false;
}

void LogScanner::EndFault(Trace& trace, const LogLine& line) {
  const bool is_fatal = !trace.fatal.empty();
  LogEvent event = EventAt(is_fatal ? LogKind::kFatal : LogKind::kStack, line, trace.line);
  event.unix_ns = trace.unix_ns;
  event.year_ns = trace.year_ns;
  event.text = is_fatal ? trace.fatal : "stack of faulthandler";
  event.program_line = LineOf(trace);
  event.is_consequence = trace.fatal == "Aborted";  // how PyTorch's watchdog ends a process
  if (is_fatal || !event.program_line.empty()) {
    Add(std::move(event));
  }
  trace.kind = Trace::Kind::kNone;
}

bool LogScanner::TakeSummary(const LogLine& line, int64_t number) {
  const std::string_view text = WithoutSpaceBehind(line.text);
  if (text == "Failures:" || text == "Root Cause (first observed failure):") {
    EndSummaryEntry();
    summary_.part = text == "Failures:" ? Summary::Part::kOthers : Summary::Part::kRoot;
    return true;
  }
  if (summary_.part == Summary::Part::kNone) {
    return false;
  }
  if (Finds(text, kSummaryRule)) {
    EndSummaryEntry();
    summary_.part = Summary::Part::kNone;
    return true;
  }
  if (text.starts_with('[') && text.ends_with("]:")) {
    EndSummaryEntry();
    summary_.event = EventAt(LogKind::kExit, line, number);
    summary_.event->is_listed = true;
    summary_.event->year_ns = 0;
    summary_.event->is_named_first = summary_.part == Summary::Part::kRoot;
    return true;
  }
  if (!summary_.event.has_value()) {
    return text == "  <NO_OTHER_FAILURES>";
  }
  LogEvent& event = *summary_.event;
  int32_t rank = 0;
  int code = 0;
  int64_t pid = 0;
  if (Finds(text, kSummaryRank, &rank)) {
    event.rank = rank;
    event.basis = LogRankBasis::kRank;
  } else if (Finds(text, kSummaryHost, &event.host)) {
    return true;
  } else if (std::string time; Finds(text, kSummaryTime, &time)) {
    event.year_ns = YearNsOf(time);
  } else if (Finds(text, kSummaryExit, &code, &pid)) {
    constexpr int kLeast = -65'535;
    constexpr int kMost = 1 << 30;
    code = std::clamp(code, kLeast, kMost);
    event.exit_code = code;
    event.pid = pid;
    event.text = ExitText(code);
  }
  return true;
}

void LogScanner::EndSummaryEntry() {
  if (summary_.event.has_value() && summary_.event->exit_code.has_value()) {
    LogEvent event = std::move(*summary_.event);
    // The others end because torchrun ends them, or because the first one left them.
    const int code = *event.exit_code;
    constexpr int kTerminated = -15;
    constexpr int kAborted = -6;
    event.is_consequence = summary_.part == Summary::Part::kOthers
                               ? code == kTerminated || code == kAborted
                               : code == kTerminated;
    Add(std::move(event));
  }
  summary_.event.reset();
}

void LogScanner::TakeSingle(const LogLine& line, int64_t number) {
  if (!TakeTorch(line, number) && !TakeKernel(line, number) && !TakeScheduler(line, number) &&
      !TakeLauncher(line, number)) {
    TakeMpi(line, number);
  }
}

// Shells and launchers give signals as 128 and their number.
void LogScanner::AddExit(LogEvent event, int code) {
  constexpr int kShell = 128;
  constexpr int kLastSignal = 31;
  constexpr int kTerminated = -15;
  event.kind = LogKind::kExit;
  event.exit_code = code > kShell && code <= kShell + kLastSignal ? kShell - code : code;
  event.text = ExitText(*event.exit_code);
  event.is_consequence = event.exit_code == kTerminated;
  // It is reported at some time afterwards.
  event.is_listed = true;
  event.unix_ns = 0;
  event.year_ns = 0;
  Add(std::move(event));
}

// What torchrun's agent, DeepSpeed and Accelerate report for the processes that they started.
bool LogScanner::TakeLauncher(const LogLine& line, int64_t number) {
  int code = 0;
  int32_t place = 0;
  int64_t pid = 0;
  LogEvent event = EventAt(LogKind::kExit, line, number);
  if (Finds(line.text, kAgentLine, &code, &place, &pid)) {
    event.rank = place;
    event.basis = LogRankBasis::kLocal;
    event.pid = pid;
  } else if (Finds(line.text, kDiedWith, &code)) {
    code = -code;
  } else if (!Finds(line.text, kReturnCode, &code) && !Finds(line.text, kReturned, &code)) {
    return false;
  }
  if (code != 0) {
    event.is_named_first = true;  // they stop all others then
    AddExit(std::move(event), code);
  }
  return true;
}

// Open MPI names the process that failed first in two lines, Intel's and MPICH's hydra that of
// which it heard first in a frame.
bool LogScanner::TakeMpi(const LogLine& line, int64_t number) {
  int32_t rank = 0;
  int code = 0;
  int64_t pid = 0;
  std::string first;
  std::string host;
  LogEvent event = EventAt(LogKind::kExit, line, number);
  event.is_named_first = true;
  if (Finds(line.text, kMpiSignal, &rank, &pid, &host, &code)) {
    event.rank = rank;
    event.basis = LogRankBasis::kRank;
    event.pid = pid;
    event.host = host;
    AddExit(std::move(event), -code);
    return true;
  }
  if (Finds(line.text, kMpiProcess, &rank)) {
    event.rank = rank;
    event.basis = LogRankBasis::kRank;
    mpi_ = std::move(event);
    return true;
  }
  if (Finds(line.text, kHydraProcess, &first, &pid, &host)) {
    event.rank = ParseNumber<int32_t>(first);
    event.basis = event.rank.has_value() ? LogRankBasis::kRank : LogRankBasis::kNone;
    event.pid = pid;
    event.host = host;
    mpi_ = std::move(event);
    return true;
  }
  const bool is_signal = Finds(line.text, kHydraSignal, &code);
  if (mpi_.has_value() &&
      (is_signal || Finds(line.text, kMpiExit, &code) || Finds(line.text, kHydraExit, &code))) {
    if (code != 0) AddExit(std::move(*mpi_), is_signal ? -code : code);
    mpi_.reset();
    return true;
  }
  return false;
}

bool LogScanner::TakeTorch(const LogLine& line, int64_t number) {
  std::string first;
  std::string second;
  std::string third;
  int32_t rank = 0;
  int64_t value = 0;
  const auto of_rank = [&](LogEvent event) {
    event.rank = rank;
    event.basis = LogRankBasis::kRank;
    return event;
  };
  TimeoutText timeout;
  std::string seq;
  if (Finds(line.text, kTimeoutLine, &first, &second, &third, &seq, &timeout.operation,
            &timeout.timeout_ms, &timeout.waited_ms)) {
    LogEvent event = EventAt(LogKind::kTimeout, line, number);
    const std::string& said = second.empty() ? third : second;
    if (const std::optional<int32_t> of = ParseNumber<int32_t>(said)) {
      event.rank = line.basis == LogRankBasis::kRank ? line.rank : of;
      event.basis = LogRankBasis::kRank;
    }
    timeout.group = WithoutSecrets(first);
    timeout.seq = ParseNumber<int64_t>(seq);
    event.text = fmt::format("{}{} did not end within {} s", timeout.operation,
                             timeout.seq.has_value() ? fmt::format(" {}", *timeout.seq) : "",
                             static_cast<double>(timeout.timeout_ms) / 1000);
    event.timeout = std::move(timeout);
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kWatchdogStuck, &rank, &value)) {
    LogEvent event = of_rank(EventAt(LogKind::kTimeout, line, number));
    event.text = fmt::format("it made no progress for {} s", value);
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kWatchdogEnded, &rank, &first)) {
    LogEvent event = of_rank(EventAt(LogKind::kException, line, number));
    event.text = WithoutSecrets(first);
    Add(std::move(event));
    return true;
  }
  if (const auto message = postmortem::ParseOomMessage(line.text)) {
    LogEvent event = EventAt(LogKind::kOutOfMemory, line, number);
    event.text = WithoutSecrets(line.text.substr(line.text.find("out of memory")));
    event.out_of_memory = message;
    AddException(StreamOf(line), std::move(event));
    return true;
  }
  if (Finds(line.text, kNcclWarningLine, &first, &value, &second)) {
    LogEvent event = EventAt(LogKind::kNcclWarning, line, number);
    event.host = first;
    event.pid = value;
    event.text = WithoutSecrets(second);
    Add(std::move(event));
    return true;
  }
  return false;
}

bool LogScanner::TakeKernel(const LogLine& line, int64_t number) {
  std::string device;
  std::string pid;
  std::string kilobytes;
  int xid = 0;
  if (Finds(line.text, kXidLine, &device, &xid, &pid)) {
    LogEvent event = EventAt(LogKind::kXid, line, number);
    event.xid = xid;
    event.pid = ParseNumber<int64_t>(pid);
    event.text = fmt::format("Xid {} ({}) of the GPU at {}", xid, XidMeaning(xid), device);
    event.is_consequence = XidClassOf(xid) == XidClass::kConsequence;
    Add(std::move(event));
    return true;
  }
  std::string name;
  const bool is_line = Finds(line.text, kKilledLine, &pid, &name, &kilobytes);
  if (is_line || Finds(line.text, kKilledInGroup, &device, &name, &pid)) {
    LogEvent event = EventAt(LogKind::kKilled, line, number);
    event.pid = ParseNumber<int64_t>(pid);
    event.text = fmt::format("the kernel killed process {} for lack of host memory", pid);
    Add(std::move(event));
    return true;
  }
  return false;
}

bool LogScanner::TakeScheduler(const LogLine& line, int64_t number) {
  std::string first;
  std::string second;
  std::string third;
  std::string time;
  if (Finds(line.text, kCancelledLine, &first, &second, &time, &third)) {
    LogEvent event = EventAt(LogKind::kCancelled, line, number);
    event.host = second;
    event.year_ns = YearNsOf(time);
    event.text = third.empty() ? "cancelled" : LowerCase(third);
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kNodeFailure, &first)) {
    LogEvent event = EventAt(LogKind::kCancelled, line, number);
    event.host = first;
    event.text = "node failure";
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kPbsLimit, &first, &second)) {
    const bool is_time = first == "walltime";
    LogEvent event = EventAt(is_time ? LogKind::kCancelled : LogKind::kKilled, line, number);
    event.text = is_time ? "walltime limit"
                         : fmt::format("PBS killed the job, as its {} exceeded {}", first, second);
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kLsfLimit, &first)) {
    const bool is_time = first == "RUNLIMIT";
    LogEvent event = EventAt(is_time ? LogKind::kCancelled : LogKind::kKilled, line, number);
    event.text = is_time ? "run time limit" : "LSF killed the job at its limit of memory";
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kOomEvents)) {
    LogEvent event = EventAt(LogKind::kKilled, line, number);
    event.text = "Slurm reports processes killed for lack of host memory";
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kTaskLine, &first, &second, &third)) {
    LogEvent event = EventAt(LogKind::kTaskFailed, line, number);
    event.host = first;
    const bool is_one = second.find_first_of(",-") == std::string::npos;
    event.text = fmt::format("{} {}: {}", is_one ? "task" : "tasks", second, third);
    event.is_consequence = third == "Terminated";
    Add(std::move(event));
    return true;
  }
  return false;
}

std::vector<LogEvent> LogScanner::Finish() {
  for (auto& [stream, trace] : traces_) {
    if (trace.kind == Trace::Kind::kFault) {
      LogLine line;
      if (stream >= 0 && stream <= INT32_MAX) {
        line.rank = static_cast<int32_t>(stream);
        line.basis = LogRankBasis::kRank;
      }
      EndFault(trace, line);
    }
  }
  traces_.clear();
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
  std::stable_sort(events_.begin(), events_.end(),
                   [](const LogEvent& a, const LogEvent& b) { return a.line < b.line; });
  return std::move(events_);
}

}  // namespace borescope::internal
