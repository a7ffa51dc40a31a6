// Work that ends when it takes more memory than it may.
#pragma once

#include <cstddef>
#include <cstdlib>
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

// What RE2 takes at most for expressions as people write them.
inline constexpr size_t kExpressionBytes = size_t{256} << 10;

// Asks the system for so many bytes and gives them back: where there are none, std::bad_alloc is
// thrown here, and not in a library that does not survive it (RE2 while it reads an expression).
inline void AskForMemory(size_t bytes) {
  void* volatile memory = std::malloc(bytes);  // volatile: else compilers leave the pair out
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::free(memory);
}

}  // namespace borescope::internal
