#include "borescope/postmortem/memory/memory_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/base/saturating.h"
#include "borescope/output/units/units.h"
#include "borescope/postmortem/memory/address_map.h"
#include "borescope/postmortem/memory/areas.h"
#include "borescope/postmortem/memory/fixes.h"
#include "borescope/postmortem/memory/growth.h"
#include "borescope/postmortem/memory/growth_findings.h"
#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/memory_rows.h"
#include "borescope/postmortem/memory/oom_texts.h"
#include "borescope/postmortem/memory/read_snapshot.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/postmortem/memory/states_to_come.h"
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
                           .growth = std::string(Name(one.kind)),
                           .steps = Signed(one.steps),
                           .first_step = Signed(one.first_step),
                           .bytes_per_step = Signed(one.bytes_per_step),
                           .blocks_per_step = Signed(one.blocks_per_step),
                           .bytes = Signed(one.bytes),
                           .certainty = one.is_certain() ? "certain" : "likely"});
  }
}

// --- Findings ---

// What is known of a failure beside the failure itself.
struct OomContext {
  const OomReport& report;
  const MemoryFixes& fixes;
  std::span<const GrowthSum> growth;
  std::span<const MemorySegmentRow> segments;  // at the failure

  // What the process could have in all; 0 if that is not known.
  uint64_t CouldHave() const {
    if (report.capacity.has_value()) return *report.capacity;
    return report.allowed.has_value() ? report.allowed->high : 0;
  }
  // The growth that the failure comes of.
  const GrowthSum* Cause() const {
    if (report.causes.front() == OomCause::kOtherProcess) return nullptr;
    const auto cause = std::find_if(growth.begin(), growth.end(), [&](const GrowthSum& sum) {
      return IsCauseOf(sum, CouldHave(), fixes);
    });
    return cause == growth.end() ? nullptr : &*cause;
  }
};

// Whether an optimizer's step ended before the failure, so that what a step needs was there once.
bool HasWholeStep(const DeviceStudy& study, uint32_t event) {
  return std::any_of(study.steps.begin(), study.steps.end(),
                     [&](const MemoryStep& step) { return step.end <= event; });
}

std::string StatesText(const StatesToCome& come) {
  return fmt::format(
      " The first step of the optimizer had made {} states for {} parameters, {} or more for each: "
      "{} more, {} in all with this one, are still to come.",
      GroupDigits(Signed(come.states)), GroupDigits(Signed(come.parameters)), come.per_parameter,
      GroupDigits(Signed(come.to_come)), FormatBytes(come.to_come_bytes));
}

// Where the states that are still to come are more than there is room for, whatever is free.
void TellOfStates(const StatesToCome& come, const OomContext& context, JobFinding& finding) {
  const uint64_t in_all = context.report.state.allocated + come.to_come_bytes;
  finding.evidence += StatesText(come);
  if (context.CouldHave() == 0 || in_all <= context.CouldHave()) return;
  finding.finding = "Out of memory: the states of the optimizer do not fit";
  finding.certainty = Certainty::kLikely;
  finding.evidence += fmt::format(
      " With what is allocated that is {}, more than the {} that this process could have, "
      "however it is laid out.",
      FormatBytes(in_all), FormatBytes(context.CouldHave()));
  finding.help =
      "Make parameters, gradients and states smaller: states of eight bits or in a smaller type, "
      "an optimizer with fewer of them, states that are sharded over ranks (FSDP, ZeRO) or "
      "offloaded to the host. Settings of the allocator, and a smaller batch, do not change what "
      "they need.";
}

// Of a failure in a forward pass: what it holds, and what makes that less.
std::string ForwardText(const DeviceStudy& study, const OomContext& context) {
  const uint64_t bytes = context.fixes.forward_bytes;
  if (bytes < context.report.state.allocated / 2) return "";
  const bool has_backward = std::any_of(
      study.device.events.begin(), study.device.events.end(), [&](const MemoryEvent& event) {
        return event.action == MemoryAction::kAlloc && study.sites.Of(event).is_backward;
      });
  return fmt::format(" The forward pass holds {}: activation checkpointing keeps less of it{}.",
                     FormatBytes(bytes),
                     has_backward ? ""
                                  : ", and without training torch.no_grad() or "
                                    "torch.inference_mode() keeps none");
}

