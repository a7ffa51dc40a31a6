// Files of one user alone: written for nobody else, and believed of nobody else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal {

// The content of an ordinary file of this user to which nobody else may write; no link. Mapped into
// memory, to be read: a file that becomes shorter meanwhile ends the process, so this is for files
// that are never written to once they have their name.
class PrivateFile {
 public:
  // kIo says why it cannot be read.
  static Result<std::shared_ptr<const PrivateFile>> Map(const std::string& path);

  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;
  ~PrivateFile();

  std::string_view bytes() const { return bytes_; }

 private:
  explicit PrivateFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
};

using PutPiece = std::function<Result<void>(std::string_view bytes)>;

// Writes a file with mode 0600 that appears complete or not at all: what `write` puts goes to a new
// file beside the target, which is renamed. UndoUnfinished() removes what is not finished. kIo
// names the path and the cause.
Result<void> WritePrivateFile(const std::string& path,
                              const std::function<Result<void>(const PutPiece& put)>& write);

}  // namespace borescope::internal
