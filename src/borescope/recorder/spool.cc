#include "borescope/recorder/spool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "borescope/base/io/paths.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

Error SpoolError(const std::string& path, const std::string& what, const std::error_code& error) {
  return {ErrorCode::kIo, what + ": " + error.message(), {}, path};
}

std::error_code LastError() { return {errno, std::generic_category()}; }

// All that is in one folder, into another that is made.
std::error_code CopyFiles(const fs::path& from, const fs::path& to) {
  if (mkdir(to.c_str(), 0700) != 0) return LastError();
  const Result<std::vector<std::string>> names = NamesIn(from.string());
  if (!names.ok()) return std::make_error_code(std::errc::io_error);
  std::error_code error;
  for (const std::string& name : *names) {
    // Not only files: traces of other profilers may have folders of their own.
    fs::copy(from / name, to / name, fs::copy_options::recursive, error);
    if (error) break;
  }
  return error;
}

}  // namespace

Result<std::string> MakeSpool(const std::string& folder, const std::string& spool) {
  std::error_code error;
  const fs::path absolute = fs::absolute(spool, error);
  const fs::path place =
      absolute / (fs::path(folder).filename().string() + "." + std::to_string(getpid()));
  if (error || mkdir(place.c_str(), 0700) != 0) {
    return SpoolError(place.string(), "cannot be made", error ? error : LastError());
  }
  fs::create_directory_symlink(place, folder, error);
  if (!error) return place.string();
  rmdir(place.c_str());
  return SpoolError(folder, "cannot be made", error);
}

Result<void> MoveFromSpool(const std::string& place, const std::string& folder) {
  const std::string part = folder + ".part";
  std::error_code error = CopyFiles(place, part);
  std::error_code ignored;
  if (!error) {
    fs::remove(folder, error);
    if (!error) fs::rename(part, folder, error);
  }
  if (error) {
    fs::remove_all(part, ignored);
    return SpoolError(folder, "the recording stays in " + place, error);
  }
  fs::remove_all(place, ignored);
  return {};
}

void RemoveSpool(const std::string& place, const std::string& folder) {
  std::error_code ignored;
  fs::remove(folder, ignored);
  fs::remove_all(place, ignored);
}

}  // namespace borescope::internal
