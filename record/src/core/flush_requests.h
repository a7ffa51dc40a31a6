// Requests from outside to fetch what devices did: `borescope record flush`. One thread of a
// process follows them, and says that it has.
#pragma once

#include <cstdint>

#include "borescope/recording/log_format.h"

namespace borescope::inject {

class FlushRequests {
 public:
  // What was asked for before is not followed. Where all places are taken, requests are followed,
  // and nobody waits for the answer.
  void Begin();
  // Whether there is a request that was not answered; Answer is then for this one.
  bool IsAsked();
  void Answer();
  // Nobody waits for this process any more.
  void End();

 private:
  recording::FlusherSlot* slot_ = nullptr;
  uint32_t seen_ = 0;
};

}  // namespace borescope::inject
