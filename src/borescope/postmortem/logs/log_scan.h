// What logs say about the end of a job: exceptions, signals, timeouts, lack of memory, errors of
// devices and of the scheduler. Only what matches a known pattern is kept, and of free texts only
// their first line without secrets. The patterns are those of the programs' own sources: PyTorch
// (torch/distributed/elastic, ProcessGroupNCCL.cpp, CUDACachingAllocator.cpp), NCCL, CPython's
// faulthandler and traceback, Rich, glibc, libstdc++ and libc++abi, shells, Linux (mm/oom_kill.c,
// arch/x86), the kernel modules of NVIDIA and AMD, ROCr, UCX, Open MPI, MPICH, Slurm (slurmstepd,
// srun), Lightning and the kubelet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/postmortem/logs/log_lines.h"
#include "borescope/postmortem/logs/log_topics.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/program_line.h"

namespace borescope::internal {

enum class LogKind : uint8_t {
  kException,    // of Python, or of PyTorch's watchdog
  kOutOfMemory,  // of a device
  kFatal,        // a signal or an abort, by the process itself or the kernel
  kExit,         // the exit code or signal of a process, by a launcher
  kTimeout,      // the watchdog of NCCL gave up an operation
  kNcclWarning,
  kStack,       // where a process was: py-spy, faulthandler on request
  kXid,         // an error of a GPU, by the kernel
  kKilled,      // by the kernel, for lack of host memory
  kCancelled,   // by Slurm, PBS or LSF, or the kubelet
  kTaskFailed,  // a task of Slurm
  kMachine,     // a fault of the machine or of a GPU of AMD, by the kernel
  kNoStart,     // why a command could not run: of interest if nothing else says why
  kProgress,    // what the watchdog of NCCL says about the work of a rank
  kRas,         // what NCCL's RAS service says about the ranks of a communicator
  kCount,
};
std::string_view LogKindName(LogKind kind);  // "out of memory"

enum class MachineFault : uint8_t {
  kSwitch,       // a fatal error of an NVSwitch
  kSwitchMinor,  // one that is not
  kGpuReset,     // AMD's driver resets a GPU
  kGpuFault,     // an access of a GPU of AMD to no memory
  kMachineCheck,
  kPanic,
};

// What the watchdog says about an operation, or about the work of a group.
struct TimeoutText {
  std::string operation = {};  // ALLREDUCE; empty in kProgress
  std::optional<int64_t> seq = {};
  std::optional<int64_t> input_elements = {};
  std::optional<int64_t> output_elements = {};
  std::string group = {};                     // its name and description; empty if not said
  std::optional<int64_t> last_enqueued = {};  // numbers of operations: in kProgress
  std::optional<int64_t> last_completed = {};
  int64_t timeout_ms = 0;
  int64_t waited_ms = 0;
};

// What a rank called, by an exception of TORCH_DISTRIBUTED_DEBUG=DETAIL.
struct CallText {
  int32_t rank = 0;
  std::optional<int64_t> seq = {};
  std::string operation = {};  // ALLREDUCE
  std::string shape = {};      // "4, 2"; empty if not said
};

// What the desync report of PyTorch's watchdog says about ranks.
enum class DesyncKind : uint8_t {
  kNone,
  kNeverJoined,  // any collective
  kNotJoined,    // the one after the last that they finished
  kNotFinished,  // the one that they joined last
};

// What a report of NCCL's RAS service says about a communicator, as far as it says which ranks of
// the job these are.
struct RasText {
  std::vector<int32_t> behind;   // launched fewer collectives of some kind than others; ascending
  std::vector<int32_t> missing;  // their processes do not answer
  bool is_behind = false;        // some are behind, also of unknown rank
  bool is_missing = false;       // some do not answer
  bool has_other_kinds = false;  // who is behind in one kind is ahead in another
  // Numbers of processes with their ranks, where a communicator has all ranks of the job; in the
  // first event of a report.
  std::vector<std::pair<int64_t, int32_t>> processes = {};
};

struct LogEvent {
  LogKind kind = LogKind::kException;
  int64_t line = 0;  // from 1; 0 in files that are no text
  std::optional<int32_t> rank = {};
  LogRankBasis basis = LogRankBasis::kNone;
  bool is_place = false;  // of LogLine
  std::optional<int64_t> pid = {};
  int64_t unix_ns = 0;            // 0: not known
  int64_t year_ns = 0;            // without its zone, as YearNsOf gives it; 0: not known
  std::string text = {};          // what happened, without secrets
  std::string program_line = {};  // "file:line function"; empty if not known
  std::string host = {};          // or the pod
  std::string cause = {};         // of an exception: the text of what it was raised from
  std::vector<int32_t> blamed;    // the ranks that the text names as those that did not come
  DesyncKind desync = DesyncKind::kNone;  // what these did
  std::vector<CallText> calls;            // that differ, by the text
  bool is_time_least = false;             // it happened at its time or later
  // It reports the failure of another rank, or what was done because of it.
  bool is_consequence = false;
  bool is_named_first = false;  // a launcher names it as the first of all
  bool is_listed = false;       // in a list, whose order is not that of what happened
  bool is_of_shell = false;     // an exit by a signal, as the shell that started it reports it
  // An exception that ended nothing: the program went on, or raised another one while it handled
  // this one.
  bool is_no_end = false;
  int64_t goes_on_to = 0;  // of an exception that it outlived: a later line of the log
  // How many processes wrote each step to a log without ranks, before and after it, if one of them
  // is missing afterwards.
  uint32_t writers_before = 0;
  uint32_t writers_after = 0;
  bool is_end_unclear = false;        // others may have gone on without the process that it is of
  std::optional<int> exit_code = {};  // negative: a signal
  std::optional<int> xid = {};
  std::string device = {};                     // of kXid: the bus address of the GPU
  MachineFault fault = MachineFault::kSwitch;  // of kMachine
  uint64_t count = 1;                          // of equal ones in this file
  std::optional<TimeoutText> timeout = {};
  std::optional<RasText> ras = {};
  std::optional<postmortem::OomMessage> out_of_memory = {};
};

// Whether an exception of that text only reports that another rank failed or did not come.
bool IsConsequenceText(std::string_view text);
// The first line of `text`, cut at 300 bytes, with tokens, passwords, accounts and URLs replaced.
std::string WithoutSecrets(std::string_view text);

// The ranks that an exception of torch.distributed.monitored_barrier names; empty for other texts.
std::vector<int32_t> BlamedRanks(std::string_view text);
// What ranks called, by an exception that says that they called different things.
std::vector<CallText> CallsOf(std::string_view text);
// Whether an exception of that text is lack of memory on a device, without amounts.
bool IsDeviceOutOfMemory(std::string_view text);
// "exit code 3", "signal 11 (SIGSEGV)" of -11.
std::string ExitText(int code);
// Whether the event is SIGABRT, which C++, glibc and PyTorch's watchdog end a process with.
bool IsAbort(const LogEvent& event);
// Who wrote a line: a rank; a process, a pod or a host, above all ranks; -1 of nobody in
// particular.
int64_t LogStreamOf(const LogLine& line);

// Takes a log line by line. At most 10,000 events are kept of one file; equal ones are counted.
class LogScanner {
 public:
  explicit LogScanner(const LineFinder& lines) : lines_(&lines) {}

