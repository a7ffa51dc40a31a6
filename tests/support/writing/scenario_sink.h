// Where the bytes of a file go.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace borescope::scenario {

class Sink {
 public:
  virtual ~Sink() = default;
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Returns false when the bytes could not be written.
  [[nodiscard]] virtual bool Write(std::string_view bytes) = 0;
  [[nodiscard]] virtual bool Close() { return true; }
};

// Keeps everything; for tests.
class StringSink : public Sink {
 public:
  explicit StringSink(std::string* text) : text_(text) {}
  bool Write(std::string_view bytes) override {
    text_->append(bytes);
    return true;
  }

 private:
  std::string* text_;
};

// Writes to a file, or to standard output. REQUIRES: `file` is open; Close() closes all but stdout.
class FileSink : public Sink {
 public:
  explicit FileSink(std::FILE* file) : file_(file) {}
  ~FileSink() override { (void)FileSink::Close(); }

  // Nothing when the file cannot be opened.
  static std::unique_ptr<FileSink> Open(const std::string& path);

  bool Write(std::string_view bytes) override {
    return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
  }
  bool Close() override;

 private:
  std::FILE* file_;
};

}  // namespace borescope::scenario
