#include "borescope/analysis/measures/stacks/stack_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/stacks/stack_sums.h"
#include "borescope/base/check.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

constexpr uint32_t kNoNode = StackNode::kNone;

const Column& ColumnOf(const Table& table, std::string_view name) {
  const Column* found = table.Find(name);
  BS_CHECK(found != nullptr);
  return *found;
}

// Finds or makes the node of each row; rows come in preorder.
class TreeReader {
 public:
  explicit TreeReader(const Table& table)
      : table_(table),
        keys_(CountKeys(table)),
        name_(ColumnOf(table, "name")),
        kind_(ColumnOf(table, "kind")),
        groups_(keys_ + 1),
        frames_(3) {}

  StackTree Read();

 private:
  uint32_t GroupOf(uint32_t row);
  uint32_t FrameOf(uint32_t parent, uint32_t row, int64_t depth);
  uint32_t NewNode(uint32_t parent, uint32_t row, int64_t depth);

  const Table& table_;
  size_t keys_;
  const Column& name_;
  const Column& kind_;
  Grouper groups_;  // 0 (as there may be no key), then the keys
  Grouper frames_;  // parent, name, kind
  std::vector<uint32_t> node_of_group_, node_of_frame_;
  std::vector<int64_t> key_;
  CellIds ids_;
  StackTree tree_;
};

uint32_t TreeReader::NewNode(uint32_t parent, uint32_t row, int64_t depth) {
  StackNode node;
  node.parent = parent;
  node.row = row;
  node.depth = static_cast<int32_t>(depth);
  tree_.nodes.push_back(node);
  return static_cast<uint32_t>(tree_.nodes.size() - 1);
}

uint32_t TreeReader::GroupOf(uint32_t row) {
  key_.assign(1, 0);
  for (size_t i = 0; i < keys_; ++i) {
    key_.push_back(ids_.Of(table_.columns[i], row));
  }
  const uint32_t group = groups_.Find(key_);
  if (group == node_of_group_.size()) {
    node_of_group_.push_back(NewNode(kNoNode, row, -1));
  }
  return node_of_group_[group];
}

uint32_t TreeReader::FrameOf(uint32_t parent, uint32_t row, int64_t depth) {
  const int64_t key[] = {parent, ids_.Of(name_, row), ids_.Of(kind_, row)};
  const uint32_t frame = frames_.Find(key);
  if (frame == node_of_frame_.size()) {
    node_of_frame_.push_back(NewNode(parent, row, depth));
  }
  return node_of_frame_[frame];
}

StackTree TreeReader::Read() {
  const IntValues& depth = Ints(table_, "depth");
  const IntValues& calls = Ints(table_, "calls");
  const IntValues& host_ns = Ints(table_, "self_host_ns");
  const IntValues& device_ns = Ints(table_, "self_device_ns");
  const IntValues& aligned_ns = Ints(table_, "self_aligned_ns");
  tree_.table = &table_;
  std::vector<uint32_t> path;  // to the row, from its keys on
  for (uint32_t row = 0; row < table_.rows(); ++row) {
    if (depth[row] == 0) {
      path.assign(1, GroupOf(row));
    }
    BS_CHECK(static_cast<size_t>(depth[row]) < path.size());
    path.resize(static_cast<size_t>(depth[row]) + 1);
    path.push_back(FrameOf(path.back(), row, depth[row]));
    StackNode& node = tree_.nodes[path.back()];
    AddSaturatingTo(node.calls, calls[row]);
    AddSaturatingTo(node.self_host_ns, host_ns[row]);
    AddSaturatingTo(node.self_device_ns, device_ns[row]);
    AddSaturatingTo(node.self_aligned_ns, aligned_ns[row]);
  }
  return std::move(tree_);
}

int CompareKeys(const Table& table, size_t keys, uint32_t a, uint32_t b) {
  for (size_t i = 0; i < keys; ++i) {
    const int order = CompareCells(table.columns[i], a, b);
    if (order != 0) {
      return order;
    }
  }
  return 0;
}

