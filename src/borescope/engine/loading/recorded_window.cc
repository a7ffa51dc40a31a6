#include "borescope/engine/loading/recorded_window.h"

namespace borescope::internal {
namespace {

std::optional<int64_t> MainProcess(const Trace& trace) {
  const Tracks& tracks = trace.tracks();
  std::optional<int64_t> process;
  uint32_t most = 0;
  for (uint32_t i = 0; i < tracks.size(); ++i) {
    const uint32_t rows = tracks.end_row[i] - tracks.first_row[i];
    if (tracks.kind[i] == TrackKind::kHost && rows > most && tracks.pid[i] != kMissing) {
      most = rows;
      process = tracks.pid[i];
    }
  }
  return process;
}

}  // namespace

RecordedWindow WindowOf(const Trace& trace) {
  RecordedWindow window;
  window.process = MainProcess(trace);
  if (const std::optional<int64_t> base = trace.meta().base_ns) {
    window.begin_ns = *base + trace.begin_ns();
    window.end_ns = *base + trace.end_ns();
  }
  return window;
}

}  // namespace borescope::internal
