// ByteSource: where bytes come from, read once from front to back: a file, standard input, memory,
// or a decompressed source. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads up to `capacity` bytes into `out`; 0 means the end. May return fewer than requested. An
  // error names the stored byte, not the file.
  virtual Result<size_t> Read(char* out, size_t capacity) = 0;

  // Stored (compressed) bytes read from the file so far, and in total if known, else 0.
  virtual uint64_t stored_bytes() const = 0;
  virtual uint64_t stored_total() const = 0;
};

// The file at `path`, or standard input for "-". Directories and unreadable files are errors.
Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

// Bytes that outlive the source.
std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes);

// All bytes of the file at `path`, or of standard input for "-"; also of files whose size is not
// known before, such as those of /proc. A failed read is an error: streams of the standard library
// throw there.
Result<std::string> ReadWhole(const std::string& path);

// Reads until `capacity` bytes are available or the source ends.
Result<size_t> ReadFully(ByteSource& source, char* out, size_t capacity);

}  // namespace borescope::internal
