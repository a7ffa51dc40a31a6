// Starting and stopping all processes of the run, by the page that they share.
#pragma once

namespace borescope::inject {

// Starts count: recording goes on until as many stops.
void StartRecording();
void StopRecording();

}  // namespace borescope::inject
