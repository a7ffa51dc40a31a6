#include "borescope/analysis/measures/stacks/stack_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/stacks/stack_sums.h"
#include "borescope/base/check.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

// The sums of each name, in order of first appearance; `row` is one with that name.
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
  table.title = "Host frames by name, wherever they stand";
  table.Find("name")->doc = "Name of the frame; what is no frame as in `stacks`.";
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
  int64_t deepest = 0;  // that the next row may be
  for (const int64_t depth : Ints(tables.front(), "depth")) {
    if (depth < 0 || depth > deepest) {
      return Error{
          ErrorCode::kCorrupt,
          fmt::format("a frame of depth {} stands below one of depth {}", depth, deepest - 1)};
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

}  // namespace borescope::internal
