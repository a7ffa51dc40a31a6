// Serves one file over HTTP to programs of this machine, until one of them has it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "borescope/base/result.h"
#include "borescope/serve.h"
#include "borescope/serve/connection.h"
#include "borescope/serve/listener.h"
#include "borescope/serve/served_file.h"

namespace borescope::internal {

struct ServeLimits {
  std::chrono::milliseconds whole{300'000};  // until somebody has begun to fetch
  // Whether to go on once somebody has the file, until nobody asked for anything for `whole`.
  bool stays = false;
  size_t connections = 32;  // at once
  ClientLimits client;
};

// Answers requests as http_response.h says. Ends once a GET has all of the file (with `stays` when
// nobody asks any more), or nobody asked for it in time; those who are being answered at that
// moment still get their answers. Who connects and says nothing keeps nobody out: where there are
// too many clients, the one that has been silent for longest goes, never one that is being
// answered. `stop` may be set by another thread or by a signal handler, and is noticed within a
// fifth of a second. kIo, naming the address, when the system takes the listening socket away.
// Blocks, in the calling thread alone; it does not matter whether SIGPIPE is ignored.
Result<ServeEnd> ServeFile(const Listener& listener, const ServedFile& file,
                           const ServeLimits& limits, const std::atomic<bool>& stop);

}  // namespace borescope::internal
