// What collects device work, and must know at once when recording starts or stops in this process.
#pragma once

namespace borescope::inject {

// Called on the thread that started or stopped, which may be within a call of the driver: it waits
// for nobody.
using Follow = void (*)(bool is_recording);

// For the life of the process; at most a few. Any thread.
void AddFollower(Follow follow);

void CallFollowers(bool is_recording);

}  // namespace borescope::inject
