#include "tests/support/planted/planted_machine.h"

#include <algorithm>

namespace borescope::scenario {
namespace {

constexpr int64_t kPid = 100;
constexpr int64_t kTid = 101;
constexpr int64_t kStream = 7;
constexpr int64_t kCommStream = 20;

}  // namespace

Machine::Machine(uint64_t seed, int64_t begin_ns, int64_t free_ns, PlantedRank* rank,
                 Script* script)
    : random_(seed),
      rank_(rank),
      script_(script),
      begin_ns_(free_ns),
      now_ns_(begin_ns),
      free_ns_(free_ns),
      last_end_ns_(free_ns) {}

int64_t Machine::JitterUs(int64_t low_us, int64_t high_us) {
  return low_us * kUsNs + random_.Below((high_us - low_us) * kUsNs + 1);
}

void Machine::DoUntil(FrameKind kind, std::string_view name, int64_t until_ns) {
  const int64_t dur_ns = script_->Same(until_ns - now_ns_);
  if (dur_ns <= 0) {
    return;
  }
  if (!name.empty()) {
    rank_->frames.push_back({kind, std::string(name), kPid, kTid, now_ns_, now_ns_ + dur_ns});
  }
  now_ns_ += dur_ns;
}

void Machine::CallUntil(std::string_view call, int64_t until_ns) {
  const int64_t dur_ns = script_->Same(until_ns - now_ns_);
  if (dur_ns > 0) {
    Call(call, dur_ns);
  }
}

void Machine::Inherit(const MachineWork& work, bool has_number) {
  constexpr int64_t kMostInherited = 100;
  Add(work, free_ns_ + (inherited_ == 0 ? 0 : 1'000),
      has_number ? kCallsBefore - kMostInherited + inherited_ : 0);
  ++inherited_;
}

int64_t Machine::Call(std::string_view name, int64_t dur_ns) {
  rank_->frames.push_back(
      {FrameKind::kCall, std::string(name), kPid, kTid, now_ns_, now_ns_ + dur_ns, ++correlation_});
  now_ns_ += dur_ns;
  return correlation_;
}

void Machine::WaitFor(int64_t work_end_ns, std::string_view call) {
  Call(call, std::max<int64_t>(work_end_ns - now_ns_, 0) + JitterUs(1, 4));
}

int64_t Machine::BeginOf(int64_t launch_ns, const LaunchAs& as) {
  const bool is_long = as.call_ns > 0;
  const int64_t ready_ns =
      is_long ? launch_ns + as.call_ns : launch_ns + JitterUs(3, 6) + cost_.launch_ns;
  const int64_t queued_ns = free_ns_ + random_.Below(700) + 700;
  return std::max(ready_ns, queued_ns) + as.held_ns;
}

void Machine::Add(const MachineWork& work, int64_t begin_ns, int64_t correlation) {
  rank_->work.push_back({work.is_copy, std::string(work.name), 0,
                         work.is_comm ? kCommStream : kStream, begin_ns, begin_ns + work.dur_ns,
                         correlation});
  rank_->truth.exposed_comm_ns += work.is_comm ? work.dur_ns : 0;
  rank_->truth.exposed_copy_ns += work.is_copy ? work.dur_ns : 0;
  rank_->truth.idle_ns += begin_ns - last_end_ns_;
  last_end_ns_ = free_ns_ = begin_ns + work.dur_ns;
}

int64_t Machine::Launch(const std::vector<MachineWork>& works, const LaunchAs& as) {
  const int64_t launch_ns = now_ns_;
  const std::string_view usual = works.size() > 1        ? "cudaGraphLaunch"
                                 : works.front().is_copy ? "cudaMemcpyAsync"
                                                         : "cudaLaunchKernel";
  const int64_t call_ns = (as.call_ns > 0 ? as.call_ns : JitterUs(4, 8)) + cost_.launch_ns;
  int64_t correlation = 0;
  if (as.is_recorded) {
    correlation = Call(as.call.empty() ? usual : as.call, call_ns);
  } else {
    now_ns_ += call_ns;
  }
  const int64_t idle_before_ns = rank_->truth.idle_ns;
  int64_t begin_ns = BeginOf(launch_ns, as);
  for (const MachineWork& work : works) {
    Add(work, begin_ns, correlation);
    begin_ns = free_ns_ + (as.between_ns > 0 ? as.between_ns : 1'000);
  }
  now_ns_ += JitterUs(1, 5);
  return rank_->truth.idle_ns - idle_before_ns;
}

int64_t Machine::BeginCollective() {
  Launch({{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 0, false, true}});
  return free_ns_;
}

void Machine::EndCollective(int64_t end_ns) {
  PlantedWork& work = rank_->work.back();
  rank_->truth.exposed_comm_ns += end_ns - work.end_ns;
  work.end_ns = last_end_ns_ = free_ns_ = end_ns;
}

void Machine::Finish() {
  const int64_t end_ns = std::max(now_ns_, free_ns_);
  rank_->truth.idle_ns += end_ns - last_end_ns_;
  rank_->truth.span_ns = end_ns - begin_ns_;
}

}  // namespace borescope::scenario
