// GzipSink: compresses what is written to it on the way to another sink. One gzip member without
// name or date, so that equal bytes give equal files. Memory does not grow with the input.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "borescope/output/sink.h"

struct isal_zstream;

namespace borescope {

class GzipSink : public Sink {
 public:
  // `target` outlives this.
  explicit GzipSink(Sink& target);
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink() override;

  Result<void> Write(std::string_view bytes) override;

  // Ends the stream and hands over what is left; the target is left open. No Write may follow.
  Result<void> Finish();

 private:
  Result<void> Deflate();
  Result<void> HandOver();

  Sink& target_;
  std::unique_ptr<isal_zstream> stream_;
  std::vector<uint8_t> tables_;  // ISA-L's own
  std::vector<uint8_t> out_;
};

}  // namespace borescope
