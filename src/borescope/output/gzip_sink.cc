#include "borescope/output/gzip_sink.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>

#include "borescope/base/check.h"

namespace borescope {
namespace {

constexpr size_t kOutBytes = 256 * 1024;
// ISA-L counts in 32 bits.
constexpr size_t kMostAtOnce = size_t{1} << 30;

}  // namespace

GzipSink::GzipSink(Sink& target)
    : target_(target),
      stream_(std::make_unique<isal_zstream>()),
      tables_(ISAL_DEF_LVL1_DEFAULT),
      out_(kOutBytes) {
  isal_deflate_init(stream_.get());
  stream_->gzip_flag = IGZIP_GZIP;
  stream_->level = 1;
  stream_->level_buf = tables_.data();
  stream_->level_buf_size = static_cast<uint32_t>(tables_.size());
  stream_->next_out = out_.data();
  stream_->avail_out = static_cast<uint32_t>(out_.size());
}

GzipSink::~GzipSink() = default;

Result<void> GzipSink::HandOver() {
  const size_t used = out_.size() - stream_->avail_out;
  stream_->next_out = out_.data();
  stream_->avail_out = static_cast<uint32_t>(out_.size());
  return target_.Write({reinterpret_cast<const char*>(out_.data()), used});
}

Result<void> GzipSink::Deflate() {
  if (stream_->avail_out == 0) {
    BS_TRY(HandOver());
  }
  // It fails on parameters only.
  BS_CHECK(isal_deflate(stream_.get()) == COMP_OK);
  return {};
}

Result<void> GzipSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMostAtOnce);
    bytes.remove_prefix(piece.size());
    // The library reads through this pointer and never writes.
    stream_->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(piece.data()));
    stream_->avail_in = static_cast<uint32_t>(piece.size());
    while (stream_->avail_in > 0) {
      BS_TRY(Deflate());
    }
  }
  return {};
}

Result<void> GzipSink::Finish() {
  stream_->end_of_stream = 1;
  while (stream_->internal_state.state != ZSTATE_END) {
    BS_TRY(Deflate());
  }
  return HandOver();
}

}  // namespace borescope
