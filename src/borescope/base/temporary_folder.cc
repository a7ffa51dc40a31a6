#include "borescope/base/temporary_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace borescope {

namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::Make() {
  const char* const named = std::getenv("TMPDIR");
  const std::string parent = named != nullptr && *named != '\0' ? named : "/tmp";
  std::string path = (fs::path(parent) / "borescope-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::kIo, parent + ": cannot make a temporary folder: " +
                                     std::strerror(errno) + "; name another place with TMPDIR"};
  }
  return TemporaryFolder(std::move(path));
}

void TemporaryFolder::RemoveFolder(const std::string& path) {
  constexpr int kAttempts = 10;  // a file that appears meanwhile makes the removal fail
  for (int attempt = 0; !path.empty() && attempt < kAttempts; ++attempt) {
    std::error_code error;
    fs::remove_all(path, error);
    if (!error) {
      return;
    }
  }
}

}  // namespace borescope
