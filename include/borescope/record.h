// Records programs: `borescope record`. Linux only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"

namespace borescope {

// Where in its programs a run starts or stops recording.
enum class RecordPoint {
  kNone,
  kRange,  // to start: a range or mark of a name begins, by NVTX, ROCTX, borescope_record.h or
           // Python; to stop: it ends
  kStep,  // a step begins: of borescope_record.h or Python, a range "ProfilerStep#NUMBER", or after
          // so many steps of an optimizer of PyTorch; to stop, also a later one
  kCall,  // the program calls cudaProfilerStart, hipProfilerStart; cudaProfilerStop,
          // hipProfilerStop
};

struct RecordRule {
  RecordPoint point = RecordPoint::kNone;
  // The whole name, or its beginning followed by a "*"; at most 255 bytes. To stop, empty: the end
  // of the range that started.
  std::string range = {};
  uint64_t step = 0;
};

struct RecordOptions {
  // The folder of the run, NAME or NAME.bsr, with %h (host), %p (process), %r (rank), %q{VARIABLE}.
  // Empty: the first of recording.bsr, recording-2.bsr, … that does not exist. NAME.rpd,
  // NAME.json.gz and what else Convert writes name the folder NAME.bsr, too; the caller converts.
  std::string output = {};
  bool starts_paused = false;  // records from the first start on, by StartRecording or the program
  bool nvtx = true;            // ranges and marks of NVTX
  bool roctx = true;           // and of ROCTX
  bool cuda = true;            // calls and device work, by CUPTI
  bool rocm = false;           // those of AMD, by rocprofiler-sdk or roctracer; experimental
  // Calls of CUDA, HIP and RCCL: "all", "launch" (those that launch device work), "none"; empty:
  // all.
  std::string api = {};
  // Of these, not these functions, as "cudaFuncGetAttributes"; calls that programs make all the
  // time, such as cudaGetLastError, are never recorded.
  std::vector<std::string> api_skip = {};
  bool children = true;  // also of programs that the program starts
  // Of these, only programs whose file, first argument or script has such a name: * is any text, ?
  // any byte, [a-z] and [!a-z] one of a set. Empty: all.
  std::string children_match = {};
  bool memory = false;  // allocations of device memory
  bool sync = false;    // what synchronisation waits for
  bool warm = false;  // collects device work of CUDA once at its start, which takes a driver long,
                      // so that a later start of recording does not
  // Hardware counters of chosen kernels of NVIDIA's, which CUPTI's range profiler measures while it
  // replays them (CUDA 12.6 and later): metrics as Nsight Compute calls them, at most 64 with 4,000
  // bytes. The times of such kernels are those of a replay. Experimental.
  std::vector<std::string> counters = {};
  std::string counters_kernels = {};  // of kernels with such a mangled name, with *, ? and [a-z]
  uint64_t counters_skip = 0;         // so many launches of these come before, in each process
  uint64_t counters_count = 0;        // so many are measured, at most 1,000; 0: 100
  bool graph_nodes = false;  // a kernel per node of a CUDA graph, rather than a row per graph
  uint64_t max_bytes = 0;    // of the log of each process; 0: no limit
  // What Python programs record besides: of programs that are started without -I, -E or -S.
  std::string ops = {};     // operators of PyTorch: "nvtx", "profile", or empty for none
  bool shapes = false;      // with ops "nvtx": shapes of inputs, which "profile" has anyway
  uint64_t ops_steps = 0;   // with ops "profile": steps that it keeps in memory; 0: 20
  std::string python = {};  // "calls" of functions, or empty for none
  bool rpd_compat = false;  // rocmProfileData's rpdTracerControl and librpd_tracer.so record here
  // Sets the variables with which PyTorch leaves dumps of its flight recorder and error files when
  // a job hangs or dies, but for those that are set: into a folder beside that of the run.
  bool postmortem = false;
  // Keeps the last part of each log alone, as a flight recorder does: at least so long, at most a
  // day; 0: everything. With max_bytes, no more than that, however long it is.
  std::chrono::nanoseconds ring{};
  // How often device records are fetched, from 1 ms to a minute; 0: every 100 ms.
  std::chrono::nanoseconds flush{};
  // How often processes of the program and GPUs are measured, at least 1 ms; 0: never.
  std::chrono::nanoseconds sample{};
  std::chrono::nanoseconds start_after{};  // then recording starts; with it, starts_paused is set
  std::chrono::nanoseconds record_for{};   // it stops so long after the first start; 0: at the end
  // Each process follows the rules for itself and starts or stops the whole run: recording goes on
  // while any process has started and not stopped. With start_at, starts_paused is set. A range
  // that starts is recorded until its end, and calls until calls stop, where stop_at is kNone and
  // record_for 0.
  RecordRule start_at = {};
  RecordRule stop_at = {};
  uint32_t repeat = 1;  // how often ranges and steps start it, in each process; 0: each time
  // Ranks of a distributed job that are recorded, at most 64, by the variables of its launcher;
  // empty: all, and processes that have none.
  std::vector<int> ranks = {};
  // A folder, as in /dev/shm, that logs are written into while the program runs; they are moved to
  // that of the run afterwards, unless processes still record. Empty: not so.
  std::string spool = {};
  bool force = false;    // replaces the injected libraries of other tools
  bool replace = false;  // replaces an earlier recording of the name
};

struct RecordReport {
  std::string folder;      // of the logs: an input like any other
  std::string converted;   // what `output` wants it converted into; empty: nothing
  std::string postmortem;  // the folder of dumps and error files; empty: there are none
  // The program's exit status; 0 where a signal ended it. -1 where the system no longer knows it:
  // this process ignores SIGCHLD, or another thread of it waits for all children.
  int status = 0;
  int signal = 0;           // that ended the program; 0: none
  uint64_t processes = 0;   // that recorded something
  uint64_t running = 0;     // of these, that still run
  uint64_t bytes = 0;       // of all logs
  bool is_sampled = false;  // there is a log of samples, or of marks
  // Why recording never started, as what there was in place of the range or step; empty: it did.
  std::string never_started = {};
  // Why processes have no log, or none that can be read, and how many; empty: all have.
  std::string failed_logs = {};
  std::string trouble = {};        // why the folder is not as it should be; empty: it is
  std::string never_stopped = {};  // why stop_at did not stop it; empty: it did, or has no rule
  // Why some or all samples are missing from some time on; empty: none are, or nothing was sampled.
  std::string samples_end = {};
  std::chrono::nanoseconds duration{};
};

// A program that is being recorded.
class BORESCOPE_EXPORT Recording {
 public:
  // Starts `command[0]`, found along PATH, with our streams, in our process group. Errors:
  //   kInvalidArgument  an empty command, a folder that exists, a variable of another tool, rules
  //                     that contradict each other
  //   kIo               the program cannot be started, the folder cannot be made
  //   kMissingData      libborescope_record.so is not installed
  static Result<Recording> Start(const std::vector<std::string>& command,
                                 const RecordOptions& options = {});

  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  // Of the program.
  int pid() const;
  // What of the options will have no effect on this machine, and why, in one line; empty: nothing.
  std::string warning() const;

