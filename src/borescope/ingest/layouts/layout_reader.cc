#include "borescope/ingest/layouts/layout_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "borescope/ingest/layouts/token_end.h"
#include "borescope/json/json_cursor.h"

namespace borescope::internal {

namespace {

constexpr size_t kLongestFixed = 250;
constexpr size_t kMostSteps = 64;

// Reads an event from front to back, cutting it before and after each value that varies.
class LayoutLearner {
 public:
  explicit LayoutLearner(std::string_view event) : text_(event) {}

  std::optional<EventLayout> Learn() {
    if (!text_.starts_with('{') || !Object(false) || at_ != text_.size()) {
      return std::nullopt;
    }
    return Cut(Slot::kEnd, Field::kCount) ? std::optional(std::move(layout_)) : std::nullopt;
  }

 private:
  // The members of the event or of its "args", from the opening brace to after the closing one.
  bool Object(bool is_args) {
    ++at_;
    if (SkipTo('}')) {
      return true;
    }
    do {
      at_ = FindNonSpace(text_, at_);
      if (!Member(is_args)) {
        return false;
      }
    } while (SkipTo(','));
    return SkipTo('}');
  }

  bool Member(bool is_args) {
    if (!SkipTo('"')) {
      return false;
    }
    const size_t begin = at_;
    at_ = text_.find_first_of("\"\\", at_);
    if (at_ == std::string_view::npos || text_[at_] == '\\') {
      return false;
    }
    const std::string_view key = text_.substr(begin, at_ - begin);
    ++at_;
    if (!SkipTo(':')) {
      return false;
    }
    at_ = FindNonSpace(text_, at_);
    return at_ < text_.size() && Value(is_args ? FindArgsField(key) : FindEventField(key));
  }

  bool Value(Field field) {
    if (field != Field::kCount) {
      const uint64_t bit = uint64_t{1} << static_cast<unsigned>(field);
      if ((seen_ & bit) != 0) {
        return false;
      }
      seen_ |= bit;
    }
    const char c = text_[at_];
    if (field == Field::kArgs) {
      return c == '{' && Args();
    }
    if (field == Field::kPhase || field == Field::kCategory) {
      return Fixed(field == Field::kPhase ? layout_.phase : layout_.category);
    }
    if (c == '"') {
      ++at_;
      return Vary(Slot::kString, field, StringEnd(Here(), End()));
    }
    const bool is_container = c == '[' || c == '{';
    return is_container ? Vary(Slot::kContainer, field, ContainerEnd(Here(), End()))
                        : Vary(Slot::kScalar, field, ScalarEnd(Here(), End()));
  }

  bool Args() {
    args_begin_ = static_cast<int>(at_ - fixed_begin_);
    if (!Object(true)) {
      return false;
    }
    args_end_ = static_cast<int>(at_ - fixed_begin_);
    return true;
  }

  // A string that belongs to the fixed text. One with escapes does not: each event with one that is
  // damaged counts as repaired.
  bool Fixed(std::string& value) {
    const size_t begin = at_;
    const char* end = text_[at_] == '"' ? StringEnd(Here() + 1, End()) : nullptr;
    if (end == nullptr) {
      return false;
    }
    at_ = static_cast<size_t>(end - text_.data()) + 1;
    value = text_.substr(begin, at_ - begin);
    return value.find('\\') == std::string::npos;
  }

  // The value from here to `end` varies.
  bool Vary(Slot slot, Field field, const char* end) {
    if (end == nullptr || (end == Here() && slot != Slot::kString) || !Cut(slot, field)) {
      return false;
    }
    fixed_begin_ = static_cast<size_t>(end - text_.data());
    at_ = fixed_begin_ + (slot == Slot::kString ? 1 : 0);  // its closing quotation mark is fixed
    return true;
  }

  // The fixed text ends here.
  bool Cut(Slot slot, Field field) {
    const std::string_view fixed = text_.substr(fixed_begin_, at_ - fixed_begin_);
    layout_.steps.push_back({std::string(fixed), slot, field, args_begin_, args_end_});
    args_begin_ = args_end_ = LayoutStep::kNowhere;
    return fixed.size() <= kLongestFixed && layout_.steps.size() <= kMostSteps;
  }

  // Moves past white space and then `c`, if it follows.
  bool SkipTo(char c) {
    const size_t next = FindNonSpace(text_, at_);
    if (next >= text_.size() || text_[next] != c) {
      return false;
    }
    at_ = next + 1;
    return true;
  }

  const char* Here() const { return text_.data() + at_; }
  const char* End() const { return text_.data() + text_.size(); }

  std::string_view text_;
  size_t at_ = 0;
  size_t fixed_begin_ = 0;
  uint64_t seen_ = 0;
  int args_begin_ = LayoutStep::kNowhere;
  int args_end_ = LayoutStep::kNowhere;
  EventLayout layout_;
};

}  // namespace

std::optional<EventLayout> LayoutOf(std::string_view event) { return LayoutLearner(event).Learn(); }

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

namespace {

// What an event that was tried in vain and learnt costs, in events saved.
constexpr int kPriceOfMiss = 4;

}  // namespace

bool LayoutReader::Read(std::string_view text, size_t at, RawEvent& event, size_t& after) {
  if (rest_ != 0) {
    --rest_;
    return false;
  }
  const char* end_of_event = nullptr;
  if (!tree_.Match(text.data() + at, text.data() + text.size(), event, end_of_event)) {
    trust_ -= kPriceOfMiss;
    return false;
  }
  after = static_cast<size_t>(end_of_event - text.data());
  if (trust_ < kMostTrust) {
    ++trust_;
  } else {
    next_rest_ = kShortestRest;
  }
  return true;
}

void LayoutReader::Learn(std::string_view event) {
  if (rest_ != 0) {
    return;
  }
  if (trust_ <= 0) {
    rest_ = next_rest_;
    next_rest_ = std::min(next_rest_ * 2, kLongestRest);
    trust_ = kMostTrust / 2;
  }
  if (tree_.size() > kMostSteps) {
    tree_.Clear();
  }
  if (const std::optional<EventLayout> layout = LayoutOf(event)) {
    tree_.Add(*layout);
  }
}

}  // namespace borescope::internal
