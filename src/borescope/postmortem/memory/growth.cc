#include "borescope/postmortem/memory/growth.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "borescope/base/saturating.h"

namespace borescope::internal::postmortem {

namespace {

// Events at which the state is looked at: what is there before the event.
struct Marks {
  std::vector<uint32_t> events;
  size_t least_rises = 3;
  bool is_by_time = false;
  bool is_by_events = false;
};

// Steps, or equal parts: of the time where it is recorded, and of the events.
std::vector<Marks> FindMarks(const DeviceMemory& device, const std::vector<MemoryStep>& steps) {
  constexpr size_t kLeastSteps = 4;
  constexpr int64_t kParts = 8;
  if (steps.size() >= kLeastSteps) {
    Marks marks;
    for (const MemoryStep& step : steps) {
      marks.events.push_back(step.begin);
    }
    return {marks};
  }
  const auto events = static_cast<int64_t>(device.events.size());
  const int64_t begin = device.events.front().time_us;
  const int64_t end = device.events.back().time_us;
  const int64_t span = begin == kNoTime || end == kNoTime ? 0 : SubtractSaturating(end, begin);
  constexpr int64_t kLongest = int64_t{1} << 56;  // microseconds
  const bool has_times = span > 0 && span <= kLongest;
  Marks by_time{.events = {}, .is_by_time = true};
  // One pass over a model may fill half of the events of a short recording.
  Marks by_events{
      .events = {}, .least_rises = has_times ? 5U : 3U, .is_by_time = true, .is_by_events = true};
  // Programs allocate for good as they begin: not the first quarter.
  for (int64_t part = kParts / 4; part <= kParts; ++part) {
    by_events.events.push_back(static_cast<uint32_t>(events * part / kParts));
    if (!has_times) {
      continue;
    }
    const int64_t time = begin + (span * part + kParts - 1) / kParts;  // the first not before it
    by_time.events.push_back(static_cast<uint32_t>(
        std::lower_bound(device.events.begin(), device.events.end(), time,
                         [](const MemoryEvent& event, int64_t at) { return event.time_us < at; }) -
        device.events.begin()));
  }
  if (!has_times) {
    return {by_events};
  }
  by_time.events.back() = static_cast<uint32_t>(events);
  return {by_time, by_events};
}

struct Increase {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

uint64_t Median(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle]
                                : values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
}

// What is live in each group event after event, and since how many marks it grows. A mark costs as
// much as changed since the last one, as both groups and marks may be many.
class GrowthSweep {
 public:
  explicit GrowthSweep(size_t groups) : groups_(groups) {}

  void Add(size_t group, uint64_t bytes) {
    Group& of = Touch(group);
    of.bytes += bytes;
    ++of.blocks;
  }
  void Remove(size_t group, uint64_t bytes) {
    Group& of = Touch(group);
    of.bytes -= bytes;
    --of.blocks;
  }
  void Mark() {
    ++marks_;
    for (const size_t number : touched_) {
      Group& group = groups_[number];
      group.is_touched = false;
      const Increase before = std::exchange(group.last, {group.bytes, group.blocks});
      if (marks_ == 1) continue;
      // Rises in a row: one at each mark.
      if (group.risen_at + 1 != marks_ || group.bytes <= before.bytes) group.rises.clear();
      if (group.bytes <= before.bytes) continue;
      const uint64_t blocks = group.blocks > before.blocks ? group.blocks - before.blocks : 0;
      group.rises.push_back({group.bytes - before.bytes, blocks});
      group.risen_at = marks_;
    }
    touched_.clear();
  }
  // Those in a row up to the last mark.
  std::span<const Increase> Rises(size_t number) const {
    const Group& group = groups_[number];
    return group.risen_at == marks_ ? std::span<const Increase>(group.rises)
                                    : std::span<const Increase>();
  }
  uint64_t marks() const { return marks_; }

 private:
  struct Group {
    uint64_t bytes = 0;
    uint64_t blocks = 0;
    Increase last;
    std::vector<Increase> rises;
    uint64_t risen_at = 0;  // the mark of the last of these
    bool is_touched = false;
  };

  Group& Touch(size_t number) {
    Group& group = groups_[number];
    if (!std::exchange(group.is_touched, true)) touched_.push_back(number);
    return group;
  }