  void Take(std::string_view raw, int64_t number);
  // What was found, in the order of lines. Nothing may be taken afterwards.
  std::vector<LogEvent> Finish();

 private:
  struct Frame {
    std::string file;
    std::string function;
    int64_t line = 0;
  };
  // Frames of one rank, whose lines others may interrupt.
  struct Trace {
    // kSyntax: frames that end only in an error of Python's grammar, which has no header.
    // kSpy: a thread of `py-spy dump`.
    enum class Kind : uint8_t { kNone, kPython, kSyntax, kRich, kFault, kSpy };
    Kind kind = Kind::kNone;
    int64_t line = 0;
    int64_t unix_ns = 0;
    int64_t year_ns = 0;
    bool is_time_least = false;
    std::string fatal;        // of faulthandler: what the process died of
    bool is_current = false;  // the thread that did; of kSpy the main thread
    bool holds_lock = false;  // of kSpy: of Python's interpreter
    bool is_closed = false;   // of Rich: its frame was drawn; of faulthandler: no frame more counts
    std::string head;         // of Rich: the begin of a line that goes on in the next one
    std::deque<Frame> frames;  // outermost first in Python, innermost first otherwise
  };
  // Lines of work that differ in their numbers alone.
  struct WorkShape {
    uint64_t hash = 0;  // of the text without its numbers
    size_t columns = 0;
    std::array<int64_t, 4> largest = {};
    std::array<uint32_t, 4> steps = {};  // how often that grew
    uint32_t lines = 0;  // from the first one at which one grew, to the last such one
    uint32_t lines_since = 0;
    // The lines of each step; nothing where these differ. Average: more than one.
    std::optional<uint32_t> Writers() const;
    bool HasSeveral() const;
  };
  // A process in the text of `py-spy dump`, and the stack of the thread that is shown.
  struct SpiedProcess {
    std::optional<int64_t> pid;
    bool is_main = false;
    std::optional<LogEvent> event;
  };
  // What a process wrote after exceptions: whether it went on with its work. Work counts up: lines
  // of one shape, of which a number grows from line to line.
  struct Aftermath {
    std::set<size_t> exceptions;  // places in events_
    std::set<size_t> outlived;    // those after which it went on before
    std::vector<WorkShape> shapes;
    std::vector<WorkShape> before;  // in a log without ranks: of the lines before the exception
    uint32_t enough = 0;            // steps that show that it goes on
    std::optional<uint32_t> writers_before;  // of each step
    std::optional<uint32_t> writers_after;
    bool is_of_several = false;  // more than one process writes steps
    bool went_on = false;
    bool is_open = false;  // whether it goes on is not known yet
  };
  // torchrun's summary of failures.
  struct Summary {
    enum class Part : uint8_t { kNone, kOthers, kRoot };
    Part part = Part::kNone;
    std::optional<LogEvent> event;
  };

