// The state of a source of device records, in the log.
#pragma once

#include "core/writer.h"

namespace borescope::inject {

// "BACKEND: WHAT (status N)"; without the status where it is 0, that of success. Thread-safe.
void WriteBackendState(const char* backend, recording::StateKind kind, const char* what,
                       int result);

}  // namespace borescope::inject
