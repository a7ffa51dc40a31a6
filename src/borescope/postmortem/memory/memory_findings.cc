#include "borescope/postmortem/memory/memory_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/base/saturating.h"
#include "borescope/output/units/units.h"
#include "borescope/postmortem/memory/address_map.h"
#include "borescope/postmortem/memory/areas.h"
#include "borescope/postmortem/memory/fixes.h"
#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/memory_rows.h"
#include "borescope/postmortem/memory/read_snapshot.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal::postmortem {

namespace {

int64_t Signed(uint64_t value) { return SignedSaturating(value); }
std::optional<int64_t> Signed(const std::optional<uint64_t>& value) {
  return value.has_value() ? std::optional(Signed(*value)) : std::nullopt;
}
std::optional<std::string> IfText(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

struct MemoryRows {
  std::vector<OomRow> ooms;
  std::vector<OomFixRow> fixes;
  std::vector<MemoryLiveRow> live;
  std::vector<MemoryGrowthRow> growth;
  std::vector<AllocatorReplayRow> replays;
  std::vector<MemoryAreaRow> areas;
  std::vector<MemorySegmentRow> segments;
  std::vector<MemoryMapRow> map;
};

// A request that failed, and when; kNoTime where that was not recorded.
struct Failure {
  int64_t time_us = kNoTime;
  JobFinding finding;
};

// Everything that is known of one device of one snapshot.
struct DeviceStudy {
  const MemorySnapshot& snapshot;
  const DeviceMemory& device;
  const MemorySites& sites;
  std::optional<int64_t> rank;
  std::optional<std::string> file;  // where there are several
  Replay replay = {};
  std::vector<MemoryStep> steps = {};
  MemoryCategories categories = {};

  std::string Line(uint32_t stack) const { return sites.Get(sites.Of(stack)).Text(); }
  uint32_t last_event() const { return static_cast<uint32_t>(device.events.size()) - 1; }
};

// --- Rows ---

void AddReplayRow(const DeviceStudy& study, MemoryRows& rows) {
  const Replay& replay = study.replay;
  rows.replays.push_back({.rank = study.rank,
                          .file = study.file,
                          .device = study.device.device,
                          .events = Signed(study.device.events.size()),
                          .complete = replay.is_complete,
                          .allocations = Signed(replay.allocations),
                          .predicted = Signed(replay.predicted),
                          .forced = Signed(replay.forced),
                          .start_blocks = Signed(replay.start_blocks.size()),
                          .start_inferred = Signed(replay.start_inferred),
                          .segments_equal = replay.segments_equal,
                          .reserved_difference_bytes = replay.reserved_difference,
                          .allocated_difference_bytes = replay.allocated_difference});
}

void AddLiveRows(const DeviceStudy& study, std::string_view moment,
                 const std::vector<LiveMemory>& live, MemoryRows& rows) {
  uint64_t total = 0;
  for (const LiveMemory& one : live) {
    total += one.bytes;
  }
  for (const LiveMemory& one : live) {
    MemoryLiveRow row;
    row.rank = study.rank;
    row.file = study.file;
    row.device = study.device.device;
    row.moment = moment;
    row.category = Name(one.category);
    row.line = IfText(study.sites.Get(one.site).Text());
    row.stack = IfText(study.sites.Callers(one.stack));
    row.blocks = Signed(one.blocks);
    row.bytes = Signed(one.bytes);
    row.share = static_cast<double>(one.bytes) / static_cast<double>(total);
    rows.live.push_back(std::move(row));
  }
}

void AddOomRow(const DeviceStudy& study, const OomReport& report, MemoryRows& rows) {
  const OomState& state = report.state;
  const MemoryEvent& event = study.device.events[state.event];
  OomRow row;
  row.rank = study.rank;
  row.file = study.file;
  row.device = study.device.device;
  if (event.time_us != kNoTime) row.ts_unix_ns = event.time_us * 1000;
  row.line = IfText(study.Line(event.stack));
  row.rounded_bytes = Signed(state.size);
  row.needed_bytes = Signed(state.needed);
  row.device_free_bytes = Signed(state.device_free);
  if (report.allowed.has_value()) {
    row.allowed_low_bytes = Signed(report.allowed->low);
    row.allowed_high_bytes = Signed(report.allowed->high);
  }
  row.reserved_bytes = Signed(state.reserved);
  row.allocated_bytes = Signed(state.allocated);
  row.slack_bytes = Signed(state.parts.slack);
  row.pending_bytes = Signed(state.parts.pending);
  row.usable_bytes = Signed(state.parts.usable);
  row.too_small_bytes = Signed(state.parts.too_small);
  row.other_pool_bytes = Signed(state.parts.other_pool);
  row.other_stream_bytes = Signed(state.parts.other_stream);
  row.private_pool_bytes = Signed(state.parts.private_pool);
  row.releasable_bytes = Signed(state.parts.releasable);
  row.largest_free_bytes = Signed(state.parts.largest_free);
  row.free_blocks = Signed(state.parts.free_blocks);
  row.other_processes_bytes = Signed(report.other_bytes);
  for (const OomCause cause : report.causes) {
    row.cause += row.cause.empty() ? "" : ", ";
    row.cause += Name(cause);
  }
  row.retries = Signed(state.retries);
  rows.ooms.push_back(std::move(row));
}

void AddFixRows(const DeviceStudy& study, const MemoryFixes& fixes, MemoryRows& rows) {
  for (const MemoryFix& fix : fixes.fixes) {
    rows.fixes.push_back({.rank = study.rank,
                          .file = study.file,
                          .device = study.device.device,
                          .change = fix.change,
                          .setting = IfText(fix.setting),
                          .fits = std::string(Name(fix.fits)),
                          .changed_bytes = Signed(fix.changed_bytes),
                          .reserved_bytes = Signed(fix.reserved_bytes),
                          .spare_bytes = Signed(fix.spare_bytes),
                          .certainty = fix.is_certain ? "certain" : "likely"});
  }
}

void AddGrowthRows(const DeviceStudy& study, const std::vector<MemoryGrowth>& growth,
                   MemoryRows& rows) {
  for (const MemoryGrowth& one : growth) {
    rows.growth.push_back({.rank = study.rank,
                           .file = study.file,
                           .device = study.device.device,
                           .line = IfText(study.sites.Get(one.site).Text()),
                           .category = std::string(Name(one.category)),
                           .steps = Signed(one.steps),
                           .first_step = Signed(one.first_step),
                           .bytes_per_step = Signed(one.bytes_per_step),
                           .blocks_per_step = Signed(one.blocks_per_step),
                           .bytes = Signed(one.bytes),
                           .certainty = one.is_by_time ? "likely" : "certain"});
  }
}

// --- Findings ---

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

std::string AllowedText(const ByteRange& allowed) {
  if (allowed.is_exact() || FormatBytes(allowed.low) == FormatBytes(allowed.high)) {
    return FormatBytes(allowed.low) + " allowed";
  }
  return fmt::format("between {} and {} allowed", FormatBytes(allowed.low),
                     FormatBytes(allowed.high));
}

// Whose blocks keep segments in which free memory is too small for the request: the line with most
// of it. `rows` are those of the segments at the failure.
std::string KeptBy(std::span<const MemorySegmentRow> rows) {
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
                        GroupDigits(Signed(state.parts.free_blocks)),
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

// The first changes that fit; what there is to do where none does.
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
    text = fmt::format("{} would have been enough, by a replay: {}",
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
               : "No change that was replayed is certainly enough: see oom_fixes, and "
                 "memory_live for what held memory";
  }
  text += ".";
  if (fixes.not_tried > 0) {
    text += fmt::format(" {} more were not tried for want of time (--fix-time).",
                        GroupDigits(Signed(fixes.not_tried)));
  }
  return text;
}

JobFinding OomFinding(const DeviceStudy& study, const OomReport& report, const MemoryFixes& fixes,
                      std::span<const MemorySegmentRow> segments) {
  const MemoryEvent& event = study.device.events[report.state.event];
  const bool went_on =
      std::any_of(study.steps.begin(), study.steps.end(),
                  [&](const MemoryStep& step) { return step.begin > report.state.event; });
  JobFinding finding;
  finding.order = CauseRank::kOutOfMemory;
  finding.finding = OomSentence(report);
  finding.severity = went_on ? Severity::kWarning : Severity::kError;
  const bool is_sure = study.replay.forced == 0 && study.replay.left_out == 0;
  finding.certainty = is_sure ? Certainty::kCertain : Certainty::kLikely;
  if (study.rank.has_value()) finding.ranks = std::to_string(*study.rank);
  finding.where = study.Line(event.stack);
  finding.evidence = OomEvidence(report, finding.where, study.device.device);
  if (std::find(report.causes.begin(), report.causes.end(), OomCause::kFragmentation) !=
      report.causes.end()) {
    finding.evidence += KeptBy(segments);
  }
  if (went_on) finding.evidence += " The program went on after that.";
  if (study.file.has_value()) finding.evidence += fmt::format(" By {}.", *study.file);
  finding.help = OomHelp(fixes);
  finding.value = static_cast<double>(report.state.size);
  finding.unit = "bytes";
  if (event.time_us != kNoTime) finding.failed_unix_ns = event.time_us * 1000;
  return finding;
}

// One finding for the lines that grow, if it is not little: a hundredth of the peak or more.
void AddGrowthFinding(const DeviceStudy& study, const std::vector<MemoryGrowth>& growth,
                      std::vector<JobFinding>& findings) {
  std::map<uint32_t, MemoryGrowth> sites;
  for (const MemoryGrowth& one : growth) {
    MemoryGrowth& sum = sites.try_emplace(one.site, MemoryGrowth{.site = one.site}).first->second;
    sum.bytes_per_step += one.bytes_per_step;
    sum.bytes += one.bytes;
    sum.steps = std::max(sum.steps, one.steps);
    sum.is_by_time = one.is_by_time;
    sum.is_by_events = one.is_by_events;
  }
  std::vector<MemoryGrowth> largest;
  for (const auto& [site, sum] : sites) {
    if (sum.bytes >= study.replay.end.peak_allocated / 100) largest.push_back(sum);
  }
  if (largest.empty()) return;
  std::stable_sort(largest.begin(), largest.end(),
                   [](const MemoryGrowth& a, const MemoryGrowth& b) {
                     return a.bytes_per_step > b.bytes_per_step;
                   });
  const MemoryGrowth& first = largest.front();
  JobFinding finding;
  finding.order = CauseRank::kGrowth;
  finding.finding = "Memory grows from step to step";
  finding.severity = Severity::kWarning;
  finding.certainty = first.is_by_time ? Certainty::kLikely : Certainty::kCertain;
  if (study.rank.has_value()) finding.ranks = std::to_string(*study.rank);
  finding.where = study.sites.Get(first.site).Text();
  finding.evidence = fmt::format("{} more in each of the last {} {}, {} in all{}.",
                                 FormatBytes(first.bytes_per_step), first.steps,
                                 first.is_by_events ? "eighths of the recorded events"
                                 : first.is_by_time ? "eighths of the recorded time"
                                                    : "steps",
                                 FormatBytes(first.bytes),
                                 finding.where.empty() ? std::string() : " at " + finding.where);
  if (largest.size() > 1) {
    finding.evidence += fmt::format(" {} other {} as well.", largest.size() - 1,
                                    largest.size() == 2 ? "line grows" : "lines grow");
  }
  finding.help =
      "See what keeps the results of this line: a list of losses or outputs that are still part of "
      "their graph (take .item() or .detach()), a cache without a bound, or retain_graph=True.";
  finding.value = static_cast<double>(first.bytes_per_step);
  finding.unit = "bytes";
  findings.push_back(std::move(finding));
}

// --- One file ---

class FileStudy {
 public:
  FileStudy(const JobFile& file, const MemoryRequest& request, const LineFinder& lines,
            std::chrono::steady_clock::time_point fixes_end, bool is_only, MemoryPart& part,
            MemoryRows& rows, std::vector<Failure>& failures)
      : file_(file),
        is_only_(is_only),
        request_(request),
        lines_(lines),
        fixes_end_(fixes_end),
        part_(part),
        rows_(rows),
        failures_(failures) {}

  void Run() {
    JobFileRow row = RowOf(file_, "refused");
    const Result<SnapshotFile> read = ReadJobFile(file_, ReadSnapshot);
    if (read.ok()) {
      row.status = read->is_cut ? "truncated" : "read";
      DescribeFile(*read, row);
      Study(*read);
    } else {
      part_.has_failed = true;
      part_.found.diagnostics.push_back(RefusalOf(file_, read.error()));
    }
    part_.files.push_back(std::move(row));
  }

 private:
  void Say(Severity severity, std::string_view code, std::string first, std::string_view help,
           uint64_t count = 1) {
    if (count == 0) return;
    part_.found.diagnostics.push_back(
        {severity, std::string(code), count, file_.path, std::move(first), std::string(help)});
  }

  void DescribeFile(const SnapshotFile& read, JobFileRow& row) {
    uint64_t events = 0;
    for (const DeviceMemory& device : read.snapshot.devices) {
      events += device.events.size();
      for (const int64_t time : {device.events.empty() ? kNoTime : device.events.front().time_us,
                                 device.events.empty() ? kNoTime : device.events.back().time_us}) {
        if (time == kNoTime) continue;
        row.begin_unix_ns = std::min(row.begin_unix_ns.value_or(time * 1000), time * 1000);
        row.end_unix_ns = std::max(row.end_unix_ns.value_or(time * 1000), time * 1000);
      }
    }
    row.records = Signed(events);
    if (read.is_cut) {
      Say(Severity::kWarning, "truncated-file", "",
          "The file ends in the middle; what was complete was read.");
    }
    Say(Severity::kWarning, "bad-field-type", "",
        "Fields that are not what a snapshot has there count as 0.", read.bad_fields);
    uint64_t allocations = 0;
    uint64_t bare = 0;  // without a stack
    for (const DeviceMemory& device : read.snapshot.devices) {
      for (const MemoryEvent& event : device.events) {
        if (event.action != MemoryAction::kAlloc) continue;
        ++allocations;
        bare += event.stack == 0 ? 1 : 0;
      }
    }
    const bool has_stacks =
        allocations > 0 ? bare < allocations : read.snapshot.stacks.stacks() > 1;
    if (has_stacks) {
      Say(Severity::kInfo, "some-stacks-missing", "",
          "Allocations without a stack, whose line is not known.", bare);
    }
    if (!has_stacks) {
      Say(Severity::kInfo, "no-stacks", "",
          "No event has a stack, so that lines and most categories are not known: "
          "torch.cuda.memory._record_memory_history(context=\"all\") records them.");
    } else if (read.snapshot.is_python_only) {
      Say(Severity::kInfo, "python-stacks", "",
          "The stacks have frames of Python only: workspaces of libraries and gradients may be "
          "counted as something else; stacks=\"all\" records the others.");
    }
  }

  void Study(const SnapshotFile& read) {
    const MemorySites sites(read.snapshot, lines_);
    for (const DeviceMemory& device : read.snapshot.devices) {
      DeviceStudy study{read.snapshot, device, sites,
                        file_.rank.has_value() ? std::optional<int64_t>(*file_.rank) : std::nullopt,
                        is_only_ ? std::nullopt : std::optional(file_.path)};
      study.replay = ReplayDevice(read.snapshot, device);
      if (study.replay.impossible.empty()) {
        StudyReplay(study);
      } else {
        StudyBlocks(study);
      }
    }
  }

  void StudyReplay(DeviceStudy& study) {
    study.steps = FindSteps(study.snapshot, study.device);
    study.categories = Categorise(study.device, study.replay, study.sites, study.steps);
    AddReplayRow(study, rows_);
    if (request_.area_rows > 0) {
      AddAreaRows(study.rank, study.device,
                  FindAreas(study.device, study.replay, study.categories, request_.area_rows),
                  rows_.areas);
    }
    Say(Severity::kInfo, "ring-of-events", fmt::format("device {}", study.device.device),
        "Blocks that were in use before the first event: the recording began late, or its ring was "
        "too small (max_entries).",
        study.replay.start_blocks.size());
    Say(Severity::kWarning, "allocator-differs", fmt::format("device {}", study.device.device),
        "Blocks that lie elsewhere than the model of the allocator says; changes that are replayed "
        "are likely, not certain.",
        study.replay.forced);
    SayRepairs(study);
    Say(Severity::kInfo, "more-failures", fmt::format("device {}", study.device.device),
        "Requests that failed before the last one and have no row in oom: there are too many.",
        study.replay.ooms_left_out);
    AddMoment(study, "peak", study.replay.peak_event);
    for (const OomState& oom : study.replay.ooms) {
      AddOomRow(study, ExplainOom(oom, request_.limit), rows_);
    }
    if (!study.replay.ooms.empty()) StudyOom(study);
    AddMarks(study);
    AddMoment(study, "end", study.last_event());
    const std::vector<MemoryGrowth> growth =
        FindGrowth(study.device, study.replay, study.sites, study.categories, study.steps);
    AddGrowthRows(study, growth, rows_);
    AddGrowthFinding(study, growth, part_.found.findings);
  }

  // What of a damaged recording was left out or assumed.
  void SayRepairs(const DeviceStudy& study) {
    const Replay& replay = study.replay;
    const std::string device = fmt::format("device {}", study.device.device);
    Say(Severity::kWarning, "contradicting-events", device,
        "Allocations that lie where something else is, as if events were missing: they are left "
        "out, and all amounts may be too small by them.",
        replay.left_out);
    Say(Severity::kInfo, "missing-frees", device,
        "Blocks at whose place another one was allocated, though no event freed them: they count "
        "as freed then.",
        replay.replaced.size());
    if (replay.follows_events_alone) {
      Say(Severity::kWarning, "end-differs", device,
          "The segments and blocks that the snapshot lists contradict its events, as if the last "
          "events were missing: the replay follows the events alone, from nothing.");
    } else if (!replay.segments_equal && replay.start_inferred == 0 && replay.forced == 0) {
      Say(Severity::kWarning, "end-differs", device,
          "The segments and blocks that the snapshot lists are not those that its events lead to: "
          "some of either are missing. What is said of the end is what the events say.");
    }
  }

  void AddMarks(const DeviceStudy& study) {
    constexpr size_t kMostMarks = 1000;
    if (!study.rank.has_value() || !study.snapshot.has_times) return;
    size_t at =
        study.replay.ooms.empty() ? study.device.events.size() : study.replay.ooms.back().event;
    for (size_t taken = 0; at > 0 && taken < kMostMarks;) {
      const MemoryEvent& event = study.device.events[--at];
      if (event.action != MemoryAction::kAlloc || event.time_us == kNoTime) continue;
      ++taken;
      part_.marks.push_back({.rank = static_cast<int32_t>(*study.rank),
                             .device = static_cast<int32_t>(study.device.device),
                             .address = event.address,
                             .bytes = study.replay.BlockBytes(static_cast<uint32_t>(at)),
                             .unix_ns = event.time_us * 1000});
    }
  }

  // What was live after an event, and where. `failed`: the request that failed with it.
  void AddMoment(const DeviceStudy& study, const std::string& name, uint32_t event,
                 const OomState* failed = nullptr) {
    AddLiveRows(study, name,
                LiveAt(study.device, study.replay, study.sites, study.categories, event), rows_);
    AddMap(study, {study.rank, study.file, name, failed},
           MapAt(study.snapshot, study.device, study.replay, event));
  }

  void AddMap(const DeviceStudy& study, const MapMoment& moment, const AddressMap& map) {
    AddSegmentRows(moment, study.snapshot, study.device.device, map, study.sites, study.categories,
                   rows_.segments);
    if (request_.map_rows == 0) return;
    AddMapRows(moment, study.device.device, PiecesOf(map, study.categories, request_.map_rows),
               study.sites, rows_.map);
  }

  // The last failure is the one that the program ended with.
  void StudyOom(const DeviceStudy& study) {
    const OomReport report = ExplainOom(study.replay.ooms.back(), request_.limit);
    const size_t first_segment = rows_.segments.size();
    AddMoment(study, "oom", report.state.event, &report.state);
    const auto left = std::max(fixes_end_ - std::chrono::steady_clock::now(),
                               std::chrono::steady_clock::duration::zero());
    const MemoryFixes fixes = FindFixes(study.snapshot, study.device, study.replay, report,
                                        study.sites, study.categories, study.steps, left);
    AddFixRows(study, fixes, rows_);
    JobFinding finding =
        OomFinding(study, report, fixes, std::span(rows_.segments).subspan(first_segment));
    part_.found.has_cause = part_.found.has_cause || finding.severity == Severity::kError;
    failures_.push_back({study.device.events[report.state.event].time_us, std::move(finding)});
  }

  // Without a replay: what the snapshot has at its end.
  void StudyBlocks(DeviceStudy& study) {
    const bool is_inconsistent = study.device.inconsistent > 0;
    Say(study.device.events.empty() ? Severity::kInfo : Severity::kWarning,
        is_inconsistent ? "inconsistent-snapshot" : "no-replay",
        std::string(study.replay.impossible),
        "What was in use at the end is as recorded; without a replay there is no peak, no growth, "
        "and no change to try.");
    study.replay = Replay();
    for (const MemorySegment& segment : study.device.segments) {
      for (uint32_t b = 0; b < segment.blocks; ++b) {
        const MemoryBlock& block = study.device.blocks[segment.first_block + b];
        if (block.state != MemoryBlockState::kAllocated) continue;
        StartBlock start;
        start.size = block.size;
        start.stack = block.stack;
        study.replay.start_blocks.push_back(start);
      }
    }
    const DeviceMemory no_events;
    study.categories = Categorise(no_events, study.replay, study.sites, {});
    AddLiveRows(study, "end",
                LiveAt(no_events, study.replay, study.sites, study.categories, kNoIndex), rows_);
    if (!is_inconsistent) {
      AddMap(study, {study.rank, study.file, "end", nullptr}, MapOfBlocks(study.device));
    }
  }

  const JobFile& file_;
  bool is_only_;
  const MemoryRequest& request_;
  const LineFinder& lines_;
  std::chrono::steady_clock::time_point fixes_end_;
  MemoryPart& part_;
  MemoryRows& rows_;
  std::vector<Failure>& failures_;
};

// The first failure leads: others may follow from it.
void AddFailures(std::vector<Failure> failures, std::vector<JobFinding>& findings) {
  std::stable_sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) {
    return std::pair(a.time_us == kNoTime, a.time_us) < std::pair(b.time_us == kNoTime, b.time_us);
  });
  for (Failure& failure : failures) {
    if (failures.size() > 1 && failure.time_us != kNoTime) {
      failure.finding.evidence += fmt::format(" At {}.", ClockTime(failure.time_us * 1000));
    }
    findings.push_back(std::move(failure.finding));
  }
}

}  // namespace

