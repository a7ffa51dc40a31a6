#include "borescope/output/sink/gzip_sink.h"

#include <isa-l/igzip_lib.h>

#include <vector>

#include "borescope/base/check.h"

namespace borescope::internal {
namespace {

constexpr size_t kOutBytes = 256 * 1024;
// ISA-L counts in 32 bits.
constexpr size_t kMostAtOnce = size_t{1} << 30;

}  // namespace

struct GzipSink::State {
  State() : tables(ISAL_DEF_LVL1_DEFAULT), out(kOutBytes) {
    isal_deflate_init(&stream);
    stream.gzip_flag = IGZIP_GZIP;
    stream.level = 1;
    stream.level_buf = tables.data();
    stream.level_buf_size = static_cast<uint32_t>(tables.size());
    StartOutput();
  }

  void StartOutput() {
    stream.next_out = out.data();
    stream.avail_out = static_cast<uint32_t>(out.size());
  }

  isal_zstream stream{};
  std::vector<uint8_t> tables;  // the library's own
  std::vector<uint8_t> out;     // filled up to stream.avail_out bytes
};

GzipSink::GzipSink(Sink& target) : target_(target), state_(std::make_unique<State>()) {}

GzipSink::~GzipSink() = default;

Result<void> GzipSink::HandOver() {
  const size_t used = state_->out.size() - state_->stream.avail_out;
  state_->StartOutput();
  return target_.Write({reinterpret_cast<const char*>(state_->out.data()), used});
}

Result<void> GzipSink::Deflate() {
  if (state_->stream.avail_out == 0) {
    BS_TRY(HandOver());
  }
  // It fails on parameters only.
  BS_CHECK(isal_deflate(&state_->stream) == COMP_OK);
  return {};
}

Result<void> GzipSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMostAtOnce);
    bytes.remove_prefix(piece.size());
    // The library reads through this pointer and never writes.
    state_->stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(piece.data()));
    state_->stream.avail_in = static_cast<uint32_t>(piece.size());
    while (state_->stream.avail_in > 0) {
      BS_TRY(Deflate());
    }
  }
  return {};
}

Result<void> GzipSink::Finish() {
  state_->stream.end_of_stream = 1;
  while (state_->stream.internal_state.state != ZSTATE_END) {
    BS_TRY(Deflate());
  }
  return HandOver();
}

Result<void> WriteMaybeGzip(std::string_view path, Sink& file,
                            const std::function<Result<void>(Sink&)>& write) {
  if (!path.ends_with(".gz")) {
    return write(file);
  }
  GzipSink gzip(file);
  BS_TRY(write(gzip));
  return gzip.Finish();
}

}  // namespace borescope::internal
