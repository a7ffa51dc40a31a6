// Decompression of inputs. gzip (any number of members) through ISA-L, zstd through libzstd, both
// streaming: memory does not grow with the input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// A source of inflated bytes. A damaged stream gives the bytes that could be inflated, then the
// end, and is reported by damage().
class InflatingSource : public ByteSource {
 public:
  // Empty, or a description of the damage: "gzip stream ends early at byte 812".
  virtual std::string_view damage() const = 0;

  // Number of complete gzip members so far; 0 for zstd.
  virtual uint64_t gzip_members() const = 0;
};

// Looks at the first bytes of `source`. A compressed one is returned as an inflating source, any
// other effectively unchanged, except xz, bzip2 and lz4, which kUnsupportedFormat names.
// `inflating` points to the inflater inside the result, or is null.
struct OpenedSource {
  std::unique_ptr<ByteSource> bytes;
  const InflatingSource* inflating = nullptr;
};
Result<OpenedSource> InflateIfCompressed(std::unique_ptr<ByteSource> source);

// The same for the file at `path`, or standard input for "-"; every error names it.
Result<OpenedSource> OpenInflated(const std::string& path);

}  // namespace borescope::internal
