#include "borescope/postmortem/memory/growth_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "borescope/base/saturating.h"
#include "borescope/output/units/units.h"

namespace borescope::internal::postmortem {
namespace {

std::string_view PartsText(const MemoryGrowth& first) {
  return first.is_by_events ? "eighths of the recorded events"
         : first.is_by_time ? "eighths of the recorded time"
                            : "steps";
}

// One row for each line: those of its categories together.
std::vector<MemoryGrowth> ByLine(std::span<const MemoryGrowth> growth, bool is_of_peaks) {
  std::map<uint32_t, MemoryGrowth> sites;
  for (const MemoryGrowth& one : growth) {
    if ((one.kind == GrowthKind::kPeak) != is_of_peaks) continue;
    const auto [at, is_new] = sites.try_emplace(one.site, one);
    if (is_new) continue;
    MemoryGrowth& sum = at->second;
    sum.bytes_per_step += one.bytes_per_step;
    sum.blocks_per_step += one.blocks_per_step;
    sum.last_bytes += one.last_bytes;
    sum.bytes += one.bytes;
    sum.steps = std::max(sum.steps, one.steps);
    sum.has_fallen = sum.has_fallen || one.has_fallen;
    sum.is_by_time = one.is_by_time;
    sum.is_by_events = one.is_by_events;
  }
  std::vector<MemoryGrowth> lines;
  lines.reserve(sites.size());
  for (const auto& [site, sum] : sites) lines.push_back(sum);
  std::stable_sort(lines.begin(), lines.end(), [](const MemoryGrowth& a, const MemoryGrowth& b) {
    return a.bytes_per_step > b.bytes_per_step;
  });
  return lines;
}

// What a line holds, if that is in blocks as large as those by which it grows; else its growth.
uint64_t HeldAlike(const MemoryGrowth& line, std::span<const LiveMemory> live) {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  for (const LiveMemory& row : live) {
    if (row.site != line.site) continue;
    bytes += row.bytes;
    blocks += row.blocks;
  }
  if (line.kind != GrowthKind::kHeld || blocks == 0 || line.blocks_per_step == 0) return line.bytes;
  const uint64_t of_all = bytes / blocks;
  const uint64_t of_growth = line.bytes_per_step / line.blocks_per_step;
  const bool is_alike = of_all <= of_growth + of_growth / 4 && of_growth <= of_all + of_all / 4;
  return is_alike ? std::max(bytes, line.bytes) : line.bytes;
}

// What of a growing need was there at that moment: those of several lines need not be at one time.
uint64_t HeldOfPeak(const MemoryGrowth& line, std::span<const LiveMemory> live) {
  uint64_t bytes = 0;
  for (const LiveMemory& row : live) bytes += row.site == line.site ? row.bytes : 0;
  return std::min(bytes, line.bytes);
}

std::string At(const MemoryGrowth& line, const MemorySites& sites) {
  const std::string text = sites.Get(line.site).Text();
  return text.empty() ? text : " at " + text;
}

std::string Evidence(const GrowthSum& sum, const MemorySites& sites) {
  const MemoryGrowth& first = sum.first();
  std::string text;
  if (sum.is_of_peaks()) {
    text = fmt::format(
        "Each of the last {} steps needed more{} than the one before, and freed it again: {} more "
        "in the last one, {} more in all.",
        first.steps, At(first, sites), FormatBytes(first.last_bytes), FormatBytes(first.bytes));
  } else {
    text = fmt::format("{} more in each of the last {} {}, {} in all{}.",
                       FormatBytes(first.bytes_per_step), first.steps, PartsText(first),
                       FormatBytes(first.bytes), At(first, sites));
  }
  if (first.kind == GrowthKind::kReplaced) {
    text += " Its blocks are freed, and larger ones replace them.";
  }
  if (first.has_fallen) text += " It fell by as much before, after fewer steps.";
  if (sum.lines.size() > 1) {
    text += fmt::format(" {} other {} as well, together with it by {} in each, {} in all.",
                        GroupDigits(SignedSaturating(sum.lines.size() - 1)),
                        sum.lines.size() == 2 ? "line grows" : "lines grow",
                        FormatBytes(sum.bytes_per_step), FormatBytes(sum.bytes));
  }
  return text;
}

std::string Help(const GrowthSum& sum) {
  if (sum.is_of_peaks()) {
    return "See what gets larger from step to step: sequences or batches that get longer need a "
           "bound (cut, or put in buckets of lengths), and the longest first shows at the begin "
           "whether it fits; activation checkpointing makes each step need less.";
  }
  if (sum.first().kind == GrowthKind::kReplaced) {
    return "See what makes this line's blocks larger each time, as a cache of keys and values that "
           "torch.cat makes longer: give it a bound (fewer tokens or sequences at once, a sliding "
           "window), or allocate it once as large as it may become.";
  }
  if (!sum.has_backward && sum.IsAllForward()) {
    return "All that grows is of forward passes, and no backward pass was recorded: run them under "
           "torch.no_grad() or torch.inference_mode(), which keep nothing for a backward pass, and "
           "move outputs that are collected to the host.";
  }
  return "See what keeps the results of this line: a list of losses or outputs that are still part "
         "of their graph (take .item() or .detach()), a cache without a bound, or "
         "retain_graph=True.";
}

// How much later a request fails that leaves `spare` bytes.
std::string Later(const GrowthSum& sum, uint64_t spare) {
  const uint64_t rate =
      std::max<uint64_t>(sum.is_of_peaks() ? sum.last_bytes : sum.bytes_per_step, 1);
  if (sum.first().is_by_time) {
    const double percent = static_cast<double>(spare) / static_cast<double>(rate) / 8 * 100;
    return fmt::format("by about {:.0f} % of {}", percent,
                       sum.first().is_by_events ? "the recorded events" : "the recorded time");
  }
  const uint64_t steps = spare / rate;
  return steps == 0 ? "by less than a step"
                    : fmt::format("by about {} {}", GroupDigits(SignedSaturating(steps)),
                                  steps == 1 ? "step" : "steps");
}

// What settings bring: a later failure.
std::string SettingsText(const GrowthSum& sum, const MemoryFixes& fixes) {
  constexpr size_t kMost = 3;
  std::vector<const MemoryFix*> settings;
  for (const MemoryFix& fix : fixes.fixes) {
    if (fix.fits == Fits::kYes && !fix.setting.empty() && fix.spare_bytes.has_value()) {
      settings.push_back(&fix);
    }
  }
  std::stable_sort(settings.begin(), settings.end(), [](const MemoryFix* a, const MemoryFix* b) {
    return *a->spare_bytes > *b->spare_bytes;
  });
  if (settings.empty()) return "";
  settings.resize(std::min(settings.size(), kMost));
  std::vector<std::string> texts;
  texts.reserve(settings.size());
  for (const MemoryFix* const fix : settings) {
    texts.push_back(fix->setting + " " + Later(sum, *fix->spare_bytes));
  }
  return fmt::format(" Settings of the allocator only put the failure off, by the model: {}.",
                     fmt::join(texts, "; "));
}

}  // namespace

bool GrowthSum::IsAllForward() const {
  return std::all_of(lines.begin(), lines.end(),
                     [](const MemoryGrowth& line) { return line.is_forward; });
}

std::vector<GrowthSum> SumGrowth(const DeviceMemory& device, const Replay& replay,
                                 const MemorySites& sites, std::span<const MemoryGrowth> growth,
                                 std::span<const LiveMemory> live) {
  const bool has_backward =
      std::any_of(device.events.begin(), device.events.end(), [&](const MemoryEvent& event) {
        return event.action == MemoryAction::kAlloc && sites.Of(event).is_backward;
      });
  std::vector<GrowthSum> sums;
  for (const bool is_of_peaks : {false, true}) {
    GrowthSum sum{.lines = ByLine(growth, is_of_peaks), .has_backward = has_backward};
    for (const MemoryGrowth& line : sum.lines) {
      sum.bytes_per_step += line.bytes_per_step;
      sum.last_bytes += line.last_bytes;
      sum.bytes += line.bytes;
      sum.held_bytes += is_of_peaks          ? HeldOfPeak(line, live)
                        : replay.is_complete ? line.bytes
                                             : HeldAlike(line, live);
    }
    const uint64_t grown = std::max(sum.bytes, sum.held_bytes);
    if (sum.lines.empty() || grown < replay.end.peak_allocated / 100) continue;
    sums.push_back(std::move(sum));
  }
  return sums;
}

JobFinding GrowthFinding(const GrowthSum& sum, const MemorySites& sites) {
  const MemoryGrowth& first = sum.first();
  JobFinding finding;
  finding.order = CauseRank::kGrowth;
  finding.finding = sum.is_of_peaks() ? "Each step needs more memory than the one before"
                                      : "Memory grows from step to step";
  finding.severity = Severity::kWarning;
  finding.certainty = first.is_certain() ? Certainty::kCertain : Certainty::kLikely;
  finding.where = sites.Get(first.site).Text();
  finding.evidence = Evidence(sum, sites);
  finding.help = Help(sum);
  finding.value = static_cast<double>(first.bytes_per_step);
  finding.unit = "bytes";
  return finding;
}

bool IsCauseOf(const GrowthSum& sum, uint64_t could_have, const MemoryFixes& fixes) {
  if (could_have == 0 || sum.held_bytes < could_have / 10) return false;
  // Without marks of steps, a model that is being loaded grows as well.
  uint64_t of_model = 0;
  for (const MemoryGrowth& line : sum.lines) of_model += IsOfModel(line.category) ? line.bytes : 0;
  if (of_model > sum.bytes / 2) return false;
  return std::none_of(fixes.fixes.begin(), fixes.fixes.end(), [](const MemoryFix& fix) {
    return fix.is_of_growth && fix.fits == Fits::kNo;
  });
}

std::string_view FailureSentence(const GrowthSum& sum) {
  return sum.is_of_peaks() ? "Out of memory: each step needs more than the one before"
                           : "Out of memory: memory grows from step to step";
}

std::string FailureEvidence(const GrowthSum& sum, const MemorySites& sites, uint64_t could_have) {
  std::string text = Evidence(sum, sites);
  const auto percent = static_cast<double>(sum.held_bytes) / static_cast<double>(could_have) * 100;
  if (sum.held_bytes > sum.bytes) {
    text += fmt::format(" As the request failed, {} was held in such blocks",
                        FormatBytes(sum.held_bytes));
  } else {
    text += " That is";
  }
  return text + fmt::format("{} {:.0f} % of what this process could have.",
                            sum.held_bytes > sum.bytes ? "," : "", percent);
}

std::string FailureHelp(const GrowthSum& sum, const MemoryFixes& fixes) {
  std::string text = Help(sum);
  for (const MemoryFix& fix : fixes.fixes) {
    if (!fix.is_of_growth || fix.fits != Fits::kYes) continue;
    text += fmt::format(
        " Without the blocks of {} ({}) this request would have succeeded, by a replay{}.",
        fix.change.substr(std::string_view("without ").size()),
        FormatBytes(fix.changed_bytes.value_or(0)),
        fix.spare_bytes.value_or(0) > 0
            ? fmt::format(", with {} to spare", FormatBytes(*fix.spare_bytes))
            : std::string());
  }
  return text + SettingsText(sum, fixes);
}

}  // namespace borescope::internal::postmortem
