// What logs say about the end of a job: exceptions, signals, timeouts, lack of memory, errors of
// devices and of the scheduler. Only what matches a known pattern is kept, and of free texts only
// their first line without secrets. The patterns are those of the programs' own sources: PyTorch
// (torch/distributed/elastic, ProcessGroupNCCL.cpp, CUDACachingAllocator.cpp), NCCL, CPython's
// faulthandler and traceback, Linux (mm/oom_kill.c), NVIDIA's kernel module, Slurm (slurmstepd,
// srun).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/postmortem/logs/log_lines.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/program_line.h"

namespace borescope::internal {

enum class LogKind : uint8_t {
  kException,    // of Python, or of PyTorch's watchdog
  kOutOfMemory,  // of a device
  kFatal,        // a signal that faulthandler reported
  kExit,         // the exit code or signal of a process, by a launcher
  kTimeout,      // the watchdog of NCCL gave up an operation
  kNcclWarning,
  kStack,       // where a process was: py-spy, faulthandler on request
  kXid,         // an error of a GPU, by the kernel
  kKilled,      // by the kernel, for lack of host memory
  kCancelled,   // by Slurm, PBS or LSF
  kTaskFailed,  // a task of Slurm
  kCount,
};
std::string_view LogKindName(LogKind kind);  // "out of memory"

// What the watchdog says about an operation.
struct TimeoutText {
  std::string operation = {};  // ALLREDUCE
  std::optional<int64_t> seq = {};
  std::string group = {};  // its name and description; empty if not said
  int64_t timeout_ms = 0;
  int64_t waited_ms = 0;
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
  std::string host = {};
  // It reports the failure of another rank, or what was done because of it.
  bool is_consequence = false;
  bool is_named_first = false;  // a launcher names it as the first of all
  bool is_listed = false;       // in a list, whose order is not that of what happened
  // An exception that ended nothing: the program went on, or raised another one while it handled
  // this one.
  bool is_no_end = false;
  int64_t goes_on_to = 0;             // of an exception that it outlived: a later line of the log
  std::optional<int> exit_code = {};  // negative: a signal
  std::optional<int> xid = {};
  uint64_t count = 1;  // of equal ones in this file
  std::optional<TimeoutText> timeout = {};
  std::optional<postmortem::OomMessage> out_of_memory = {};
};

// Whether an exception of that text only reports that another rank failed or did not come.
bool IsConsequenceText(std::string_view text);
// The first line of `text`, cut at 300 bytes, with tokens, passwords, accounts and URLs replaced.
std::string WithoutSecrets(std::string_view text);

// Takes a log line by line. At most 10,000 events are kept of one file; equal ones are counted.
class LogScanner {
 public:
  explicit LogScanner(const LineFinder& lines) : lines_(&lines) {}

  void Take(std::string_view raw, int64_t number);
  // What was found, in the order of lines. Nothing may be taken afterwards.
  std::vector<LogEvent> Finish();

 private:
  // Frames of one rank, whose lines others may interrupt.
  struct Trace {
    enum class Kind : uint8_t { kNone, kPython, kFault };
    Kind kind = Kind::kNone;
    int64_t line = 0;
    int64_t unix_ns = 0;
    int64_t year_ns = 0;
    std::string fatal;               // of faulthandler: what the process died of
    bool is_current = false;         // the thread that did
    std::vector<std::string> files;  // outermost first in Python, innermost first otherwise
    std::vector<std::string> functions;
    std::vector<int64_t> numbers;
  };
  // What a process wrote after exceptions: whether it went on with its work. Work counts up: lines
  // of one shape, of which a number grows from line to line.
  struct Aftermath {
    struct Shape {
      uint64_t hash = 0;  // of the text without its numbers
      std::array<int64_t, 4> largest = {};
      std::array<uint32_t, 4> steps = {};  // how often that grew
    };
    std::set<size_t> exceptions;  // places in events_
    std::set<size_t> outlived;    // those after which it went on before
    std::vector<Shape> shapes;
    uint32_t enough = 0;  // steps that show that it goes on
    bool went_on = false;
    bool is_open = false;  // whether it goes on is not known yet
  };
  // torchrun's summary of failures.
  struct Summary {
    enum class Part : uint8_t { kNone, kOthers, kRoot };
    Part part = Part::kNone;
    std::optional<LogEvent> event;
  };

  bool TakeTrace(const LogLine& line, int64_t number);
  bool TakePython(int64_t stream, Trace& trace, const LogLine& line);
  bool TakeFault(Trace& trace, const LogLine& line, int64_t number);
  void EndFault(Trace& trace, const LogLine& line);
  bool TakeFrame(Trace& trace, std::string_view text);
  std::string LineOf(const Trace& trace) const;
  bool TakeSummary(const LogLine& line, int64_t number);
  void EndSummaryEntry();
  bool TakeLauncher(const LogLine& line, int64_t number);
  bool TakeMpi(const LogLine& line, int64_t number);
  void AddExit(LogEvent event, int code);
  void AddException(int64_t stream, LogEvent event);
  void BeginAftermath(int64_t stream, size_t place);
  bool TakeChain(const LogLine& line);
  bool TakeGroup(LogLine& line, int64_t number);
  void TakeAftermath(const LogLine& line);
  void EndAftermath(Aftermath& after);
  void TakeSingle(const LogLine& line, int64_t number);
  bool TakeTorch(const LogLine& line, int64_t number);
  bool TakeKernel(const LogLine& line, int64_t number);
  bool TakeScheduler(const LogLine& line, int64_t number);
  LogEvent EventAt(LogKind kind, const LogLine& line, int64_t number) const;
  // Where it is now, or was before; none if there is no room.
  std::optional<size_t> Add(LogEvent event);

  const LineFinder* lines_;
  std::string kept_;
  // By who wrote them: a rank; a process above all ranks; -1 for lines of nobody in particular.
  std::map<int64_t, Trace> traces_;
  std::map<int64_t, Aftermath> aftermaths_;
  size_t open_aftermaths_ = 0;
  int64_t line_ = 0;                          // the number of this one
  std::map<int64_t, size_t> last_exception_;  // the place in events_ of the newest one
  std::map<int64_t, size_t> handled_;         // while which the next one is raised
  std::set<int64_t> ignored_;                 // whose next traceback Python only reports
  std::set<int64_t> groups_;                  // within a group of exceptions (PEP 654)
  bool has_mpi_word_ = false;                 // a launcher of MPI wrote to the log
  Summary summary_;
  std::optional<LogEvent> mpi_;  // what a launcher of MPI says in several lines
  std::vector<LogEvent> events_;
  std::map<std::string, size_t> equal_;  // place in events_ by what makes them equal
};

}  // namespace borescope::internal
