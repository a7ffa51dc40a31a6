// What every part of the Chrome writer writes with: names that are escaped once, args, places.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/event_text.h"
#include "borescope/trace/trace.h"

namespace borescope {

// EventText that knows the strings of a trace, most of which are written many times.
class ChromeText : public EventText {
 public:
  // `comma_first`: as in EventText.
  ChromeText(Sink& sink, const StringPool& strings, bool comma_first)
      : EventText(sink, comma_first), strings_(strings), looks_(strings.size(), Looks::kUnknown) {}

  // The string of that id as a JSON string.
  void PutPooled(StringId id) {
    const std::string_view text = strings_.Get(id);
    if (!IsPlain(id, text)) {
      PutString(text);
      return;
    }
    Put("\"");
    Put(text);
    Put("\"");
  }

  std::string_view Text(StringId id) const { return strings_.Get(id); }

 private:
  enum class Looks : uint8_t { kUnknown, kPlain, kOdd };

  bool IsPlain(StringId id, std::string_view text) {
    if (!id.valid()) {
      return true;
    }
    Looks& looks = looks_[id.value];
    if (looks == Looks::kUnknown) {
      looks = IsPlainJson(text) ? Looks::kPlain : Looks::kOdd;
    }
    return looks == Looks::kPlain;
  }

  const StringPool& strings_;
  std::vector<Looks> looks_;  // by StringId
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

}  // namespace borescope
