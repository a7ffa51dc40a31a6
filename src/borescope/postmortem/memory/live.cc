#include "borescope/postmortem/memory/live.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/base/text/text.h"

namespace borescope::internal::postmortem {

namespace {

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return Contains(text, part); });
}
bool IsAny(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

// Frames of C++ name a library's source file, "??", or nothing.
bool IsPythonFile(std::string_view file) { return file.ends_with(".py") || file.starts_with('<'); }

// AddmmBackward0 of torch::autograd::generated::AddmmBackward0::apply(...).
std::string_view BackwardFunction(std::string_view name) {
  const size_t apply = name.find("::apply");
  if (apply == std::string_view::npos) return {};
  const size_t colon = name.substr(0, apply).rfind("::");
  const std::string_view function =
      name.substr(0, apply).substr(colon == std::string_view::npos ? 0 : colon + 2);
  return Contains(function, "Backward") ? function : std::string_view();
}

// The frame that is the line of the program; nullptr if there is none.
struct NamedFrame {
  std::string_view file;
  std::string_view name;
  int64_t line = 0;
};

// The innermost frame of the program; else of a library other than torch; else of Python; else the
// function of the backward pass.
NamedFrame LineOf(const std::vector<NamedFrame>& frames, const LineFinder& finder) {
  const auto first = [&](const auto& fits) {
    const auto found = std::find_if(frames.begin(), frames.end(), fits);
    return found == frames.end() ? NamedFrame() : *found;
  };
  const NamedFrame user = first([&](const NamedFrame& frame) {
    return IsPythonFile(frame.file) && finder.IsOfUser(frame.file);
  });
  if (!user.file.empty()) return user;
  const NamedFrame library = first([](const NamedFrame& frame) {
    return IsPythonFile(frame.file) && !Contains(frame.file, "/torch/");
  });
  if (!library.file.empty()) return library;
  const NamedFrame python = first([](const NamedFrame& frame) { return IsPythonFile(frame.file); });
  if (!python.file.empty()) return python;
  bool is_backward = false;
  for (const NamedFrame& frame : frames) {
    if (const std::string_view name = BackwardFunction(frame.name); !name.empty()) {
      return {{}, name, 0};
    }
    is_backward = is_backward || Contains(frame.name, "torch::autograd::Engine");
  }
  return {{}, is_backward ? "the backward pass" : "", 0};
}

bool IsWorkspace(std::string_view name) {
  return ContainsAny(name, {"setWorkspaceForHandle", "getNewWorkspace", "getCUDABlasLtWorkspace",
                            "getCurrentCUDABlasHandle"}) ||
         (Contains(name, "cudnn") && Contains(name, "orkspace"));
}

bool IsParameterFrame(const NamedFrame& frame) {
  if (frame.file.ends_with("nn/modules/module.py") &&
      IsAny(frame.name, {"_apply", "to", "cuda", "to_empty", "load_state_dict"})) {
    return true;
  }
  return frame.name == "from_pretrained" ||
         (Contains(frame.file, "/nn/") && IsAny(frame.name, {"__init__", "reset_parameters"}));
}

bool IsBackwardFrame(const NamedFrame& frame) {
  if (!IsPythonFile(frame.file)) {
    return ContainsAny(frame.name, {"torch::autograd::Engine", "PythonEngine"});
  }
  return frame.name == "backward" &&
         ContainsAny(frame.file, {"torch/_tensor.py", "torch/autograd"});
}

MemorySites::Signs SignsOfFrames(const std::vector<NamedFrame>& frames) {
  constexpr size_t kInnermost = 24;
  MemorySites::Signs signs;
  signs.has_frames = !frames.empty();
  bool has_python = false;
  for (size_t i = 0; i < frames.size(); ++i) {
    const NamedFrame& frame = frames[i];
    const bool is_python = IsPythonFile(frame.file);
    has_python = has_python || is_python;
    signs.is_workspace = signs.is_workspace || (i < kInnermost && IsWorkspace(frame.name));
    signs.is_backward = signs.is_backward || IsBackwardFrame(frame);
    if (!is_python) continue;
    signs.is_optimizer = signs.is_optimizer || ContainsAny(frame.file, {"/optim/", "/optimizers/"});
    signs.is_forward =
        signs.is_forward || IsAny(frame.name, {"forward", "_call_impl", "_wrapped_call_impl"});
    signs.is_parameter = signs.is_parameter || IsParameterFrame(frame);
  }
  signs.is_backward = signs.is_backward || (signs.has_frames && !has_python);
  return signs;
}

std::vector<NamedFrame> FramesOf(const MemorySnapshot& snapshot, uint32_t stack) {
  std::vector<NamedFrame> frames;
  for (const uint32_t id : snapshot.stacks.Frames(stack)) {
    const MemoryFrame& frame = snapshot.stacks.Frame(id);
    frames.push_back(
        {snapshot.stacks.Text(frame.file), snapshot.stacks.Text(frame.name), frame.line});
  }
  return frames;
}

std::string FrameText(std::string_view file, int64_t line, std::string_view function) {
  std::string text(file);
  if (line > 0) text += ':' + std::to_string(line);
  if (!text.empty() && !function.empty()) text += ' ';
  return text.append(function);
}

// The frames of the program, if there are several.
std::string CallersIn(const std::vector<NamedFrame>& frames, const LineFinder& finder) {
  constexpr size_t kMost = 12;
  std::string text;
  size_t shown = 0;
  for (const NamedFrame& frame : frames) {
    if (!IsPythonFile(frame.file) || !finder.IsOfUser(frame.file)) continue;
    if (shown++ == kMost) break;
    if (!text.empty()) text += " < ";
    text += FrameText(frame.file, frame.line, frame.name);
  }
  return shown > 1 ? text : std::string();
}

}  // namespace

