// TextReader: the inflated text of one file, handed out from front to back in two ways: as a
// growing window for the members around "traceEvents", and as owned chunks cut between events for
// parallel parsing. Text can be given back. Used by one thread at a time.
#pragma once

#include <cstddef>
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

// Finds where events begin in the unparsed text of a "traceEvents" array. Pure.

// Whether an event seems to start at the start of `text`: a brace and a key that events begin with.
bool StartsEvent(std::string_view text);

// The start of the last event of `text` that follows another one, or npos: the place to cut.
size_t FindEventBoundary(std::string_view text);

// A piece of text followed by readable padding.
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
  // Reads more text into the window; false at the end of the text.
  bool Fill();
  void Consume(size_t size);
  // Consumes white space. Returns the next character, which is not consumed; 0 at the end of the
  // text.
  char SkipSpace();
  // Consumes a byte-order mark and the white space before it, if there is one.
  void SkipByteOrderMark();
  // Offset of the window's first byte in the inflated text.
  uint64_t byte() const { return byte_; }

  // The next chunk, at least about `target` long, cut before an event unless it is the last one.
  TextChunk NextChunk(size_t target);
  // Puts text back before the remaining text. REQUIRES: it is the text returned last.
  void PushBack(const std::vector<std::string_view>& pieces);
  // Reuses a chunk's buffer for the next one.
  void Recycle(TextChunk chunk);

  // How far the stored file was read, 0...1; 0 if its size is unknown.
  double stored_share() const;
  // The size of the stored file; if unknown, the bytes read so far.
  uint64_t stored_bytes() const;
  // The error while reading, if any; the text then just ends.
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
