#include "borescope/postmortem/memory/live.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"
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

bool IsWorkspace(std::string_view name) {
  return ContainsAny(name, {"setWorkspaceForHandle", "getNewWorkspace", "getCUDABlasLtWorkspace",
                            "getCurrentCUDABlasHandle"}) ||
         (Contains(name, "cudnn") && Contains(name, "orkspace"));
}

// What the name of a file says.
struct FileSigns {
  explicit FileSigns(std::string_view file, const LineFinder& finder)
      : is_python(IsPythonFile(file)),
        is_program(is_python && finder.IsOfUser(file)),
        is_torch(Contains(file, "/torch/")),
        is_optimizer(ContainsAny(file, {"/optim/", "/optimizers/"})),
        is_module(file.ends_with("nn/modules/module.py")),
        is_layer(Contains(file, "/nn/")),
        is_autograd(ContainsAny(file, {"torch/_tensor.py", "torch/autograd"})) {}
  bool is_python;
  bool is_program;
  bool is_torch;
  bool is_optimizer;
  bool is_module;
  bool is_layer;
  bool is_autograd;
};

// What the name of a function says.
struct NameSigns {
  explicit NameSigns(std::string_view name)
      : is_workspace(IsWorkspace(name)),
        is_engine(ContainsAny(name, {"torch::autograd::Engine", "PythonEngine"})),
        is_torch_engine(Contains(name, "torch::autograd::Engine")),
        is_backward(name == "backward"),
        is_forward(IsAny(name, {"forward", "_call_impl", "_wrapped_call_impl"})),
        is_move(IsAny(name, {"_apply", "to", "cuda", "to_empty", "load_state_dict"})),
        is_making(IsAny(name, {"__init__", "reset_parameters"})),
        is_loading(name == "from_pretrained"),
        is_state_init(IsAny(name, {"_init_group", "_init_state", "init_state"})),
        backward(BackwardFunction(name)) {}
  bool is_workspace;
  bool is_engine;
  bool is_torch_engine;
  bool is_backward;
  bool is_forward;
  bool is_move;
  bool is_making;
  bool is_loading;
  bool is_state_init;
  std::string_view backward;  // AddmmBackward0; empty for others
};

// What all frames of a snapshot say. Each text is looked at once, as stacks may name one frame, and
// frames one text, very often.
class FrameSigns {
 public:
  FrameSigns(const MemorySnapshot& snapshot, const LineFinder& finder) {
    HashMap<uint64_t, uint32_t> file_numbers;
    HashMap<uint64_t, uint32_t> name_numbers;
    for (uint32_t id = 0; id < snapshot.stacks.frames(); ++id) {
      const MemoryFrame& frame = snapshot.stacks.Frame(id);
      const auto [file, is_new_file] =
          file_numbers.try_emplace(frame.file.value, static_cast<uint32_t>(files_.size()));
      if (is_new_file) files_.emplace_back(snapshot.stacks.Text(frame.file), finder);
      const auto [name, is_new_name] =
          name_numbers.try_emplace(frame.name.value, static_cast<uint32_t>(names_.size()));
      if (is_new_name) names_.emplace_back(snapshot.stacks.Text(frame.name));
      frames_.push_back({file->second, name->second});
    }
  }

  const FileSigns& File(uint32_t frame) const { return files_[frames_[frame].file]; }
  const NameSigns& Name(uint32_t frame) const { return names_[frames_[frame].name]; }

  bool IsParameter(uint32_t frame) const {
    const FileSigns& file = File(frame);
    const NameSigns& name = Name(frame);
    return (file.is_module && name.is_move) || name.is_loading || (file.is_layer && name.is_making);
  }
  bool IsBackward(uint32_t frame) const {
    const FileSigns& file = File(frame);
    return file.is_python ? Name(frame).is_backward && file.is_autograd : Name(frame).is_engine;
  }

 private:
  struct Numbers {
    uint32_t file;
    uint32_t name;
  };
  std::vector<Numbers> frames_;
  std::vector<FileSigns> files_;
  std::vector<NameSigns> names_;
};

// The frame that is the line of the program: the innermost of the program; else of a library other
// than torch; else of Python. kNoIndex if there is none.
uint32_t LineOf(std::span<const uint32_t> frames, const FrameSigns& signs) {
  const auto first = [&](const auto& fits) {
    const auto found = std::find_if(frames.begin(), frames.end(), fits);
    return found == frames.end() ? kNoIndex : *found;
  };
  const uint32_t own = first([&](uint32_t frame) { return signs.File(frame).is_program; });
  if (own != kNoIndex) return own;
  const uint32_t library = first(
      [&](uint32_t frame) { return signs.File(frame).is_python && !signs.File(frame).is_torch; });
  if (library != kNoIndex) return library;
  return first([&](uint32_t frame) { return signs.File(frame).is_python; });
}

// The function of the backward pass, which has no frame of Python.
std::string_view BackwardOf(std::span<const uint32_t> frames, const FrameSigns& signs) {
  bool is_backward = false;
  for (const uint32_t frame : frames) {
    const NameSigns& name = signs.Name(frame);
    if (!name.backward.empty()) return name.backward;
    is_backward = is_backward || name.is_torch_engine;
  }
  return is_backward ? "the backward pass" : "";
}

