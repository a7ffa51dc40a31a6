// Pictures as PNG, for what shows no SVG. The library that draws them, librsvg, is looked for when
// the first one is asked for: all else works without it, and starts as fast as without it. Any
// thread.
#pragma once

#include <string>

#include "borescope/base/result.h"
#include "borescope/output/charts/charts.h"

namespace borescope::internal {

// Whether pictures can be drawn here. kInvalidArgument with the remedy where the library is
// missing, or was when Borescope was built.
Result<void> CheckPng();

// The bytes of a PNG file with `scale` pixels for each of the picture, two so that it stays sharp;
// fewer for one too high for that. Errors as CheckPng; kIo when the library refuses.
Result<std::string> RenderPng(const Picture& picture, double scale = 2);

}  // namespace borescope::internal
