#include "borescope/postmortem/logs/log_topics.h"

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "borescope/base/memory_limit.h"

namespace borescope::internal {
namespace {

constexpr TopicWord kWords[] = {
    {"Traceback (most recent", LogTopic::kTrace},
    {"most recent call first", LogTopic::kTrace},
    {"Fatal Python error", LogTopic::kTrace},
    {"ray.exceptions.RayTaskError(", LogTopic::kTrace},
    {"Process ", LogTopic::kTrace},
    {" (active)", LogTopic::kTrace},
    {" (active+gil)", LogTopic::kTrace},
    {" (idle)", LogTopic::kTrace},
    {" (idle+gil)", LogTopic::kTrace},
    {"\", line ", LogTopic::kTrace},
    {"During handling of the above", LogTopic::kChain},
    {"The above exception was the direct", LogTopic::kChain},
    {"Exception ignored in", LogTopic::kChain},
    {"--- Logging error", LogTopic::kChain},
    {"Last error:", LogTopic::kChain},
    {"terminated with the following error:", LogTopic::kChain},
    {"Failures:", LogTopic::kSummary},
    {"Root Cause (first", LogTopic::kSummary},
    {"Watchdog caught collective", LogTopic::kWatchdog},
    {"ast enqueued work", LogTopic::kWatchdog},
    {"ast enqueued NCCL work", LogTopic::kWatchdog},
    {"Detected mismatch between collectives", LogTopic::kWatchdog},
    {"are the lagging ranks that caused", LogTopic::kWatchdog},
    {"] joined but didn't finish collective #", LogTopic::kWatchdog},
    {"] finished collective #", LogTopic::kWatchdog},
    {"watchdog got stuck", LogTopic::kTorch},
    {"Watchdog timeout (self.", LogTopic::kTorch},
    {"watchdog thread terminated", LogTopic::kTorch},
    {"out of memory. Tried", LogTopic::kTorch},
    {"NCCL WARN", LogTopic::kTorch},
    {"terminate called ", LogTopic::kThrown},
    {"libc++abi: terminating", LogTopic::kThrown},
    {"  what(): ", LogTopic::kThrown},
    {"NVRM: Xid", LogTopic::kKernel},
    {"killed due to memory pressure", LogTopic::kKernel},
    {"to avoid running out of memory", LogTopic::kKernel},
    {"Killed process", LogTopic::kKernel},
    {"oom-kill:", LogTopic::kKernel},
    {"SXid (PCI", LogTopic::kMachine},
    {"segfault at", LogTopic::kMachine},
    {"general protection fault", LogTopic::kMachine},
    {"GPU reset begin", LogTopic::kMachine},
    {"] page fault", LogTopic::kMachine},
    {"Machine Check Exception", LogTopic::kMachine},
    {"Kernel panic", LogTopic::kMachine},
    {"CANCELLED AT", LogTopic::kScheduler},
    {"srun: error", LogTopic::kScheduler},
    {"memory limit", LogTopic::kScheduler},
    {"oom_kill", LogTopic::kScheduler},
    {"oom-kill", LogTopic::kScheduler},
    {"=>> PBS: job killed: ", LogTopic::kScheduler},
    {"TERM_RUNLIMIT: ", LogTopic::kScheduler},
    {"TERM_MEMLIMIT: ", LogTopic::kScheduler},
    {"exceeded hard wallclock time", LogTopic::kScheduler},
    {"exceeds job hard limit", LogTopic::kScheduler},
    {"qmaster enforced", LogTopic::kScheduler},
    {"OOMKilled", LogTopic::kKubernetes},
    {"Evicted", LogTopic::kKubernetes},
    {"low on resource: ", LogTopic::kKubernetes},
    {"(exitcode: ", LogTopic::kLauncher},
    {"exits with return code", LogTopic::kLauncher},
    {"died with <Signals", LogTopic::kLauncher},
    {"Child process with PID", LogTopic::kLauncher},
    {"returned non-zero exit status", LogTopic::kLauncher},
    {"will restart worker group", LogTopic::kLauncher},
    {"Received sigquit from a child proces", LogTopic::kLauncher},
    {"noticed that process rank", LogTopic::kMpi},
    {"The first process to do so", LogTopic::kMpi},
    {"Process name: ", LogTopic::kMpi},
    {"RUNNING AT ", LogTopic::kMpi},
    {"EXIT CODE: ", LogTopic::kMpi},
    {"Exit code: ", LogTopic::kMpi},
    {"KILLED BY SIGNAL", LogTopic::kMpi},
    {"MPI_ABORT was invoked", LogTopic::kMpi},
    {"MPI_Abort(", LogTopic::kMpi},
    {"mpirun", LogTopic::kMpiWord},
    {"mpiexec", LogTopic::kMpiWord},
    {"MPI_Abort", LogTopic::kMpiWord},
    {"BAD TERMINATION", LogTopic::kMpiWord},
    {"RUNNING AT ", LogTopic::kMpiWord},
    {"srun: error", LogTopic::kMpiWord},
    {"alloc(): ", LogTopic::kCrash},
    {"free(): ", LogTopic::kCrash},
    {"_chunk(): ", LogTopic::kCrash},
    {"_consolidate(): ", LogTopic::kCrash},
    {"_usable_size(): ", LogTopic::kCrash},
    {"double free or corruption", LogTopic::kCrash},
    {"corrupted ", LogTopic::kCrash},
    {"smashing detected", LogTopic::kCrash},
    {"overflow detected", LogTopic::kCrash},
    {"Memory access fault by GPU", LogTopic::kCrash},
    {"Assertion `", LogTopic::kCrash},
    {"Caught signal ", LogTopic::kCrash},
    {"*** SIG", LogTopic::kCrash},
    {"] Signal: ", LogTopic::kCrash},
    {"Segmentation fault", LogTopic::kShell},
    {"Bus error", LogTopic::kShell},
    {"Aborted", LogTopic::kShell},
    {"Illegal instruction", LogTopic::kShell},
    {"Floating point exception", LogTopic::kShell},
    {"Killed", LogTopic::kShell},
    {"Terminated", LogTopic::kShell},
    {": command not found", LogTopic::kNoStart},
    {": can't open file '", LogTopic::kNoStart},
    {": error: unrecognized arguments: ", LogTopic::kNoStart},
    {": error: argument ", LogTopic::kNoStart},
    {": error: the following ", LogTopic::kNoStart},
};

// An automaton of Aho and Corasick (Efficient String Matching, CACM 18, 1975), of which each state
// knows its next one for any byte. Bytes that no word has are alike.
class TopicAutomaton {
 public:
  TopicAutomaton() {
    size_t letters = 0;
    for (const TopicWord& entry : kWords) {
      for (const char c : entry.word) {
        uint8_t& letter = letter_of_[static_cast<unsigned char>(c)];
        if (letter == 0) letter = static_cast<uint8_t>(++letters);
      }
      states_ += entry.word.size();
    }
    letters_ = letters + 1;
    AskForMemory((states_ + 1) * (letters_ * sizeof(uint16_t) + sizeof(LogTopics)));
    next_.assign(letters_, 0);
    topics_.assign(1, 0);
    for (const TopicWord& entry : kWords) Add(entry);
    FillIn();
  }

