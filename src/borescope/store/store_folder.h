// The files in the folder of a store: how they are called, and which go first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/store/secret_hash.h"

namespace borescope::internal {

inline constexpr std::string_view kTraceEnding = ".trace";  // an indexed trace
inline constexpr std::string_view kSeenEnding = ".seen";    // what the content of a file was

// Makes the folder, for this user alone (mode 0700), unless it exists; and those around it that are
// missing, with the modes that folders of this process have. kIo where it cannot be made, or is
// none.
Result<void> MakeStoreFolder(const std::string& folder);

// The secret of the folder, made at first, the same for all processes that ask at once: whoever may
// read the files may read it, too.
Result<SecretHash::Secret> SecretOfFolder(const std::string& folder);

// Removes traces and what is remembered of files, that were used longest ago, until what is left
// takes no more bytes, and drafts of processes that were killed. Only ordinary files of this user
// whose names and first bytes are those of the store; what cannot be removed stays.
void RemoveOldest(const std::string& folder, uint64_t most_bytes);

// A file was used now.
void MarkUsed(const std::string& path);

}  // namespace borescope::internal