// Whether one sibling comes before another.
class ComesFirst {
 public:
  ComesFirst(const StackTree& tree, SiblingOrder order)
      : tree_(tree),
        order_(order),
        keys_(CountKeys(*tree.table)),
        name_(ColumnOf(*tree.table, "name")),
        kind_(ColumnOf(*tree.table, "kind")) {}

  bool operator()(const StackNode& a, const StackNode& b) const {
    if (a.depth < 0) {
      return CompareKeys(*tree_.table, keys_, a.row, b.row) < 0;
    }
    if (a.is_other != b.is_other) {
      return b.is_other;
    }
    if (order_ == SiblingOrder::kLargestFirst && Times(a) != Times(b)) {
      return Times(a) > Times(b);
    }
    const int by_name = CompareCells(name_, a.row, b.row);
    return by_name != 0 ? by_name < 0 : CompareCells(kind_, a.row, b.row) < 0;
  }

 private:
  static std::tuple<int64_t, int64_t> Times(const StackNode& node) {
    return {node.total_device_ns, node.total_host_ns};
  }

  const StackTree& tree_;
  SiblingOrder order_;
  size_t keys_;
  const Column& name_;
  const Column& kind_;
};

bool Stays(const StackNode& node, const StackNode& whole, const StackCut& cut) {
  const bool is_large = ShareOf(node.total_device_ns, whole.total_device_ns) >= cut.min_share ||
                        ShareOf(node.total_host_ns, whole.total_host_ns) >= cut.min_share;
  return node.depth < 0 || (is_large && (cut.depth == 0 || node.depth < cut.depth));
}

// A node for what is cut beside `node`.
StackNode OtherBeside(const StackNode& node) {
  StackNode other;
  other.parent = node.parent;
  other.row = node.row;
  other.depth = node.depth;
  other.is_other = true;
  return other;
}

// Adds a node, and the time of all below it, to the node that represents what was cut.
void AddCut(const StackNode& node, StackNode& other) {
  AddSaturatingTo(other.calls, node.calls);
  AddSaturatingTo(other.self_host_ns, node.total_host_ns);
  AddSaturatingTo(other.total_host_ns, node.total_host_ns);
  AddSaturatingTo(other.self_device_ns, node.total_device_ns);
  AddSaturatingTo(other.total_device_ns, node.total_device_ns);
  AddSaturatingTo(other.self_aligned_ns, node.total_aligned_ns);
  AddSaturatingTo(other.total_aligned_ns, node.total_aligned_ns);
}

}  // namespace

size_t CountKeys(const Table& stacks) {
  return static_cast<size_t>(&ColumnOf(stacks, "depth") - stacks.columns.data());
}

int64_t CellIds::Of(const Column& column, size_t row) {
  if (column.IsMissing(row)) {
    return kMissing;
  }
  if (const auto* texts = std::get_if<StringValues>(&column.values); texts != nullptr) {
    return texts_.try_emplace((*texts)[row], static_cast<int64_t>(texts_.size())).first->second;
  }
  return std::get<IntValues>(column.values)[row];
}

void CopyCell(Column& to, const Column& from, size_t row) {
  if (from.IsMissing(row)) {
    PushMissing(to);
  } else if (const auto* texts = std::get_if<StringValues>(&from.values); texts != nullptr) {
    Push(to, std::string_view((*texts)[row]));
  } else {
    Push(to, std::get<IntValues>(from.values)[row]);
  }
}

StackTree ReadStacks(const Table& table) { return TreeReader(table).Read(); }

void SumTotals(StackTree& tree) {
  for (StackNode& node : tree.nodes) {
    node.total_host_ns = node.self_host_ns;
    node.total_device_ns = node.self_device_ns;
    node.total_aligned_ns = node.self_aligned_ns;
  }
  for (size_t i = tree.nodes.size(); i-- > 0;) {
    const StackNode& node = tree.nodes[i];
    if (node.parent != kNoNode) {
      AddSaturatingTo(tree.nodes[node.parent].total_host_ns, node.total_host_ns);
      AddSaturatingTo(tree.nodes[node.parent].total_device_ns, node.total_device_ns);
      AddSaturatingTo(tree.nodes[node.parent].total_aligned_ns, node.total_aligned_ns);
    }
  }
}

