// LayoutReader: reads events whose layout was seen before, and decides when that is worth trying.
// docs/how-it-works/layouts.md describes how; what it reads is what the structural parser reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/kineto/kineto_fields.h"

namespace borescope::internal {

// EventLayout: an event without its values, as a writer repeats it. Learnt from one event.

enum class Slot : uint8_t {
  kScalar,     // a number or a word, up to a comma, a brace or white space
  kString,     // up to its closing quotation mark, which begins the next fixed text
  kContainer,  // a list or an object other than "args"
  kEnd,        // nothing: the event ends with the fixed text
};

// Fixed text and the value after it.
struct LayoutStep {
  static constexpr int kNowhere = -1;

  std::string fixed;
  Slot slot = Slot::kEnd;
  Field field = Field::kCount;  // of the value; kCount if it is not read
  int args_begin = kNowhere;    // of the opening brace of "args" in `fixed`
  int args_end = kNowhere;      // after its closing brace

  bool operator==(const LayoutStep&) const = default;
};

struct EventLayout {
  std::vector<LayoutStep> steps;  // the last one, and no other, has Slot::kEnd
  // Phase and category are in the fixed text, with their quotation marks; empty if absent.
  std::string phase;
  std::string category;
};

// The layout of a well-formed event, from its opening to its closing brace. Nothing for an event
// that is not worth remembering: with repeated or escaped keys, a phase or category that is no
// plain string, or very long fixed texts. REQUIRES: kTextPadding bytes after `event` are readable.
// Any thread.
std::optional<EventLayout> LayoutOf(std::string_view event);

// LayoutTree: the layouts seen so far, merged where they begin alike, and the match of a text with
// them. A match reads each byte of the event once: fixed texts by vectors, values up to their end.

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

// Not thread-safe. Remembers layouts from text to text; what it remembers never shows in a result.
class LayoutReader {
 public:
  // True if the event that starts at `at` was read into `event`; `after` is then the place after
  // its closing brace. `event` keeps its byte.
  // REQUIRES: kTextPadding bytes of white space follow `text`.
  bool Read(std::string_view text, size_t at, RawEvent& event, size_t& after);

  // To be called with the text of each event that Read refused and that turned out well-formed.
  // REQUIRES: kTextPadding bytes after it are readable.
  void Learn(std::string_view event);

 private:
  static constexpr int kMostTrust = 64;
  static constexpr uint64_t kShortestRest = 256;
  static constexpr uint64_t kLongestRest = uint64_t{1} << 20;
  static constexpr size_t kMostSteps = 4096;

  LayoutTree tree_;
  int trust_ = kMostTrust;
  uint64_t rest_ = 0;  // so many events are not tried
  uint64_t next_rest_ = kShortestRest;
};

}  // namespace borescope::internal
