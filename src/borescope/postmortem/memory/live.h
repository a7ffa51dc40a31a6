// What lives in a device's memory: for each allocation of a replay its line of the program and its
// category, and from these what was live at the peak, at a failure, and at the end. What grows from
// step to step is in growth.h.
//
// Categories follow from stacks, from the marks of the optimizer's steps, and from how long a block
// lives; docs/use/postmortem-memory.md has the rules. Pure functions: safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/column_data.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/postmortem/memory/snapshot.h"
#include "borescope/postmortem/program_line.h"

namespace borescope::internal::postmortem {

enum class MemoryCategory : uint8_t {
  kWorkspace,
  kOptimizerState,
  kGradient,
  kActivation,
  kParameter,
  kHeld,
  kTemporary,
  kBefore,
  kEnd,
};
std::string_view Name(MemoryCategory category);
// Parameters, gradients, states of the optimizer, and workspaces of libraries.
bool IsOfModel(MemoryCategory category);

// A line of the program. Site 0 is that of memory without a stack. Long texts are cut.
struct MemorySite {
  std::string file;
  int64_t line = 0;
  std::string function;
  std::string Text() const;
};

// The line of each stack, and what its frames say about it.
class MemorySites {
 public:
  // `finder` says which files are of the program. The snapshot outlives the object.
  explicit MemorySites(const MemorySnapshot& snapshot, const LineFinder& finder = LineFinder());

  uint32_t Of(uint32_t stack) const { return site_of_stack_[stack]; }
  const MemorySite& Get(uint32_t site) const { return sites_[site]; }
  size_t size() const { return sites_.size(); }
  // The frames of the program in a stack, innermost first: "a.py:3 f < b.py:7 g"; at most twelve.
  // Empty where they are no more than the line.
  std::string Callers(uint32_t stack) const;

  struct Signs {
    bool has_frames = false;
    bool is_workspace = false;
    bool is_optimizer = false;
    bool is_backward = false;
    bool is_forward = false;
    bool is_parameter = false;
    bool is_state_init = false;  // the function in which an optimizer makes all of its states
  };
  const Signs& Of(const MemoryEvent& event) const { return signs_[event.stack]; }
  const Signs& SignsOf(uint32_t stack) const { return signs_[stack]; }

 private:
  std::vector<uint32_t> site_of_stack_;
  std::vector<MemorySite> sites_;
  std::vector<Signs> signs_;
  const MemorySnapshot* snapshot_;
  std::vector<bool> is_frame_of_program_;
};

// An optimizer's step: events from `begin` to before `end` happened in it.
struct MemoryStep {
  uint32_t begin = 0;
  uint32_t end = 0;
};
std::vector<MemoryStep> FindSteps(const MemorySnapshot& snapshot, const DeviceMemory& device);

// The category of each event that allocates, and of each block before the first event.
struct MemoryCategories {
  ColumnData<MemoryCategory> events;
  std::vector<MemoryCategory> start;
};
MemoryCategories Categorise(const DeviceMemory& device, const Replay& replay,
                            const MemorySites& sites, const std::vector<MemoryStep>& steps);

// What one line of the program holds in one category.
struct LiveMemory {
  MemoryCategory category = MemoryCategory::kEnd;
  uint32_t site = 0;
  uint32_t stack = 0;  // of its largest block
  uint64_t blocks = 0;
  uint64_t bytes = 0;
};
// What is live after event `moment` (kNoIndex: before the first event), most bytes first.
std::vector<LiveMemory> LiveAt(const DeviceMemory& device, const Replay& replay,
                               const MemorySites& sites, const MemoryCategories& categories,
                               uint32_t moment);

}  // namespace borescope::internal::postmortem
