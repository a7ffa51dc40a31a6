// The recorded events of a trace as events of a Chrome trace, with the categories and arguments of
// PyTorch's profiler, so that programs that read its files read these too. Borescope reads the
// columns back that docs/use/convert.md lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/convert/convert.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/overlay/event_text.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// The parts of events: texts that are escaped once, args, and processes and threads.

// EventText that caches the strings of a trace, most of which are written many times.
class ChromeText : public EventText {
 public:
  // `comma_first`: as in EventText.
  ChromeText(Sink& sink, const StringPool& strings, bool comma_first)
      : EventText(sink, comma_first), strings_(strings), forms_(strings.size(), kUnknown) {}

  // Writes the string with this id as a JSON string.
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
  // How a string is written: unchanged, escaped again each time, or as escaped_[form -
  // kFirstEscaped].
  using Form = uint32_t;
  static constexpr Form kUnknown = 0;
  static constexpr Form kPlain = 1;
  static constexpr Form kOdd = 2;
  static constexpr Form kFirstEscaped = 3;
  // Limits memory, as all texts of a trace may need escaping and occur once.
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
  std::vector<Form> forms_;  // by StringId
  std::vector<std::string>
      escaped_;  // with their quotes; the first kMostEscaped strings that need escaping
};

// The "args" of one event; left out if empty. Keys are JSON with quotes and colon. Values that were
// not recorded are left out.
class ChromeArgs {
 public:
  explicit ChromeArgs(ChromeText& text) : text_(text) {}

  void Int(std::string_view key, int64_t value) {
    if (value != kMissing) {
      Key(key);
      text_.PutInt(value);
    }
  }
  // For columns in which negative values are missing ones.
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
  // Writes the name even if it is empty.
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

// The processes and threads of a Chrome trace: the numbers and names of tracks. A process of the
// program is a process of the trace, and each GPU is a process whose threads are its streams.
class ChromeTracks {
 public:
  // `source`: with several traces, the name of the trace, which is put before the names of
  // processes; else empty.
  ChromeTracks(const Trace& trace, std::string_view source);

  // "pid" and "tid" of the events of a track, as members of an event that end in its "ts" key.
  const std::string& Place(TrackId track) const { return places_[track.value]; }

  // Writes names and order of all processes and threads. Threads without a known name get none.
  void WriteNames(ChromeText& text) const;

 private:
  void WriteProcess(int64_t pid, bool is_device, ChromeText& text) const;
  void WriteThread(uint32_t track, ChromeText& text) const;
  std::string DeviceName(int64_t device) const;
  std::string StreamName(uint32_t track) const;

  // A name with the name of the trace before it.
  std::string Named(std::string name) const;

  const Trace& trace_;
  std::string source_;
  std::vector<int64_t> threads_;  // by TrackId; streams of several processes need separate lines
  std::vector<std::string> places_;
};

// These write the rows inside the window, and count all rows. Device events are written with the
// flow from their launch.
void WriteHostEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                     ConvertCounts& counts);
void WriteDeviceEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                       ConvertCounts& counts);
// Memory that was allocated before the recording is written at its begin.
void WriteMemoryEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                       ConvertCounts& counts);
// Writes forward-backward flows. They are not counted, as they are not events.
void WriteFlows(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text);
// Writes depths of queues and whether GPUs work. Not counted either.
void WriteCounters(const ConvertInput& input, ChromeText& text);
// Writes what monitors measured. Borescope reads these counters back by their category and "dur",
// which viewers ignore.
void WriteSamples(const ConvertInput& input, ChromeText& text, ConvertCounts& counts);

// Arguments that both host and device events of a Chrome trace have.

// Writes `row` of Collectives; nothing for kNoDetail.
inline void WriteCollective(const Trace& trace, uint32_t row, ChromeArgs& args) {
  if (row == kNoDetail) {
    return;
  }
  const Collectives& rows = trace.collectives();
  args.Name("\"Collective name\":", rows.collective[row]);
  args.Text("\"dtype\":", rows.dtype[row]);
  args.Int("\"In msg nelems\":", rows.in_elems[row]);
  args.Int("\"Out msg nelems\":", rows.out_elems[row]);
  args.Int("\"Group size\":", rows.group_size[row]);
  args.Text("\"Process Group Name\":", rows.group[row]);
  args.Text("\"Process Group Description\":", rows.group_desc[row]);
  args.Text("\"Process Group Ranks\":", rows.ranks[row]);
  args.Int("\"Seq\":", rows.sequence[row]);
}

// Whether the text is one JSON value as RFC 8259 defines it, on one line and nested at most 64
// deep, with numbers of any size. Does not check whether strings are UTF-8.
bool IsJsonValue(std::string_view text);

}  // namespace borescope::internal
