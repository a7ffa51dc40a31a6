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
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace borescope::internal {

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

}  // namespace borescope::internal
