// What a scenario shall look like. Plain data: everything the generator does follows from it, and
// the same config always gives the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::scenario {

// The time that times are relative to: like Kineto's, a multiple of 7,889,238 s (a quarter of a
// mean year), the largest before the scenario begins in October 2025.
inline constexpr int64_t kBaseUnixNs = 1'759'300'074'000'000'000;

enum class Vendor : uint8_t { kNvidia, kAmd };

// How times are written. kIntUs also turns off what old profilers did not record yet.
enum class Era : uint8_t {
  kIntUs,    // up to PyTorch 2.2: whole, truncated microseconds since the Unix epoch
  kFloatUs,  // rewritten by a script: microseconds without trailing zeros ("22.5", "6.0")
  kNs,       // Kineto since 2024-04: microseconds with exactly three decimals
};

enum class LayoutKind : uint8_t {
  kKineto,   // Kineto's own writer
  kCompact,  // one event a line, no blanks, metadata events first (PyTorch's Python exporter)
  kOneLine,  // the whole file on one line
  kIndent4,  // json.dump(..., indent=4)
};

enum class BasePlace : uint8_t { kNone, kBefore, kAfter };

enum class Fault : uint8_t {
  kNone,
  // Faults of the recording: the text is valid, the events contradict each other.
  kMissingLaunch,
  kOrphanLaunch,
  kNegativeDuration,
  kImpossibleDuration,
  kKernelBeforeLaunch,
  kStreamOverlap,
  kDuplicateCorrelation,
  kClockJump,
  // Faults of the text: the tables of the truth describe the undamaged events.
  kNanValue,
  kBadUtf8,
  kControlChar,
  kUnescapedQuote,
  kBigInteger,
  kDuplicateKey,
  kNullArgs,
  kStringNumbers,
  // Faults of the text that lose the event: the tables leave it out.
  kMissingField,
  kTruncated,
  kCount,
};

std::string_view FaultName(Fault fault);
std::optional<Fault> FindFault(std::string_view name);
bool IsTextFault(Fault fault);

struct FaultRequest {
  Fault fault = Fault::kNone;
  int64_t count = 0;
};

struct ScenarioConfig {
  int ranks = 1;       // files written
  int world_size = 0;  // ranks of the job, 0 = as many as files; 1 = no collectives
  int64_t steps = 3;
  uint64_t seed = 1;
  int layers = 4;
  Vendor vendor = Vendor::kNvidia;
  Era era = Era::kNs;
  LayoutKind layout = LayoutKind::kKineto;
  BasePlace base_time = BasePlace::kBefore;
  bool absolute = false;   // times since the Unix epoch; implied by kIntUs
  bool bare_list = false;  // the file is a list of events, without an object around it
  bool with_stack = false;
  bool with_shapes = false;
  bool with_memory = false;
  bool cuda_graph = false;
  bool known_path = false;  // steps whose critical path is known, instead of a training's
  int straggler = -1;       // this rank's kernels are slow
  int64_t size_bytes = 0;   // repeat steps until all files together have this many bytes
  std::string file_suffix = ".json";
  std::vector<FaultRequest> faults;

  // Fills in what follows from other members; call once before use.
  void Normalize();

  bool HasCollectives() const { return world_size > 1; }
};

std::string_view VendorName(Vendor vendor);
std::string_view EraName(Era era);
std::string_view LayoutName(LayoutKind layout);
std::string_view BasePlaceName(BasePlace place);

// "a:2,b" -> two requests (a count left out means 1). Nothing when a name is unknown.
std::optional<std::vector<FaultRequest>> ParseFaults(std::string_view text);

// "64KB", "1GB", "1.5M", "1000": powers of ten. Nothing when it is not a size.
std::optional<int64_t> ParseSize(std::string_view text);

// The config as one JSON object, for truth.json.
std::string ConfigToJson(const ScenarioConfig& config);

}  // namespace borescope::scenario