  // An exception while which, or from which, the next one is raised.
  struct Handled {
    size_t place = 0;        // in events_
    bool is_direct = false;  // it is its cause
  };

  bool TakeTrace(LogTopics topics, const LogLine& line, int64_t number);
  bool BeginTrace(Trace& trace, std::string_view text);
  bool TakePython(int64_t stream, Trace& trace, const LogLine& line);
  bool TakeRich(int64_t stream, Trace& trace, const LogLine& line);
  bool EndPython(int64_t stream, Trace& trace, const LogLine& line, std::string_view text);
  void EndCutTrace(int64_t stream, Trace& trace);
  bool TakeSpied(const LogLine& line, int64_t number);
  bool TakeSpyFrame(Trace& trace, const LogLine& line);
  void EndSpyThread(Trace& trace, const LogLine& line);
  void EndSpied(SpiedProcess& process);
  bool TakeFault(Trace& trace, const LogLine& line, int64_t number);
  void EndFault(Trace& trace, const LogLine& line);
  bool TakeFrame(Trace& trace, std::string_view text);
  void AddFrame(Trace& trace, Frame frame, bool is_newest_kept);
  void ClearFrames(Trace& trace);
  std::string LineOf(const Trace& trace) const;
  bool TakeSummary(const LogLine& line, int64_t number);
  void EndSummaryEntry();
  bool TakeLauncher(const LogLine& line, int64_t number);
  bool TakeChild(const LogLine& line, LogEvent event);
  bool IsInMpi(int64_t number) const;
  bool TakeMpi(const LogLine& line, int64_t number);
  bool TakeMpiAbort(const LogLine& line, LogEvent event);
  void AddExit(LogEvent event, int code);
  void AddException(int64_t stream, LogEvent event);
  void BeginAftermath(int64_t stream, size_t place);
  void JoinHandled(int64_t stream, LogEvent& event);
  bool TakeChain(const LogLine& line);
  bool TakeDetail(const LogLine& line);
  bool TakeGroup(LogLine& line, int64_t number);
  void TakeAftermath(const LogLine& line);
  void EndAftermath(Aftermath& after);
  static WorkShape WorkShapeOf(std::string_view text);
  // Adds a line to the shapes; that which it belongs to, unless there is no room.
  static WorkShape* AddWork(std::vector<WorkShape>& shapes, std::string_view text);
  void KeepRecent(std::string_view raw);
  std::vector<WorkShape> RecentWork();
  bool TakeSingle(LogTopics topics, const LogLine& line, int64_t number);
  void AddCrash(int64_t stream, LogEvent event);
  bool TakeTorch(const LogLine& line, int64_t number);
  bool TakeWatchdog(const LogLine& line, int64_t number);
  bool TakeDesync(const LogLine& line, int64_t number);
  bool TakeCrash(const LogLine& line, int64_t number);
  bool TakeThrown(const LogLine& line, int64_t number);
  bool TakeShell(const LogLine& line, int64_t number);
  bool TakeNoStart(const LogLine& line, int64_t number);
  bool TakeMachine(const LogLine& line, int64_t number);
  bool TakeKubernetes(const LogLine& line, int64_t number);
  bool TakeKernel(const LogLine& line, int64_t number);
  bool TakeScheduler(const LogLine& line, int64_t number);
  LogEvent EventAt(LogKind kind, const LogLine& line, int64_t number) const;
  // Where it is now, or was before; none if there is no room.
  std::optional<size_t> Add(LogEvent event);

