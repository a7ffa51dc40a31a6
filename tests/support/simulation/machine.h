// Runs a program: threads, streams and their queues, events, and collectives of all ranks, one
// moment after the other. Nothing is looked up in the future: what happens depends on what
// happened.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "tests/support/simulation/costs.h"
#include "tests/support/simulation/run.h"

namespace borescope::simulation {

class Machine {
 public:
  // Both must outlive this. The run gets the rows of what happens.
  Machine(const SimulationConfig& config, SimulatedRun* run);

  void Run();

 private:
  // An entry of the queue of a stream.
  struct Entry {
    enum class Kind : uint8_t { kWork, kRecord, kWait, kNotify } kind = Kind::kWork;
    int32_t first = 0;     // work: row of the first one
    int32_t count = 0;     // work
    int32_t event = -1;    // record, wait
    int32_t thread = -1;   // notify; wait: that called
    int64_t ready_ns = 0;  // work: by its launch
    LagPlace place;
  };

  struct StreamState {
    std::deque<Entry> entries;
    bool is_running = false;      // or about to: the entry at the front is
    int32_t waiting = 0;          // launches that have not started
    int32_t done = 0;             // works of the entry that runs
    int64_t last_end_ns = -1;     // -1: nothing ran yet
    int64_t event_ns = -1;        // when the work that follows may start, after waits for events
    std::deque<int32_t> blocked;  // threads whose launch waits for a place in the queue
  };

  struct ThreadState {
    size_t next = 0;  // instruction
    int64_t now_ns = 0;
    bool is_asleep = false;
    bool is_done = false;
    int32_t pending = 0;          // notifications that the call waits for
    int64_t awaited_ns = -1;      // when the last of them came
    int32_t call = -1;            // row of the call that waits or is blocked
    int64_t call_end_ns = 0;      // of that call, if it had not to wait
    std::vector<int32_t> frames;  // rows of those that are open
    std::vector<int64_t> op_ids;  // of the operators that are open
    int64_t data_end_ns = -1;     // of the frame that loads data, if that is given
    size_t data_depth = 0;        // frames open around that one
  };

  struct EventState {
    bool is_done = false;
    int64_t at_ns = 0;
    std::vector<int32_t> threads;  // that wait for it
    std::vector<int32_t> streams;
  };

  struct RankState {
    std::vector<ThreadState> threads;
    std::vector<StreamState> streams;
    std::vector<EventState> events;
    int64_t correlation = 0;
    int64_t next_id = 0;
  };

  struct Moment {
    enum class Kind : uint8_t { kResume, kStart, kEnd } kind = Kind::kResume;
    int64_t at_ns = 0;
    int64_t order = 0;
    int32_t rank = 0;
    int32_t index = 0;  // thread or stream
    bool operator>(const Moment& other) const {
      return std::pair(at_ns, order) > std::pair(other.at_ns, other.order);
    }
  };

  struct Meeting {
    int32_t row = -1;  // of the run's collectives
    int32_t entered = 0;
    bool root_entered = false;
    bool has_begun = false;                            // the transfer
    std::vector<std::pair<int32_t, int32_t>> members;  // rank, stream; that have no end yet
  };

  void At(int64_t at_ns, Moment::Kind kind, int32_t rank, int32_t index);
  RankState& StateOf(int32_t rank) { return states_[static_cast<size_t>(rank)]; }
  ThreadState& ThreadOf(int32_t rank, int32_t thread) {
    return StateOf(rank).threads[static_cast<size_t>(thread)];
  }
  StreamState& StreamOf(int32_t rank, int32_t stream) {
    return StateOf(rank).streams[static_cast<size_t>(stream)];
  }
  const Instruction& NextOf(int32_t rank, int32_t thread);

  // machine_host.cc: threads.
  void Resume(int32_t rank, int32_t thread);
  bool IsDone(const Instruction& instruction) const;
  // Whether the thread can go on right away.
  bool Do(int32_t rank, int32_t thread, const Instruction& instruction);
  void Open(int32_t rank, int32_t thread, const Instruction& instruction);
  void Close(int32_t rank, int32_t thread);
  bool Await(int32_t rank, int32_t thread, const Instruction& instruction);
  void Signal(int32_t rank, const Instruction& instruction, int64_t at_ns);
  int32_t BeginCall(int32_t rank, int32_t thread, const Instruction& instruction);
  bool EndCall(int32_t rank, int32_t thread, int64_t end_ns);
  bool Launch(int32_t rank, int32_t thread, const Instruction& instruction);
  bool Wait(int32_t rank, int32_t thread, const Instruction& instruction);
  bool AwaitOwnWork(int32_t rank, int32_t thread, int32_t stream);
  void Enqueue(int32_t rank, int32_t thread, const Instruction& instruction);
  void Unblock(int32_t rank, int32_t thread);
  void Notify(int32_t rank, int32_t thread);
  // Asks to be notified when the stream has done all that was issued to it. Whether that is later.
  bool AskToBeNotified(int32_t rank, int32_t thread, int32_t stream);
  bool SkipsForData(int32_t rank, int32_t thread, const Instruction& instruction);

  // machine_device.cc: streams.
  void Push(int32_t rank, int32_t stream, const Entry& entry);
  void Advance(int32_t rank, int32_t stream);
  bool PassMarker(int32_t rank, int32_t stream);
  void ScheduleStart(int32_t rank, int32_t stream);
  void Start(int32_t rank, int32_t stream);
  void End(int32_t rank, int32_t stream);
  void Happen(int32_t rank, int32_t event);
  void Enter(int32_t rank, int32_t stream, int32_t row);
  void FinishMeeting(Meeting& meeting, const Work& work);

  const SimulationConfig& config_;
  SimulatedRun& run_;
  Costs costs_;
  std::vector<RankState> states_;
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
  std::map<std::pair<int32_t, int32_t>, Meeting> meetings_;  // collective, group
  std::vector<std::vector<int32_t>> group_of_;               // by partition and rank
  int64_t now_ns_ = 0;
  int64_t order_ = 0;
};

}  // namespace borescope::simulation
