// The recorded events of a trace as events of a Chrome trace, with the categories and arguments of
// PyTorch's profiler, so that whatever reads its files reads these. Borescope reads the columns
// back that docs/use/convert.md lists.
#pragma once

#include "borescope/convert/chrome/chrome_text.h"
#include "borescope/convert/chrome/chrome_tracks.h"
#include "borescope/convert/convert.h"

namespace borescope::internal {

// Each writes the rows inside the window and counts all. Device events bring the flow from their
// launch along.
void WriteHostEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                     ConvertCounts& counts);
void WriteDeviceEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                       ConvertCounts& counts);
// Memory that was allocated before the recording stands at its begin.
void WriteMemoryEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                       ConvertCounts& counts);
// Forward-backward flows; they are no events of their own and not counted.
void WriteFlows(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text);
// Depths of queues and whether GPUs work, which no event says; not counted.
void WriteCounters(const ConvertInput& input, ChromeText& text);
// What monitors read. Borescope reads these counters back by their category and "dur", which
// viewers do not look at.
void WriteSamples(const ConvertInput& input, ChromeText& text, ConvertCounts& counts);

}  // namespace borescope::internal
