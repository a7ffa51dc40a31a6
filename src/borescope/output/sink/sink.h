// Sink: where written bytes go. Used by one thread at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/base/result.h"

namespace borescope::internal {

class Sink {
 public:
  virtual ~Sink() = default;

  // Takes all of `bytes` or gives an error of kind kIo.
  virtual Result<void> Write(std::string_view bytes) = 0;
};

// Keeps everything in memory.
class StringSink : public Sink {
 public:
  Result<void> Write(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Writes to an open file descriptor, which stays open; `name` is its name in messages. Needs
// SIGPIPE to be ignored to see a reader go.
class DescriptorSink : public Sink {
 public:
  DescriptorSink(int descriptor, std::string name)
      : descriptor_(descriptor), name_(std::move(name)) {}

  Result<void> Write(std::string_view bytes) override;

  // What the system reports only when a file is closed, as network file systems do for a full disk.
  // The descriptor itself stays open. Call it after the last Write.
  Result<void> Finish();

  // True after a Write failed because nobody reads any more (as in `borescope … | head -1`). No
  // failure of ours: the reader has what it wanted.
  bool reader_is_gone() const { return reader_is_gone_; }

 private:
  int descriptor_;
  std::string name_;
  bool reader_is_gone_ = false;
};

// Hands text to a sink in large pieces. Failures of the sink are kept; Finish returns them.
class BufferedSink {
 public:
  // `sink` outlives this.
  explicit BufferedSink(Sink& sink) : sink_(sink) {}

  // What was not handed over yet, to write behind. EndRecord belongs behind each record.
  std::string& text() { return text_; }
  // Hands over what there is once it is a piece.
  void EndRecord() {
    if (text_.size() >= kPieceBytes) {
      Flush();
    }
  }
  // Writes a record.
  void Put(std::string_view record) {
    text_ += record;
    EndRecord();
  }

  // Hands over what is left and reports the first failure.
  Result<void> Finish();

 private:
  static constexpr size_t kPieceBytes = size_t{1} << 20;

  void Flush();

  Sink& sink_;
  std::string text_;
  Result<void> status_;
};

// What the symbolic links from `path` on lead to, whether or not it exists; empty when they lead in
// a circle. kIo if the system cannot tell.
Result<std::filesystem::path> BehindLinks(std::filesystem::path path);

// Whether `path` is a device, a pipe or an open descriptor, which several outputs go to one after
// the other.
bool IsWrittenDirectly(const std::string& path);

// Writes a file that appears complete or not at all: bytes go to a new file beside the target,
// which Commit renames over it; without a Commit the target stays as it was. A target that is no
// ordinary file (a pipe, /dev/null) or names an open descriptor (/dev/stdout, /dev/fd/3) is written
// to directly, and of a symbolic link the file that it leads to, whether or not that exists yet. A
// terminal gets U+FFFD for what it would obey or hide. UndoUnfinished() removes the new file.
class FileSink : public Sink {
 public:
  // kIo, naming the path and the cause, when the target is a directory or its folder cannot be
  // written to.
  static Result<std::unique_ptr<FileSink>> Open(const std::string& path);

  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override;

  Result<void> Write(std::string_view bytes) override;

  // Gives up the descriptor, so that many complete files can wait for their Commit. No Write may
  // follow. Closing twice is closing once.
  Result<void> Close();

  // REQUIRES: not committed before. No Write may follow.
  Result<void> Commit();

  // The new file beside the target, for writers that need a path: they write to it instead of
  // calling Write. Empty where the target is written to directly, and once committed.
  const std::string& draft() const { return temporary_; }

 private:
  FileSink(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;       // as the user named it
  std::string target_;     // behind symbolic links; empty when written to directly
  std::string temporary_;  // empty when written to directly, and once committed
  Unfinished unfinished_;  // the new file
  int descriptor_;         // -1 once closed
  bool is_terminal_ = false;
};

// Lets `write` write the file `path`, which appears complete or not at all.
Result<void> WriteFile(const std::string& path, const std::function<Result<void>(Sink&)>& write);

// GzipSink: compresses what is written to it on the way to another sink. One gzip member without
// name or date, so that equal bytes give equal files. Memory does not grow with the input.
class GzipSink : public Sink {
 public:
  // `target` outlives this.
  explicit GzipSink(Sink& target);
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink() override;

  Result<void> Write(std::string_view bytes) override;

  // Ends the stream and hands over what is left; the target is left open. No Write may follow.
  Result<void> Finish();

 private:
  Result<void> Deflate();
  Result<void> HandOver();

  struct State;  // hides the library

  Sink& target_;
  std::unique_ptr<State> state_;
};

// Lets `write` write to `file`, compressed where the name `path` ends in .gz. The file is left
// open.
Result<void> WriteMaybeGzip(std::string_view path, Sink& file,
                            const std::function<Result<void>(Sink&)>& write);

}  // namespace borescope::internal
