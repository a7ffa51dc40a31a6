#include "borescope/engine/inputs/sources.h"

#include <algorithm>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/engine/inputs/input_files.h"

namespace borescope {
namespace {

using internal::ByteSource;
using internal::InputFile;

// A reader of the caller's as a source of bytes.
class ReaderSource : public ByteSource {
 public:
  explicit ReaderSource(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    const Result<size_t> read = reader_->Read(out, capacity);
    if (!read.ok()) {
      return read.error();
    }
    done_ += *read;
    return *read;
  }
  uint64_t stored_bytes() const override { return done_; }
  uint64_t stored_total() const override { return 0; }

 private:
  std::unique_ptr<Reader> reader_;
  uint64_t done_ = 0;
};

// Bytes in memory, which it keeps alive.
class SharedBytes : public ByteSource {
 public:
  explicit SharedBytes(std::shared_ptr<const std::string> bytes)
      : bytes_(std::move(bytes)), source_(internal::OpenMemory(*bytes_)) {}

  Result<size_t> Read(char* out, size_t capacity) override { return source_->Read(out, capacity); }
  uint64_t stored_bytes() const override { return source_->stored_bytes(); }
  uint64_t stored_total() const override { return source_->stored_total(); }

 private:
  std::shared_ptr<const std::string> bytes_;
  std::unique_ptr<ByteSource> source_;
};

std::function<Result<std::string>()> IdentityOf(const Source& source) {
  if (source.identity == nullptr) {
    return nullptr;
  }
  return [ask = source.identity]() -> Result<std::string> {
    Result<std::string> identity = ask();
    if (!identity.ok()) {
      return identity.error();
    }
    return std::move(*identity);
  };
}

// A file of which somebody knows which content it has; a folder or a glob is what it is without.
Result<std::vector<InputFile>> KnownFile(const Source& source) {
  BS_ASSIGN(std::vector<InputFile> found, internal::ExpandInputs({&source.path, 1}));
  if (found.size() == 1 && found.front().path == source.path) {
    found.front().identity = IdentityOf(source);
  }
  return found;
}

InputFile MemoryInput(const Source& source) {
  InputFile file{.path = source.path, .bytes = source.bytes->size()};
  file.content = [bytes = source.bytes]() -> Result<std::unique_ptr<ByteSource>> {
    return std::unique_ptr<ByteSource>(std::make_unique<SharedBytes>(bytes));
  };
  return file;
}

InputFile StreamInput(const Source& source) {
  InputFile file{.path = source.path, .identity = IdentityOf(source)};
  file.content = [open = source.open]() -> Result<std::unique_ptr<ByteSource>> {
    Result<std::unique_ptr<Reader>> reader = open();
    if (!reader.ok()) {
      return reader.error();
    }
    return std::unique_ptr<ByteSource>(std::make_unique<ReaderSource>(std::move(*reader)));
  };
  return file;
}

// Recordings that are not files are distinguished by their names.
Result<void> CheckNameIsFree(const std::string& name, std::span<const InputFile> files) {
  const bool is_taken = std::any_of(files.begin(), files.end(),
                                    [&](const InputFile& file) { return file.path == name; });
  return is_taken ? internal::UsageError("two sources are called " + name, "give each its own name")
                  : Result<void>();
}

}  // namespace

Reader::~Reader() = default;

Source Source::Memory(std::string name, std::shared_ptr<const std::string> bytes) {
  Source source(std::move(name));
  source.bytes = std::move(bytes);
  return source;
}

Source Source::Stream(std::string name, std::function<Result<std::unique_ptr<Reader>>()> open,
                      std::function<Result<std::string>()> identity) {
  Source source(std::move(name));
  source.open = std::move(open);
  source.identity = std::move(identity);
  return source;
}

Result<std::vector<InputFile>> FindFiles(std::span<const Source> sources) {
  std::vector<InputFile> files;
  std::vector<std::string> paths;
  const auto expand = [&]() -> Result<void> {
    BS_ASSIGN(std::vector<InputFile> found, internal::ExpandInputs(paths));
    files.insert(files.end(), found.begin(), found.end());
    paths.clear();
    return {};
  };
  for (const Source& source : sources) {
    const bool is_path = source.bytes == nullptr && source.open == nullptr;
    if (is_path && source.identity == nullptr) {
      paths.push_back(source.path);
      continue;
    }
    BS_TRY(expand());
    if (is_path) {
      BS_ASSIGN(const std::vector<InputFile> known, KnownFile(source));
      files.insert(files.end(), known.begin(), known.end());
      continue;
    }
    BS_TRY(CheckNameIsFree(source.path, files));
    files.push_back(source.bytes != nullptr ? MemoryInput(source) : StreamInput(source));
  }
  BS_TRY(expand());
  return internal::SplitRanks(std::move(files));
}

Result<void> CheckFilesExist(std::span<const InputFile> files) {
  for (const InputFile& file : files) {
    if (file.path == "-" || file.content != nullptr || file.identity != nullptr) {
      continue;
    }
    BS_ASSIGN(const struct stat status, internal::StatusOfLink(file.path));
    if (status.st_mode == 0) {
      BS_TRY(internal::KindOf(file.path));  // what hides it, if anything does
      return Error{ErrorCode::kIo, "No such file or directory", internal::RemedyOfAbsent(file.path),
                   file.path};
    }
  }
  return {};
}

}  // namespace borescope
