#include "borescope/api/part_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "borescope/base/io/paths.h"

namespace borescope {
namespace {

Result<void> MakeFolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) {
    std::filesystem::create_directories(folder, failed);
  }
  if (failed) {
    return Error{.code = ErrorCode::kIo,
                 .cause = "cannot be made: " + failed.message(),
                 .remedy = "name a folder that can be written to",
                 .file = folder.string()};
  }
  return {};
}

void DateBack(const std::string& path, std::filesystem::file_time_type begin) {
  std::error_code ignored;
  std::filesystem::last_write_time(path, begin, ignored);
}

}  // namespace

PartFile DescribePart(const Partial& partial, const std::string& path, bool was_kept) {
  const internal::Result<uint64_t> bytes = internal::SizeOfFile(path);
  return {path,
          was_kept,
          bytes.ok() ? *bytes : 0,
          partial.num_files(),
          partial.num_loaded(),
          partial.load_errors()};
}

Result<PartFile> MapToFile(const std::string& path, const std::function<Result<Partial>()>& map) {
  const auto begin = std::filesystem::file_time_type::clock::now();
  const Result<Partial> partial = map();
  if (!partial.ok()) {
    return partial.error();
  }
  if (const Result<void> made = MakeFolderOf(path); !made.ok()) {
    return made.error();
  }
  if (const Result<void> written = partial->Write(path); !written.ok()) {
    return written.error();
  }
  DateBack(path, begin);
  return DescribePart(*partial, path, false);
}

}  // namespace borescope
