// In the place of png_rsvg.cc where librsvg was not there to build with.
#include "borescope/output/charts/png/png.h"

namespace borescope::internal {

Result<void> CheckPng() {
  return Error{
      .code = ErrorCode::kInvalidArgument,
      .cause = "`format` png: this program was built without librsvg (Debian: librsvg2-dev)",
      .remedy = "`format` svg needs nothing",
      .parameter = "format"};
}

Result<std::string> RenderPng(const Picture& /*picture*/, double /*scale*/) {
  BS_TRY(CheckPng());
  return std::string();
}

}  // namespace borescope::internal
