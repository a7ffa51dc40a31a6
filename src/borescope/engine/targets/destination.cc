#include "borescope/engine/targets/destination.h"

#include <string>

#include "borescope/base/io/paths.h"
#include "borescope/engine/access.h"
#include "borescope/engine/targets/targets.h"

namespace borescope {
namespace {

using internal::CheckNoInput;
using internal::CheckNoTarget;

Result<void> CheckPath(const internal::RunOptions& run, const std::string& path) {
  BS_TRY(CheckNoInput(internal::InputPaths(run), path, "`output`"));
  BS_ASSIGN(const internal::FileKind kind, internal::KindOf(path));
  if (kind == internal::FileKind::kFolder) {
    return Error{ErrorCode::kIo, "cannot write: it is a directory", "name a file in it", path};
  }
  return CheckNoTarget(run, {&path, 1});
}

// The files of the answer, and those beside it, are different files.
Result<void> CheckAnswer(const internal::RunOptions& run, const internal::TableWriter& writer,
                         const std::string& path, const internal::Document& answer) {
  BS_ASSIGN(const internal::FileLookup inputs, internal::FileLookup::Of(internal::InputPaths(run)));
  const std::vector<std::string> files = internal::OutputPaths(writer, answer, path);
  for (const std::string& file : files) {
    BS_TRY(CheckNoInput(inputs, file, "`output`"));
  }
  return CheckNoTarget(run, files);
}

}  // namespace

Result<void> SetDestination(const Destination& destination, internal::RunOptions& run) {
  const internal::TableWriter* writer = nullptr;
  if (!destination.format.empty()) {
    BS_ASSIGN(writer, WriterOf(destination.format));
    run.for_picture = writer->draws;
  }
  if (writer != nullptr && !destination.path.empty()) {
    run.accept = [&run, writer, path = destination.path](const internal::Document& answer) {
      return CheckAnswer(run, *writer, path, answer);
    };
  }
  return destination.path.empty() ? Result<void>() : CheckPath(run, destination.path);
}

}  // namespace borescope
