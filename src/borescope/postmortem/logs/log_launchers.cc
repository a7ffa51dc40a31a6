#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/log_pattern.h"
#include "borescope/postmortem/logs/log_scan.h"

namespace borescope::internal {
namespace {

const LogPattern kSummaryRank{"^ +rank +: ([0-9]+) \\(local_rank: [0-9]+\\)"};
const LogPattern kSummaryHost{"^ +host +: (\\S+)"};
const LogPattern kSummaryExit{"^ +exitcode +: (-?[0-9]+) \\(pid: ([0-9]+)\\)"};
const LogPattern kSummaryTime{"^ +time +: (\\S+)"};
const LogPattern kSummaryRule{"^(?:=+|-+)$"};

const LogPattern kAgentLine{
    "failed \\(exitcode: (-?[0-9]+)\\) local_rank: ([0-9]+) \\(pid: ([0-9]+)\\)"};
const LogPattern kReturnCode{"exits with return code = (-?[0-9]+)"};
const LogPattern kDiedWith{"died with <Signals\\.\\w+: ([0-9]+)>"};
const LogPattern kReturned{"CalledProcessError: .* returned non-zero exit status ([0-9]+)"};
const LogPattern kChildCode{"Child process with PID ([0-9]+) terminated with code (-?[0-9]+)"};
const LogPattern kSpawned{
    "ProcessExitedException: process ([0-9]+) terminated with (?:exit code ([0-9]+)|signal "
    "(\\w+))"};
const LogPattern kMpiSignal{
    "(?:mpirun|mpiexec|orterun|prterun) noticed that process rank ([0-9]+) with PID ([0-9]+) on "
    "node (\\S+) exited on signal ([0-9]+)"};
// PRRTE breaks the line before the signal.
const LogPattern kMpiSignalHead{
    "(?:mpirun|mpiexec|orterun|prterun) noticed that process rank ([0-9]+) with PID ([0-9]+) on "
    "node (\\S+) exited on *$"};
const LogPattern kMpiSignalTail{"^signal ([0-9]+)(?: \\(.*\\))?\\.?$"};
const LogPattern kMpiAbort{"MPI_ABORT was invoked on rank ([0-9]+) in communicator (\\S+)"};
const LogPattern kMpiAbortCode{"^ *with errorcode (-?[0-9]+)\\."};
const LogPattern kMpichAbort{
    "Abort\\((-?[0-9]+)\\) (?:on node ([0-9]+) )?\\(rank ([0-9]+) in comm ([0-9]+)\\): "
    "application called MPI_Abort"};
const LogPattern kMpichAbortOld{
    "application called MPI_Abort\\(MPI_COMM_WORLD, (-?[0-9]+)\\) - process ([0-9]+)"};
const LogPattern kMpiProcess{"^ *Process name: \\[(?:\\[[0-9]+,[0-9]+\\],|[^\\],]*,)([0-9]+)\\]"};
const LogPattern kMpiExit{"^ *Exit code: +([0-9]+)"};
const LogPattern kHydraProcess{"^= +(?:RANK ([0-9]+) )?PID ([0-9]+) RUNNING AT (\\S+)"};
const LogPattern kHydraExit{"^= +EXIT CODE: ([0-9]+)"};
const LogPattern kHydraSignal{"^= +KILLED BY SIGNAL: ([0-9]+)"};

const LogPattern kCancelledLine{
    "error: \\*\\*\\* (JOB|STEP) \\S+ (?:ON (\\S+) )?CANCELLED AT (\\S+) "
    "(?:DUE TO (TIME LIMIT|PREEMPTION|NODE FAILURE))?"};
const LogPattern kOomEvents{
    "error: (?:Detected [0-9]+ oom[_-]kill event|Exceeded (?:job|step) memory limit)"};
const LogPattern kPbsLimit{
    "=>> PBS: job killed: (walltime|p?v?mem)\\b.* exceeded limit ([0-9]+\\w*)"};
const LogPattern kLsfLimit{"\\bTERM_(RUNLIMIT|MEMLIMIT): job killed after reaching LSF"};
// Of Grid Engine: the messages of its daemons, and `qacct -j`.
const LogPattern kGridTime{"exceeded hard wallclock time"};
const LogPattern kGridLimit{"exceeds job hard limit \"(\\w+)\""};
const LogPattern kGridAccount{"^failed +[0-9]+ +: qmaster enforced h_rt"};
const LogPattern kNodeFailure{"^srun: error: Node failure on (\\S+)"};
const LogPattern kTaskLine{
    "^srun: error: (\\S+): tasks? ([0-9,-]+): "
    "(Out Of Memory|Killed|Terminated|Exited with exit code [0-9]+|Segmentation fault|"
    "Bus error|Aborted|Floating point exception|Illegal instruction)"};

// 9 of "SIGKILL"; 0 of others than these.
int SignalOfName(std::string_view name) {
  struct Named {
    std::string_view name;
    int signal;
  };
  constexpr Named kNamed[] = {{"SIGILL", 4},  {"SIGABRT", 6},  {"SIGBUS", 7},  {"SIGFPE", 8},
                              {"SIGKILL", 9}, {"SIGSEGV", 11}, {"SIGTERM", 15}};
  const auto* const at = std::find_if(std::begin(kNamed), std::end(kNamed),
                                      [&](const Named& named) { return named.name == name; });
  return at == std::end(kNamed) ? 0 : at->signal;
}

}  // namespace

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
  if (Contains(line.text, "attempts left; will restart worker group")) {
    EndAttempt();
    return true;
  }
  LogEvent event = EventAt(LogKind::kExit, line, number);
  if (Contains(line.text, "Received sigquit from a child proces")) {
    // SGLang ends all its processes then.
    event.is_named_first = true;
    event.is_consequence = true;
    event.exit_code = -3;
    event.text = "a child process of SGLang reported that it failed";
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kAgentLine, &code, &place, &pid)) {
    event.rank = place;
    event.basis = LogRankBasis::kLocal;
    event.pid = pid;
  } else if (Finds(line.text, kDiedWith, &code)) {
    code = -code;
  } else if (!Finds(line.text, kReturnCode, &code) && !Finds(line.text, kReturned, &code)) {
    return TakeChild(line, std::move(event));
  }
  if (code != 0) {
    event.is_named_first = true;  // they stop all others then
    AddExit(std::move(event), code);
  }
  return true;
}

