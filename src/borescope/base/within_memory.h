// Work that ends when it takes more memory than it may.
#pragma once

#include <new>
#include <optional>
#include <type_traits>

#include "borescope/base/memory_limit.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

// What `body` returns; nothing if it was left because it took more than `limit`, or the system gave
// no more. Without a limit, memory that runs out is an exception for the caller.
template <class Body>
std::optional<std::invoke_result_t<Body>> WithinMemory(const MemoryLimit& limit, const Body& body) {
  if (limit.bytes() == 0) {
    return body();
  }
  try {
    const StopScope scope({}, &limit);
    return body();
  } catch (const StopRequested&) {
    CheckStop();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace borescope::internal