MemoryPart FindMemory(std::span<const JobFile> files, const MemoryRequest& request,
                      const LineFinder& lines) {
  MemoryPart part;
  MemoryRows rows;
  std::vector<Failure> failures;
  const auto fixes_end = std::chrono::steady_clock::now() + request.fix_time;
  uint64_t done = 0;
  for (const JobFile& file : files) {
    FileStudy(file, request, lines, fixes_end, files.size() == 1, part, rows, failures).Run();
    done += file.bytes;
    if (request.progress) request.progress(done);
  }
  AddFailures(std::move(failures), part.found.findings);
  part.found.tables.push_back(MakeTable(rows.ooms));
  part.found.tables.push_back(MakeTable(rows.fixes));
  part.found.tables.push_back(MakeTable(rows.live));
  part.found.tables.push_back(MakeTable(rows.segments));
  part.found.tables.push_back(MakeTable(rows.growth));
  part.found.tables.push_back(MakeTable(rows.replays));
  if (request.area_rows > 0) part.found.tables.push_back(MakeTable(rows.areas));
  if (request.map_rows > 0) part.found.tables.push_back(MakeTable(rows.map));
  return part;
}

std::vector<Table> MemoryShape() {
  std::vector<Table> tables;
  tables.push_back(NewTable<OomRow>());
  tables.push_back(NewTable<OomFixRow>());
  tables.push_back(NewTable<MemoryLiveRow>());
  tables.push_back(NewTable<MemorySegmentRow>());
  tables.push_back(NewTable<MemoryGrowthRow>());
  tables.push_back(NewTable<AllocatorReplayRow>());
  return tables;
}

}  // namespace borescope::internal::postmortem
