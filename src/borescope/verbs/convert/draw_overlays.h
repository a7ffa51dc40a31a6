// What several verbs find, drawn into one copy of a trace.
#pragma once

#include "borescope/base/result.h"
#include "borescope/convert.h"

namespace borescope::internal {

// The copy holds the text of the one input with counters, spans and arrows of all verbs of
// `options.overlays`, each as its own --overlay draws it; events are marked, and none is left out.
// Errors: kInvalidArgument for verbs that draw nothing, and for options that make no copy of one
// file; kMissingData where a verb finds nothing to draw, or the input is no undamaged JSON.
Result<ConvertReport> DrawOverlays(const ConvertOptions& options);

}  // namespace borescope::internal
