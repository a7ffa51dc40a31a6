#include "borescope/table/match_rows.h"

#include <algorithm>
#include <numeric>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

using Rows = std::vector<uint32_t>;

constexpr std::string_view kDepth = "depth";

// Numbers that rows with equal keys share.
Rows KeyNumbers(const Table& table) {
  std::vector<const Column*> keys;
  for (const Column& column : table.columns) {
    if (column.role == Role::kKey && column.name != kDepth) {
      keys.push_back(&column);
    }
  }
  const auto compare = [&](uint32_t a, uint32_t b) {
    for (const Column* key : keys) {
      if (const int order = CompareCells(*key, a, b); order != 0) {
        return order;
      }
    }
    return 0;
  };
  Rows order(table.rows());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return compare(a, b) < 0; });
  Rows numbers(table.rows());
  for (size_t i = 1; i < order.size(); ++i) {
    const bool is_new = compare(order[i - 1], order[i]) != 0;
    numbers[order[i]] = numbers[order[i - 1]] + static_cast<uint32_t>(is_new);
  }
  return numbers;
}

// Levels of rows in preorder, 0 without a key `depth`.
Rows DepthsOf(const Table& table) {
  Rows depths(table.rows(), 0);
  const Column* column = table.Find(kDepth);
  if (column == nullptr || column->role != Role::kKey) {
    return depths;
  }
  if (const auto* values = std::get_if<IntValues>(&column->values); values != nullptr) {
    std::transform(values->begin(), values->end(), depths.begin(), [](int64_t depth) {
      return static_cast<uint32_t>(std::clamp<int64_t>(depth, 0, INT32_MAX));
    });
  }
  return depths;
}

// Rows of two runs, each a tree: matches them, then puts them in order.
class Pairing {
 public:
  Pairing(const Table& joined, uint32_t mine)
      : mine_(mine),
        keys_(KeyNumbers(joined)),
        depths_(DepthsOf(joined)),
        parents_(joined.rows(), kNoRow),
        match_(joined.rows(), kNoRow),
        below_(joined.rows() + 1),
        behind_(joined.rows() + 1) {
    FindParents(0, mine_);
    FindParents(mine_, size());
  }

  // False when two rows of one run, below one row, have the same keys.
  bool Match();
  // REQUIRES: Match.
  std::vector<RowPair> Order();

 private:
  using RowByKey = HashMap<uint64_t, uint32_t>;

  uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }
  // The index of a row in lists where kNoRow, the root, has the last one.
  size_t Place(uint32_t row) const { return row == kNoRow ? keys_.size() : row; }
  uint64_t KeyBelow(uint32_t parent, uint32_t row) const {
    return uint64_t{parent} << 32 | keys_[row];
  }
  bool IsOnlyOther(uint32_t row) const { return row != kNoRow && match_[row] == kNoRow; }
  void FindParents(uint32_t begin, uint32_t end);
  std::optional<RowByKey> RowsByKey(uint32_t begin, uint32_t end) const;
  void PlaceOthers();
  void TakeOthers(const Rows& roots, std::vector<RowPair>& pairs) const;

  uint32_t mine_;
  Rows keys_;
  Rows depths_;
  Rows parents_;  // the parent of each row
  Rows match_;    // the row of the other run
  // Rows that only the other run has, each with its subtree: those placed directly below a row of
  // this run, and those placed after it and its subtree.
  std::vector<Rows> below_;
  std::vector<Rows> behind_;
};

void Pairing::FindParents(uint32_t begin, uint32_t end) {
  Rows around;
  for (uint32_t row = begin; row < end; ++row) {
    around.resize(std::min<size_t>(around.size(), depths_[row]));
    parents_[row] = around.empty() ? kNoRow : around.back();
    depths_[row] = static_cast<uint32_t>(around.size());
    around.push_back(row);
  }
}

std::optional<Pairing::RowByKey> Pairing::RowsByKey(uint32_t begin, uint32_t end) const {
  RowByKey rows;
  for (uint32_t row = begin; row < end; ++row) {
    if (!rows.try_emplace(KeyBelow(parents_[row], row), row).second) {
      return std::nullopt;
    }
  }
  return rows;
}

bool Pairing::Match() {
  const std::optional<RowByKey> mine = RowsByKey(0, mine_);
  if (!mine.has_value() || !RowsByKey(mine_, size()).has_value()) {
    return false;
  }
  for (uint32_t row = mine_; row < size(); ++row) {  // its parent comes first
    if (IsOnlyOther(parents_[row])) {
      continue;
    }
    const uint32_t parent = parents_[row] == kNoRow ? kNoRow : match_[parents_[row]];
    if (const auto found = mine->find(KeyBelow(parent, row)); found != mine->end()) {
      match_[row] = found->second;
      match_[found->second] = row;
    }
  }
  return true;
}

// A row that only the other run has keeps its index: the fourth child of a row comes after the
// fourth of this run, or after the last if there are fewer.
void Pairing::PlaceOthers() {
  std::vector<Rows> children(keys_.size() + 1);  // below each row of this run
  for (uint32_t row = 0; row < mine_; ++row) {
    children[Place(parents_[row])].push_back(row);
  }
  Rows seen(keys_.size() + 1, 0);  // below each row of the other run
  for (uint32_t row = mine_; row < size(); ++row) {
    const uint32_t parent = parents_[row];
    const uint32_t number = seen[Place(parent)]++;
    if (match_[row] != kNoRow || IsOnlyOther(parent)) {
      continue;
    }
    const size_t place = Place(parent == kNoRow ? kNoRow : match_[parent]);
    const Rows& siblings = children[place];
    if (siblings.empty()) {
      below_[place].push_back(row);
    } else {
      behind_[siblings[std::min<size_t>(number, siblings.size() - 1)]].push_back(row);
    }
  }
}

void Pairing::TakeOthers(const Rows& roots, std::vector<RowPair>& pairs) const {
  for (const uint32_t root : roots) {
    pairs.push_back({kNoRow, root});
    for (uint32_t row = root + 1; row < size() && depths_[row] > depths_[root]; ++row) {
      pairs.push_back({kNoRow, row});
    }
  }
}

std::vector<RowPair> Pairing::Order() {
  PlaceOthers();
  std::vector<RowPair> pairs;
  TakeOthers(below_[Place(kNoRow)], pairs);
  Rows open;
  for (uint32_t row = 0; row <= mine_; ++row) {
    const size_t depth = row < mine_ ? depths_[row] : 0;
    for (; open.size() > depth; open.pop_back()) {
      TakeOthers(behind_[open.back()], pairs);
    }
    if (row < mine_) {
      open.push_back(row);
      pairs.push_back({row, match_[row]});
      TakeOthers(below_[row], pairs);
    }
  }
  return pairs;
}

}  // namespace

std::optional<std::vector<RowPair>> PairRows(const Table& joined, uint32_t mine) {
  Pairing pairing(joined, mine);
  if (!pairing.Match()) {
    return std::nullopt;
  }
  return pairing.Order();
}

}  // namespace borescope::internal
