#include "tests/support/writing/scenario_faults.h"

#include <algorithm>

namespace borescope::scenario {
namespace {

constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kImpossibleNs = 10'000'000'000'000'000;  // 10^13 us, four months
constexpr int64_t kJumpNs = 3'250'000'000;

// Indexes of the events that fit. Events that carry a fault already never do.
template <class Event, class Fits>
std::vector<size_t> FindAll(const std::vector<Event>& events, Fits fits) {
  std::vector<size_t> found;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].fault == Fault::kNone && fits(events[i])) found.push_back(i);
  }
  return found;
}

RuntimeCall& CallOf(StepBatch* batch, const DeviceEvent& event) {
  return batch->calls[static_cast<size_t>(event.call)];
}

bool IsLeafOp(const HostEvent& event) {
  return event.kind == HostKind::kOp && event.is_leaf && event.sequence < 0;
}

}  // namespace

FaultInjector::FaultInjector(const ScenarioConfig& config, const KernelCatalog& catalog)
    : config_(config),
      catalog_(catalog),
      random_(MixSeed(config.seed ^ 0xFA017)),
      truncates_(static_cast<size_t>(config.ranks)),
      jump_ns_(static_cast<size_t>(config.ranks)) {
  for (const FaultRequest& request : config.faults) {
    for (int64_t i = 0; i < request.count; ++i) {
      if (request.fault == Fault::kTruncated) {
        if (i < config.ranks) truncates_[static_cast<size_t>(i)] = true;
        continue;
      }
      planned_.push_back({.fault = request.fault,
                          .rank = static_cast<int>(random_.Below(config.ranks)),
                          .step = random_.Below(std::max<int64_t>(1, config.steps))});
    }
  }
}

bool FaultInjector::Truncates(int rank) const { return truncates_[static_cast<size_t>(rank)]; }

void FaultInjector::Apply(int rank, StepBatch* batch) {
  std::erase_if(planned_, [&](const Planned& planned) {
    return planned.rank == rank && planned.step <= batch->step && Plant(planned.fault, rank, batch);
  });
  JumpClock(rank, batch);
}

const size_t* FaultInjector::Pick(const Indexes& indexes) {
  if (indexes.empty()) return nullptr;
  return &indexes[static_cast<size_t>(random_.Below(static_cast<int64_t>(indexes.size())))];
}

bool FaultInjector::Plant(Fault fault, int rank, StepBatch* batch) {
  switch (fault) {
    case Fault::kMissingLaunch:
      return PlantMissingLaunch(batch);
    case Fault::kOrphanLaunch:
      return PlantOrphanLaunch(batch);
    case Fault::kNegativeDuration:
      return PlantNegativeDuration(batch);
    case Fault::kImpossibleDuration:
      return PlantImpossibleDuration(batch);
    case Fault::kKernelBeforeLaunch:
      return PlantKernelBeforeLaunch(batch);
    case Fault::kStreamOverlap:
      return PlantStreamOverlap(batch);
    case Fault::kDuplicateCorrelation:
      return PlantDuplicateCorrelation(batch);
    case Fault::kClockJump:
      return PlantClockJump(rank, batch);
    case Fault::kNanValue:
    case Fault::kDuplicateKey:
    case Fault::kStringNumbers:
      return PlantInDeviceText(fault, batch);
    case Fault::kMissingField:
      return PlantMissingField(batch);
    default:
      return PlantInHostText(fault, batch);
  }
}

// A launch of exactly this one event.
bool FaultInjector::IsLonelyLaunch(const StepBatch& batch, const DeviceEvent& event) const {
  const RuntimeCall& call = batch.calls[static_cast<size_t>(event.call)];
  return call.device_count == 1 && call.fault == Fault::kNone && !call.is_dropped &&
         !call.is_pinned && !event.is_dropped && !event.is_pinned && event.collective < 0;
}

bool FaultInjector::IsComputeKernel(const DeviceEvent& event) const {
  return catalog_.Get(event.kernel).kind == DeviceKind::kKernel && event.collective < 0 &&
         !event.is_dropped && !event.is_pinned;
}

