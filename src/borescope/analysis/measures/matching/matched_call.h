// The call of one rank in a collective that was found on several.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "borescope/trace/columns.h"

namespace borescope::internal {

struct MatchedCall {
  uint32_t key;      // number of the key that all ranks share
  uint32_t key_row;  // of the rank's own key, with its kernel and site
  uint32_t score;    // number of the rank
  int64_t step;
  int64_t position;
  int64_t count;
  int64_t dur_ns;    // of its kernels together
  int64_t begin_ns;  // of the first of them, on the clock of its file
  int64_t end_ns;    // of the last
  int64_t bytes;     // of its message; kMissing: not known
  uint32_t row;      // of table `calls`; of several calls that became one, of the first
};

// When the ranks of one collective entered and left it, on the clocks of their files. REQUIRES: one
// call at least.
struct Participation {
  int64_t first_begin_ns;
  int64_t last_begin_ns;
  int64_t first_end_ns;
  int64_t last_end_ns;

  explicit Participation(std::span<const MatchedCall> calls)
      : first_begin_ns(calls.front().begin_ns),
        last_begin_ns(first_begin_ns),
        first_end_ns(calls.front().end_ns),
        last_end_ns(first_end_ns) {
    for (const MatchedCall& call : calls) {
      first_begin_ns = std::min(first_begin_ns, call.begin_ns);
      last_begin_ns = std::max(last_begin_ns, call.begin_ns);
      first_end_ns = std::min(first_end_ns, call.end_ns);
      last_end_ns = std::max(last_end_ns, call.end_ns);
    }
  }
};

}  // namespace borescope::internal
