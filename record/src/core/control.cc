#include "core/control.h"

#include "borescope/recording/control.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/followers.h"
#include "core/state.h"
#include "core/writer.h"

namespace borescope::inject {

namespace {

using recording::RecordType;
using recording::StateKind;

void WriteState(StateKind state) {
  const uint64_t body[] = {Now()};
  Write(RecordType::kState, static_cast<uint32_t>(state), body);
}

void Apply() {
  const QuietSection quiet;
  recording::ApplyStarts(*g_control, Now());
  CallFollowers(IsRecording());
}

}  // namespace

void StartRecording() {
  if (!IsEnabled()) return;
  const bool is_first = recording::AddStart(*g_control) == 0;
  Apply();
  if (is_first) WriteState(StateKind::kStarted);
}

void StopRecording() {
  if (!IsEnabled()) return;
  const uint32_t starts = recording::AddStop(*g_control);
  if (starts == 0) return;
  if (starts == 1) WriteState(StateKind::kStopped);
  Apply();
}

}  // namespace borescope::inject