StackNode WholeOf(const StackTree& tree) {
  StackNode whole;
  for (const StackNode& node : tree.nodes) {
    if (node.depth < 0) {
      AddSaturatingTo(whole.total_host_ns, node.total_host_ns);
      AddSaturatingTo(whole.total_device_ns, node.total_device_ns);
    }
  }
  return whole;
}

StackTree CutStacks(const StackTree& tree, const StackCut& cut) {
  const StackNode whole = WholeOf(tree);
  StackTree kept{tree.table, {}};
  std::vector<uint32_t> place(tree.nodes.size());  // per node: the new node that has its time
  std::vector<uint32_t> other_of;                  // per new node: its node for what was cut
  for (const size_t i : EachIndex(tree.nodes.size())) {
    StackNode node = tree.nodes[i];
    node.parent = node.parent == kNoNode ? kNoNode : place[node.parent];
    if (node.parent != kNoNode && kept.nodes[node.parent].is_other) {
      place[i] = node.parent;  // its time was added with the frame around it
      AddSaturatingTo(kept.nodes[node.parent].calls, node.calls);
      continue;
    }
    if (Stays(node, whole, cut)) {
      place[i] = static_cast<uint32_t>(kept.nodes.size());
      kept.nodes.push_back(node);
      continue;
    }
    other_of.resize(kept.nodes.size(), kNoNode);
    uint32_t& other = other_of[node.parent];
    if (other == kNoNode) {
      other = static_cast<uint32_t>(kept.nodes.size());
      kept.nodes.push_back(OtherBeside(node));
    }
    place[i] = other;
    AddCut(node, kept.nodes[other]);
  }
  return kept;
}

std::vector<uint32_t> Preorder(const StackTree& tree, SiblingOrder order) {
  const std::vector<StackNode>& nodes = tree.nodes;
  if (nodes.empty()) {
    return {};
  }
  const ComesFirst comes_first(tree, order);
  std::vector<uint32_t> siblings(nodes.size());  // nodes grouped by parent
  std::iota(siblings.begin(), siblings.end(), 0U);
  // By parent, and nodes without one (the largest number) last. Siblings are in reverse order, as
  // they are pushed onto a stack.
  std::stable_sort(siblings.begin(), siblings.end(), [&](uint32_t a, uint32_t b) {
    return nodes[a].parent != nodes[b].parent ? nodes[a].parent < nodes[b].parent
                                              : comes_first(nodes[b], nodes[a]);
  });
  std::vector<uint32_t> first(nodes.size() + 1, 0);  // of the children of each node
  for (const StackNode& node : nodes) {
    if (node.parent != kNoNode) {
      ++first[node.parent + 1];
    }
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<uint32_t> open(siblings.begin() + first.back(), siblings.end());
  std::vector<uint32_t> preorder;
  preorder.reserve(nodes.size());
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    preorder.push_back(node);
    open.insert(open.end(), siblings.begin() + first[node], siblings.begin() + first[node + 1]);
  }
  return preorder;
}

void PushFrame(const StackTree& tree, const StackNode& node, Column& name, Column& kind) {
  if (node.is_other) {
    Push(name, kOtherFrames);
    PushMissing(kind);
    return;
  }
  CopyCell(name, ColumnOf(*tree.table, "name"), node.row);
  CopyCell(kind, ColumnOf(*tree.table, "kind"), node.row);
}

