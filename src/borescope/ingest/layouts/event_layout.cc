#include "borescope/ingest/layouts/event_layout.h"

#include "borescope/ingest/layouts/token_end.h"
#include "borescope/json/json_space.h"

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

}  // namespace borescope::internal
