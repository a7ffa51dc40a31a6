// Of which process, and when, a recording was made: what shows whether two recordings are windows
// of one process. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "borescope/trace/trace.h"

namespace borescope::internal {

struct RecordedWindow {
  std::optional<int64_t> process;  // the one with the most events of the host
  // By the clock on the wall (Unix time); nothing where the recording does not say.
  std::optional<int64_t> begin_ns;
  std::optional<int64_t> end_ns;

  bool operator==(const RecordedWindow&) const = default;
};

RecordedWindow WindowOf(const Trace& trace);

}  // namespace borescope::internal
