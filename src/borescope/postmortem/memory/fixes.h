// What would have helped: the program's requests up to the one that failed, replayed under changed
// settings, with more room, or without some of them. Every answer is a replay; nothing is
// estimated.
//
// Pure functions but for the time that `budget` bounds: what was not reached by then is left out
// and counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/memory/replay.h"

namespace borescope::internal::postmortem {

// The requests of a program, one after the other, without addresses.
struct RequestStream {
  struct Request {
    uint64_t size = 0;  // as requested
    uint32_t stack = 0;
    uint16_t lane = 0;
    bool scales_with_batch = false;
  };
  enum Kind : uint32_t { kAllocate, kRequestFree, kCompleteFree, kEmptyCache };
  struct Step {
    uint32_t bits;  // the request, and the kind in the two lowest bits
    Kind kind() const { return static_cast<Kind>(bits & 3); }
    uint32_t request() const { return bits >> 2; }
  };
  std::vector<Request> requests;  // the blocks before the first event come first
  std::vector<Step> steps;        // ends before the request that failed
  Request failed;
  // What made the request that failed is known, and with it whether a smaller batch makes it
  // smaller.
  bool is_failed_known = false;
  bool is_exact = false;  // nothing was there before the first event, and nothing was forced
};

// The stream up to the failure `oom`. `steps` are those of the optimizer.
RequestStream RequestsUntil(const DeviceMemory& device, const Replay& replay, const OomState& oom,
                            const MemorySites& sites, const MemoryCategories& categories,
                            const std::vector<MemoryStep>& steps);

// A change of the program or of what it may have.
struct MemoryChange {
  AllocatorSettings settings;
  AllocatorBounds bounds;
  // The size of a request in the changed program; 0 leaves it out. Empty: as it was.
  std::function<uint64_t(const RequestStream::Request&)> size_of = {};
  // Whether torch.cuda.empty_cache() is called before it.
  std::function<bool(const RequestStream::Request&)> empties_before = {};
};
struct ReplayedChange {
  bool is_served = false;       // the request that failed, and all before it
  bool is_stopped = false;      // the time was over before: nothing is known
  uint64_t reserved_bytes = 0;  // after that request
};
ReplayedChange ReplayChange(
    const RequestStream& stream, std::span<const MemoryLane> lanes, const MemoryChange& change,
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());

enum class Fits : uint8_t { kYes, kNo, kCannotTell, kEnd };
std::string_view Name(Fits fits);

struct MemoryFix {
  std::string change;   // a sentence's beginning: "raise the limit", "without train.py:7 step"
  std::string setting;  // of PYTORCH_CUDA_ALLOC_CONF; empty for changes of the program
  Fits fits = Fits::kNo;
  std::optional<uint64_t> changed_bytes = {};   // by how much
  std::optional<uint64_t> reserved_bytes = {};  // then
  std::optional<uint64_t> spare_bytes = {};     // what may be reserved beyond that
  // Most of what it leaves out or makes smaller is of the model: parameters, gradients, states of
  // the optimizer, or workspaces of libraries, which a program seldom can do without.
  bool is_of_model = false;
  bool is_of_growth = false;  // it leaves out the lines that grow, all of them
  bool is_certain = false;    // else it follows from parts of the model or the trace
};  // that could not be checked

struct MemoryFixes {
  std::vector<MemoryFix> fixes;  // those that fit first; settings first; then the smallest change
  uint64_t not_tried = 0;        // for want of time
  bool is_reproduced = false;    // the unchanged stream fails where the program did
  // What forward passes hold at the failure of what a smaller batch makes smaller.
  uint64_t forward_bytes = 0;
};
// `growing`: the sites of lines that grow, most first; what there is without all of these is tried
// as well.
MemoryFixes FindFixes(const MemorySnapshot& snapshot, const DeviceMemory& device,
                      const Replay& replay, const OomReport& report, const MemorySites& sites,
                      const MemoryCategories& categories, const std::vector<MemoryStep>& steps,
                      std::chrono::nanoseconds budget, std::span<const uint32_t> growing = {});

}  // namespace borescope::internal::postmortem