std::string_view Name(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::kWorkspace:
      return "library workspace";
    case MemoryCategory::kOptimizerState:
      return "optimizer state";
    case MemoryCategory::kGradient:
      return "gradient";
    case MemoryCategory::kActivation:
      return "activation";
    case MemoryCategory::kParameter:
      return "parameter";
    case MemoryCategory::kHeld:
      return "held by the program";
    case MemoryCategory::kTemporary:
      return "temporary";
    case MemoryCategory::kBefore:
      return "before recording";
    case MemoryCategory::kEnd:
      break;
  }
  return "";
}

std::string MemorySite::Text() const { return FrameText(file, line, function); }

MemorySites::MemorySites(const MemorySnapshot& snapshot, const LineFinder& finder) {
  std::map<std::tuple<std::string_view, int64_t, std::string_view>, uint32_t> known;
  for (uint32_t stack = 0; stack < snapshot.stacks.stacks(); ++stack) {
    const std::vector<NamedFrame> frames = FramesOf(snapshot, stack);
    signs_.push_back(SignsOfFrames(frames));
    const NamedFrame line = LineOf(frames, finder);
    const auto [found, is_new] =
        known.try_emplace({line.file, line.line, line.name}, static_cast<uint32_t>(sites_.size()));
    if (is_new) sites_.push_back({std::string(line.file), line.line, std::string(line.name)});
    site_of_stack_.push_back(found->second);
    callers_.push_back(CallersIn(frames, finder));
  }
}

std::vector<MemoryStep> FindSteps(const MemorySnapshot& snapshot, const DeviceMemory& device) {
  std::vector<MemoryStep> steps;
  if (!snapshot.has_times) return steps;
  const auto first_at = [&](int64_t time) {
    return static_cast<uint32_t>(
        std::lower_bound(device.events.begin(), device.events.end(), time,
                         [](const MemoryEvent& event, int64_t at) { return event.time_us < at; }) -
        device.events.begin());
  };
  bool is_open = false;
  for (const MemoryAnnotation& mark : device.annotations) {
    if (!snapshot.stacks.Text(mark.name).starts_with("Optimizer.step")) continue;
    const uint32_t at = first_at(mark.time_us);
    if (mark.is_start) {
      steps.push_back({at, static_cast<uint32_t>(device.events.size())});
      is_open = true;
    } else if (is_open) {
      steps.back().end = at;
      is_open = false;
    }
  }
  return steps;
}

// --- Categories ---

namespace {

// How long a block lives, as far as categories need it.
struct Life {
  bool is_in_step = false;        // allocated between the marks of a step
  bool outlives_step = false;     // and live after it
  bool reaches_step = false;      // live when the next step begins
  bool reaches_backward = false;  // live at the next allocation of a backward pass
  bool is_live_at_end = false;
};

MemoryCategory CategoryOf(const MemorySites::Signs& signs, const Life& life) {
  if (signs.is_workspace) return MemoryCategory::kWorkspace;
  if (signs.is_optimizer || life.is_in_step) {
    return life.outlives_step || life.is_live_at_end ? MemoryCategory::kOptimizerState
                                                     : MemoryCategory::kTemporary;
  }
  if (signs.is_backward) {
    return life.reaches_step || life.is_live_at_end ? MemoryCategory::kGradient
                                                    : MemoryCategory::kTemporary;
  }
  if (life.reaches_backward && (signs.is_forward || !life.is_live_at_end)) {
    return MemoryCategory::kActivation;
  }
  if (!life.is_live_at_end) return MemoryCategory::kTemporary;
  return signs.is_parameter ? MemoryCategory::kParameter : MemoryCategory::kHeld;
}

}  // namespace

