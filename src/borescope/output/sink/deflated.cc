#include "borescope/output/sink/deflated.h"

#include <isa-l/igzip_lib.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "borescope/base/check.h"

namespace borescope::internal {

namespace {

constexpr size_t kPackedBytes = 256 * 1024;      // at a time
constexpr size_t kMostPacked = size_t{1} << 30;  // ISA-L counts in 32 bits

}  // namespace

std::string Deflated(std::string_view bytes) {
  isal_zstream stream{};
  std::vector<uint8_t> tables(ISAL_DEF_LVL3_DEFAULT);  // the library's own
  isal_deflate_init(&stream);
  stream.level = 3;
  stream.level_buf = tables.data();
  stream.level_buf_size = static_cast<uint32_t>(tables.size());
  std::string packed;
  while (stream.internal_state.state != ZSTATE_END) {
    if (stream.avail_in == 0) {
      const std::string_view piece = bytes.substr(0, kMostPacked);
      bytes.remove_prefix(piece.size());
      // The library reads through this pointer and never writes.
      stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(piece.data()));
      stream.avail_in = static_cast<uint32_t>(piece.size());
      stream.end_of_stream = bytes.empty() ? 1 : 0;
    }
    const size_t before = packed.size();
    packed.resize(before + kPackedBytes);
    stream.next_out = reinterpret_cast<uint8_t*>(packed.data() + before);
    stream.avail_out = static_cast<uint32_t>(kPackedBytes);
    BS_CHECK(isal_deflate(&stream) == COMP_OK);  // it fails on parameters only
    packed.resize(packed.size() - stream.avail_out);
  }
  return packed;
}

}  // namespace borescope::internal
