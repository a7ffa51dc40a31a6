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

// `starts`: how many there were before.
void FollowStart(uint32_t starts) {
  Apply();
  if (starts == 0) WriteState(StateKind::kStarted);
}

void FollowStop(uint32_t starts) {
  if (starts == 1) WriteState(StateKind::kStopped);
  Apply();
}

}  // namespace

void StartRecording() {
  if (IsEnabled()) FollowStart(recording::AddStart(*g_control));
}

void StopRecording() {
  if (!IsEnabled()) return;
  const uint32_t starts = recording::AddStop(*g_control);
  if (starts != 0) FollowStop(starts);
}

void StartRecordingIn(uint16_t epoch) {
  uint32_t starts = 0;
  if (IsEnabled() && recording::AddStartIn(*g_control, epoch, starts)) FollowStart(starts);
}

void StopRecordingIn(uint16_t epoch) {
  uint32_t starts = 0;
  if (IsEnabled() && recording::AddStopIn(*g_control, epoch, starts)) FollowStop(starts);
}

}  // namespace borescope::inject