  std::vector<Group> groups_;
  std::vector<size_t> touched_;  // since the last mark
  uint64_t marks_ = 0;
};

// What each line holds between the marks: the least, the most, and what there is at the mark.
class SiteSweep {
 public:
  struct Part {
    uint64_t mark = 0;  // that ends it, counted from 1
    uint64_t low = 0;
    uint64_t high = 0;
    uint64_t at_mark = 0;
    uint64_t swing() const { return high - low; }
  };

  explicit SiteSweep(size_t sites) : sites_(sites) {}

  void Add(size_t number, uint64_t bytes) {
    Site& site = Touch(number);
    site.bytes += bytes;
    site.now.high = std::max(site.now.high, site.bytes);
  }
  void Remove(size_t number, uint64_t bytes) {
    Site& site = Touch(number);
    site.bytes -= bytes;
    site.now.low = std::min(site.now.low, site.bytes);
  }
  void Mark() {
    ++marks_;
    for (const size_t number : touched_) {
      Site& site = sites_[number];
      site.is_touched = false;
      site.now.mark = marks_;
      site.now.at_mark = site.bytes;
      site.parts.push_back(site.now);
    }
    touched_.clear();
  }

  // The part that ends with a mark; of one in which nothing changed what it held all the time.
  Part At(size_t number, uint64_t mark) const {
    const std::vector<Part>& parts = sites_[number].parts;
    const auto after =
        std::upper_bound(parts.begin(), parts.end(), mark,
                         [](uint64_t wanted, const Part& part) { return wanted < part.mark; });
    if (after == parts.begin()) return {mark, 0, 0, 0};
    const Part& last = *std::prev(after);
    return last.mark == mark ? last : Part{mark, last.at_mark, last.at_mark, last.at_mark};
  }
  // Those in which something changed.
  std::span<const Part> Parts(size_t number) const { return sites_[number].parts; }
  uint64_t marks() const { return marks_; }
  size_t size() const { return sites_.size(); }

 private:
  struct Site {
    uint64_t bytes = 0;
    Part now;
    std::vector<Part> parts;
    bool is_touched = false;
  };

  Site& Touch(size_t number) {
    Site& site = sites_[number];
    if (!std::exchange(site.is_touched, true)) {
      touched_.push_back(number);
      site.now = {0, site.bytes, site.bytes, site.bytes};
    }
    return site;
  }

