// Rows, texts and tracks have numbers of 32 bits. What would need more leaves by an exception, as
// memory that runs out does. Loading turns it into an Error about the file, and the doors of the
// engine by WithNumberedRows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "borescope/base/result.h"

namespace borescope::internal {

// Its text names what there is too much of, the cause and the remedy.
struct TooManyRows : std::length_error {
  explicit TooManyRows(std::string_view what);
};

// The largest number means "none" in many places.
inline constexpr uint32_t kMostNumbers = std::numeric_limits<uint32_t>::max() - 1;

// How many are possible at present: fewer in tests.
inline std::atomic<uint32_t> most_rows{kMostNumbers};

// Lowers the limit for all threads until the scope ends.
class RowLimitForTest {
 public:
  explicit RowLimitForTest(uint32_t most) { most_rows = most; }
  RowLimitForTest(const RowLimitForTest&) = delete;
  RowLimitForTest& operator=(const RowLimitForTest&) = delete;
  ~RowLimitForTest() { most_rows = kMostNumbers; }
};

// That many rows of `what` ("texts") as 32 bits; throws TooManyRows where they are too many.
inline uint32_t CheckedRows(size_t count, std::string_view what) {
  if (count > most_rows.load(std::memory_order_relaxed)) [[unlikely]] {
    throw TooManyRows(what);
  }
  return static_cast<uint32_t>(count);
}

// What `body` returns, a Result; an Error if it was left because there are too many rows.
template <class Body>
std::invoke_result_t<Body> WithNumberedRows(const Body& body) {
  try {
    return body();
  } catch (const TooManyRows& error) {
    return Error{ErrorCode::kInvalidArgument, error.what()};
  }
}

}  // namespace borescope::internal
