#include "borescope/verbs/check/content_digest.h"

#include <memory>
#include <string_view>

#include "borescope/base/hash/stable_digest.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

Result<ContentDigest> DigestOfFiles(std::span<const std::string> paths) {
  constexpr size_t kPiece = size_t{1} << 18;
  std::string piece(kPiece, '\0');
  ContentDigest content;
  StableDigest digest;
  for (const std::string& path : paths) {
    BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
    for (size_t read = kPiece; read == kPiece;) {
      CheckStop();
      BS_ASSIGN(read, InFile(path, ReadFully(*source, piece.data(), kPiece)));
      digest.Add(std::string_view(piece).substr(0, read));
      content.bytes += read;
    }
  }
  content.digest = digest.value();
  return content;
}

}  // namespace borescope::internal
