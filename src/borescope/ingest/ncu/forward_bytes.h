// The bytes of a report from front to back, of which most are passed over: the code of devices in
// it is never read where the file can be read in pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/stored_bytes.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// Bytes in their order, of which many are passed over. Used by one thread.
class ForwardBytes {
 public:
  virtual ~ForwardBytes() = default;

  // The next `count` bytes, valid until the next call; nothing if there are not as many, or reading
  // failed.
  virtual std::optional<std::string_view> Take(uint64_t count) = 0;
  // Passes over `count` bytes; false if there are not as many.
  virtual bool Skip(uint64_t count) = 0;
  // Whether all bytes were taken or passed over.
  virtual bool AtEnd() = 0;
  // A failure of reading, which is no end.
  virtual std::optional<Error> error() const { return std::nullopt; }
};

// Of an ordinary file or of memory: what is passed over is never read.
std::unique_ptr<ForwardBytes> OpenForward(StoredBytes bytes);
// Of a compressed file or a pipe, which is read to its end. The source must outlive it.
std::unique_ptr<ForwardBytes> OpenForward(ByteSource& source);

}  // namespace borescope::internal
