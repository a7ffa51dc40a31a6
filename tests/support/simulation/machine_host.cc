// Threads of the host.
#include <algorithm>

#include "tests/support/simulation/machine.h"

namespace borescope::simulation {
namespace {

// Whether what the instruction does can be seen by other threads or by the device: then it must
// be done at its time, and not before.
bool IsShared(Action action) {
  return action != Action::kCompute && action != Action::kOpen && action != Action::kClose;
}

}  // namespace

const Instruction& Machine::NextOf(int32_t rank, int32_t thread) {
  const size_t next = ThreadOf(rank, thread).next;
  return run_.program.threads[static_cast<size_t>(thread)].instructions[next];
}

bool Machine::IsDone(const Instruction& instruction) const {
  if (instruction.is_left_out) return false;
  const Overlap overlap = run_.program.overlap;
  if (instruction.when == When::kOverlapped) return overlap != Overlap::kNone;
  return instruction.when != When::kBlocking || overlap != Overlap::kEvents;
}

void Machine::Resume(int32_t rank, int32_t thread) {
  ThreadState& state = ThreadOf(rank, thread);
  const size_t count = run_.program.threads[static_cast<size_t>(thread)].instructions.size();
  while (state.next < count) {
    const Instruction& instruction = NextOf(rank, thread);
    if (IsShared(instruction.action) && state.now_ns > now_ns_) {
      return At(state.now_ns, Moment::Kind::kResume, rank, thread);
    }
    ++state.next;
    if (!IsDone(instruction)) continue;
    if (SkipsForData(rank, thread, instruction)) continue;
    if (!Do(rank, thread, instruction)) return;
  }
  state.is_done = true;
}

bool Machine::Do(int32_t rank, int32_t thread, const Instruction& instruction) {
  ThreadState& state = ThreadOf(rank, thread);
  switch (instruction.action) {
    case Action::kCompute:
      state.now_ns += costs_.HostNs(rank, thread, instruction);
      return true;
    case Action::kOpen:
      Open(rank, thread, instruction);
      return true;
    case Action::kClose:
      Close(rank, thread);
      return true;
    case Action::kSignal:
      Signal(rank, instruction, state.now_ns);
      return true;
    case Action::kAwait:
      return Await(rank, thread, instruction);
    case Action::kLaunch:
      return Launch(rank, thread, instruction);
    case Action::kWaitStream:
    case Action::kWaitDevice:
    case Action::kWaitEvent:
      return Wait(rank, thread, instruction);
    case Action::kRecord:
    case Action::kStreamWait:
      break;
  }
  BeginCall(rank, thread, instruction);
  const bool is_record = instruction.action == Action::kRecord;
  const LagPlace place{rank, thread, instruction.step, instruction.item};
  Push(rank, instruction.stream,
       {.kind = is_record ? Entry::Kind::kRecord : Entry::Kind::kWait,
        .event = instruction.event,
        .thread = thread,
        .place = place});
  return EndCall(rank, thread, state.call_end_ns);
}

// While data is loaded in a given time, nothing else counts.
bool Machine::SkipsForData(int32_t rank, int32_t thread, const Instruction& instruction) {
  ThreadState& state = ThreadOf(rank, thread);
  if (state.data_end_ns < 0) return false;
  if (instruction.action == Action::kClose && state.frames.size() == state.data_depth + 1) {
    state.now_ns = state.data_end_ns;
    state.data_end_ns = -1;
    return false;
  }
  return instruction.action == Action::kCompute || instruction.action == Action::kAwait;
}

void Machine::Open(int32_t rank, int32_t thread, const Instruction& instruction) {
  ThreadState& state = ThreadOf(rank, thread);
  RankState& all = StateOf(rank);
  std::vector<FrameRow>& rows = run_.ranks[static_cast<size_t>(rank)].frames;
  if (instruction.is_data && !run_.program.data_ns.empty()) {
    state.data_end_ns = state.now_ns + run_.program.data_ns[static_cast<size_t>(rank)];
    state.data_depth = state.frames.size();
  }
  state.frames.push_back(static_cast<int32_t>(rows.size()));
  rows.push_back({.thread = thread,
                  .name = instruction.name,
                  .step = instruction.step,
                  .kind = instruction.frame,
                  .is_data = instruction.is_data,
                  .is_step = instruction.is_step,
                  .collective = instruction.collective,
                  .rows = costs_.Rows(rank, instruction),
                  .id = ++all.next_id,
                  .begin_ns = state.now_ns});
  if (instruction.frame == FrameKind::kOp) state.op_ids.push_back(all.next_id);
}

void Machine::Close(int32_t rank, int32_t thread) {
  ThreadState& state = ThreadOf(rank, thread);
  RankRun& run = run_.ranks[static_cast<size_t>(rank)];
  FrameRow& row = run.frames[static_cast<size_t>(state.frames.back())];
  row.end_ns = state.now_ns;
  if (row.kind == FrameKind::kOp) state.op_ids.pop_back();
  if (row.is_step) run.steps.push_back({row.step, row.begin_ns, row.end_ns});
  state.frames.pop_back();
}

void Machine::Signal(int32_t rank, const Instruction& instruction, int64_t at_ns) {
  EventState& event = StateOf(rank).events[static_cast<size_t>(instruction.event)];
  event.is_done = true;
  event.at_ns = at_ns;
  for (const int32_t thread : event.threads) {
    // The instruction that it sleeps at is the one before the next.
    ThreadState& state = ThreadOf(rank, thread);
    const Instruction& sleeping =
        run_.program.threads[static_cast<size_t>(thread)].instructions[state.next - 1];
    state.now_ns =
        at_ns + costs_.LagNs(Lag::kHandOver, {rank, thread, sleeping.step, sleeping.item});
    At(state.now_ns, Moment::Kind::kResume, rank, thread);
  }
  event.threads.clear();
}

bool Machine::Await(int32_t rank, int32_t thread, const Instruction& instruction) {
  EventState& event = StateOf(rank).events[static_cast<size_t>(instruction.event)];
  if (!event.is_done) {
    event.threads.push_back(thread);
    return false;
  }
  return true;
}

int32_t Machine::BeginCall(int32_t rank, int32_t thread, const Instruction& instruction) {
  ThreadState& state = ThreadOf(rank, thread);
  std::vector<CallRow>& rows = run_.ranks[static_cast<size_t>(rank)].calls;
  state.call = static_cast<int32_t>(rows.size());
  state.call_end_ns = state.now_ns + costs_.HostNs(rank, thread, instruction);
  state.pending = 0;
  state.awaited_ns = -1;
  rows.push_back({.action = instruction.action,
                  .thread = thread,
                  .name = instruction.name,
                  .step = instruction.step,
                  .stream = instruction.stream,
                  .event = instruction.event,
                  .correlation = ++StateOf(rank).correlation,
                  .op_id = state.op_ids.empty() ? 0 : state.op_ids.back(),
                  .begin_ns = state.now_ns});
  return state.call;
}

// The thread goes on from there.
bool Machine::EndCall(int32_t rank, int32_t thread, int64_t end_ns) {
  ThreadState& state = ThreadOf(rank, thread);
  run_.ranks[static_cast<size_t>(rank)].calls[static_cast<size_t>(state.call)].end_ns = end_ns;
  state.now_ns = end_ns;
  return true;
}

bool Machine::Launch(int32_t rank, int32_t thread, const Instruction& instruction) {
  const int32_t call = BeginCall(rank, thread, instruction);
  StreamState& stream = StreamOf(rank, instruction.stream);
  if (stream.waiting >= config_.constants.queue_depth || !stream.blocked.empty()) {
    run_.ranks[static_cast<size_t>(rank)].calls[static_cast<size_t>(call)].is_blocked = true;
    stream.blocked.push_back(thread);
    return false;
  }
  Enqueue(rank, thread, instruction);
  if (instruction.waits) return AwaitOwnWork(rank, thread, instruction.stream);
  return EndCall(rank, thread, ThreadOf(rank, thread).call_end_ns);
}

// A place in the queue was freed now.
void Machine::Unblock(int32_t rank, int32_t thread) {
  ThreadState& state = ThreadOf(rank, thread);
  const Instruction& instruction =
      run_.program.threads[static_cast<size_t>(thread)].instructions[state.next - 1];
  Enqueue(rank, thread, instruction);
  const LagPlace place{rank, thread, instruction.step, instruction.item};
  state.call_end_ns = std::max(state.call_end_ns, now_ns_ + costs_.LagNs(Lag::kUnblock, place));
  if (instruction.waits && !AwaitOwnWork(rank, thread, instruction.stream)) return;
  if (!instruction.waits) EndCall(rank, thread, state.call_end_ns);
  At(state.now_ns, Moment::Kind::kResume, rank, thread);
}

void Machine::Enqueue(int32_t rank, int32_t thread, const Instruction& instruction) {
  std::vector<WorkRow>& rows = run_.ranks[static_cast<size_t>(rank)].works;
  const LagPlace place{rank, thread, instruction.step, instruction.item};
  Entry entry{.first = static_cast<int32_t>(rows.size()), .place = place};
  const int32_t call = ThreadOf(rank, thread).call;
  for (int32_t i = 0; i < instruction.count; ++i) {
    const Work& work = run_.program.works[static_cast<size_t>(instruction.work + i)];
    if (work.is_left_out) continue;
    rows.push_back({.work = instruction.work + i, .call = call, .position = entry.count++});
  }
  const Work& first = run_.program.works[static_cast<size_t>(instruction.work)];
  const Lag lag = instruction.count > 1             ? Lag::kGraphLaunch
                  : first.kind != WorkKind::kKernel ? Lag::kCopyLaunch
                                                    : Lag::kLaunch;
  entry.ready_ns = now_ns_ + costs_.LagNs(lag, place);
  ++StreamOf(rank, instruction.stream).waiting;
  Push(rank, instruction.stream, entry);
}

bool Machine::AskToBeNotified(int32_t rank, int32_t thread, int32_t stream) {
  StreamState& state = StreamOf(rank, stream);
  if (state.entries.empty()) return false;
  ++ThreadOf(rank, thread).pending;
  Push(rank, stream, {.kind = Entry::Kind::kNotify, .thread = thread, .place = {}});
  return true;
}

// Returns whether the call is over, that is, its end is known.
bool Machine::AwaitOwnWork(int32_t rank, int32_t thread, int32_t stream) {
  ThreadState& state = ThreadOf(rank, thread);
  const Instruction& instruction =
      run_.program.threads[static_cast<size_t>(thread)].instructions[state.next - 1];
  run_.ranks[static_cast<size_t>(rank)].calls[static_cast<size_t>(state.call)].waits = true;
  if (!instruction.never_waits && AskToBeNotified(rank, thread, stream)) return false;
  return EndCall(rank, thread, state.call_end_ns);
}

bool Machine::Wait(int32_t rank, int32_t thread, const Instruction& instruction) {
  const int32_t call = BeginCall(rank, thread, instruction);
  ThreadState& state = ThreadOf(rank, thread);
  run_.ranks[static_cast<size_t>(rank)].calls[static_cast<size_t>(call)].waits = true;
  if (instruction.never_waits) return EndCall(rank, thread, state.now_ns);
  if (instruction.action == Action::kWaitEvent) {
    EventState& event = StateOf(rank).events[static_cast<size_t>(instruction.event)];
    if (!event.is_done) {
      event.threads.push_back(thread);
      ++state.pending;
    }
  } else if (instruction.action == Action::kWaitStream) {
    AskToBeNotified(rank, thread, instruction.stream);
  } else {
    for (size_t stream = 0; stream < run_.program.streams.size(); ++stream) {
      AskToBeNotified(rank, thread, static_cast<int32_t>(stream));
    }
  }
  if (state.pending > 0) return false;
  return EndCall(rank, thread, state.call_end_ns);
}

// Something that the thread waits for is done now.
void Machine::Notify(int32_t rank, int32_t thread) {
  ThreadState& state = ThreadOf(rank, thread);
  state.awaited_ns = now_ns_;
  if (--state.pending > 0) return;
  const Instruction& instruction =
      run_.program.threads[static_cast<size_t>(thread)].instructions[state.next - 1];
  const LagPlace place{rank, thread, instruction.step, instruction.item};
  CallRow& row = run_.ranks[static_cast<size_t>(rank)].calls[static_cast<size_t>(state.call)];
  row.awaited_ns = now_ns_;
  EndCall(rank, thread, std::max(state.call_end_ns, now_ns_ + costs_.LagNs(Lag::kReturn, place)));
  At(state.now_ns, Moment::Kind::kResume, rank, thread);
}

}  // namespace borescope::simulation