Table WriteStacks(const StackTree& tree, SiblingOrder order) {
  Table table = Head(*tree.table, 0);
  const size_t keys = CountKeys(table);
  const size_t name = keys + 1;
  const size_t kind = keys + 2;
  for (const uint32_t i : Preorder(tree, order)) {
    const StackNode& node = tree.nodes[i];
    if (node.depth < 0) {
      continue;
    }
    for (size_t key = 0; key < keys; ++key) {
      CopyCell(table.columns[key], tree.table->columns[key], node.row);
    }
    Push(table.columns[keys], int64_t{node.depth});
    PushFrame(tree, node, table.columns[name], table.columns[kind]);
    size_t column = kind + 1;
    for (const int64_t value :
         {node.calls, node.self_host_ns, node.total_host_ns, node.self_device_ns,
          node.total_device_ns, node.self_aligned_ns, node.total_aligned_ns}) {
      Push(table.columns[column++], value);
    }
  }
  return table;
}

namespace {

// The sums of each name, in order of first appearance; `row`: a row with that name.
class FrameSums {
 public:
  explicit FrameSums(const StackTree& tree)
      : tree_(tree), keys_(CountKeys(*tree.table)), groups_(keys_ + 2) {}

  std::vector<StackNode> Sum();

 private:
  uint32_t GroupOf(const StackNode& node);
  void Add(const StackNode& node, bool is_outermost, StackNode& sums) const;

  const StackTree& tree_;
  size_t keys_;
  Grouper groups_;  // keys, name, kind
  CellIds ids_;
  std::vector<int64_t> key_;
};

uint32_t FrameSums::GroupOf(const StackNode& node) {
  key_.clear();
  for (size_t i = 0; i < keys_ + 3; ++i) {
    if (i != keys_) {  // the depth
      key_.push_back(ids_.Of(tree_.table->columns[i], node.row));
    }
  }
  return groups_.Find(key_);
}

void FrameSums::Add(const StackNode& node, bool is_outermost, StackNode& sums) const {
  AddSaturatingTo(sums.calls, node.calls);
  AddSaturatingTo(sums.self_host_ns, node.self_host_ns);
  AddSaturatingTo(sums.self_device_ns, node.self_device_ns);
  AddSaturatingTo(sums.self_aligned_ns, node.self_aligned_ns);
  if (is_outermost) {
    AddSaturatingTo(sums.total_host_ns, node.total_host_ns);
    AddSaturatingTo(sums.total_device_ns, node.total_device_ns);
    AddSaturatingTo(sums.total_aligned_ns, node.total_aligned_ns);
  }
}

std::vector<StackNode> FrameSums::Sum() {
  std::vector<StackNode> sums;
  std::vector<uint32_t> around;  // groups of the frames around a node, outermost first
  std::vector<uint32_t> open;    // per group: how often it is among them
  for (const uint32_t i : Preorder(tree_, SiblingOrder::kByName)) {
    const StackNode& node = tree_.nodes[i];
    const auto depth = static_cast<size_t>(std::max(node.depth, 0));
    for (; around.size() > depth; around.pop_back()) {
      --open[around.back()];
    }
    if (node.depth < 0) {
      continue;
    }
    const uint32_t group = GroupOf(node);
    if (group == sums.size()) {
      sums.emplace_back().row = node.row;
      open.push_back(0);
    }
    Add(node, open[group]++ == 0, sums[group]);
    around.push_back(group);
  }
  return sums;
}

Table EmptyFramesTable(const Table& stacks) {
  Table table = Head(stacks, 0);
  table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(CountKeys(stacks)));
  table.name = "stack_frames";
  table.title = "Host frames by name, at any place in stacks";
  table.Find("name")->doc = "Name of the frame; rows that are no frames as in `stacks`.";
  table.Find("total_host_ns")->doc =
      "Host time of the outermost frames of this name and of all below them.";
  table.Find("total_device_ns")->doc =
      "Device work launched by the outermost frames of this name and by all below them.";
  table.Find("total_aligned_ns")->doc =
      "The same of the outermost frames of this name and of all below them.";
  return table;
}

// The keys above a tree as its outermost frames: "rank 0;".
std::string KeyFrames(const Table& table, size_t keys, size_t row) {
  std::string text;
  for (size_t i = 0; i < keys; ++i) {
    const Column& column = table.columns[i];
    const auto* texts = std::get_if<StringValues>(&column.values);
    const std::string value = column.IsMissing(row) ? "-"
                              : texts != nullptr
                                  ? FoldedName((*texts)[row])
                                  : std::to_string(std::get<IntValues>(column.values)[row]);
    text += column.name + " " + value + ";";
  }
  return text;
}

}  // namespace

