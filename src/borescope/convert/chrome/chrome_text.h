// What every part of the Chrome writer writes with: names that are escaped once, args, places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/json_writer.h"
#include "borescope/output/overlay/event_text.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// EventText that knows the strings of a trace, most of which are written many times.
class ChromeText : public EventText {
 public:
  // `comma_first`: as in EventText.
  ChromeText(Sink& sink, const StringPool& strings, bool comma_first)
      : EventText(sink, comma_first), strings_(strings), forms_(strings.size(), kUnknown) {}

  // The string of that id as a JSON string.
  void PutPooled(StringId id) {
    const Form form = FormOf(id);
    if (form == kPlain) {
      PutPlainString(strings_.Get(id));
    } else if (form == kOdd) {
      PutString(strings_.Get(id));
    } else {
      Put(escaped_[form - kFirstEscaped]);
    }
  }

  std::string_view Text(StringId id) const { return strings_.Get(id); }

 private:
  // How a string is written: as it is, escaped anew each time, or as escaped_[form -
  // kFirstEscaped].
  using Form = uint32_t;
  static constexpr Form kUnknown = 0;
  static constexpr Form kPlain = 1;
  static constexpr Form kOdd = 2;
  static constexpr Form kFirstEscaped = 3;
  // Memory must not grow with the texts of a trace, which may all be odd and stand once.
  static constexpr size_t kMostEscaped = size_t{1} << 14;

  Form FormOf(StringId id) {
    if (!id.valid()) {
      return kPlain;
    }
    Form& form = forms_[id.value];
    if (form == kUnknown) {
      form = LookAt(strings_.Get(id));
    }
    return form;
  }
  Form LookAt(std::string_view text) {
    if (IsPlainJson(text)) {
      return kPlain;
    }
    if (escaped_.size() == kMostEscaped) {
      return kOdd;
    }
    AppendJsonString(escaped_.emplace_back(), text);
    return kFirstEscaped + static_cast<Form>(escaped_.size() - 1);
  }

  const StringPool& strings_;
  std::vector<Form> forms_;           // by StringId
  std::vector<std::string> escaped_;  // with their quotes; the first kMostEscaped odd ones
};

// The "args" of one event, none where nothing is put. Keys are JSON with quotes and colon. What was
// not recorded is left out.
class ChromeArgs {
 public:
  explicit ChromeArgs(ChromeText& text) : text_(text) {}

  void Int(std::string_view key, int64_t value) {
    if (value != kMissing) {
      Key(key);
      text_.PutInt(value);
    }
  }
  // Of columns in which negative is missing.
  void Small(std::string_view key, int32_t value) {
    if (value >= 0) {
      Key(key);
      text_.PutInt(value);
    }
  }
  void Text(std::string_view key, StringId value) {
    if (!text_.Text(value).empty()) {
      Name(key, value);
    }
  }
  // Also where it is empty.
  void Name(std::string_view key, StringId value) {
    Key(key);
    text_.PutPooled(value);
  }
  void Number(std::string_view key, double value) {
    Key(key);
    text_.PutNumber(value);
  }
  void Key(std::string_view key) {
    text_.Put(is_open_ ? "," : ",\"args\":{");
    text_.Put(key);
    is_open_ = true;
  }
  // Ends the args and the event.
  void End() { text_.Put(is_open_ ? "}}" : "}"); }

 private:
  ChromeText& text_;
  bool is_open_ = false;
};

}  // namespace borescope::internal
