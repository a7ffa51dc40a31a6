// Classes of dependencies that share one lag: from a launch of this name to its kernel, from work
// to the next of its stream, ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/id.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

enum class LagKind : uint8_t {
  kLaunch,  // begin of a launch call → start of its work, the stream being free
  kStream,  // end of work → start of the next of its stream, long launched
  kGraph,   // the same within one launch of a graph
  kEvent,   // end of work → start of work of another stream that waited for it
  kWait,    // end of the work that a call waits for → end of the call
  kQueue,   // start of the work that frees a place in a queue → end of the call that takes it
  kCall,    // a call that could wait and has nothing to wait for: begin → end
};
std::string_view LagKindName(LagKind kind);

// What a lag may depend on beside its kind.
struct LagKey {
  LagKind kind = LagKind::kLaunch;
  DeviceKind work = DeviceKind::kKernel;  // kLaunch, kStream: of the work that starts
  DeviceKind from = DeviceKind::kKernel;  // kStream: of the work before
  bool inferred = false;                  // kEvent, kWait
  StringId call = {};                     // kLaunch, kWait, kCall: its name
};

using LagClassId = uint16_t;
inline constexpr LagClassId kOwnLag = 0xffff;  // not of a class

class LagClasses {
 public:
  // The class of such dependencies, made where there is none. Those beyond 65,000, of a hostile
  // recording, share the last one.
  LagClassId IdOf(const LagKey& key);
  size_t size() const { return keys_.size(); }
  const LagKey& Key(LagClassId id) const { return keys_[id]; }
  // "cudaLaunchKernel → kernel", "kernel → kernel".
  std::string Describe(const Trace& trace, LagClassId id) const;

 private:
  struct Found {
    uint64_t packed = ~uint64_t{0};
    LagClassId id = 0;
  };

  std::vector<LagKey> keys_;
  HashMap<uint64_t, LagClassId> ids_;
  // The last of each kind, which is mostly asked for again.
  std::array<Found, static_cast<size_t>(LagKind::kCall) + 1> last_;
};

}  // namespace borescope::internal