MemorySites::Signs SignsOfFrames(std::span<const uint32_t> frames, const FrameSigns& of) {
  constexpr size_t kInnermost = 24;
  MemorySites::Signs signs;
  signs.has_frames = !frames.empty();
  bool has_python = false;
  for (size_t i = 0; i < frames.size(); ++i) {
    const uint32_t frame = frames[i];
    const bool is_python = of.File(frame).is_python;
    has_python = has_python || is_python;
    signs.is_workspace = signs.is_workspace || (i < kInnermost && of.Name(frame).is_workspace);
    signs.is_backward = signs.is_backward || of.IsBackward(frame);
    if (!is_python) continue;
    signs.is_optimizer = signs.is_optimizer || of.File(frame).is_optimizer;
    signs.is_state_init =
        signs.is_state_init || (of.File(frame).is_optimizer && of.Name(frame).is_state_init);
    signs.is_forward = signs.is_forward || of.Name(frame).is_forward;
    signs.is_parameter = signs.is_parameter || of.IsParameter(frame);
  }
  signs.is_backward = signs.is_backward || (signs.has_frames && !has_python);
  return signs;
}

// Rows name a text as often as there are lines: of long ones the begin, or the end of a path.
constexpr size_t kLongestText = 512;
bool IsWithinCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }
std::string BeginOf(std::string_view text) {
  if (text.size() <= kLongestText) return std::string(text);
  size_t end = kLongestText;
  while (end > 0 && IsWithinCharacter(text[end])) --end;
  return std::string(text.substr(0, end)) + "…";
}
std::string EndOf(std::string_view text) {
  if (text.size() <= kLongestText) return std::string(text);
  size_t begin = text.size() - kLongestText;
  while (begin < text.size() && IsWithinCharacter(text[begin])) ++begin;
  return "…" + std::string(text.substr(begin));
}

std::string FrameText(std::string_view file, int64_t line, std::string_view function) {
  std::string text(file);
  if (line > 0) text += ':' + std::to_string(line);
  if (!text.empty() && !function.empty()) text += ' ';
  return text.append(function);
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

bool IsOfModel(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::kParameter:
    case MemoryCategory::kGradient:
    case MemoryCategory::kOptimizerState:
    case MemoryCategory::kWorkspace:
      return true;
    default:
      return false;
  }
}

std::string MemorySite::Text() const { return FrameText(file, line, function); }

MemorySites::MemorySites(const MemorySnapshot& snapshot, const LineFinder& finder)
    : snapshot_(&snapshot) {
  const FrameSigns of(snapshot, finder);
  for (uint32_t frame = 0; frame < snapshot.stacks.frames(); ++frame) {
    is_frame_of_program_.push_back(of.File(frame).is_program);
  }
  HashMap<uint32_t, uint32_t> of_frames;
  std::map<std::string_view, uint32_t> of_functions;
  const auto next = [&] { return static_cast<uint32_t>(sites_.size()); };
  for (uint32_t stack = 0; stack < snapshot.stacks.stacks(); ++stack) {
    const std::span<const uint32_t> frames = snapshot.stacks.Frames(stack);
    signs_.push_back(SignsOfFrames(frames, of));
    if (const uint32_t line = LineOf(frames, of); line != kNoIndex) {
      const auto [found, is_new] = of_frames.try_emplace(line, next());
      site_of_stack_.push_back(found->second);
      if (!is_new) continue;
      const MemoryFrame& frame = snapshot.stacks.Frame(line);
      sites_.push_back({EndOf(snapshot.stacks.Text(frame.file)), frame.line,
                        BeginOf(snapshot.stacks.Text(frame.name))});
    } else {
      const std::string_view function = BackwardOf(frames, of);
      const auto [found, is_new] = of_functions.try_emplace(function, next());
      site_of_stack_.push_back(found->second);
      if (is_new) sites_.push_back({"", 0, BeginOf(function)});
    }
  }
}

std::string MemorySites::Callers(uint32_t stack) const {
  constexpr size_t kMost = 12;
  const MemoryStacks& stacks = snapshot_->stacks;
  std::string text;
  size_t shown = 0;
  for (const uint32_t id : stacks.Frames(stack)) {
    if (!is_frame_of_program_[id]) continue;
    if (shown++ == kMost) break;
    if (!text.empty()) text += " < ";
    const MemoryFrame& frame = stacks.Frame(id);
    text += FrameText(EndOf(stacks.Text(frame.file)), frame.line, BeginOf(stacks.Text(frame.name)));
  }
  return shown > 1 ? text : std::string();
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
    if (block.freed >= time && block.size > 0) add(categories.start[i], block.stack, block.size);
  }
  for (uint32_t i = 0; i < time && i < device.events.size(); ++i) {
    const MemoryEvent& event = device.events[i];
    const bool is_live = event.action == MemoryAction::kAlloc && replay.links[i] >= time;
    if (is_live && replay.BlockBytes(i) > 0) {
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

}  // namespace borescope::internal::postmortem
