#include "borescope/scrub/json/clean_members.h"

#include <algorithm>

#include "borescope/json/json_cursor.h"
#include "borescope/scrub/json/json_values.h"

namespace borescope::internal {
namespace {

// Deeper documents are no trace's.
constexpr int kDeepest = 16;

class Cleaner {
 public:
  Cleaner(std::span<const MemberRule> rules, Scrubber& scrubber)
      : rules_(rules), scrubber_(scrubber) {}

  void Add(std::string_view value, int depth) {
    if (depth < kDeepest && value.starts_with('{')) {
      AddObject(value, depth);
    } else if (depth < kDeepest && value.starts_with('[')) {
      AddArray(value, depth);
    } else {
      text_ += "null";
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  void AddObject(std::string_view object, int depth) {
    JsonCursor cursor(object);
    cursor.EnterObject();
    std::string_view key;
    std::string_view separator;
    text_ += '{';
    while (cursor.NextMember(key)) {
      const std::string_view value = cursor.Value();
      const auto rule = std::find_if(rules_.begin(), rules_.end(),
                                     [&](const MemberRule& row) { return row.key == key; });
      if (rule != rules_.end() && !value.empty()) {
        text_.append(separator).append("\"").append(key).append("\":");
        AddMember(value, *rule, depth);
        separator = ",";
      }
    }
    text_ += '}';
  }

  void AddArray(std::string_view array, int depth) {
    std::string_view separator;
    text_ += '[';
    for (const std::string_view element : ElementsOf(array)) {
      text_ += separator;
      Add(element, depth + 1);
      separator = ",\n";
    }
    text_ += ']';
  }

  void AddMember(std::string_view value, const MemberRule& rule, int depth) {
    if (rule.use == MemberUse::kMembers) {
      Add(value, depth + 1);
    } else if (rule.use == MemberUse::kText || value.starts_with('[')) {
      text_ += CleanJson(value, rule.text, scrubber_);
    } else {
      text_ += NumberField(value);
    }
  }

  std::span<const MemberRule> rules_;
  Scrubber& scrubber_;
  std::string text_;
};

}  // namespace

std::string CleanMembers(std::string_view value, std::span<const MemberRule> rules,
                         Scrubber& scrubber) {
  Cleaner cleaner(rules, scrubber);
  cleaner.Add(value, 0);
  return cleaner.Take();
}

}  // namespace borescope::internal