MemoryCategories Categorise(const DeviceMemory& device, const Replay& replay,
                            const MemorySites& sites, const std::vector<MemoryStep>& steps) {
  MemoryCategories categories;
  categories.events.resize(device.events.size(), MemoryCategory::kEnd);
  uint32_t next_backward = kNoIndex;
  size_t after = steps.size();  // steps from here on begin after the event
  for (size_t at = device.events.size(); at-- > 0;) {
    const MemoryEvent& event = device.events[at];
    if (event.action != MemoryAction::kAlloc) continue;
    const auto i = static_cast<uint32_t>(at);
    while (after > 0 && steps[after - 1].begin > i) {
      --after;
    }
    const uint32_t freed = replay.links[i];
    Life life;
    life.is_live_at_end = freed == kNoIndex;
    if (after > 0 && i < steps[after - 1].end) {
      life.is_in_step = true;
      life.outlives_step = freed >= steps[after - 1].end;
    }
    life.reaches_step = after < steps.size() && freed >= steps[after].begin;
    life.reaches_backward = next_backward != kNoIndex && freed > next_backward;
    const MemorySites::Signs& signs = sites.Of(event);
    categories.events[i] = CategoryOf(signs, life);
    if (signs.is_backward) next_backward = i;
  }
  for (const StartBlock& block : replay.start_blocks) {
    const MemorySites::Signs& signs = sites.SignsOf(block.stack);
    Life life;
    life.is_live_at_end = block.freed == kNoIndex;
    categories.start.push_back(signs.has_frames ? CategoryOf(signs, life)
                                                : MemoryCategory::kBefore);
  }
  return categories;
}

// --- What is live ---

namespace {

// Groups of one category and one site, by a dense number.
class Groups {
 public:
  explicit Groups(const MemorySites& sites) : sites_(sites.size()) {}
  size_t Of(MemoryCategory category, uint32_t site) const {
    return static_cast<size_t>(category) * sites_ + site;
  }
  size_t size() const { return static_cast<size_t>(MemoryCategory::kEnd) * sites_; }
  MemoryCategory Category(size_t group) const {
    return static_cast<MemoryCategory>(group / sites_);
  }
  uint32_t Site(size_t group) const { return static_cast<uint32_t>(group % sites_); }

 private:
  size_t sites_;
};

}  // namespace

std::vector<LiveMemory> LiveAt(const DeviceMemory& device, const Replay& replay,
                               const MemorySites& sites, const MemoryCategories& categories,
                               uint32_t moment) {
  const Groups groups(sites);
  std::vector<LiveMemory> live(groups.size());
  std::vector<uint64_t> largest(groups.size());
  const auto add = [&](MemoryCategory category, uint32_t stack, uint64_t bytes) {
    const size_t group = groups.Of(category, sites.Of(stack));
    LiveMemory& row = live[group];
    ++row.blocks;
    row.bytes += bytes;
    if (row.blocks == 1 || bytes > largest[group]) {
      row.stack = stack;
      largest[group] = bytes;
    }
  };
  // kNoIndex as a moment is before event 0.
  const uint64_t time = moment == kNoIndex ? 0 : uint64_t{moment} + 1;
  for (size_t i = 0; i < replay.start_blocks.size(); ++i) {
    const StartBlock& block = replay.start_blocks[i];
    if (block.freed >= time) add(categories.start[i], block.stack, block.size);
  }
  for (uint32_t i = 0; i < time && i < device.events.size(); ++i) {
    const MemoryEvent& event = device.events[i];
    if (event.action == MemoryAction::kAlloc && replay.links[i] >= time) {
      add(categories.events[i], event.stack, replay.BlockBytes(i));
    }
  }
  std::vector<LiveMemory> rows;
  for (size_t group = 0; group < live.size(); ++group) {
    if (live[group].blocks == 0) continue;
    live[group].category = groups.Category(group);
    live[group].site = groups.Site(group);
    rows.push_back(live[group]);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LiveMemory& a, const LiveMemory& b) { return a.bytes > b.bytes; });
  return rows;
}

// --- Growth ---

