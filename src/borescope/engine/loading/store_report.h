// How an input was used with the store of indexed traces (docs/use/cache.md).
#pragma once

#include <cstdint>
#include <string>

namespace borescope::internal {

// What the store of indexed traces had to do with a load.
enum class StoreUse : uint8_t {
  kNone,   // there is none, or it is not for this kind of input
  kFound,  // the trace comes from there
  kKept,   // it was loaded and is there now
  kFailed  // it was loaded, and something about the store is not right
};
struct StoreReport {
  StoreUse use = StoreUse::kNone;
  std::string reason;  // of a failure
};

}  // namespace borescope::internal
