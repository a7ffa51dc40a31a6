// A run as one picture for chats and slides.
#pragma once

#include "borescope/output/charts/charts.h"
#include "borescope/output/digest/digest.h"

namespace borescope::internal {

// 1200 x 630 pixels, on light paper whatever the viewer prefers: what was found, where the time of
// the devices goes, and the longest kernels, or against another run the largest changes. Texts are
// large enough to be read at half the size, and no name is too long for it.
Picture DrawCard(const ReportDigest& digest);

}  // namespace borescope::internal