  // Waits for the end of the program. To be called once. Where the folder cannot be read, or a
  // spool not be moved to it, the report says so (`trouble`), besides how the program ended.
  Result<RecordReport> Wait();

 private:
  struct State;
  explicit Recording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A profile of processes that already run PyTorch, by its own profiler.
struct AttachOptions {
  std::vector<int> pids;    // with all processes that they started
  std::string output = {};  // a folder that is made; empty: attached, attached-2, …
  std::chrono::nanoseconds duration = std::chrono::seconds(2);
  int iterations = 0;  // this many steps of an optimizer, instead of a time; 0: not so
  // Called by AttachRecording, on its thread, when the processes and the folder were found usable
  // and the wait begins; may be empty.
  std::function<void()> on_wait = {};
};

struct AttachedProfile {
  int pid = 0;
  std::string file;
  uint64_t events = 0;  // of the file, once it was read to check it
  std::string trouble;  // why it is missing or cannot be read; empty: it is whole
};

struct AttachReport {
  std::string folder;
  std::vector<AttachedProfile> profiles;
  std::vector<int> silent;  // processes that did not ask within 12 s
};

// Asks for the profiles and waits until they are written. The processes must have been started with
// KINETO_USE_DAEMON=1, and look for a request every five seconds. kInvalidArgument if a process
// does not exist or the folder does; kIo if another one attaches, or dynolog runs.
BORESCOPE_EXPORT Result<AttachReport> AttachRecording(const AttachOptions& options);

// All that follow give kIo where the folder is a run, and the system or its owner refuses what they
// need of it.

// Starts or stops recording in all processes of a run, from any process that may write to its
// folder. Starts count: as many stops end them. Returns whether processes record now.
// kInvalidArgument if `folder` is no run.
BORESCOPE_EXPORT Result<bool> StartRecording(const std::string& folder);
BORESCOPE_EXPORT Result<bool> StopRecording(const std::string& folder);

// Marks this moment in a run, from outside of its programs: an annotation without a duration,
// whether or not processes record now. kInvalidArgument if `folder` is no run.
BORESCOPE_EXPORT Result<void> MarkRecording(const std::string& folder, const std::string& text);

struct FlushRecordingReport {
  uint32_t answered = 0;  // processes that have fetched what their devices did
  uint32_t silent = 0;    // that did not within `deadline`
};
// Has all processes of a run fetch what their devices did until now; records of the host are in the
// logs already. kInvalidArgument if `folder` is no run.
BORESCOPE_EXPORT Result<FlushRecordingReport> FlushRecording(
    const std::string& folder, std::chrono::nanoseconds deadline = std::chrono::seconds(3));

// Copies what the logs of a run hold now into a new run, `output`, while its programs go on: of a
// ring, the last part. Of each thread, the copy ends about when this was called. kInvalidArgument
// if `folder` is no run or `output` exists, kIo.
BORESCOPE_EXPORT Result<void> CopyRecording(const std::string& folder, const std::string& output);

// The state of a run. Table `processes`: a row per log. kInvalidArgument if `folder` is no run.
BORESCOPE_EXPORT Result<Answer> RecordingStatus(const std::string& folder);

}  // namespace borescope
