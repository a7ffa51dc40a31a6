// Decompression on the way in. gzip (any number of members) through ISA-L, zstd through libzstd,
// both streaming: memory does not grow with the input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// A source of inflated bytes. A damaged stream gives what could be inflated, then the end, and says
// so in damage().
class InflatingSource : public ByteSource {
 public:
  // Empty, or what is wrong with the compressed stream: "gzip stream ends early at byte 812".
  virtual std::string_view damage() const = 0;

  // Complete gzip streams so far, one behind the other; 0 of zstd.
  virtual uint64_t gzip_members() const = 0;
};

// Looks at the first bytes of `source`. A compressed one comes back inflated; any other comes back
// unchanged in effect, but for what xz, bzip2 or lz4 made: kUnsupportedFormat names it. `inflating`
// points to the inflater inside the result, or is null.
struct OpenedSource {
  std::unique_ptr<ByteSource> bytes;
  const InflatingSource* inflating = nullptr;
};
Result<OpenedSource> InflateIfCompressed(std::unique_ptr<ByteSource> source);

// The same of the file at `path`, or of standard input for "-"; every error names it.
Result<OpenedSource> OpenInflated(const std::string& path);

}  // namespace borescope::internal