// Lightning, and torch.multiprocessing.spawn: both count the processes of a node.
bool LogScanner::TakeChild(const LogLine& line, LogEvent event) {
  int code = 0;
  int32_t place = 0;
  int64_t pid = 0;
  std::string status;
  std::string signal;
  if (Finds(line.text, kChildCode, &pid, &code)) {
    event.pid = pid;
  } else if (Finds(line.text, kSpawned, &place, &status, &signal)) {
    event.rank = place;
    code = signal.empty() ? ParseNumber<int>(status).value_or(1) : -SignalOfName(signal);
  } else {
    return false;
  }
  event.basis = event.rank.has_value() ? LogRankBasis::kLocal : LogRankBasis::kNone;
  if (code != 0) {
    event.is_named_first = true;
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
  if (Finds(line.text, kMpiSignalHead, &rank, &pid, &host)) {
    event.rank = rank;
    event.basis = LogRankBasis::kRank;
    event.pid = pid;
    event.host = host;
    mpi_ = std::move(event);
    return true;
  }
  if (TakeMpiAbort(line, event)) {
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
  const bool is_signal = Finds(line.text, kHydraSignal, &code) ||
                         (mpi_.has_value() && Finds(line.text, kMpiSignalTail, &code));
  if (mpi_.has_value() &&
      (is_signal || Finds(line.text, kMpiExit, &code) || Finds(line.text, kHydraExit, &code))) {
    if (code != 0) AddExit(std::move(*mpi_), is_signal ? -code : code);
    mpi_.reset();
    return true;
  }
  return false;
}

// A process that ended all of them itself. Only of the communicator of all the rank is that of the
// job.
bool LogScanner::TakeMpiAbort(const LogLine& line, LogEvent event) {
  std::string node;
  std::string name;
  std::string rank;
  int code = 0;
  const auto add = [&](LogEvent abort) {
    constexpr int kAny = 255;
    abort.kind = LogKind::kExit;
    abort.exit_code = code > 0 ? code : kAny;
    abort.text = fmt::format("MPI_Abort with code {}", code);
    Add(std::move(abort));
    return true;
  };
  const auto give = [&](std::string_view number) {
    event.rank = ParseNumber<int32_t>(number);
    event.basis = event.rank.has_value() ? LogRankBasis::kRank : LogRankBasis::kNone;
  };
  if (Finds(line.text, kMpiAbort, &rank, &name)) {
    give(name == "MPI_COMM_WORLD" ? rank : "");
    event.text = "MPI_Abort";
    mpi_ = std::move(event);
    return true;
  }
  if (mpi_.has_value() && mpi_->text == "MPI_Abort" && Finds(line.text, kMpiAbortCode, &code)) {
    LogEvent abort = std::move(*mpi_);
    mpi_.reset();
    return add(std::move(abort));
  }
  if (Finds(line.text, kMpichAbort, &code, &node, &rank, &name)) {
    give(!node.empty() ? node : name == "0" ? rank : "");
    return add(std::move(event));
  }
  if (Finds(line.text, kMpichAbortOld, &code, &rank)) {
    give(rank);
    return add(std::move(event));
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
  if (Finds(line.text, kGridTime) || Finds(line.text, kGridAccount)) {
    LogEvent event = EventAt(LogKind::kCancelled, line, number);
    const bool is_sure = Finds(line.text, kGridTime);
    event.text = is_sure ? "hard time limit" : "limit of time or memory";
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kGridLimit, &first)) {
    const bool is_time = first == "h_rt" || first == "h_cpu";
    LogEvent event = EventAt(is_time ? LogKind::kCancelled : LogKind::kKilled, line, number);
    event.text =
        is_time ? "hard time limit"
                : fmt::format("Grid Engine killed the job, as it exceeded its limit {}", first);
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

}  // namespace borescope::internal
