// Starting and stopping at ranges, steps and calls of the program, as the launcher asked for.
//
// Each process counts for itself, and starts and stops the whole run: recording goes on while any
// process has started and not stopped. Nothing here takes a lock or allocates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "borescope/recording/log_format.h"

namespace borescope::inject {

struct Message;

// Whether begins and ends of ranges are shown to the rules. Set once, before the program runs.
extern bool g_watches_ranges;

// Takes the rules of g_options. Called when the library is loaded.
void BeginRules();

// A range begins, before it is recorded; may start or stop. Returns whether its end is to be shown.
// `can_await`: that is possible; where it is not, the range neither starts what its end is to stop,
// nor does its end stop anything, and the log says so.
bool RangeBegins(const Message& message, bool can_await);
// The end of a range was to be shown and cannot be after all: as if it had ended for the rules.
void RangeIsNotAwaited();
// Such a range has ended, after that was recorded.
void RangeEnds();

// A mark, before and after it is recorded. `MarkCame` is to be called where MarkComes says so.
bool MarkComes(const Message& message);
void MarkCame();

// A step that has no range.
void StepBegins(uint64_t number);

// cudaProfilerStart, cudaProfilerStop and similar ones: calling them twice in a row is once.
void ProfilerStarts();
void ProfilerStops();

}  // namespace borescope::inject
