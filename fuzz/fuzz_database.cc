// Whatever the pages of a database are: loading ends in an Error or in a trace, and a trace that
// was loaded can be indexed. The bytes follow "SQLite format 3", so that no other reader sees them.

#include <cstddef>
#include <cstdint>
#include <string>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMagicBytes = borescope::internal::kSqliteMagic.size();
  if (size < kMagicBytes) {
    return 0;
  }
  std::string bytes(borescope::internal::kSqliteMagic);
  bytes.append(reinterpret_cast<const char*>(data) + kMagicBytes, size - kMagicBytes);
  const borescope::internal::Result<borescope::internal::Trace> trace =
      borescope::internal::LoadBytes(bytes, "fuzz", {1, {}});
  if (trace.ok()) {
    borescope::internal::BuildIndex(*trace, 1);
  }
  return 0;
}
