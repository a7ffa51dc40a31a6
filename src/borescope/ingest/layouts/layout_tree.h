// LayoutTree: the layouts seen so far, merged where they begin alike, and the match of a text with
// them. A match reads each byte of the event once: fixed texts by vectors, values up to their end.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/kineto/kineto_fields.h"
#include "borescope/ingest/layouts/event_layout.h"

namespace borescope::internal {

// Not thread-safe.
class LayoutTree {
 public:
  LayoutTree() { Clear(); }

  // True if an event of a known layout starts at `at`. Then its tokens are in `event`, and `after`
  // is the end of its closing brace. Else `event` has no fields.
  // REQUIRES: kTextPadding bytes of white space follow `end`.
  bool Match(const char* at, const char* end, RawEvent& event, const char*& after) const;

  // Not more than 64 that begin alike are kept. The tokens of phase and category that a match gives
  // live as long as the layout.
  void Add(const EventLayout& layout);
  void Clear();
  size_t size() const { return nodes_.size(); }

 private:
  static constexpr uint32_t kNone = 0;  // the root is nobody's child

  // A step with those that may follow it.
  struct Node {
    // Eight bytes of the fixed text from the place where those of all siblings differ first.
    uint64_t key = 0;
    uint64_t key_mask = 0;
    uint32_t sibling = kNone;
    uint32_t child = kNone;
    uint32_t key_offset = 0;  // for the keys of the children
    uint32_t fixed_size = 0;
    uint32_t last_bits = 0;       // of the last block of the fixed text
    const char* fixed = nullptr;  // in whole blocks
    Slot slot = Slot::kEnd;
    Field field = Field::kCount;
    int16_t args_begin = LayoutStep::kNowhere;
    int16_t args_end = LayoutStep::kNowhere;
    uint32_t leaf = 0;  // of a step that ends the event
  };
  // What all events of a layout have in common.
  struct Leaf {
    uint32_t number = 0;  // of no other layout, not even of a forgotten one
    uint64_t present = 0;
    std::string phase;
    std::string category;
  };

  static bool FixedMatches(const Node& node, const char* at, const char* end);
  const Node* Follow(const Node& node, const char* at, const char* end,
                     const char*& value_end) const;
  static const char* ValueEnd(const Node& node, const char* at, const char* end);
  uint32_t FindChild(uint32_t parent, const LayoutStep& step) const;
  size_t Children(uint32_t parent) const;
  uint32_t AddChild(uint32_t parent, const LayoutStep& step);
  void SetKeys(uint32_t parent);

  std::vector<Node> nodes_;
  std::deque<Leaf> leaves_;  // views of their texts are given away
  uint32_t last_number_ = 0;
  std::deque<std::string> fixed_;  // texts of the nodes, in whole blocks
};

}  // namespace borescope::internal
