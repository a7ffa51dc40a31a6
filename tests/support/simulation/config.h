// What to simulate: the kind of program, the machine, and all that makes ranks, steps and runs
// differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::simulation {

enum class ProgramKind : uint8_t {
  kHostBound,    // eager training: small kernels, the device waits for launches
  kDeviceBound,  // eager training: large kernels, the launch queue fills up
  kDataBound,    // eager training that waits for its data loader
  kInference,    // a graph and a synchronisation for each token
  kDdp,          // training of several ranks: gradients are summed beside the backward pass
  kStreams,      // two compute streams that wait for each other's events
  kCopies,       // pageable copies and values read back by the host
  kRandom,       // parts of all of them, by the seed
  kCount
};
std::string_view ProgramKindName(ProgramKind kind);
std::optional<ProgramKind> FindProgramKind(std::string_view name);

// Times of the machine, ns. Each is the shortest time from the one moment to the other.
struct Constants {
  int64_t launch_ns = 6'000;        // begin of a launch call -> start of a kernel
  int64_t copy_launch_ns = 8'000;   // likewise of a copy or memset
  int64_t graph_launch_ns = 9'000;  // likewise of the first kernel of a graph
  int64_t gap_ns = 1'200;           // end of work -> start of the next on its stream
  int64_t graph_gap_ns = 700;       // likewise inside of a graph
  int64_t event_ns = 2'500;       // end of the work before a record -> start of work after its wait
  int64_t return_ns = 4'000;      // end of awaited work -> end of the waiting call
  int64_t unblock_ns = 3'000;     // start of work that frees a slot -> end of the blocked call
  int64_t hand_over_ns = 12'000;  // signal -> the other thread goes on
  int64_t graph_call_ns = 10'000;  // host time of a graph launch made by a change, and more
  int64_t graph_node_ns = 300;     // for each of its kernels
  int64_t alpha_ns = 15'000;       // of a collective: all have entered -> the first byte
  double bytes_per_ns = 150.0;     // of a collective
  int32_t queue_depth = 1024;      // launches of a stream that may wait to start
};

enum class StragglerCause : uint8_t {
  kSlowDevice,  // all its device work takes longer
  kClock,       // its compute-bound work takes longer, the more the longer the run lasts
  kMoreWork,    // its matrix products are larger
  kData,        // its batches come late
  kHost,        // its host is slower
  kLaunch,      // its launch calls are slower
  kPause,       // its host pauses, in every third step
  kNetwork,     // its collectives take longer
  kLateStart,   // it begins later
  kCount
};
std::string_view StragglerCauseName(StragglerCause cause);
std::optional<StragglerCause> FindStragglerCause(std::string_view name);

struct Straggler {
  int32_t rank = 0;
  StragglerCause cause = StragglerCause::kSlowDevice;
  double percent = 10.0;  // of what is slower; of a step for data, pauses and a late start
};

enum class SlowCause : uint8_t {
  kDataStall,  // the batch of every seventh step comes late
  kOperator,   // the work of an operator takes longer in some steps and shorter in others
  kHostTime,   // likewise the time of the host
  kPause,      // the host pauses once, in the step after the middle one
  kWork,       // steps have more or less to do: device work and sizes of matrices change alike
  kTrend,      // all device work of a step takes longer than that of the step before
  kCount
};
std::string_view SlowCauseName(SlowCause cause);
std::optional<SlowCause> FindSlowCause(std::string_view name);

struct SlowSteps {
  SlowCause cause = SlowCause::kDataStall;
  double percent = 10.0;  // of a step; of the work for the operator, of host time, of a step's work
};

// How the clock of a rank differs: what it shows is t + offset + t x drift, and from `jump_at_ns`
// on `jump_ns` more.
struct RankClock {
  int64_t offset_ns = 0;
  double drift_ppm = 0.0;
  int64_t jump_at_ns = 0;
  int64_t jump_ns = 0;
  int64_t device_ns = 0;  // by which the clock of its device is ahead of that of its host
};

struct SimulationConfig {
  ProgramKind program = ProgramKind::kHostBound;
  uint64_t seed = 1;
  uint64_t run = 0;   // runs of equal seed do the same, but take other times
  int32_t ranks = 0;  // 0: as many as the program has by itself
  int32_t steps = 5;
  Constants constants;

  // Standard deviations, as shares.
  double jitter = 0.0;            // of every single time of host and device
  double step_noise = 0.0;        // of all times of a step together
  double step_correlation = 0.0;  // of the noise of a step with that of the one before
  double run_noise = 0.0;         // of all host times of a run together
  double run_device_noise = 0.0;  // of all device times of a run together

  // Of ranks: clocks of their own, drawn up to these.
  int64_t clock_offset_ns = 0;
  double clock_drift_ppm = 0.0;
  int64_t clock_jump_ns = 0;  // of one rank, in the middle of the run
  int64_t device_clock_ns = 0;
  int64_t exit_bias_ns = 0;  // by which a rank leaves all collectives later, up to
  int64_t tail_ns = 0;       // by which any rank leaves any collective later, up to
  std::vector<Straggler> stragglers;
  std::vector<SlowSteps> slow_steps;

  // How it is written.
  bool has_flows = true;       // arrows from calls to work (ac2g)
  double shifted_share = 0.0;  // of device work that is written `shifted_ns` later: a lie
  int64_t shifted_ns = 1'000'000;
  double unlinked_share = 0.0;  // of launches whose calls are not written
  bool has_whole_us = false;    // as before PyTorch 2.3: fractions of microseconds are cut off
  bool has_shapes = false;      // sizes of the inputs of operators
  bool has_syncs = false;       // records of waits (cuda_sync)
};

// "3:host:10,1:data" -> two stragglers (a share left out means 10). Nothing when a part is unknown.
std::optional<std::vector<Straggler>> ParseStragglers(std::string_view text);
// "data-stall:30,pause" -> two causes, likewise.
std::optional<std::vector<SlowSteps>> ParseSlowSteps(std::string_view text);

}  // namespace borescope::simulation