bool FaultInjector::PlantMissingLaunch(StepBatch* batch) {
  const Indexes found = FindAll(
      batch->device, [&](const DeviceEvent& event) { return IsLonelyLaunch(*batch, event); });
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  DeviceEvent& event = batch->device[*index];
  event.fault = Fault::kMissingLaunch;
  event.external_id = 0;  // the recorder takes it from the launch
  CallOf(batch, event).is_dropped = true;
  return true;
}

bool FaultInjector::PlantOrphanLaunch(StepBatch* batch) {
  const Indexes found = FindAll(
      batch->device, [&](const DeviceEvent& event) { return IsLonelyLaunch(*batch, event); });
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  DeviceEvent& event = batch->device[*index];
  event.is_dropped = true;
  CallOf(batch, event).fault = Fault::kOrphanLaunch;
  return true;
}

bool FaultInjector::PlantNegativeDuration(StepBatch* batch) {
  if (random_.Below(2) == 0) {
    const Indexes found = FindAll(batch->device, [&](const DeviceEvent& event) {
      return IsComputeKernel(event) && event.dur_ns > 0;
    });
    const size_t* index = Pick(found);
    if (index == nullptr) return false;
    batch->device[*index].dur_ns *= -1;
    batch->device[*index].fault = Fault::kNegativeDuration;
    return true;
  }
  std::vector<HostEvent>& events = batch->host[static_cast<size_t>(random_.Below(kThreads))];
  const Indexes found =
      FindAll(events, [](const HostEvent& event) { return IsLeafOp(event) && event.dur_ns > 0; });
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  events[*index].dur_ns *= -1;
  events[*index].fault = Fault::kNegativeDuration;
  return true;
}

bool FaultInjector::PlantImpossibleDuration(StepBatch* batch) {
  const Indexes found =
      FindAll(batch->device, [&](const DeviceEvent& event) { return IsComputeKernel(event); });
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  batch->device[*index].dur_ns = kImpossibleNs;
  batch->device[*index].fault = Fault::kImpossibleDuration;
  return true;
}

// Fits where the stream was idle before the launch, so that no overlap is planted as well.
bool FaultInjector::PlantKernelBeforeLaunch(StepBatch* batch) {
  constexpr int64_t kEarlyNs = 2 * kMicrosecond;
  int64_t stream_end_ns[kStreams] = {};
  Indexes found;
  for (size_t i = 0; i < batch->device.size(); ++i) {
    const DeviceEvent& event = batch->device[i];
    int64_t& end_ns = stream_end_ns[static_cast<size_t>(event.stream)];
    const bool was_idle = end_ns != 0 && end_ns <= CallOf(batch, event).ts_ns - kEarlyNs;
    if (was_idle && event.fault == Fault::kNone && IsComputeKernel(event) &&
        IsLonelyLaunch(*batch, event)) {
      found.push_back(i);
    }
    end_ns = std::max(end_ns, event.ts_ns + event.dur_ns);
  }
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  DeviceEvent& event = batch->device[*index];
  event.ts_ns = CallOf(batch, event).ts_ns - kEarlyNs;
  event.fault = Fault::kKernelBeforeLaunch;
  return true;
}

// The earlier of two neighbours runs on until the middle of the later one.
bool FaultInjector::PlantStreamOverlap(StepBatch* batch) {
  Indexes found;
  std::vector<size_t> before(batch->device.size());
  size_t last[kStreams] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  for (size_t i = 0; i < batch->device.size(); ++i) {
    const DeviceEvent& event = batch->device[i];
    size_t& previous = last[static_cast<size_t>(event.stream)];
    const bool fits =
        event.fault == Fault::kNone && IsComputeKernel(event) && event.dur_ns >= 4 * kMicrosecond;
    if (fits && previous != SIZE_MAX && IsComputeKernel(batch->device[previous]) &&
        batch->device[previous].fault == Fault::kNone) {
      before[i] = previous;
      found.push_back(i);
    }
    previous = i;
  }
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  DeviceEvent& event = batch->device[*index];
  const int64_t middle_ns = event.ts_ns + event.dur_ns / 2 / kMicrosecond * kMicrosecond;
  batch->device[before[*index]].dur_ns = middle_ns - batch->device[before[*index]].ts_ns;
  batch->device[before[*index]].is_pinned = true;
  event.fault = Fault::kStreamOverlap;
  return true;
}

