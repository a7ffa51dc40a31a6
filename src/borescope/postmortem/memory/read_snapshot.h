// Reads a memory snapshot of PyTorch, a pickle or the same as JSON, into plain values
// (snapshot.h). Events, blocks and segments become rows as they are read: no tree of the file
// exists.
#pragma once

#include <cstdint>
#include <string>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"
#include "borescope/postmortem/memory/snapshot.h"

namespace borescope::internal::postmortem {

struct SnapshotFile {
  MemorySnapshot snapshot;
  bool is_cut = false;      // the file ends in the middle
  uint64_t bad_fields = 0;  // numbers that are none, rows that are of another kind
  uint64_t bytes = 0;       // inflated
};

// Errors are those of ReadPlain, and kUnsupportedFormat for plain data that is no snapshot.
Result<SnapshotFile> ReadSnapshot(ByteSource& source);

}  // namespace borescope::internal::postmortem
