// Text generation that no annotation marks: the passes of the model through the prompt and for each
// further token, found by what recurs.
//
// Of the thread that launches most device time, the outermost operators that launch device work are
// a sequence, which is cut into passes where it begins again (recurrence.h). Shapes say what a pass
// does, and whether the passes are a generation at all:
//
//   positions  of the queries of its attention ([batch, heads, positions, head size]), else of the
//              indices of its embedding ([batch, positions])
//   decode     a pass of one position; without either, one that appends to token ids that are one
//              longer than those of the pass before
//   prefill    a pass of several positions; without either, one that appends to other token ids
//
// and of every two decode passes in a row at least nine in ten must show that a token came between:
// keys and values, or the token ids that are appended to ([batch, length] and [batch, 1]), are one
// longer; or (a cache of a fixed size) both look up the embedding of one position and choose a
// token (argmax, multinomial). Where no shapes were recorded, frames of Python may say it: of the
// passes within a call of Hugging Face's `generate` the first is the prefill, and the others
// decode, for nobody knows how many requests. Where a backward pass, or an optimizer, was recorded,
// nothing is a generation.
//
// Where decode steps are launched as graphs, and no operators show it, graphs are taken for decode
// steps that were launched three times or more, read a cache of keys and values, and have no kernel
// of a backward pass or optimizer: this is inferred.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/inference/step_notes.h"

namespace borescope::internal {

struct GenerationPass {
  HostId begin;          // its first operator, or the call that launches its graph
  int64_t end_ns = 0;    // of its window, which begins with that; passes do not overlap
  bool is_last = false;  // of a generation: what follows does not belong to it
  StepNotes notes;
};

struct Generation {
  std::vector<GenerationPass> passes;  // by begin
  std::string reason;                  // why there are none
};

// By operators and their shapes. O(host and device rows), beside FindRecurrence.
Generation FindGeneration(const RankView& view);

// By graphs. O(rows), times a logarithm.
Generation FindGraphDecode(const RankView& view, const Selected& selected);

}  // namespace borescope::internal
