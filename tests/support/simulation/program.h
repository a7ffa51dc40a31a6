// What a simulated job does, without any time but how long each piece would take by itself: lists
// of instructions, one for each thread of the host. All ranks run the same program; how they differ
// is a matter of costs (costs.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/simulation/work_class.h"

namespace borescope::simulation {

enum class Action : uint8_t {
  kCompute,     // the host works for `ns`
  kOpen,        // a frame begins
  kClose,       // the innermost frame ends
  kLaunch,      // a call that starts all work in [work, work + count); several are one graph
  kWaitStream,  // a call that returns when all that was issued to `stream` is done
  kWaitDevice,  // likewise for all streams
  kWaitEvent,   // likewise for what was issued before the record `event`
  kRecord,      // what was issued to `stream` so far is `event`
  kStreamWait,  // what is issued to `stream` from now on starts after `event`
  kSignal,      // `event` happens on the host
  kAwait,       // the thread sleeps until `event` was signalled
};

enum class FrameKind : uint8_t { kOp, kAnnotation };

// In which of the programs something is done: the recorded one, or one whose collectives run beside
// the work of other streams.
enum class When : uint8_t {
  kAlways,
  kOverlapped,  // only where collectives have left the stream of the work around them
  kBlocking,    // only where work waits for a collective as soon as that was launched
};

enum class Overlap : uint8_t {
  kNone,
  kStreams,  // collectives leave the streams of other work; recorded waits for them stay
  kEvents,   // and only what needs their result waits for them
};

struct Instruction {
  Action action = Action::kCompute;
  When when = When::kAlways;
  FrameKind frame = FrameKind::kOp;
  bool is_data = false;    // loads data: a frame, or the time that a batch takes
  bool is_step = false;    // frame: a training step
  bool can_pause = false;  // the place in the step where a garbage collection would happen
  bool waits = false;      // launch: the call returns when its own work is done
  int32_t name = -1;       // of the frame or call
  int32_t stream = 0;
  int32_t overlap_stream =
      -1;  // launch: where its work goes when collectives overlap; -1: the same
  int32_t event = -1;
  int32_t work = -1;
  int32_t count = 0;
  int32_t collective = -1;  // frame: that describes this collective
  int32_t step = 0;
  int32_t item = 0;  // number within the step and thread: what random numbers depend on
  int64_t ns = 0;    // host time, without waiting
  int64_t rows = 0;  // frame: of the matrix that its operator multiplies; 0: it does not

  // What a change makes of it (plan.h).
  double factor = 1.0;       // of the host time
  bool is_left_out = false;  // nothing happens, in no time
  bool never_waits = false;  // a wait ends when it begins
};

enum class WorkKind : uint8_t { kKernel, kMemcpy, kMemset };

struct Work {
  WorkKind kind = WorkKind::kKernel;
  WorkClass work_class = WorkClass::kPointwise;
  Phase phase = Phase::kForward;
  int32_t name = -1;
  int32_t stream = 0;
  int32_t collective = -1;
  int32_t thread = 0;  // that launches it
  int32_t step = 0;
  int32_t item = 0;
  int64_t ns = 0;  // 0 for collectives
  int64_t bytes = 0;
  // By changes:
  double factor = 1.0;       // of its time
  bool is_left_out = false;  // it is never started
};

// Of each group of `partition` one: the work, one kernel a rank, starts when it can, and ends after
// the last of them has started. In a broadcast each ends after it has started itself and the first
// rank of the group, the root, has: the root waits for nobody.
struct Collective {
  std::string name;  // "allreduce", "broadcast"
  bool has_root = false;
  int32_t partition = 0;
  int32_t sequence = 0;
  int64_t bytes = 0;
};

struct Thread {
  std::string name;
  bool is_recorded = true;
  std::vector<Instruction> instructions;
};

struct Stream {
  int64_t id = 0;  // as the trace writes it
  std::string name;
};

// The ranks, each in one of the groups.
using Partition = std::vector<std::vector<int32_t>>;

struct Program {
  int32_t ranks = 1;
  int32_t steps = 0;
  int32_t events = 0;  // numbers of `event` are below
  std::vector<std::string> names;
  std::vector<Thread> threads;  // the first is the main thread
  std::vector<Stream> streams;
  std::vector<Work> works;
  std::vector<Collective> collectives;
  std::vector<Partition> partitions;
  // By changes:
  Overlap overlap = Overlap::kNone;
  std::vector<int64_t> data_ns;  // of each rank, for a frame that loads data; empty: as it is

  const std::string& Name(int32_t name) const { return names[static_cast<size_t>(name)]; }
};

}  // namespace borescope::simulation