  std::vector<Site> sites_;
  std::vector<size_t> touched_;  // since the last mark
  uint64_t marks_ = 0;
};

using GroupOf = std::function<size_t(uint32_t owner)>;

// How many of the last parts between marks have frees, all in a row: a program that only allocates
// loads a model, or builds what it needs, and repeats nothing yet.
size_t PartsWithFrees(const DeviceMemory& device, const std::vector<uint32_t>& marks) {
  size_t parts = 0;
  for (size_t mark = marks.size(); mark-- > 1; ++parts) {
    const auto begin = device.events.begin() + marks[mark - 1];
    const auto end = device.events.begin() + marks[mark];
    if (std::none_of(begin, end, [](const MemoryEvent& event) {
          return event.action == MemoryAction::kFreeRequested ||
                 event.action == MemoryAction::kFreeCompleted;
        })) {
      break;
    }
  }
  return parts;
}

// A sweep over all events: what begins and ends in each group, and the marks.
template <class Sweep>
Sweep Swept(const DeviceMemory& device, const Replay& replay, size_t groups,
            const GroupOf& group_of, const std::vector<uint32_t>& marks) {
  Sweep sweep(groups);
  for (uint32_t i = 0; i < replay.start_blocks.size(); ++i) {
    sweep.Add(group_of(Replay::kStartBlock + i), replay.start_blocks[i].size);
  }
  size_t next = 0;
  EndingBlocks ending(device, replay);
  for (uint32_t i = 0; i <= device.events.size(); ++i) {
    for (; next < marks.size() && marks[next] == i; ++next) {
      sweep.Mark();
    }
    if (i == device.events.size()) break;
    ending.Of(i, [&](uint32_t owner) { sweep.Remove(group_of(owner), replay.BytesOf(owner)); });
    if (device.events[i].action == MemoryAction::kAlloc) {
      sweep.Add(group_of(i), replay.BlockBytes(i));
    }
  }
  return sweep;
}

template <class Of>
std::vector<Increase> RisesInARow(std::span<const SiteSweep::Part> parts, uint64_t marks,
                                  const Of& of) {
  std::vector<Increase> rises;
  // A part in which nothing changed is not there, and ends the row.
  for (size_t i = parts.size(); i > 1; --i) {
    const SiteSweep::Part& part = parts[i - 1];
    const SiteSweep::Part& previous = parts[i - 2];
    if (part.mark != marks - rises.size()) break;
    const bool is_next = previous.mark + 1 == part.mark;
    const uint64_t before = is_next ? of(previous) : 0;
    if (!is_next || of(part) <= before) break;
    rises.push_back({of(part) - before, 0});
  }
  std::reverse(rises.begin(), rises.end());
  return rises;
}

MemoryGrowth GrowthOf(std::span<const Increase> rises, uint64_t marks) {
  std::vector<uint64_t> bytes;
  std::vector<uint64_t> blocks;
  MemoryGrowth row;
  for (const Increase& rise : rises) {
    bytes.push_back(rise.bytes);
    blocks.push_back(rise.blocks);
    row.bytes += rise.bytes;
  }
  row.steps = rises.size();
  row.first_step = marks - rises.size() + 1;
  row.bytes_per_step = Median(bytes);
  row.blocks_per_step = Median(blocks);
  row.last_bytes = rises.back().bytes;
  return row;
}

// Whether all of a line holds more, and not only blocks that nothing freed before the recording
// ended: of a queue that keeps ten, the last ten are such. What a step holds at least is compared,
// as marks need not come at the same place of each step.
bool LineRises(const SiteSweep& sweep, const MemoryGrowth& row) {
  const uint64_t first = sweep.At(row.site, row.first_step).low;
  const uint64_t last = sweep.At(row.site, sweep.marks()).low;
  return last > first && last - first >= row.bytes / row.steps * (row.steps - 1) / 2;
}

// What a line did before it began to rise, by the least of each part.
struct Before {
  bool has_fallen = false;    // by as much as it rose since
  uint64_t longest_rise = 0;  // so many parts in a row
};
Before WhatWasBefore(const SiteSweep& sweep, const MemoryGrowth& row) {
  Before before;
  const uint64_t least = sweep.At(row.site, row.first_step).low;
  uint64_t most = 0;
  uint64_t rises = 0;
  uint64_t last = 0;
  uint64_t last_mark = 0;
  for (const SiteSweep::Part& part : sweep.Parts(row.site)) {
    if (part.mark >= row.first_step) break;
    most = std::max(most, part.low);
    rises = part.low > last && part.mark == last_mark + 1 ? rises + 1 : 0;
    before.longest_rise = std::max(before.longest_rise, rises);
    last = part.low;
    last_mark = part.mark;
  }
  // The least of the part in which it fell lacks what came after that.
  before.has_fallen = most > least && most - least + row.bytes_per_step >= row.bytes;
  return before;
}

// Of each site which category holds most at the end, and whether its last block is of a forward
// pass.
struct SiteEnd {
  MemoryCategory category = MemoryCategory::kEnd;
  bool is_forward = false;
};

class GrowthFinder {
 public:
  GrowthFinder(const DeviceMemory& device, const Replay& replay, const MemorySites& sites,
               const MemoryCategories& categories)
      : device_(device), replay_(replay), sites_(sites), categories_(categories) {
    for (uint32_t i = 0; i < replay.start_blocks.size(); ++i) {
      Note(replay.start_blocks[i].stack, categories.start[i]);
    }
    for (uint32_t i = 0; i < device.events.size(); ++i) {
      if (device.events[i].action == MemoryAction::kAlloc) {
        Note(device.events[i].stack, categories.events[i]);
      }
    }
  }

  std::vector<MemoryGrowth> Find(const std::vector<MemoryStep>& steps) {
    for (const Marks& marks : FindMarks(device_, steps)) {
      Look(marks);
    }
    std::stable_sort(growth_.begin(), growth_.end(),
                     [](const MemoryGrowth& a, const MemoryGrowth& b) {
                       return a.bytes_per_step > b.bytes_per_step;
                     });
    return std::move(growth_);
  }

 private:
  // Rises of chance in a row are rare: of six there is one in 5,040.
  static constexpr size_t kLeastByChance = 6;

  void Note(uint32_t stack, MemoryCategory category) {
    SiteEnd& end = ends_[sites_.Of(stack)];
    end.category = category;
    end.is_forward = sites_.SignsOf(stack).is_forward;
  }

  uint32_t StackOf(uint32_t owner) const {
    return owner >= Replay::kStartBlock ? replay_.start_blocks[owner - Replay::kStartBlock].stack
                                        : device_.events[owner].stack;
  }
  MemoryCategory CategoryOf(uint32_t owner) const {
    return owner >= Replay::kStartBlock ? categories_.start[owner - Replay::kStartBlock]
                                        : categories_.events[owner];
  }

