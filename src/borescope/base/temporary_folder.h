// A folder of our own for files that nobody is to keep.
#pragma once

#include <string>
#include <utility>

#include "borescope/base/result.h"

namespace borescope {

// Below TMPDIR (else /tmp), for this user only; removed with all that is in it when the object
// goes.
class TemporaryFolder {
 public:
  // kIo names the folder and the cause; TMPDIR names another one.
  static Result<TemporaryFolder> Make();

  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() { RemoveFolder(path_); }

  const std::string& path() const { return path_; }

  // Removes a folder with all that is in it, also while another thread still writes there; an empty
  // path is none. What cannot be removed stays.
  static void RemoveFolder(const std::string& path);

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace borescope
