#include "borescope/output/charts/png/png.h"

#include "borescope/output/writer.h"

namespace borescope::internal {

Result<void> WritePng(const Document& document, const WriteOptions& /*options*/, Sink& sink) {
  BS_ASSIGN(const Picture picture, DrawPicture(document));
  BS_ASSIGN(const std::string png, RenderPng(picture));
  return sink.Write(png);
}

}  // namespace borescope::internal