namespace {

// Events at which the state is looked at: what is there before the event. Steps, or equal parts of
// the time.
std::vector<uint32_t> Marks(const DeviceMemory& device, const std::vector<MemoryStep>& steps) {
  constexpr size_t kLeastSteps = 4;
  constexpr int64_t kParts = 8;
  std::vector<uint32_t> marks;
  if (steps.size() >= kLeastSteps) {
    for (const MemoryStep& step : steps) {
      marks.push_back(step.begin);
    }
    return marks;
  }
  const auto events = static_cast<int64_t>(device.events.size());
  const int64_t begin = device.events.front().time_us;
  const int64_t span = device.events.back().time_us - begin;
  // Programs allocate for good as they begin: not the first quarter.
  for (int64_t part = kParts / 4; part <= kParts; ++part) {
    if (begin == kNoTime || span <= 0) {
      marks.push_back(static_cast<uint32_t>(events * part / kParts));
      continue;
    }
    const int64_t time = begin + span / kParts * part;
    marks.push_back(static_cast<uint32_t>(
        std::lower_bound(device.events.begin(), device.events.end(), time,
                         [](const MemoryEvent& event, int64_t at) { return event.time_us < at; }) -
        device.events.begin()));
  }
  marks.back() = static_cast<uint32_t>(events);
  return marks;
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

// What is live in each group event after event, and since how many marks it grows.
class GrowthSweep {
 public:
  explicit GrowthSweep(size_t groups)
      : bytes_(groups), blocks_(groups), last_(groups), rises_(groups) {}

  void Add(size_t group, uint64_t bytes) {
    bytes_[group] += bytes;
    ++blocks_[group];
  }
  void Remove(size_t group, uint64_t bytes) {
    bytes_[group] -= bytes;
    --blocks_[group];
  }
  void Mark() {
    ++marks_;
    for (size_t group = 0; group < bytes_.size(); ++group) {
      const Increase before = last_[group];
      last_[group] = {bytes_[group], blocks_[group]};
      if (marks_ == 1) continue;
      if (bytes_[group] > before.bytes) {
        const uint64_t blocks = blocks_[group] > before.blocks ? blocks_[group] - before.blocks : 0;
        rises_[group].push_back({bytes_[group] - before.bytes, blocks});
      } else {
        rises_[group].clear();
      }
    }
  }
  const std::vector<Increase>& Rises(size_t group) const { return rises_[group]; }
  uint64_t marks() const { return marks_; }

 private:
  std::vector<uint64_t> bytes_;
  std::vector<uint64_t> blocks_;
  std::vector<Increase> last_;
  std::vector<std::vector<Increase>> rises_;  // the last ones in a row
  uint64_t marks_ = 0;
};

}  // namespace

std::vector<MemoryGrowth> FindGrowth(const DeviceMemory& device, const Replay& replay,
                                     const MemorySites& sites, const MemoryCategories& categories,
                                     const std::vector<MemoryStep>& steps) {
  constexpr size_t kLeastRises = 3;
  std::vector<MemoryGrowth> growth;
  if (device.events.empty()) return growth;
  const Groups groups(sites);
  const auto group_of = [&](uint32_t owner) {
    if (owner >= Replay::kStartBlock) {
      const uint32_t start = owner - Replay::kStartBlock;
      return groups.Of(categories.start[start], sites.Of(replay.start_blocks[start].stack));
    }
    return groups.Of(categories.events[owner], sites.Of(device.events[owner].stack));
  };
  GrowthSweep sweep(groups.size());
  for (uint32_t i = 0; i < replay.start_blocks.size(); ++i) {
    sweep.Add(group_of(Replay::kStartBlock + i), replay.start_blocks[i].size);
  }
  const std::vector<uint32_t> marks = Marks(device, steps);
  size_t next = 0;
  for (uint32_t i = 0; i <= device.events.size(); ++i) {
    for (; next < marks.size() && marks[next] == i; ++next) {
      sweep.Mark();
    }
    if (i == device.events.size()) break;
    const MemoryEvent& event = device.events[i];
    if (event.action == MemoryAction::kAlloc) {
      sweep.Add(group_of(i), replay.BlockBytes(i));
      continue;
    }
    const uint32_t owner = replay.links[i];
    if (owner == kNoIndex) continue;
    const bool is_start = owner >= Replay::kStartBlock;
    const uint32_t freed =
        is_start ? replay.start_blocks[owner - Replay::kStartBlock].freed : replay.links[owner];
    if (freed == i) {
      sweep.Remove(group_of(owner), is_start ? replay.start_blocks[owner - Replay::kStartBlock].size
                                             : replay.BlockBytes(owner));
    }
  }
  for (size_t group = 0; group < groups.size(); ++group) {
    const std::vector<Increase>& rises = sweep.Rises(group);
    if (rises.size() < kLeastRises) continue;
    std::vector<uint64_t> bytes;
    std::vector<uint64_t> blocks;
    MemoryGrowth row;
    for (const Increase& rise : rises) {
      bytes.push_back(rise.bytes);
      blocks.push_back(rise.blocks);
      row.bytes += rise.bytes;
    }
    row.site = groups.Site(group);
    row.category = groups.Category(group);
    row.steps = rises.size();
    row.first_step = sweep.marks() - rises.size() + 1;
    row.bytes_per_step = Median(bytes);
    row.blocks_per_step = Median(blocks);
    row.is_by_time = marks.size() != steps.size();
    growth.push_back(row);
  }
  std::stable_sort(growth.begin(), growth.end(), [](const MemoryGrowth& a, const MemoryGrowth& b) {
    return a.bytes_per_step > b.bytes_per_step;
  });
  return growth;
}

}  // namespace borescope::internal::postmortem
