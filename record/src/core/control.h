// Starting and stopping all processes of the run, by the page that they share.
#pragma once

#include <cstdint>

namespace borescope::inject {

// Starts count: recording goes on until as many stops.
void StartRecording();
void StopRecording();

// The same for rules, within an epoch of the page: what the launcher has ended since then neither
// starts nor stops anything.
void StartRecordingIn(uint16_t epoch);
void StopRecordingIn(uint16_t epoch);

}  // namespace borescope::inject