Table FramesTable(const StackTree& tree) {
  Table table = EmptyFramesTable(*tree.table);
  const size_t keys = CountKeys(*tree.table);
  for (const StackNode& sums : FrameSums(tree).Sum()) {
    for (size_t i = 0; i < keys + 2; ++i) {
      CopyCell(table.columns[i], tree.table->columns[i < keys ? i : i + 1], sums.row);
    }
    size_t column = keys + 2;
    for (const int64_t value :
         {sums.calls, sums.self_host_ns, sums.total_host_ns, sums.self_device_ns,
          sums.total_device_ns, sums.self_aligned_ns, sums.total_aligned_ns}) {
      Push(table.columns[column++], value);
    }
  }
  return table;
}

std::string FoldedName(std::string_view name) {
  std::string text;
  text.reserve(name.size());
  for (const char c : name) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    text += c == ';' ? ':' : c == ',' || c == '"' || is_control ? '_' : c;
  }
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "(unnamed)"
                                    : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

Result<Table> FoldedTable(const StackTree& tree) {
  Table table{"folded", "Call stacks, one a row, outermost frame first", {}};
  AddString(table, "stack", Role::kKey,
            "Names of the frames, outermost first, joined by \";\". In a name \";\" is \":\", and "
            "commas, quotes and control characters are \"_\", so that CSV needs no quotes.");
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum,
         "Device work launched by the innermost frame itself.");
  AddInt(table, "host_ns", Unit::kNanoseconds, Role::kSum,
         "Host time in the innermost frame and in none inside it.");
  const Column* names = tree.table->Find("name");
  BS_CHECK(names != nullptr);
  const auto& texts = std::get<StringValues>(names->values);
  const size_t keys = CountKeys(*tree.table);
  std::string path;
  std::vector<size_t> ends;  // of the frames in the path; the keys come first
  size_t bytes = 0;
  for (const uint32_t i : Preorder(tree, SiblingOrder::kLargestFirst)) {
    const StackNode& node = tree.nodes[i];
    if (node.depth < 0) {
      path = KeyFrames(*tree.table, keys, node.row);
      ends.assign(1, path.size());
      continue;
    }
    ends.resize(static_cast<size_t>(node.depth) + 1);
    path.resize(ends.back());
    path += node.is_other ? std::string(kOtherFrames) : FoldedName(texts[node.row]);
    if (node.self_device_ns != 0 || node.self_host_ns != 0) {
      bytes += path.size();
      Row(table).Text(path).Int(node.self_device_ns).Int(node.self_host_ns);
    }
    path += ';';
    ends.push_back(path.size());
    if (bytes > kMostFoldedBytes) {
      return Error{ErrorCode::kInvalidArgument, "the folded stacks take more than 1 GiB",
                   "leave frames out with `depth` or `min_share`"};
    }
  }
  return table;
}

Result<void> CheckStacks(const Tables& tables, const Params&) {
  int64_t deepest = 0;  // depth that the next row may have
  for (const int64_t depth : Ints(tables.front(), "depth")) {
    if (depth < 0 || depth > deepest) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("a frame of depth {} is below one of depth {}", depth, deepest - 1)};
    }
    deepest = depth + 1;
  }
  return {};
}

Result<Tables> ReduceStacks(std::span<const Tables> findings, const Params&) {
  std::vector<Table> tables;
  tables.reserve(findings.size());
  for (const Tables& one : findings) {
    tables.push_back(one.front());
  }
  const Table joined = Concat(tables);
  return Tables{WriteStacks(ReadStacks(joined), SiblingOrder::kByName)};
}

StackCut StackCutOf(const Params& params) {
  return {params.Number(kDepthParam), params.Share(kMinShareParam)};
}

}  // namespace borescope::internal
