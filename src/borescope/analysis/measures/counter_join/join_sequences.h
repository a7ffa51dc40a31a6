// The join of two recordings of one program as sequences of numbers: which of the kernels that were
// counted, in a run of their own, is which kernel of a trace.
//
// Name, grid and block are not enough: the same kernel with the same sizes does different amounts
// of work (attention with a mask and without, products of several depths), which in training are a
// third of the kernel time. So kernels are matched in their order, and what stays over takes values
// only where nothing shows that it may be other work; else it has none.
//
//   key        name, grid and block
//   token      the key and the innermost range that both recordings name
//   signature  what the trace knows of the work: operator, shapes, types, values
//   segment    a step of the trace; each is matched with all that was counted, as one step is
//              usually counted of several that are recorded
//   gate       whether a measured duration may be that of a kernel: tools that replay kernels hold
//              clocks and flush caches, so that it is half to three times as long
//
// A matching keeps the order of both sides and maximises 10 for each pair less 3 for each run, a
// maximal stretch of pairs consecutive on both sides: dynamic programming with affine gaps (Gotoh,
// An improved algorithm for matching biological sequences, 1982). Of equals it takes the last on
// both sides, where a program is warm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace borescope::internal {

// A kernel that was counted, in the order of the launches of its process and device.
struct CountedItem {
  uint32_t key = 0;
  uint32_t token = 0;
  int64_t stream = 0;
  std::optional<double> ns = {};  // as long as it was measured to take
  // What it did, as far as that was counted.
  std::optional<double> tensor_flops = {};
  std::optional<double> vector_flops = {};
};

// The signature of work of which the trace does not tell what it is, as its launch was not
// recorded.
inline constexpr uint32_t kNoSignature = ~uint32_t{0};

// A kernel of the trace, in the order of the launches on its device.
struct TracedItem {
  uint32_t key = 0;
  uint32_t token = 0;
  uint32_t signature = 0;
  uint32_t segment = 0;
  int64_t stream = 0;
  int64_t ns = 0;
  bool is_labelled = false;  // its token has a range
};

// Indices of both sides.
struct ItemPair {
  uint32_t counted = 0;
  uint32_t traced = 0;

  bool operator==(const ItemPair&) const = default;
};

// Whether the counted duration may be that of the traced kernel; true where it is not known.
bool PassesGate(const CountedItem& counted, const TracedItem& traced);

// As many cells as the dynamic programme fills at most, half a byte each.
inline constexpr uint64_t kMostAlignCells = 200'000'000;

// The best matching, ascending on both sides. Beyond `most_cells` (the product of the lengths)
// tokens that occur once on both sides are fixed first, as many as keep their order, and what is
// between them is aligned; a piece without such tokens that is still too large has no pairs, nor
// has one that is left after so many cuts as no recording needs. O(counted * traced) time, and
// beyond `most_cells` O(counted + traced) more; half a byte for each of at most `most_cells` cells.
std::vector<ItemPair> AlignItems(std::span<const CountedItem> counted,
                                 std::span<const TracedItem> traced,
                                 uint64_t most_cells = kMostAlignCells);

// How a kernel of a trace came by its counters, or why it has none.
enum class JoinSource : uint8_t {
  kRecorded,   // the trace itself has them
  kRange,      // matched, within a range that both recordings name
  kOrder,      // matched by the order alone
  kBroadcast,  // those of others of the same key and signature
  kAmbiguous,  // its key does several amounts of work
  kOtherWork,  // what was counted of its key took another time
  kNone,       // its key was not counted
};
inline constexpr size_t kJoinSources = 7;
std::string_view JoinSourceName(JoinSource source);  // "recorded", "range", ..., "other work"
// Whether a kernel of this source has counters.
constexpr bool HasCounters(JoinSource source) { return source <= JoinSource::kBroadcast; }

inline constexpr uint32_t kNoGroup = ~uint32_t{0};

// What the join knows about one traced item.
struct JoinedItem {
  JoinSource source = JoinSource::kNone;
  uint32_t group = kNoGroup;  // of SequenceJoin::groups, if it has counters
};

struct SequenceJoin {
  std::vector<JoinedItem> items;              // per traced item
  std::vector<std::vector<uint32_t>> groups;  // counted items whose mean is the value, ascending
  std::vector<ItemPair> pairs;                // those that were matched and kept, by traced item
};

// Joins. `has_shapes`: signatures of the trace have shapes; without them kernels of a key whose
// durations differ are ambiguous. Pairs are dropped where they might be swapped with a kernel of
// another signature, where one of each key was counted although the key has several signatures, and
// where fewer than three are together, unless their token is unique.
SequenceJoin JoinSequences(std::span<const CountedItem> counted, std::span<const TracedItem> traced,
                           bool has_shapes, uint64_t most_cells = kMostAlignCells);

}  // namespace borescope::internal
