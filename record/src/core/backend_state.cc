#include "core/backend_state.h"

#include "core/clock.h"
#include "core/text.h"

namespace borescope::inject {

void WriteBackendState(const char* backend, recording::StateKind kind, const char* what,
                       int result) {
  char text[256];
  TextBuilder builder(text, sizeof(text));
  builder.Add(backend).Add(": ").Add(what);
  if (result != 0) {
    const uint64_t size =
        result < 0 ? 0 - static_cast<uint64_t>(int64_t{result}) : static_cast<uint64_t>(result);
    builder.Add(result < 0 ? " (status -" : " (status ").Add(size).Add(")");
  }
  const uint64_t body[] = {Now()};
  Write(recording::RecordType::kState, static_cast<uint32_t>(kind), body, text, builder.length());
}

}  // namespace borescope::inject
