// StackTree: the rows of a table `stacks` (stack_sums.h) as a tree that can be merged, summed, cut
// and written back, and the tables made of it. Rows with the same path and keys become one node, so
// reading the concatenated tables of several ranks merges them. A tree reads names from the table
// it was made from, which must outlive it. A plain value otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/result.h"
#include "borescope/table/table.h"

namespace borescope::internal {

struct StackNode {
  static constexpr uint32_t kNone = ~uint32_t{0};

  uint32_t parent = kNone;  // comes before it; kNone for the nodes above the trees
  uint32_t row = 0;         // a row of the table with the node's keys and, for a frame, its name
  int32_t depth = -1;       // -1: a combination of keys, above its tree
  bool is_other = false;    // represents frames that were cut; its name is kOtherFrames
  int64_t calls = 0;
  int64_t self_host_ns = 0;
  int64_t total_host_ns = 0;
  int64_t self_device_ns = 0;
  int64_t total_device_ns = 0;
  int64_t self_aligned_ns = 0;
  int64_t total_aligned_ns = 0;
};

struct StackTree {
  const Table* table = nullptr;
  std::vector<StackNode> nodes;
};

// Which nodes stay when a tree is cut.
struct StackCut {
  int64_t depth = 0;     // levels; 0: all
  double min_share = 0;  // of the device time or of the host time of the tree
};

enum class SiblingOrder : bool { kByName, kLargestFirst };

// Merges rows into a tree. Totals are not set until SumTotals. O(rows).
StackTree ReadStacks(const Table& table);

// Sets the totals of all nodes from their self times.
void SumTotals(StackTree& tree);

// The sums of all trees. REQUIRES: SumTotals.
StackNode WholeOf(const StackTree& tree);

// Replaces, below each node that stays, the nodes that `cut` leaves out by one node with their
// time, so that times add up. REQUIRES: SumTotals.
StackTree CutStacks(const StackTree& tree, const StackCut& cut);

// All nodes, each before those below it. Nodes above the trees are in the order of their keys;
// siblings by name and kind, or by total device time, then host time, largest first, and nodes of
// cut frames last.
std::vector<uint32_t> Preorder(const StackTree& tree, SiblingOrder order);

// A table with the columns of the one that the tree was made from.
Table WriteStacks(const StackTree& tree, SiblingOrder order);

// Appends the cells of a node in the columns `name` and `kind`. REQUIRES: depth >= 0.
void PushFrame(const StackTree& tree, const StackNode& node, Column& name, Column& kind);

// Numbers cells so that cells of a column have the same number if they are equal. The texts must
// outlive it.
class CellIds {
 public:
  // REQUIRES: a column of text or of integers.
  int64_t Of(const Column& column, size_t row);

 private:
  HashMap<std::string_view, int64_t> texts_;
};

// How many columns of a table `stacks` are keys of --by. They come first.
size_t CountKeys(const Table& stacks);

// Appends a cell of a column of the same type.
void CopyCell(Column& to, const Column& from, size_t row);

// Table `stack_frames`: the sums over all nodes with the same keys, name and kind. Totals count a
// frame inside another one of its name only with the outermost, so that recursion does not inflate
// them. REQUIRES: SumTotals.
Table FramesTable(const StackTree& tree);

// Table `folded`: a row for each node with self time, with its path as the text "a;b;c" that tools
// for flame graphs read. kInvalidArgument if the texts would take more than kMostFoldedBytes.
inline constexpr size_t kMostFoldedBytes = size_t{1} << 30;
Result<Table> FoldedTable(const StackTree& tree);

// A name for a folded stack: characters that separate frames and cells are replaced.
std::string FoldedName(std::string_view name);

// The reduce of tables made by WriteStacks: the trees of all ranks become one.
Result<Tables> ReduceStacks(std::span<const Tables> tables, const Params& params);

// Checks that the rows of such tables are in preorder (Pipeline::check_tables).
Result<void> CheckStacks(const Tables& tables, const Params& params);

// The values of --depth and --min-share.
StackCut StackCutOf(const Params& params);

}  // namespace borescope::internal
