#include "tests/support/synth_compress.h"

#include <zlib.h>
#include <zstd.h>

#include <utility>
#include <vector>

namespace borescope::scenario {
namespace {

// Fast levels: the traces shrink twenty-fold anyway, and making them should not take longer than
// reading them.
constexpr int kGzipLevel = 1;
constexpr int kZstdLevel = 1;
constexpr size_t kBlockBytes = 256 * 1024;

class GzipSink : public Sink {
 public:
  explicit GzipSink(std::unique_ptr<Sink> inner) : inner_(std::move(inner)), block_(kBlockBytes) {
    // 16 asks zlib for a gzip header; it carries no name and no time, so equal runs stay equal.
    is_ok_ = deflateInit2(&stream_, kGzipLevel, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipSink() override { deflateEnd(&stream_); }

  bool Write(std::string_view bytes) override { return Deflate(bytes, Z_NO_FLUSH); }
  bool Close() override { return Deflate({}, Z_FINISH) && inner_->Close(); }

 private:
  bool Deflate(std::string_view bytes, int flush) {
    if (!is_ok_) return false;
    // zlib's interface predates const; it does not change its input.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
      stream_.avail_out = static_cast<uInt>(block_.size());
      is_ok_ = deflate(&stream_, flush) != Z_STREAM_ERROR &&
               inner_->Write({block_.data(), block_.size() - stream_.avail_out});
    } while (is_ok_ && stream_.avail_out == 0);
    return is_ok_;
  }

  std::unique_ptr<Sink> inner_;
  std::vector<char> block_;
  z_stream stream_{};
  bool is_ok_ = false;
};

class ZstdSink : public Sink {
 public:
  explicit ZstdSink(std::unique_ptr<Sink> inner)
      : inner_(std::move(inner)), block_(ZSTD_CStreamOutSize()), context_(ZSTD_createCCtx()) {
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kZstdLevel);
  }
  ~ZstdSink() override { ZSTD_freeCCtx(context_); }

  bool Write(std::string_view bytes) override { return Feed(bytes, ZSTD_e_continue); }
  bool Close() override { return Feed({}, ZSTD_e_end) && inner_->Close(); }

 private:
  bool Feed(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer out{block_.data(), block_.size(), 0};
      const size_t left = ZSTD_compressStream2(context_, &out, &in, directive);
      if (ZSTD_isError(left) != 0 || !inner_->Write({block_.data(), out.pos})) return false;
      const bool is_done = directive == ZSTD_e_end ? left == 0 : in.pos == in.size;
      if (is_done) return true;
    }
  }

  std::unique_ptr<Sink> inner_;
  std::vector<char> block_;
  ZSTD_CCtx* context_;
};

}  // namespace

std::string FileSuffix(Codec codec) {
  if (codec == Codec::kGzip) return ".json.gz";
  return codec == Codec::kZstd ? ".json.zst" : ".json";
}

std::unique_ptr<Sink> Compress(Codec codec, std::unique_ptr<Sink> inner) {
  if (codec == Codec::kGzip) return std::make_unique<GzipSink>(std::move(inner));
  if (codec == Codec::kZstd) return std::make_unique<ZstdSink>(std::move(inner));
  return inner;
}

}  // namespace borescope::scenario
