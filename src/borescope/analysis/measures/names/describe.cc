#include "borescope/analysis/measures/names/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "borescope/analysis/core/selection/device_time.h"

namespace borescope::internal {

std::string DeviceName(const DeviceInfo& device, Vendor vendor) {
  if (!device.name.empty()) {
    return device.name;
  }
  const bool amd = vendor == Vendor::kAmd;
  std::string details;
  if (device.multiprocessors != kMissing) {
    details += fmt::format(", {} {}", device.multiprocessors, amd ? "CUs" : "SMs");
  }
  if (device.compute_major != kMissing && device.compute_minor != kMissing) {
    details +=
        fmt::format(", {}{}.{}", amd ? "gfx" : "sm", device.compute_major, device.compute_minor);
  }
  return "(unnamed" + details + ")";
}

std::string ShortenedName(std::string_view name, size_t longest) {
  if (name.size() <= longest) {
    return std::string(name);
  }
  const auto is_inside_letter = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
  };
  size_t end = longest;
  while (end > 0 && is_inside_letter(name[end])) {
    --end;
  }
  // Not within a word, if there is one before it.
  const size_t word = name.find_last_of("_:<,( .", end);
  constexpr size_t kLeastKept = 2;
  end = word != std::string_view::npos && word * kLeastKept >= end ? word : end;
  while (end > 1 && std::string_view("_:,( ").find(name[end - 1]) != std::string_view::npos) {
    --end;
  }
  return std::string(name.substr(0, end)) + "...";
}

std::string DescribeUsedDevices(const Trace& trace) {
  const Tracks& tracks = trace.tracks();
  std::set<int64_t> used;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice && HasDeviceWork(trace, track)) {
      used.insert(tracks.pid[track]);
    }
  }
  Meta meta;
  meta.vendor = trace.meta().vendor;
  std::copy_if(trace.meta().devices.begin(), trace.meta().devices.end(),
               std::back_inserter(meta.devices),
               [&](const DeviceInfo& device) { return used.contains(device.id); });
  return DescribeDevices(meta.devices.empty() ? trace.meta() : meta);
}

std::string DescribeDevices(const Meta& meta) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const DeviceInfo& device : meta.devices) {
    const std::string name = DeviceName(device, meta.vendor);
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == name; });
    found == kinds.end() ? void(kinds.emplace_back(name, 1)) : void(++found->second);
  }
  std::string text;
  for (const auto& [name, count] : kinds) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, name);
  }
  return text;
}

std::string FormatTimestamp(int64_t ts_ns) {
  // A double would round timestamps of the Unix clock to a quarter of a microsecond.
  return fmt::format("{}{}.{:03} us", ts_ns < 0 ? "-" : "", std::abs(ts_ns / 1000),
                     std::abs(ts_ns % 1000));
}

std::string FormatTime(int64_t ns) {
  constexpr std::pair<double, std::string_view> kUnits[] = {
      {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1.0, "ns"}};
  const auto value = static_cast<double>(ns);
  for (const auto& [scale, unit] : kUnits) {
    if (std::abs(value) >= scale && scale > 1.0) {
      return fmt::format("{:.{}f} {}", value / scale, std::abs(value) >= 100 * scale ? 0 : 1, unit);
    }
  }
  return fmt::format("{} ns", ns);
}

std::string FormatShare(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string FormatCount(int64_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t i = digits.size(); i > (count < 0 ? 4u : 3u); i -= 3) {
    digits.insert(i - 3, 1, ',');
  }
  return digits;
}

std::string FormatCount(int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", FormatCount(count), count == 1 ? one : many);
}

namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAfterArguments[] = {"::",     "(",         "<",         "}",
                                                " const", " volatile", " noexcept", " &"};

bool IsQualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "noexcept" || word == "&" || word == "&&";
}

// Reads a demangled name and keeps the words outside of brackets.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : name_(name) {}

  // False if the name is not that of a function.
  bool Read() {
    while (at_ < name_.size()) {
      if (!Step()) {
        return false;
      }
    }
    EndWord();
    while (!words_.empty() && IsQualifier(words_.back())) {
      words_.pop_back();
    }
    return depth_ == 0 && !words_.empty();
  }

  // The last word is the name; a return type comes before it.
  std::string Take() { return std::move(words_.back()); }

 private:
  bool StartsHere(std::string_view text) const { return name_.substr(at_).starts_with(text); }

  bool Step() {
    const char c = name_[at_];
    if (StartsHere("->")) {  // not a closing bracket
      word_ += depth_ == 0 ? "->" : "";
      at_ += 2;
    } else if (c == '<' || c == '(') {
      return Open();
    } else if (c == '>' || c == ')') {
      ++at_;
      --depth_;
      return depth_ > 0 || (depth_ == 0 && (c == '>' || MayFollowArguments()));
    } else if (depth_ == 0 && c == ' ') {
      ++at_;
      EndWord();
    } else {
      word_.append(depth_ == 0 ? 1 : 0, c);
      ++at_;
    }
    return true;
  }

  // After arguments the name ends or continues (operator()(int)::{lambda()#1}), or a qualifier
  // follows. Brackets before anything else, as in "train.py(12): main", are not arguments.
  bool MayFollowArguments() const {
    if (at_ == name_.size()) {
      return true;
    }
    const std::string_view rest = name_.substr(at_);
    return std::any_of(std::begin(kAfterArguments), std::end(kAfterArguments),
                       [&](std::string_view start) { return rest.starts_with(start); });
  }

  bool Open() {
    if (depth_ == 0 && StartsHere(kAnonymous)) {
      word_ += kAnonymous;
      at_ += kAnonymous.size();
      return true;
    }
    if (depth_ == 0 && word_.ends_with(kOperator)) {
      return ReadOperator();
    }
    if (depth_ == 0 && word_.empty()) {
      return false;  // "my step (1)"
    }
    ++depth_;
    ++at_;
    return true;
  }

  // The brackets of operator<, operator<<, operator() are part of the name.
  bool ReadOperator() {
    if (StartsHere("()")) {
      word_ += "()";
      at_ += 2;
      return true;
    }
    while (at_ < name_.size() && (name_[at_] == '<' || name_[at_] == '=')) {
      word_ += name_[at_++];
    }
    return true;
  }

  void EndWord() {
    if (!word_.empty()) {
      words_.push_back(std::move(word_));
      word_.clear();
    }
  }

  std::string_view name_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string word_;
  std::vector<std::string> words_;
};

}  // namespace

std::string ShortName(std::string_view name) {
  if (name.find_first_of("<(") == std::string_view::npos || name.starts_with("Mem")) {
    return std::string(name);
  }
  NameReader reader(name);
  return reader.Read() ? reader.Take() : std::string(name);
}

}  // namespace borescope::internal
