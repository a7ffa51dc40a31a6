// A host thread that launches work, and a device that runs it in order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/support/model/scenario_random.h"
#include "tests/support/planted/planted_run.h"

namespace borescope::scenario {

inline constexpr int64_t kUsNs = 1'000;

struct MachineWork {
  std::string_view name;
  int64_t dur_ns = 0;
  bool is_copy = false;
  bool is_comm = false;
};

// How a launch differs from a usual one.
struct LaunchAs {
  int64_t call_ns = 0;         // length of the call; 0: usual
  int64_t held_ns = 0;         // by which the work begins later than it could
  bool is_recorded = true;     // the call
  int64_t between_ns = 0;      // pause before each but the first kernel of a graph
  std::string_view call = {};  // name; empty: usual
};

// What the program did, so that it can do the same again while it is recorded: how long the host
// took for each thing, and how often it did it.
class Script {
 public:
  // From now on the same values again.
  void Replay() { next_ = 0; }
  bool is_replayed() const { return next_ != kWrites; }
  // The first time `value`, later what it was then.
  int64_t Same(int64_t value) {
    if (next_ == kWrites) {
      values_.push_back(value);
      return value;
    }
    return values_.at(next_++);
  }

 private:
  static constexpr size_t kWrites = ~size_t{0};
  std::vector<int64_t> values_;
  size_t next_ = kWrites;
};
using Scripts = std::vector<Script>;  // by rank

// What recording an event costs the host; nothing where that is not simulated.
struct ProfilerCost {
  int64_t before_op_ns = 0;
  int64_t after_op_ns = 0;
  int64_t launch_ns = 0;
};

class Machine {
 public:
  // The device is free from `free_ns` on.
  Machine(uint64_t seed, int64_t begin_ns, int64_t free_ns, PlantedRank* rank, Script* script);

  int64_t now_ns() const { return now_ns_; }
  // When the device will have done all that was launched.
  int64_t free_ns() const { return free_ns_; }
  int64_t JitterUs(int64_t low_us, int64_t high_us);

  Script& script() { return *script_; }
  void SetCost(const ProfilerCost& cost) { cost_ = cost; }
  const ProfilerCost& cost() const { return cost_; }
  // The host is busy for so long with nothing that is recorded.
  void Pass(int64_t ns) { now_ns_ += ns; }
  // The host does this until then, or not at all if that is over.
  void DoUntil(FrameKind kind, std::string_view name, int64_t until_ns);
  // The host is in a call until then, or not at all if that is over.
  void CallUntil(std::string_view call, int64_t until_ns);
  // The device runs work that was launched before the recording; its number is recorded or not.
  void Inherit(const MachineWork& work, bool has_number);
  // The host is blocked until the device has done what ends then.
  void WaitFor(int64_t work_end_ns, std::string_view call);
  // Launches works that run one after the other: several are a graph. Returns for how long the
  // device was idle before and between them.
  int64_t Launch(const std::vector<MachineWork>& works, const LaunchAs& as = {});
  // The same of one collective whose end depends on others: launches it and returns its begin.
  int64_t BeginCollective();
  void EndCollective(int64_t end_ns);
  // The recording ends now.
  void Finish();

 private:
  int64_t BeginOf(int64_t launch_ns, const LaunchAs& as);
  void Add(const MachineWork& work, int64_t begin_ns, int64_t correlation);
  int64_t Call(std::string_view name, int64_t dur_ns);

  // What was called before the recording began has the numbers up to this one.
  static constexpr int64_t kCallsBefore = 1000;

  Random random_;
  PlantedRank* rank_;
  Script* script_;
  ProfilerCost cost_;
  int64_t begin_ns_;
  int64_t now_ns_;
  int64_t free_ns_;
  int64_t last_end_ns_;  // of the work so far; before the first the begin of the recording
  int64_t correlation_ = kCallsBefore;
  int64_t inherited_ = 0;
};

}  // namespace borescope::scenario