  void Look(const Marks& marks) {
    const size_t sites = sites_.size();
    const size_t groups = static_cast<size_t>(MemoryCategory::kEnd) * sites;
    grows_.resize(groups);
    const auto by_group = Swept<GrowthSweep>(
        device_, replay_, groups,
        [&](uint32_t owner) {
          return static_cast<size_t>(CategoryOf(owner)) * sites + sites_.Of(StackOf(owner));
        },
        marks.events);
    const auto by_site = Swept<SiteSweep>(
        device_, replay_, sites, [&](uint32_t owner) { return sites_.Of(StackOf(owner)); },
        marks.events);
    const size_t most_rises =
        marks.is_by_time ? PartsWithFrees(device_, marks.events) : marks.events.size();
    for (size_t group = 0; group < groups; ++group) {
      const std::span<const Increase> all = by_group.Rises(group);
      const std::span<const Increase> rises = all.last(std::min(all.size(), most_rises));
      if (grows_[group] != 0 || rises.size() < marks.least_rises) continue;
      MemoryGrowth row = GrowthOf(rises, by_group.marks());
      row.site = static_cast<uint32_t>(group % sites);
      row.category = static_cast<MemoryCategory>(group / sites);
      grows_[group] = Keep(row, marks, by_site) ? 1 : 0;
    }
    for (uint32_t site = 0; site < sites; ++site) {
      if (!site_grows_[site]) LookAtSite(site, marks, most_rises, by_site);
    }
  }

  void LookAtSite(uint32_t site, const Marks& marks, size_t most_rises, const SiteSweep& sweep) {
    const auto look = [&](GrowthKind kind, size_t least, const std::vector<Increase>& all) {
      const std::span<const Increase> rises = std::span(all).last(std::min(all.size(), most_rises));
      if (rises.size() < least) return false;
      MemoryGrowth row = GrowthOf(rises, sweep.marks());
      row.site = site;
      row.category = ends_[site].category;
      row.kind = kind;
      return Keep(row, marks, sweep);
    };
    const std::span<const SiteSweep::Part> parts = sweep.Parts(site);
    const size_t least = marks.is_by_time ? kLeastByChance - 1 : kLeastByChance;
    if (look(GrowthKind::kReplaced, least,
             RisesInARow(parts, sweep.marks(),
                         [](const SiteSweep::Part& part) { return part.low; }))) {
      return;
    }
    // Eighths of the time hold several steps, or parts of one.
    if (marks.is_by_time) return;
    look(GrowthKind::kPeak, kLeastByChance,
         RisesInARow(parts, sweep.marks(),
                     [](const SiteSweep::Part& part) { return part.swing(); }));
  }

  bool Keep(MemoryGrowth row, const Marks& marks, const SiteSweep& sweep) {
    if (row.kind == GrowthKind::kHeld && !LineRises(sweep, row)) return false;
    if (row.kind != GrowthKind::kPeak) {
      const Before before = WhatWasBefore(sweep, row);
      if (before.has_fallen && row.steps <= before.longest_rise + 1) return false;
      row.has_fallen = before.has_fallen;
    }
    row.is_forward = ends_[row.site].is_forward;
    row.is_by_time = marks.is_by_time;
    row.is_by_events = marks.is_by_events;
    site_grows_[row.site] = true;
    growth_.push_back(row);
    return true;
  }

  const DeviceMemory& device_;
  const Replay& replay_;
  const MemorySites& sites_;
  const MemoryCategories& categories_;
  std::vector<SiteEnd> ends_ = std::vector<SiteEnd>(sites_.size());
  std::vector<bool> site_grows_ = std::vector<bool>(sites_.size(), false);
  std::vector<char> grows_;  // a group grows by the first division that shows it
  std::vector<MemoryGrowth> growth_;
};

}  // namespace

std::string_view Name(GrowthKind kind) {
  switch (kind) {
    case GrowthKind::kHeld:
      return "held";
    case GrowthKind::kReplaced:
      return "replaced";
    case GrowthKind::kPeak:
      return "peak";
    case GrowthKind::kEnd:
      break;
  }
  return "";
}

std::vector<MemoryGrowth> FindGrowth(const DeviceMemory& device, const Replay& replay,
                                     const MemorySites& sites, const MemoryCategories& categories,
                                     const std::vector<MemoryStep>& steps) {
  if (device.events.empty()) return {};
  return GrowthFinder(device, replay, sites, categories).Find(steps);
}

}  // namespace borescope::internal::postmortem
