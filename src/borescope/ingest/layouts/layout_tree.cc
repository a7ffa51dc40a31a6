#include "borescope/ingest/layouts/layout_tree.h"

#include <algorithm>
#include <cstring>

#include "borescope/ingest/layouts/byte_block.h"
#include "borescope/ingest/layouts/token_end.h"

namespace borescope::internal {
namespace {

constexpr uint32_t kKeyBytes = 8;
// Text and key of a match stay within the white space that follows the text.
constexpr uint32_t kMostKeyOffset = 48;
// Those that may follow a step are looked through one by one.
constexpr size_t kMostSiblings = 64;

uint64_t KeyAt(const char* text) {
  uint64_t key = 0;
  std::memcpy(&key, text, sizeof key);
  return key;
}

// A key of which only the first `bytes` count.
uint64_t KeyMask(size_t bytes) {
  char mask[kKeyBytes] = {};
  std::fill_n(mask, bytes, '\xff');
  return KeyAt(mask);
}

uint32_t CommonBytes(std::string_view a, std::string_view b) {
  const auto [differs, _] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<uint32_t>(differs - a.begin());
}

}  // namespace

void LayoutTree::Clear() {
  nodes_.assign(1, Node());
  leaves_.clear();
  fixed_.clear();
}

// --- matching ---

inline bool LayoutTree::FixedMatches(const Node& node, const char* at, const char* end) {
  if (node.fixed_size > static_cast<size_t>(end - at)) {
    return false;
  }
  const char* fixed = node.fixed;
  for (uint32_t left = node.fixed_size; left > ByteBlock::kBytes; left -= ByteBlock::kBytes) {
    if (ByteBlock(at).Equals(ByteBlock(fixed)) != ~uint32_t{0}) {
      return false;
    }
    at += ByteBlock::kBytes;
    fixed += ByteBlock::kBytes;
  }
  return (~ByteBlock(at).Equals(ByteBlock(fixed)) & node.last_bits) == 0;
}

// Null if no value of the kind of the step starts at `at`.
inline const char* LayoutTree::ValueEnd(const Node& node, const char* at, const char* end) {
  switch (node.slot) {
    case Slot::kScalar: {
      const char* stop = ScalarEnd(at, end);
      return stop == at ? nullptr : stop;
    }
    case Slot::kString:
      return StringEnd(at, end);
    case Slot::kContainer:
      return *at == '[' || *at == '{' ? ContainerEnd(at, end) : nullptr;
    case Slot::kEnd:
      break;
  }
  return at;
}

// The step after `node` that the text at `at` has; null if none. `value` is where its value ends.
inline const LayoutTree::Node* LayoutTree::Follow(const Node& node, const char* at, const char* end,
                                                  const char*& value_end) const {
  const uint64_t key = KeyAt(at + node.key_offset);
  for (uint32_t i = node.child; i != kNone; i = nodes_[i].sibling) {
    const Node& child = nodes_[i];
    if ((key & child.key_mask) == child.key && FixedMatches(child, at, end)) {
      value_end = ValueEnd(child, at + child.fixed_size, end);
      if (value_end != nullptr) {
        return &child;
      }
    }
  }
  return nullptr;
}

bool LayoutTree::Match(const char* at, const char* end, RawEvent& event, const char*& after) const {
  const Node* node = nodes_.data();
  const char* args = nullptr;
  for (;;) {
    const char* value_end = nullptr;
    node = Follow(*node, at, end, value_end);
    if (node == nullptr) {
      event.Clear();
      return false;
    }
    if (node->args_begin != LayoutStep::kNowhere) {
      args = at + node->args_begin;
    }
    if (node->args_end != LayoutStep::kNowhere) {
      event.Put(Field::kArgs, {args, static_cast<size_t>(at + node->args_end - args)});
    }
    if (node->slot == Slot::kEnd) {
      after = value_end;
      break;
    }
    const size_t quote = node->slot == Slot::kString ? 1 : 0;
    const char* value = at + node->fixed_size - quote;
    event.Put(node->field, {value, static_cast<size_t>(value_end + quote - value)});
    at = value_end;
  }
  const Leaf& leaf = leaves_[node->leaf];
  event.Put(Field::kPhase, leaf.phase);
  event.Put(Field::kCategory, leaf.category);
  event.SetPresent(leaf.present, leaf.number);
  return true;
}

// --- learning ---

uint32_t LayoutTree::FindChild(uint32_t parent, const LayoutStep& step) const {
  uint32_t i = nodes_[parent].child;
  while (i != kNone && !(nodes_[i].slot == step.slot &&
                         std::string_view(nodes_[i].fixed, nodes_[i].fixed_size) == step.fixed)) {
    i = nodes_[i].sibling;
  }
  return i;
}

size_t LayoutTree::Children(uint32_t parent) const {
  size_t count = 0;
  for (uint32_t i = nodes_[parent].child; i != kNone; i = nodes_[i].sibling) {
    ++count;
  }
  return count;
}

uint32_t LayoutTree::AddChild(uint32_t parent, const LayoutStep& step) {
  constexpr size_t kBlock = ByteBlock::kBytes;
  const size_t blocks = (step.fixed.size() + kBlock - 1) / kBlock;
  fixed_.push_back(step.fixed + std::string(blocks * kBlock - step.fixed.size(), '\0'));
  Node node;
  node.fixed = fixed_.back().data();
  node.fixed_size = static_cast<uint32_t>(step.fixed.size());
  const size_t unused = blocks * kBlock - step.fixed.size();
  node.last_bits = ~uint32_t{0} >> unused;
  node.slot = step.slot;
  node.field = step.field;
  node.args_begin = static_cast<int16_t>(step.args_begin);
  node.args_end = static_cast<int16_t>(step.args_end);
  const auto id = static_cast<uint32_t>(nodes_.size());
  // After its siblings: the most frequent layouts are mostly met first.
  uint32_t* last = &nodes_[parent].child;
  while (*last != kNone) {
    last = &nodes_[*last].sibling;
  }
  *last = id;
  nodes_.push_back(node);
  SetKeys(parent);
  return id;
}

// The keys of the children of `parent`, from the first byte on in which any two differ.
void LayoutTree::SetKeys(uint32_t parent) {
  const auto fixed = [](const Node& node) { return std::string_view(node.fixed, node.fixed_size); };
  const uint32_t first = nodes_[parent].child;
  uint32_t offset = kMostKeyOffset;
  for (uint32_t i = first; i != kNone; i = nodes_[i].sibling) {
    offset = std::min(offset, CommonBytes(fixed(nodes_[first]), fixed(nodes_[i])));
  }
  nodes_[parent].key_offset = offset;
  for (uint32_t i = first; i != kNone; i = nodes_[i].sibling) {
    const std::string_view rest = fixed(nodes_[i]).substr(offset);
    const bool is_alone = nodes_[first].sibling == kNone;
    nodes_[i].key_mask = is_alone ? 0 : KeyMask(std::min<size_t>(rest.size(), kKeyBytes));
    std::string padded(rest.substr(0, kKeyBytes));
    padded.resize(kKeyBytes, '\0');
    nodes_[i].key = KeyAt(padded.data()) & nodes_[i].key_mask;
  }
}

void LayoutTree::Add(const EventLayout& layout) {
  uint32_t node = 0;
  bool is_new = false;
  uint64_t present = 0;
  const auto has = [&](Field field) { present |= uint64_t{1} << static_cast<unsigned>(field); };
  for (const LayoutStep& step : layout.steps) {
    const uint32_t child = FindChild(node, step);
    is_new = child == kNone;
    if (is_new && Children(node) >= kMostSiblings) {
      return;  // what was added of it so far matches no event
    }
    node = is_new ? AddChild(node, step) : child;
    if (step.field != Field::kCount) {
      has(step.field);
    }
    if (step.args_begin != LayoutStep::kNowhere) {
      has(Field::kArgs);
    }
  }
  if (!is_new) {
    return;
  }
  if (!layout.phase.empty()) {
    has(Field::kPhase);
  }
  if (!layout.category.empty()) {
    has(Field::kCategory);
  }
  nodes_[node].leaf = static_cast<uint32_t>(leaves_.size());
  leaves_.push_back({++last_number_, present, layout.phase, layout.category});
}

}  // namespace borescope::internal
