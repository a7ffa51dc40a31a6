#include "borescope/postmortem/memory/oom_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "borescope/base/saturating.h"
#include "borescope/output/units/units.h"

namespace borescope::internal::postmortem {
namespace {

// What there is of free memory that the request cannot use, most first.
std::vector<std::pair<FreeUse, uint64_t>> UnusableParts(const MemoryParts& parts) {
  std::vector<std::pair<FreeUse, uint64_t>> unusable = {
      {FreeUse::kTooSmall, parts.too_small},
      {FreeUse::kOtherPool, parts.other_pool},
      {FreeUse::kOtherStream, parts.other_stream},
      {FreeUse::kPrivatePool, parts.private_pool}};
  std::erase_if(unusable, [](const auto& part) { return part.second == 0; });
  std::stable_sort(unusable.begin(), unusable.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return unusable;
}

std::string_view FragmentationSentence(const MemoryParts& parts) {
  const auto unusable = UnusableParts(parts);
  switch (unusable.empty() ? FreeUse::kTooSmall : unusable.front().first) {
    case FreeUse::kOtherPool:
      return "Out of memory: what is free is of the pool for requests of another size";
    case FreeUse::kOtherStream:
      return "Out of memory: what is free is of another stream";
    case FreeUse::kPrivatePool:
      return "Out of memory: what is free is in private pools, as those of CUDA graphs";
    default:
      return "Out of memory: what is free is in pieces that are too small";
  }
}

// Nothing for memory that is free of its own stream and pool, where there is nothing else.
std::string UnusableText(const MemoryParts& parts) {
  std::string text;
  for (const auto& [use, bytes] : UnusableParts(parts)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", FormatBytes(bytes),
                        use == FreeUse::kOtherPool     ? "in the pool for requests of another size"
                        : use == FreeUse::kOtherStream ? "of other streams"
                        : use == FreeUse::kPrivatePool ? "in private pools"
                                                       : "too small");
  }
  const bool is_plain = parts.usable == 0 && parts.free() == parts.too_small;
  return is_plain || text.empty() ? "" : " (" + text + ")";
}

std::string AllowedText(const ByteRange& allowed) {
  if (allowed.is_exact() || FormatBytes(allowed.low) == FormatBytes(allowed.high)) {
    return FormatBytes(allowed.low) + " allowed";
  }
  return fmt::format("between {} and {} allowed", FormatBytes(allowed.low),
                     FormatBytes(allowed.high));
}

std::string FixText(const MemoryFix& fix) {
  constexpr std::string_view kWithout = "without ";
  std::string text = fix.setting.empty() ? fix.change : fix.setting;
  if (text.starts_with(kWithout)) text.insert(kWithout.size(), "the blocks of ");
  if (fix.change == "raise the limit") {
    text += " by " + FormatBytes(fix.changed_bytes.value_or(0));
    if (!fix.is_certain) text += " at most";
  } else if (fix.change.starts_with("without ") && fix.changed_bytes.has_value()) {
    text += fmt::format(" ({})", FormatBytes(*fix.changed_bytes));
  }
  if (fix.spare_bytes.value_or(0) > 0) {
    text += fmt::format(", with {} to spare", FormatBytes(*fix.spare_bytes));
  }
  if (!fix.setting.empty()) text += ", by the model";
  return text;
}

}  // namespace

std::string_view OomSentence(const OomReport& report) {
  switch (report.causes.front()) {
    case OomCause::kProcessLimit:
      return "Out of memory: the process's own limit";
    case OomCause::kOtherProcess:
      return "Out of memory: other processes have the device";
    case OomCause::kFragmentation:
      return FragmentationSentence(report.state.parts);
    case OomCause::kFull:
      return "Out of memory: the device is full";
  }
  return "";
}

std::string KeptBy(std::span<const MemorySegmentRow> rows, std::string& line) {
  std::map<std::string, std::pair<int64_t, int64_t>> lines;  // free bytes and segments
  for (const MemorySegmentRow& row : rows) {
    if (row.serves != Name(FreeUse::kTooSmall) || !row.line.has_value()) continue;
    auto& [bytes, segments] = lines[*row.line];
    bytes += row.free_bytes;
    ++segments;
  }
  const auto most = std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  if (most == lines.end()) return "";
  line = most->first;
  const auto& [bytes, segments] = most->second;
  return fmt::format(" {} of what is free lies in {} {} kept by blocks of {} (memory_segments).",
                     FormatBytes(static_cast<uint64_t>(bytes)), GroupDigits(segments),
                     segments == 1 ? "segment" : "segments", most->first);
}

std::string OomEvidence(const OomReport& report, const std::string& line, int64_t device) {
  const OomState& state = report.state;
  std::string text = FormatBytes(state.size) + " requested";
  if (!line.empty()) text += " at " + line;
  text += fmt::format("; {} free on device {}", FormatBytes(state.device_free), device);
  if (report.allowed.has_value()) text += ", " + AllowedText(*report.allowed);
  text += fmt::format(", {} reserved, {} of that allocated", FormatBytes(state.reserved),
                      FormatBytes(state.allocated));
  if (state.parts.free_blocks > 0) {
    text += fmt::format("; {} are free in {} {} of at most {}", FormatBytes(state.parts.free()),
                        GroupDigits(SignedSaturating(state.parts.free_blocks)),
                        state.parts.free_blocks == 1 ? "piece" : "pieces",
                        FormatBytes(state.parts.largest_free));
    text += UnusableText(state.parts);
  }
  if (state.parts.pending > 0) {
    text += fmt::format("; {} freed that a stream may still use", FormatBytes(state.parts.pending));
  }
  if (report.capacity.has_value()) {
    text +=
        fmt::format("; {} in all is what this process could have{}", FormatBytes(*report.capacity),
                    state.size > *report.capacity ? ", less than was requested" : "");
  }
  if (report.other_bytes.has_value() && report.causes.front() == OomCause::kOtherProcess) {
    text +=
        fmt::format("; other processes and CUDA itself have {}", FormatBytes(*report.other_bytes));
  }
  return text + ".";
}

std::string OomHelp(const MemoryFixes& fixes) {
  constexpr size_t kMost = 4;
  std::vector<std::string> shown;
  const bool is_any = std::any_of(fixes.fixes.begin(), fixes.fixes.end(), [](const MemoryFix& fix) {
    return fix.fits == Fits::kYes && !fix.is_of_model;
  });
  for (const MemoryFix& fix : fixes.fixes) {
    // Nobody can do without the model itself, if there is another way.
    const bool is_shown = fix.fits == Fits::kYes && (!is_any || !fix.is_of_model);
    if (is_shown && shown.size() < kMost) shown.push_back(FixText(fix));
  }
  std::string text;
  if (!shown.empty()) {
    text = fmt::format("{} would have let this request succeed, by a replay: {}",
                       shown.size() == 1 ? "This" : "Each of these", fmt::join(shown, "; "));
  }
  if (!shown.empty() && !is_any) {
    text.insert(0,
                "The model itself does not fit: a smaller type, fewer layers on this device "
                "(sharding) or offloading makes it smaller. ");
  }
  if (shown.empty()) {
    text = fixes.fixes.empty()
               ? "No change could be replayed: memory_live has what held memory"
               : "No change that was replayed certainly lets this request succeed: see oom_fixes, "
                 "and memory_live for what held memory";
  }
  text += ".";
  if (fixes.not_tried > 0) {
    text += fmt::format(" {} more were not tried for want of time (--fix-time).",
                        GroupDigits(SignedSaturating(fixes.not_tried)));
  }
  return text;
}

}  // namespace borescope::internal::postmortem