JobFinding OomFinding(const DeviceStudy& study, const OomContext& context) {
  const OomReport& report = context.report;
  const MemoryEvent& event = study.device.events[report.state.event];
  const bool went_on =
      std::any_of(study.steps.begin(), study.steps.end(),
                  [&](const MemoryStep& step) { return step.begin > report.state.event; });
  const GrowthSum* const growth = went_on ? nullptr : context.Cause();
  JobFinding finding;
  finding.order = CauseRank::kOutOfMemory;
  finding.finding = OomSentence(report);
  finding.severity = went_on ? Severity::kWarning : Severity::kError;
  const bool has_step = HasWholeStep(study, report.state.event);
  // Pieces are the cause only if what the program needs after this request is known to fit.
  const bool is_sure = study.replay.forced == 0 && study.replay.left_out == 0 &&
                       (has_step || report.causes.front() != OomCause::kFragmentation);
  finding.certainty = is_sure ? Certainty::kCertain : Certainty::kLikely;
  if (study.rank.has_value()) finding.ranks = std::to_string(*study.rank);
  finding.where = study.Line(event.stack);
  finding.evidence = OomEvidence(report, finding.where, study.device.device);
  std::string kept;
  if (std::find(report.causes.begin(), report.causes.end(), OomCause::kFragmentation) !=
      report.causes.end()) {
    finding.evidence += KeptBy(context.segments, kept);
  }
  finding.help = OomHelp(context.fixes);
  if (growth != nullptr) {
    const JobFinding grows = GrowthFinding(*growth, study.sites);
    finding.finding = FailureSentence(*growth);
    finding.certainty = grows.certainty;
    finding.where = grows.where;
    finding.evidence =
        FailureEvidence(*growth, study.sites, context.CouldHave()) + " " + finding.evidence;
    const auto keeps_pieces = [&](const MemoryGrowth& line) {
      return !kept.empty() && kept == study.sites.Get(line.site).Text();
    };
    if (std::any_of(growth->lines.begin(), growth->lines.end(), keeps_pieces)) {
      finding.evidence += " The pieces follow from that growth.";
    }
    finding.help = FailureHelp(*growth, context.fixes);
  } else {
    const bool is_any_served =
        std::any_of(context.fixes.fixes.begin(), context.fixes.fixes.end(),
                    [](const MemoryFix& fix) { return fix.fits == Fits::kYes; });
    if (!has_step && is_any_served) {
      finding.help += " What follows this request was not recorded, and may need more.";
    }
    finding.help += ForwardText(study, context);
    if (const auto come = FindStatesToCome(study.snapshot, study.device, study.replay, study.sites,
                                           study.categories, report.state);
        come.has_value() && come->to_come > 0) {
      TellOfStates(*come, context, finding);
    }
  }
  if (went_on) finding.evidence += " The program went on after that.";
  if (study.file.has_value()) finding.evidence += fmt::format(" By {}.", *study.file);
  finding.value = static_cast<double>(report.state.size);
  finding.unit = "bytes";
  if (event.time_us != kNoTime) finding.failed_unix_ns = event.time_us * 1000;
  return finding;
}

// What a recording without a failure shows, for where nothing else is to be said.
struct QuietMoment {
  uint64_t bytes = 0;  // allocated, most of all devices
  std::string evidence;
};

QuietMoment DescribeQuiet(const DeviceStudy& study, bool has_replay) {
  const uint32_t event = has_replay ? study.replay.peak_event : kNoIndex;
  const DeviceMemory no_events;
  const std::vector<LiveMemory> live = LiveAt(has_replay ? study.device : no_events, study.replay,
                                              study.sites, study.categories, event);
  QuietMoment quiet;
  for (const LiveMemory& one : live) quiet.bytes += one.bytes;
  uint64_t reserved = study.replay.end.peak_reserved;
  if (!has_replay) {
    for (const MemorySegment& segment : study.device.segments) reserved += segment.size;
  }
  quiet.evidence =
      fmt::format("{} {} were allocated on device {}, of {}{} that were reserved{}",
                  has_replay ? "At most" : "At the end", FormatBytes(quiet.bytes),
                  study.device.device, has_replay ? "at most " : "", FormatBytes(reserved),
                  has_replay ? "" : "; nothing of the time before was recorded");
  if (!live.empty() && quiet.bytes > 0) {
    const std::string line = study.sites.Get(live.front().site).Text();
    quiet.evidence += fmt::format(
        "; {} of that ({:.0f} %) {}{}", FormatBytes(live.front().bytes),
        static_cast<double>(live.front().bytes) / static_cast<double>(quiet.bytes) * 100,
        line.empty() ? "" : "at " + line + ", ", Name(live.front().category));
  }
  quiet.evidence += '.';
  return quiet;
}

