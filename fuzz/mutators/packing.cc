// What compresses and sums up other inputs is taken off before they are changed, and put on again.

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "mutator.h"

namespace fuzz {
namespace {

using Packing = Unpacked::Packing;

constexpr size_t kMostBytes = 64 << 10;  // of a content; larger ones are left packed
constexpr std::string_view kEnvelopeBegin =
    "\x89"
    "BSP\r\n\x1a\n";
constexpr size_t kVersionAt = 12;  // the length of the program's version, which follows
constexpr int kGzip = 16 + MAX_WBITS;

// Whether all members were sound.
bool Inflate(std::string_view input, std::string& content) {
  content.resize(kMostBytes);
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) {
    return false;
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  int status = inflate(&stream, Z_FINISH);
  while (status == Z_STREAM_END && stream.avail_in != 0 && inflateReset(&stream) == Z_OK) {
    status = inflate(&stream, Z_FINISH);
  }
  content.resize(content.size() - stream.avail_out);
  inflateEnd(&stream);
  return status == Z_STREAM_END;
}

std::string Deflate(std::string_view content) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

bool Decompress(std::string_view input, std::string& content) {
  content.resize(kMostBytes);
  const size_t size = ZSTD_decompress(content.data(), content.size(), input.data(), input.size());
  content.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return ZSTD_isError(size) == 0;
}

// With its size and its checksum, as an envelope needs them.
std::string Compress(std::string_view content) {
  static ZSTD_CCtx* const context = [] {
    ZSTD_CCtx* const made = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(made, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(made, ZSTD_c_compressionLevel, 1);
    return made;
  }();
  std::string packed(ZSTD_compressBound(content.size()), '\0');
  const size_t size =
      ZSTD_compress2(context, packed.data(), packed.size(), content.data(), content.size());
  packed.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return packed;
}

}  // namespace

Unpacked Unpack(std::string_view input) {
  Unpacked unpacked;
  if (input.starts_with("\x1f\x8b") && Inflate(input, unpacked.content)) {
    unpacked.packing = Packing::kGzip;
    return unpacked;
  }
  if (input.starts_with("\x28\xb5\x2f\xfd") && Decompress(input, unpacked.content)) {
    unpacked.packing = Packing::kZstd;
    return unpacked;
  }
  if (input.starts_with(kEnvelopeBegin) && input.size() > kVersionAt) {
    const size_t frame =
        std::min(kVersionAt + 1 + static_cast<uint8_t>(input[kVersionAt]), input.size());
    if (Decompress(input.substr(frame), unpacked.content)) {
      unpacked.packing = Packing::kEnvelope;
      unpacked.head = input.substr(0, frame);
      return unpacked;
    }
  }
  unpacked.content = input;
  return unpacked;
}

std::string Pack(const Unpacked& unpacked) {
  switch (unpacked.packing) {
    case Packing::kGzip:
      return Deflate(unpacked.content);
    case Packing::kZstd:
      return Compress(unpacked.content);
    case Packing::kEnvelope:
      return unpacked.head + Compress(unpacked.content);
    case Packing::kNone:
      break;
  }
  return unpacked.content;
}

}  // namespace fuzz
