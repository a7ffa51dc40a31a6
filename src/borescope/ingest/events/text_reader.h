// TextReader: the inflated text of one file, handed out from front to back in two ways: as a
// growing window for the members around "traceEvents", and as owned chunks cut between events for
// parallel parsing. Text that was handed out can be given back. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/io/inflate.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// A piece of text with readable padding behind it.
struct TextChunk {
  std::unique_ptr<char[]> buffer;
  size_t capacity = 0;  // without the padding
  size_t size = 0;
  uint64_t byte = 0;     // offset of its first byte in the inflated text
  bool is_last = false;  // nothing follows

  std::string_view text() const { return {buffer.get(), size}; }
};

class TextReader {
 public:
  static constexpr size_t kChunkBytes = size_t{1} << 20;
  // No event is this long; a longer one is damage.
  static constexpr size_t kLongestEvent = size_t{64} << 20;
  // Traces shrink 15 to 30 times. Text that grows more than this over its stored size, beyond a
  // floor, is a decompression bomb.
  static constexpr uint64_t kMaxExpansion = 256;
  static constexpr uint64_t kExpansionFloor = uint64_t{1} << 30;

  using Progress = std::function<void(uint64_t done, uint64_t total)>;
  TextReader(OpenedSource source, Progress progress);

  // The text not yet consumed, as far as it was read. Views end with the next call of anything
  // else.
  std::string_view window() const {
    return {window_.data() + window_begin_, window_.size() - window_begin_};
  }
  // Reads more into the window; false at the end of the text.
  bool Fill();
  void Consume(size_t size);
  // Consumes white space. Returns the next character, which stays; 0 at the end of the text.
  char SkipSpace();
  // Consumes a byte-order mark and the white space in front of it, if there is one.
  void SkipByteOrderMark();
  // Offset of the window's first byte in the inflated text.
  uint64_t byte() const { return byte_; }

  // The next chunk, at least about `target` long, cut before an event unless it is the last one.
  TextChunk NextChunk(size_t target);
  // Puts text back in front of what is left. REQUIRES: it is the text that was handed out last.
  void PushBack(const std::vector<std::string_view>& pieces);
  // Keeps a chunk's buffer for the next one.
  void Recycle(TextChunk chunk);

  // How far the stored file was read, 0...1; 0 when its size is unknown.
  double stored_share() const;
  // The size of the stored file; where it is unknown, how much of it was read.
  uint64_t stored_bytes() const;
  // What failed while reading, if anything did; the text then just ends.
  const std::optional<Error>& error() const { return error_; }
  std::string_view damage() const;

 private:
  size_t ReadInto(char* out, size_t capacity);
  bool IsBomb() const;
  TextChunk NewChunk(size_t capacity);

  OpenedSource source_;
  Progress progress_;
  std::string window_;
  size_t window_begin_ = 0;
  uint64_t byte_ = 0;
  uint64_t inflated_ = 0;
  bool at_end_ = false;
  std::optional<Error> error_;
  std::vector<TextChunk> spare_;
};

}  // namespace borescope::internal
