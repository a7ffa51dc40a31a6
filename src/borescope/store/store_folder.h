// The files in the folder of a store: how they are called, and which go first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/store/file_identity.h"

namespace borescope::internal {

// Files of one user alone: written for nobody else, and believed of nobody else.

// The content of an ordinary file of this user to which nobody else may write; no link. In memory,
// at the beginning of a page.
class PrivateFile {
 public:
  // Mapped where the file lies on a file system of this machine (KeepsChangeTimes), else read: over
  // a network, what another machine removes can no longer be read from a mapping. A mapped file
  // that becomes shorter ends the process, and what is written into it in place may be seen, so
  // this is for files that are never written to once they have their name. kIo says why it cannot
  // be read.
  static Result<std::shared_ptr<const PrivateFile>> Map(const std::string& path);
  // Read in any case.
  static Result<std::shared_ptr<const PrivateFile>> Read(const std::string& path);

  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;
  ~PrivateFile();

  std::string_view bytes() const { return bytes_; }

 private:
  static Result<std::shared_ptr<const PrivateFile>> Opened(const std::string& path, bool may_map);
  explicit PrivateFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
};

using PutPiece = std::function<Result<void>(std::string_view bytes)>;

// Writes a file with mode 0600 that appears complete or not at all: what `write` puts goes to a new
// file beside the target, which is renamed. UndoUnfinished() removes what is not finished. kIo
// names the path and the cause.
Result<void> WritePrivateFile(const std::string& path,
                              const std::function<Result<void>(const PutPiece& put)>& write);

// The same, but a file that is already there stays as it is: of several processes one makes it.
Result<void> MakePrivateFile(const std::string& path, std::string_view bytes);

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