// Both launches of the pair are in one op, so that what the work belongs to stays clear.
bool FaultInjector::PlantDuplicateCorrelation(StepBatch* batch) {
  Indexes found;
  const auto fits = [&](const RuntimeCall& call) {
    return call.op >= 0 && call.device_count == 1 && call.fault == Fault::kNone &&
           !call.is_dropped &&
           IsLonelyLaunch(*batch, batch->device[static_cast<size_t>(call.device_begin)]);
  };
  for (size_t i = 1; i < batch->calls.size(); ++i) {
    const RuntimeCall& first = batch->calls[i - 1];
    const RuntimeCall& second = batch->calls[i];
    const bool same_op = first.op == second.op && first.thread == second.thread;
    if (same_op && fits(first) && fits(second)) found.push_back(i);
  }
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  const RuntimeCall& first = batch->calls[*index - 1];
  RuntimeCall& second = batch->calls[*index];
  DeviceEvent& event = batch->device[static_cast<size_t>(second.device_begin)];
  second.correlation = first.correlation;
  event.correlation = first.correlation;
  if (config_.era == Era::kIntUs) second.external_id = event.external_id = first.correlation;
  second.fault = Fault::kDuplicateCorrelation;
  batch->calls[*index - 1].is_pinned = true;
  return true;
}

bool FaultInjector::PlantClockJump(int rank, StepBatch* batch) {
  std::vector<HostEvent>& events = batch->host[static_cast<size_t>(Thread::kBackward)];
  if (events.empty() || events[0].fault != Fault::kNone) return false;
  events[0].fault = Fault::kClockJump;
  jump_ns_[static_cast<size_t>(rank)] += kJumpNs;
  return true;
}

void FaultInjector::JumpClock(int rank, StepBatch* batch) {
  const int64_t jump_ns = jump_ns_[static_cast<size_t>(rank)];
  if (jump_ns == 0) return;
  for (HostEvent& event : batch->host[static_cast<size_t>(Thread::kBackward)]) {
    event.ts_ns += jump_ns;
  }
  for (RuntimeCall& call : batch->calls) {
    if (call.thread == Thread::kBackward) call.ts_ns += jump_ns;
  }
  for (MemoryEvent& event : batch->memory) {
    if (event.thread == Thread::kBackward) event.ts_ns += jump_ns;
  }
}

bool FaultInjector::PlantInDeviceText(Fault fault, StepBatch* batch) {
  const bool wants_copy = fault == Fault::kNanValue && config_.vendor == Vendor::kAmd;
  const Indexes found = FindAll(batch->device, [&](const DeviceEvent& event) {
    const DeviceKind kind = catalog_.Get(event.kernel).kind;
    if (event.is_dropped) return false;
    return wants_copy ? kind == DeviceKind::kMemcpy : kind == DeviceKind::kKernel;
  });
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  batch->device[*index].fault = fault;
  return true;
}

// Names are damaged where no table is keyed by them: annotations and Python frames.
bool FaultInjector::PlantInHostText(Fault fault, StepBatch* batch) {
  const bool in_args = fault == Fault::kBigInteger || fault == Fault::kNullArgs;
  const bool on_main = !in_args || random_.Below(2) == 0;
  std::vector<HostEvent>& events = batch->host[on_main ? 0 : 1];
  const Indexes found = FindAll(events, [&](const HostEvent& event) {
    return in_args ? IsLeafOp(event) : event.kind != HostKind::kOp && event.number < 0;
  });
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  events[*index].fault = fault;
  return true;
}

// The event is lost; a call that nothing refers to is the least harm.
bool FaultInjector::PlantMissingField(StepBatch* batch) {
  const Indexes found = FindAll(batch->calls, [](const RuntimeCall& call) {
    return call.api == Api::kStreamIsCapturing || call.api == Api::kFuncSetAttribute;
  });
  const size_t* index = Pick(found);
  if (index == nullptr) return false;
  batch->calls[*index].fault = Fault::kMissingField;
  return true;
}

}  // namespace borescope::scenario