  // The time of the line before, above a traceback that a logger wrote.
  void TakeTimeBefore(LogLine& line);
  void KeepTime(std::string_view raw, int64_t number);
  // torchrun starts all ranks again: what ended the attempt is not what ends the job.
  void EndAttempt();

  const LineFinder* lines_;
  std::string kept_;
  LearnedPrefixes prefixes_;
  std::string timed_;  // the begin of the last line with a time, perhaps
  int64_t timed_line_ = 0;
  std::vector<std::string> recent_;  // the begins of the last lines, as a ring
  size_t next_recent_ = 0;
  size_t kept_recent_ = 0;  // since they were last looked at
  std::string timed_kept_;
  // By who wrote them: a rank; a process above all ranks; -1 for lines of nobody in particular.
  std::map<std::pair<int64_t, LogOutput>, Trace> traces_;
  std::map<int64_t, SpiedProcess> spied_;      // by who wrote them, as the others below
  size_t frame_bytes_ = 0;                     // of the texts in their frames
  std::pair<int64_t, LogOutput> header_ = {};  // of the newest trace
  int64_t header_line_ = 0;
  std::map<int64_t, Aftermath> aftermaths_;
  size_t open_aftermaths_ = 0;
  int64_t line_ = 0;                          // the number of this one
  std::map<int64_t, size_t> last_exception_;  // the place in events_ of the newest one
  std::map<int64_t, Handled> handled_;
  std::map<int64_t, size_t> detailed_;       // of which the next line says more
  std::map<int64_t, int32_t> child_;         // whose traceback comes next: its place on the node
  std::map<int64_t, std::string> asserted_;  // what failed on a device before the exception
  std::map<int64_t, LogEvent> thrown_;       // exceptions of C++ whose text comes next
  std::set<int64_t> ignored_;                // whose next traceback Python only reports
  std::set<int64_t> groups_;                 // within a group of exceptions (PEP 654)
  bool has_mpi_word_ = false;                // a launcher of MPI wrote to the log
  Summary summary_;
  std::optional<LogEvent> mpi_;  // what a launcher of MPI says in several lines
  std::vector<LogEvent> events_;
  std::map<std::string, size_t> equal_;  // place in events_ by what makes them equal
};

}  // namespace borescope::internal
