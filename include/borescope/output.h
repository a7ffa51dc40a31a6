// Output: where bytes go.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/error.h"
#include "borescope/export.h"

namespace borescope {

// Takes the next bytes, all of them, or gives an error that ends the writing.
using WriteBytes = std::function<Result<void>(std::string_view bytes)>;

// A file, which appears complete or not at all (a pipe or a device is written to directly), or a
// function that receives the bytes. A plain value.
struct Output {
  Output(std::string path_of_file)  // NOLINT(google-explicit-constructor)
      : path(std::move(path_of_file)) {}
  Output(const char* path_of_file)  // NOLINT(google-explicit-constructor)
      : path(path_of_file) {}
  // Called by the thread that writes, in order.
  static Output To(WriteBytes write_bytes) {
    Output output{std::string()};
    output.write = std::move(write_bytes);
    return output;
  }

  std::string path;
  WriteBytes write = nullptr;
};

// What a report is written to: any of these.
struct ReportOutputs {
  std::optional<Output> page;  // one self-contained HTML page
  // A picture of 1200 x 630 pixels for chats and slides: a file that ends with .svg or .png. Empty
  // for none.
  std::string card;
  std::optional<Output> markdown;  // a short text for pull requests, in GitHub's Markdown
};

// Writes to an open file descriptor, which stays open; `name` represents it in messages. Used by
// one thread at a time. SIGPIPE must be ignored for a reader that goes away to be seen.
class BORESCOPE_EXPORT DescriptorWriter {
 public:
  DescriptorWriter(int descriptor, std::string name)
      : descriptor_(descriptor), name_(std::move(name)) {}

  // Takes all of `bytes`, or gives an error of kind kIo.
  Result<void> Write(std::string_view bytes);

  // What the system reports only when a file is closed, as network file systems do for a full
  // disk. Call it after the last Write; kIo.
  Result<void> Finish();

  // True after a Write failed because nobody reads any more, as in `borescope … | head -1`: the
  // reader has what it wanted.
  bool reader_is_gone() const { return reader_is_gone_; }

 private:
  int descriptor_;
  std::string name_;
  bool reader_is_gone_ = false;
};

// kInvalidArgument where `path` leads to a file that one of `inputs` (files, folders, globs) leads
// to, by whatever name: what is read must not be overwritten. `path` may be empty, for no file.
BORESCOPE_EXPORT Result<void> CheckOutput(const std::string& path,
                                          std::span<const std::string> inputs);

// kIo where a symbolic link that another user made in a folder where all may write, such as /tmp,
// is on the way to `path`, or is it: who writes files without this library asks first.
BORESCOPE_EXPORT Result<void> CheckNoForeignLink(const std::string& path);

// For programs that a signal is about to end: removes what is not finished (drafts of outputs,
// temporary folders) and ends child processes. Afterwards nothing more is written, calls that would
// write wait for ever, and the process has to end. Thread-safe, but not for signal handlers: call
// it in a thread that waits for signals (sigwait).
BORESCOPE_EXPORT void UndoUnfinished();

}  // namespace borescope
