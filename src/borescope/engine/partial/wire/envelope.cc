#include "borescope/engine/partial/wire/envelope.h"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>
#include <new>

#include "borescope/base/text/text.h"
#include "borescope/base/version.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kMagic =
    "\x89"
    "BSP\r\n\x1a\n";
constexpr size_t kHeadBytes = 13;  // up to the length of the version
constexpr int kLevel = 12;
constexpr uint32_t kSkippableMagic = 0x184D2A50;
constexpr size_t kSkippableHead = 8;

void AppendLittle(std::string& out, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>(number >> (8 * i));
  }
}

// REQUIRES: they are there.
uint64_t LittleAt(std::string_view bytes, size_t place, size_t count) {
  uint64_t number = 0;
  for (size_t i = 0; i < count; ++i) {
    number |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[place + i])) << (8 * i);
  }
  return number;
}

Error Damaged(std::string_view name, std::string_view cause) {
  return {ErrorCode::kCorrupt, std::string(cause),
          "the partial is damaged: copy it again, or map again", std::string(name)};
}

Error OtherFormat(std::string_view name, const Envelope& envelope) {
  return {
      ErrorCode::kUnsupportedFormat,
      fmt::format("a partial of format {}.{}, written by Borescope {}", envelope.major,
                  envelope.minor, ToPrintable(envelope.program_version)),
      fmt::format("this is Borescope {}, which reads format {}: map and reduce with one version",
                  Version(), kPartialMajor),
      std::string(name)};
}

// How many bytes must follow a frame for readers to believe the size of the body.
size_t MissingBytes(size_t body_bytes, size_t frame_bytes) {
  size_t padding = 0;
  while (BelievedBodyBytes(frame_bytes + padding) < body_bytes) {
    padding = padding == 0 ? kSkippableHead : padding * 2;
  }
  return padding;
}

void AppendPadding(std::string& out, size_t bytes) {
  if (bytes != 0) {
    AppendLittle(out, kSkippableMagic, 4);
    AppendLittle(out, bytes - kSkippableHead, 4);
    out.append(bytes - kSkippableHead, '\0');
  }
}

// Whether nothing but padding follows a frame.
bool IsPadding(std::string_view rest) {
  if (rest.empty()) {
    return true;
  }
  return rest.size() >= kSkippableHead && LittleAt(rest, 0, 4) == kSkippableMagic &&
         LittleAt(rest, 4, 4) == rest.size() - kSkippableHead &&
         rest.find_first_not_of('\0', kSkippableHead) == std::string_view::npos;
}

// What zstd could not do for lack of memory is no damage of its input.
void ThrowIfOutOfMemory(size_t result) {
  if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) {
    throw std::bad_alloc();
  }
}

Result<std::string> Compress(std::string_view body) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  if (context == nullptr) {
    throw std::bad_alloc();
  }
  std::string frame(ZSTD_compressBound(body.size()), '\0');
  size_t size = ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  if (ZSTD_isError(size) == 0) {
    size = ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  }
  if (ZSTD_isError(size) == 0) {
    size = ZSTD_compress2(context.get(), frame.data(), frame.size(), body.data(), body.size());
  }
  ThrowIfOutOfMemory(size);
  if (ZSTD_isError(size) != 0) {
    return Error{ErrorCode::kIo,
                 fmt::format("zstd cannot compress the partial: {}", ZSTD_getErrorName(size))};
  }
  frame.resize(size);
  return frame;
}

// The size that the frame says; every size is compared with what was stored before it is believed.
Result<size_t> BodyBytes(std::string_view stored, std::string_view name) {
  const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Damaged(name, "its compressed body has no readable head");
  }
  if (size > BelievedBodyBytes(stored.size())) {
    return Damaged(name, fmt::format("its body claims {} bytes, more than {} stored bytes can hold",
                                     size, stored.size()));
  }
  return static_cast<size_t>(size);
}

Result<std::string> Decompress(std::string_view stored, std::string_view name) {
  BS_ASSIGN(const size_t size, BodyBytes(stored, name));
  const size_t frame = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
  if (ZSTD_isError(frame) != 0) {
    return Damaged(name, fmt::format("its compressed body: {}", ZSTD_getErrorName(frame)));
  }
  if (!IsPadding(stored.substr(frame))) {
    return Damaged(name, fmt::format("bytes follow its compressed body of {} bytes", frame));
  }
  std::string body(size, '\0');
  const size_t got = ZSTD_decompress(body.data(), body.size(), stored.data(), frame);
  ThrowIfOutOfMemory(got);
  if (ZSTD_isError(got) != 0) {
    return Damaged(name, fmt::format("its compressed body: {}", ZSTD_getErrorName(got)));
  }
  if (got != size) {
    return Damaged(name, fmt::format("its body has {} bytes and claims {}", got, size));
  }
  return body;
}

}  // namespace

bool IsPartial(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<std::string> Seal(const Envelope& envelope) {
  if (envelope.body.size() > kMostBodyBytes) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("a partial of {} bytes is more than the {} bytes that one may hold",
                             envelope.body.size(), kMostBodyBytes),
                 "map fewer ranks into each, or ask for fewer verbs"};
  }
  constexpr size_t kLongestVersion = 255;
  const std::string_view version =
      std::string_view(envelope.program_version).substr(0, kLongestVersion);
  std::string bytes(kMagic);
  AppendLittle(bytes, envelope.major, 2);
  AppendLittle(bytes, envelope.minor, 2);
  AppendLittle(bytes, version.size(), 1);
  bytes += version;
  BS_ASSIGN(const std::string frame, Compress(envelope.body));
  bytes += frame;
  AppendPadding(bytes, MissingBytes(envelope.body.size(), frame.size()));
  return bytes;
}

Result<Envelope> Open(std::string_view bytes, std::string_view name) {
  if (!IsPartial(bytes)) {
    return Error{ErrorCode::kUnsupportedFormat, "no partial of Borescope",
                 "give files that borescope map wrote", std::string(name)};
  }
  if (bytes.size() < kHeadBytes) {
    return Damaged(name, fmt::format("it ends at byte {}, in its head", bytes.size()));
  }
  Envelope envelope;
  envelope.major = static_cast<uint16_t>(LittleAt(bytes, kMagic.size(), 2));
  envelope.minor = static_cast<uint16_t>(LittleAt(bytes, kMagic.size() + 2, 2));
  const auto version_bytes = static_cast<size_t>(LittleAt(bytes, kHeadBytes - 1, 1));
  envelope.program_version = bytes.substr(kHeadBytes, version_bytes);
  if (envelope.major != kPartialMajor) {
    return OtherFormat(name, envelope);
  }
  if (bytes.size() < kHeadBytes + version_bytes) {
    return Damaged(name, fmt::format("it ends at byte {}, in its head", bytes.size()));
  }
  BS_ASSIGN(envelope.body, Decompress(bytes.substr(kHeadBytes + version_bytes), name));
  return envelope;
}

}  // namespace borescope::internal
