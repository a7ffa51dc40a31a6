#include "tests/support/simulation/author.h"

#include <algorithm>
#include <utility>

namespace borescope::simulation {

int32_t Author::AddThread(std::string_view name, bool is_recorded) {
  program_->threads.push_back({std::string(name), is_recorded, {}});
  items_.push_back(0);
  return static_cast<int32_t>(program_->threads.size()) - 1;
}

int32_t Author::AddStream(int64_t id, std::string_view name) {
  program_->streams.push_back({id, std::string(name)});
  return static_cast<int32_t>(program_->streams.size()) - 1;
}

int32_t Author::AddPartition(Partition partition) {
  program_->partitions.push_back(std::move(partition));
  return static_cast<int32_t>(program_->partitions.size()) - 1;
}

int32_t Author::AddCollective(std::string_view name, int32_t partition, int64_t bytes) {
  int32_t sequence = 0;
  for (const Collective& other : program_->collectives) sequence += other.partition == partition;
  program_->collectives.push_back({.name = std::string(name),
                                   .has_root = false,
                                   .partition = partition,
                                   .sequence = sequence,
                                   .bytes = bytes});
  return static_cast<int32_t>(program_->collectives.size()) - 1;
}

int32_t Author::AddBroadcast(int32_t partition, int64_t bytes) {
  const int32_t added = AddCollective("broadcast", partition, bytes);
  program_->collectives.back().has_root = true;
  return added;
}

int32_t Author::Intern(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const int32_t id = static_cast<int32_t>(program_->names.size());
  program_->names.emplace_back(name);
  ids_.emplace(name, id);
  return id;
}

Instruction& Author::Add(Action action) {
  std::vector<Instruction>& list = program_->threads[static_cast<size_t>(thread_)].instructions;
  Instruction& added = list.emplace_back();
  added.action = action;
  added.when = when_;
  added.stream = stream_;
  added.step = step_;
  added.item = items_[static_cast<size_t>(thread_)]++;
  return added;
}

Instruction& Author::AddCall(Action action, std::string_view call, int64_t call_ns) {
  const int32_t name = Intern(call);
  Instruction& added = Add(action);
  added.name = name;
  added.ns = call_ns;
  return added;
}

void Author::Open(std::string_view name, FrameKind frame) {
  const int32_t id = Intern(name);
  Instruction& added = Add(Action::kOpen);
  added.name = id;
  added.frame = frame;
}

void Author::OpenOp(std::string_view name, int64_t rows) {
  Open(name, FrameKind::kOp);
  program_->threads[static_cast<size_t>(thread_)].instructions.back().rows = rows;
}

void Author::OpenComms(int32_t collective) {
  Open("record_param_comms", FrameKind::kOp);
  program_->threads[static_cast<size_t>(thread_)].instructions.back().collective = collective;
}

void Author::OpenData(std::string_view name) {
  Open(name, FrameKind::kAnnotation);
  program_->threads[static_cast<size_t>(thread_)].instructions.back().is_data = true;
}

void Author::Close(int32_t frames) {
  for (int32_t i = 0; i < frames; ++i) Add(Action::kClose);
}

void Author::BeginStep() {
  Open("ProfilerStep#" + std::to_string(step_), FrameKind::kAnnotation);
  program_->threads[static_cast<size_t>(thread_)].instructions.back().is_step = true;
}

void Author::EndStep() {
  Close();
  program_->steps = ++step_;
  std::ranges::fill(items_, 0);
}

void Author::LoadData(int64_t ns) {
  Instruction& added = Add(Action::kCompute);
  added.ns = ns;
  added.is_data = true;
}

void Author::ComputeWithPause(int64_t ns) {
  Instruction& added = Add(Action::kCompute);
  added.ns = ns;
  added.can_pause = true;
}

void Author::AddWork(const WorkSpec& spec, int32_t item) {
  const int32_t name = Intern(spec.name);
  program_->works.push_back({.kind = spec.kind,
                             .work_class = spec.work_class,
                             .phase = phase_,
                             .name = name,
                             .stream = stream_,
                             .collective = spec.collective,
                             .thread = thread_,
                             .step = step_,
                             .item = item,
                             .ns = spec.ns,
                             .bytes = spec.bytes});
}

void Author::Launch(std::string_view call, int64_t call_ns, const WorkSpec& spec, bool waits) {
  Instruction& added = AddCall(Action::kLaunch, call, call_ns);
  added.work = static_cast<int32_t>(program_->works.size());
  added.count = 1;
  added.waits = waits;
  AddWork(spec, added.item);
}

void Author::MoveToWhenOverlapped(int32_t stream) {
  program_->threads[static_cast<size_t>(thread_)].instructions.back().overlap_stream = stream;
}

void Author::LaunchGraph(std::string_view call, int64_t call_ns,
                         const std::vector<WorkSpec>& specs) {
  Instruction& added = AddCall(Action::kLaunch, call, call_ns);
  added.work = static_cast<int32_t>(program_->works.size());
  added.count = static_cast<int32_t>(specs.size());
  // Each work has a number of its own, as if it had been launched by itself.
  int32_t item = added.item;
  for (const WorkSpec& spec : specs) AddWork(spec, item++);
  items_[static_cast<size_t>(thread_)] = item + 1;
}

void Author::WaitStream(std::string_view call, int64_t call_ns) {
  AddCall(Action::kWaitStream, call, call_ns);
}

void Author::WaitDevice(std::string_view call, int64_t call_ns) {
  AddCall(Action::kWaitDevice, call, call_ns);
}

void Author::WaitEvent(std::string_view call, int64_t call_ns, int32_t event) {
  AddCall(Action::kWaitEvent, call, call_ns).event = event;
}

int32_t Author::Record(int64_t call_ns) {
  const int32_t event = NewEvent();
  AddCall(Action::kRecord, "cudaEventRecord", call_ns).event = event;
  return event;
}

void Author::StreamWait(int64_t call_ns, int32_t event) {
  AddCall(Action::kStreamWait, "cudaStreamWaitEvent", call_ns).event = event;
}

}  // namespace borescope::simulation
