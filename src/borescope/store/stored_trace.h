// A trace with its indexes as the bytes of a file, and back: docs/use/cache.md has the format.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/index/trace_index.h"
#include "borescope/store/file_identity.h"
#include "borescope/store/store_folder.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

struct StoredTrace {
  Trace trace;
  TraceIndex index;
};

// What is not stored, because it is not in the content of an input.
struct StoredSource {
  std::string file;                            // Meta::file
  Remedy (*remedy_of)(TraceFormat) = nullptr;  // Meta::remedy
};

// Writes a trace and the index of it under the key of its inputs. kInvalidArgument for one that
// ReadStoredTrace would refuse: one with captured calls, or whose rows are not as it expects.
// The first piece is the head of the file, stored_head.h.
Result<void> WriteStoredTrace(const Trace& trace, const TraceIndex& index, const ContentHash& key,
                              const SecretHash& hash, int threads, const PutPiece& put);

// The trace whose bytes these are, which `memory` keeps alive; columns and texts are views of them.
// Nothing in them is believed: kCorrupt says what is wrong where they are not those of this build,
// of this key, or whole, or where any number in them leads nowhere.
Result<StoredTrace> ReadStoredTrace(std::string_view bytes, std::shared_ptr<const void> memory,
                                    const ContentHash& key, const StoredSource& source,
                                    const SecretHash& hash, int threads);

// For tests and fuzzing: where the checksums of the bytes are, so that a change of them can be
// hidden from these. Puts right all that a change inside sections has made wrong; bytes that are no
// stored trace stay as they are.
void SealStoredTrace(const SecretHash& hash, std::string& bytes);

}  // namespace borescope::internal