  LogTopics Of(std::string_view line) const {
    LogTopics found = 0;
    size_t state = 0;
    for (const char c : line) {
      state = next_[state * letters_ + letter_of_[static_cast<unsigned char>(c)]];
      found |= topics_[state];
    }
    return found;
  }

 private:
  void Add(const TopicWord& entry) {
    size_t state = 0;
    for (const char c : entry.word) {
      const size_t at = state * letters_ + letter_of_[static_cast<unsigned char>(c)];
      if (next_[at] == 0) {
        next_[at] = static_cast<uint16_t>(topics_.size());
        next_.resize(next_.size() + letters_, 0);
        topics_.push_back(0);
      }
      state = next_[at];
    }
    topics_[state] |= static_cast<uint32_t>(entry.topic);
  }

  // A state that has no edge for a letter goes where the longest end of what it has read does that
  // begins a word. States nearer to the first one are done before.
  void FillIn() {
    std::vector<size_t> shorter(topics_.size(), 0);
    std::deque<size_t> ready;
    for (size_t letter = 0; letter < letters_; ++letter) {
      if (next_[letter] != 0) ready.push_back(next_[letter]);
    }
    while (!ready.empty()) {
      const size_t state = ready.front();
      ready.pop_front();
      topics_[state] |= topics_[shorter[state]];
      for (size_t letter = 0; letter < letters_; ++letter) {
        const uint16_t other = next_[shorter[state] * letters_ + letter];
        uint16_t& next = next_[state * letters_ + letter];
        if (next == 0) {
          next = other;
        } else {
          shorter[next] = other;
          ready.push_back(next);
        }
      }
    }
  }

  std::array<uint8_t, 256> letter_of_ = {};  // 0: in no word
  size_t letters_ = 0;
  size_t states_ = 0;           // no more than these
  std::vector<uint16_t> next_;  // by state and letter
  std::vector<LogTopics> topics_;
};

}  // namespace

std::span<const TopicWord> TopicWords() { return kWords; }

LogTopics TopicsOf(std::string_view line) {
  static const TopicAutomaton automaton;
  return automaton.Of(line);
}

}  // namespace borescope::internal
