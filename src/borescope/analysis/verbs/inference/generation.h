// Text generation that no annotation marks: the passes of the model through the prompt and for each
// further token, found by what recurs.
//
// Of the thread that launches most device time, the outermost operators that launch device work are
// a sequence, which is cut into passes where it begins again. Shapes say what a pass
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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/inference/step_names.h"

namespace borescope::internal {

// Where a sequence begins again: the passes of a program that does the same over and over.
//
// A symbol that occurs three times or more cuts the sequence into passes, each from one occurrence
// to the next. Of these passes the usual one is the content that most of them have, the first of
// equal ones; without any two alike, the first of median length. A pass is like the usual one where
// one becomes the other by no more insertions and deletions than a tenth of the symbols of the
// usual one (rounded up); the last pass, which may go on with other things, counts as far as the
// usual one is long. A symbol is a candidate if two passes or more are alike, and these hold at
// least half of the sequence.
//
// Of the candidates the one with the fewest occurrences is taken: layers recur within passes. Of
// equal ones that which `preferred` says, else the first to occur. One that occurs at least half as
// often again takes its place if it leaves no more passes unlike the usual one: then two or more
// passes had been taken for one. Cutting at layers leaves one more unlike in every pass, that with
// the begin and the end of the model.

struct Recurrence {
  std::vector<uint32_t> begins;  // of the passes, ascending; the last one ends with the sequence
  std::vector<char> is_alike;    // per pass
  size_t length = 0;             // symbols of the usual pass

  size_t unlike() const;
};

// Nothing where the sequence does not recur. `preferred`: by symbol, 1 where it is; symbols beyond
// are not. O(n + k d) for passes of n symbols in all, of which k are no exact copies, and d, the
// insertions and deletions that are allowed; at most kMostCandidates symbols are tried.
std::optional<Recurrence> FindRecurrence(std::span<const uint32_t> symbols,
                                         std::span<const char> preferred = {});

// Insertions and deletions that make `b` of `a`, where these are no more than `most`; else
// `most` + 1. O((a + b) times the result).
size_t EditDistance(std::span<const uint32_t> a, std::span<const uint32_t> b, size_t most);

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
