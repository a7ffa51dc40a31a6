// Runs in which it is known what costs the time, for tests of the verdict: a healthy program, whose
// launches stay ahead of a busy device, with causes of lost time planted in it at chosen shares of
// the run. A host and a device are simulated, so that what each cause costs is counted where it
// happens.
//
//   PlantConfig      what to plant, and in what kind of program
//   PlannedSites     where it is planted           planted_plan.h
//   Machine          host, device and their clocks planted_machine.h
//   PlantedRun       the events, and the truth
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::scenario {

// What costs the time. Each before kCopies makes the device idle, by what is recorded.
enum class Cause : uint8_t {
  kLateHost,         // the host computes while the device has nothing to do, again and again
  kHostPause,        // once, for a garbage collection
  kSync,             // the host waits for the device, again and again, instead of running ahead
  kLongWait,         // once
  kDataLoading,      // the host waits for a batch
  kCodeLoading,      // single launch calls that take long
  kLaunchBound,      // many tiny kernels, faster than they are launched
  kGraphGaps,        // pauses between the kernels of one graph
  kHeldBack,         // launched work waits for what was not recorded
  kSetup,            // the host computes before the first launch
  kTeardown,         // the host computes after the last work
  kUnlinked,         // the host may be late: the launches after the gaps were not recorded
  kBeforeRecording,  // the device begins with work from before the recording; no loss
  kLateBegin,        // the first work begins long after its launch; nothing says why
  kUntraced,         // calls that copy, whose copies were not recorded
  kAllocation,       // the host allocates and frees memory in the steps
  kSilentHost,       // two or three long pauses in which the host records nothing
  kOptimizer,        // each step ends with tiny kernels of an optimizer, one for each parameter
  kCopies,           // copies beside which nothing runs
  kCommunication,    // collectives beside which nothing runs
  kMemoryBound,      // kernels as fast as the memory of the device
  kFp32Products,     // products of 32-bit numbers without matrix units
  kStraggler,        // one of four ranks comes late to the collectives
  kSlowHalf,         // two of four ranks come late to them, together
  kLateInTurn,       // in each step another rank comes late to them
  kCount,
};

// The kind of program, in which nothing is lost by itself.
enum class Setting : uint8_t {
  kPlain,
  kGraphs,        // several kernels to a launch
  kSkew,          // the clock of the device is up to 100 us off
  kOverlap,       // the host is up to four steps ahead of the device
  kProcesses,     // another process uses the same device
  kThreads,       // another thread of the process copies to it
  kRounded,       // times are whole microseconds
  kWholeProcess,  // recorded by a profiler of whole processes: files are of Nsight Systems
  kTwins,         // two processes do the same on one device, in step
  kInherited,     // the device was up to two steps behind when the recording began
  kProfiled,      // recording slows the host until the device waits for it; truth is without
  kCount,
};

// Whether it is about how ranks of a run differ.
bool IsOfRanks(Cause cause);

std::string_view CauseName(Cause cause);
std::optional<Cause> FindCause(std::string_view name);
std::string_view SettingName(Setting setting);
std::optional<Setting> FindSetting(std::string_view name);

struct Plant {
  Cause cause = Cause::kLateHost;
  int percent = 10;  // of the span
};

struct PlantConfig {
  uint64_t seed = 1;
  Setting setting = Setting::kPlain;
  std::vector<Plant> plants;

  bool Has(Cause cause) const;
};

enum class FrameKind : uint8_t { kOp, kAnnotation, kPython, kCall };

struct PlantedFrame {
  FrameKind kind = FrameKind::kOp;
  std::string name;
  int64_t pid = 0;
  int64_t tid = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t correlation = 0;  // of calls
  // Of operators, JSON as in files of Kineto; may be empty.
  std::string input_dims = {};
  std::string input_types = {};
};

struct PlantedWork {
  bool is_copy = false;
  std::string name;
  int64_t gpu = 0;
  int64_t stream = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t correlation = 0;  // 0: the launch was not recorded
};

// What the events cost, as simulated, on the clock of the host.
struct PlantedTruth {
  int64_t span_ns = 0;  // from the first to the last event; not what ran before the recording
  int64_t idle_ns = 0;  // of the span
  int64_t exposed_comm_ns = 0;
  int64_t exposed_copy_ns = 0;
  std::vector<int64_t> planted_ns;  // what each of the plants costs
};

struct PlantedRank {
  std::vector<PlantedFrame> frames;
  std::vector<PlantedWork> work;
  PlantedTruth truth;
};

struct PlantedRun {
  std::vector<PlantedRank> ranks;
  int straggler = -1;               // a rank that comes late; -1: none
  std::vector<int64_t> waiting_ns;  // of all ranks in collectives, by the rank that came last
};

// Equal configs give equal runs.
PlantedRun MakePlantedRun(const PlantConfig& config);

// "late-host:10,sync:3" -> two plants (a share left out means 10). Nothing when a name is unknown.
std::optional<std::vector<Plant>> ParsePlants(std::string_view text);

// The device of all runs, as drivers name it, and its compute capability.
inline constexpr std::string_view kPlantedDevice = "NVIDIA H100 80GB HBM3";
inline constexpr int kPlantedComputeMajor = 9;

// Whether the cause can be planted in the setting: in a recording that begins in the middle nobody
// waits for a host that sets up, and a host that recording slows has no lead to lose to waits.
bool CanBePlanted(Cause cause, Setting setting);

// A rank as a Kineto file.
std::string PlantedJson(const PlantedRun& run, int rank);

// A rank as Nsight Systems exports it: statements of SQL that make the database. Operators,
// annotations and frames are ranges, without their arguments.
std::string PlantedSql(const PlantedRun& run, int rank);

}  // namespace borescope::scenario
