// GzipSink: compresses what is written to it on the way to another sink. One gzip member without
// name or date, so that equal bytes give equal files. Memory does not grow with the input.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "borescope/output/sink/sink.h"

namespace borescope::internal {

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

  struct State;  // hides the library

  Sink& target_;
  std::unique_ptr<State> state_;
};

// Lets `write` write to `file`, compressed where the name `path` ends in .gz. The file is left
// open.
Result<void> WriteMaybeGzip(std::string_view path, Sink& file,
                            const std::function<Result<void>(Sink&)>& write);

}  // namespace borescope::internal
