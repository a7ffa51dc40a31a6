#include "borescope/trace/recorded_cut.h"

#include <algorithm>
#include <charconv>

namespace borescope::internal {
namespace {

constexpr std::string_view kSeparator = " | ";
constexpr int64_t kFarthestNs = int64_t{1} << 62;

bool IsTime(int64_t ns) { return ns > -kFarthestNs && ns < kFarthestNs; }
bool IsOpenOrTime(int64_t ns) { return ns == kMissing || IsTime(ns); }

void AppendTime(std::string_view key, int64_t ns, std::string& text) {
  if (ns != kMissing) {
    text += text.empty() ? "" : kSeparator;
    text += key;
    text += "=" + std::to_string(ns);
  }
}

int64_t TimeOfText(std::string_view text) {
  int64_t ns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
  return error == std::errc() && end == text.data() + text.size() ? ns : kMissing;
}

void ReadPart(std::string_view key, std::string_view value, RecordedCut& cut) {
  if (key == "steps") {
    cut.steps = value;
  } else if (key == "begin_ns") {
    cut.begin_ns = TimeOfText(value);
  } else if (key == "end_ns") {
    cut.end_ns = TimeOfText(value);
  } else if (key == "recording_begin_ns") {
    cut.recording_begin_ns = TimeOfText(value);
  } else if (key == "recording_end_ns") {
    cut.recording_end_ns = TimeOfText(value);
  }
}

}  // namespace

bool IsSane(const RecordedCut& cut) {
  const bool is_window = IsOpenOrTime(cut.begin_ns) && IsOpenOrTime(cut.end_ns) &&
                         (cut.end_ns == kMissing || cut.begin_ns <= cut.end_ns);
  return is_window && IsTime(cut.recording_begin_ns) && IsTime(cut.recording_end_ns) &&
         cut.recording_begin_ns <= cut.recording_end_ns;
}

std::string TextOfCut(const RecordedCut& cut) {
  std::string text;
  AppendTime("begin_ns", cut.begin_ns, text);
  AppendTime("end_ns", cut.end_ns, text);
  if (!cut.steps.empty()) {
    text += (text.empty() ? "" : std::string(kSeparator)) + "steps=" + cut.steps;
  }
  AppendTime("recording_begin_ns", cut.recording_begin_ns, text);
  AppendTime("recording_end_ns", cut.recording_end_ns, text);
  return text;
}

std::optional<RecordedCut> CutOfText(std::string_view text) {
  RecordedCut cut;
  cut.recording_begin_ns = kMissing;
  cut.recording_end_ns = kMissing;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(kSeparator));
    text.remove_prefix(std::min(part.size() + kSeparator.size(), text.size()));
    const size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      ReadPart(part.substr(0, equals), part.substr(equals + 1), cut);
    }
  }
  return IsSane(cut) ? std::optional(cut) : std::nullopt;
}

void JoinCut(const RecordedCut& more, std::optional<RecordedCut>& joined) {
  if (!joined.has_value()) {
    joined = more;
    return;
  }
  RecordedCut& all = *joined;
  // kMissing is the smallest number.
  all.begin_ns = std::min(all.begin_ns, more.begin_ns);
  const bool is_open = all.end_ns == kMissing || more.end_ns == kMissing;
  all.end_ns = is_open ? kMissing : std::max(all.end_ns, more.end_ns);
  all.steps = all.steps == more.steps ? all.steps : "";
  all.recording_begin_ns = std::min(all.recording_begin_ns, more.recording_begin_ns);
  all.recording_end_ns = std::max(all.recording_end_ns, more.recording_end_ns);
}

}  // namespace borescope::internal