JobFinding QuietFinding(const QuietMoment& quiet) {
  JobFinding finding;
  finding.order = CauseRank::kNothing;
  finding.finding = "No request for memory failed in this recording";
  finding.severity = Severity::kInfo;
  finding.certainty = Certainty::kCertain;
  finding.evidence = quiet.evidence;
  finding.help =
      "memory_live has what held memory then, by line. If the job ended for want of memory, dump "
      "the snapshot in an observer of that (torch._C._cuda_attachOutOfMemoryObserver), which is "
      "called as a request fails.";
  finding.value = static_cast<double>(quiet.bytes);
  finding.unit = "bytes";
  return finding;
}

// --- One file ---

class FileStudy {
 public:
  FileStudy(const JobFile& file, const MemoryRequest& request, const LineFinder& lines,
            std::chrono::steady_clock::time_point fixes_end, bool is_only, MemoryPart& part,
            MemoryRows& rows, std::vector<Failure>& failures, QuietMoment& quiet)
      : file_(file),
        is_only_(is_only),
        request_(request),
        lines_(lines),
        fixes_end_(fixes_end),
        part_(part),
        rows_(rows),
        failures_(failures),
        quiet_(quiet) {}

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
    const std::vector<MemoryGrowth> growth =
        FindGrowth(study.device, study.replay, study.sites, study.categories, study.steps);
    const uint32_t moment =
        study.replay.ooms.empty() ? study.last_event() : study.replay.ooms.back().event;
    std::vector<GrowthSum> sums;
    if (!growth.empty()) {
      sums = SumGrowth(study.device, study.replay, study.sites, growth,
                       LiveAt(study.device, study.replay, study.sites, study.categories, moment));
    }
    if (study.replay.ooms.empty()) {
      KeepQuiet(DescribeQuiet(study, true));
    } else {
      StudyOom(study, sums);
    }
    AddMarks(study);
    AddMoment(study, "end", study.last_event());
    AddGrowthRows(study, growth, rows_);
    for (const GrowthSum& sum : sums) {
      JobFinding finding = GrowthFinding(sum, study.sites);
      if (study.rank.has_value()) finding.ranks = std::to_string(*study.rank);
      part_.found.findings.push_back(std::move(finding));
    }
  }

  // What there is to say where nothing failed on any device.
  void KeepQuiet(QuietMoment quiet) {
    if (quiet.bytes > quiet_.bytes || quiet_.evidence.empty()) quiet_ = std::move(quiet);
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

  // The last failure is the one that the program ended with. Growth that is its cause is said with
  // it, and taken out of `sums`.
  void StudyOom(const DeviceStudy& study, std::vector<GrowthSum>& sums) {
    const OomReport report = ExplainOom(study.replay.ooms.back(), request_.limit);
    const size_t first_segment = rows_.segments.size();
    AddMoment(study, "oom", report.state.event, &report.state);
    const auto left = std::max(fixes_end_ - std::chrono::steady_clock::now(),
                               std::chrono::steady_clock::duration::zero());
    std::vector<uint32_t> growing;
    if (!sums.empty() && !sums.front().is_of_peaks()) {
      for (const MemoryGrowth& line : sums.front().lines) growing.push_back(line.site);
    }
    const MemoryFixes fixes = FindFixes(study.snapshot, study.device, study.replay, report,
                                        study.sites, study.categories, study.steps, left, growing);
    AddFixRows(study, fixes, rows_);
    const OomContext context{report, fixes, sums, std::span(rows_.segments).subspan(first_segment)};
    JobFinding finding = OomFinding(study, context);
    if (const GrowthSum* const cause = context.Cause();
        cause != nullptr && finding.finding == FailureSentence(*cause)) {
      sums.erase(sums.begin() + (cause - sums.data()));
    }
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
    KeepQuiet(DescribeQuiet(study, false));
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
  QuietMoment& quiet_;
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
  QuietMoment quiet;
  const auto fixes_end = std::chrono::steady_clock::now() + request.fix_time;
  uint64_t done = 0;
  for (const JobFile& file : files) {
    FileStudy(file, request, lines, fixes_end, files.size() == 1, part, rows, failures, quiet)
        .Run();
    done += file.bytes;
    if (request.progress) request.progress(done);
  }
  AddFailures(std::move(failures), part.found.findings);
  if (request.is_alone && part.found.findings.empty() && !quiet.evidence.empty()) {
    part.found.findings.push_back(QuietFinding(quiet));
  }
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
