// StackSums: the time of one rank by host call stack, as a table that can be merged with those of
// other ranks.
//
// A frame is a host event. Its path is the names and kinds of the frames around it in the call
// tree, outermost first, followed by its own. Frames with the same path are one node of the tree,
// on whatever thread they ran. All training steps are named kAnyStep, so that frames of different
// steps are merged.
//
//   self host    Every instant of a thread belongs to the open frame that began last, so the self
//                times of a thread add up to the time in which it has an open frame. The self times
//                of a frame and of all below it add up to its length, less the time of a frame that
//                begins in it and outlives it (and so is not below it).
//   self device  Work that this frame launched itself. Most work was launched by a runtime call; if
//                the call was not recorded, the time is that of its operator, else that of the node
//                kNoLaunch.
//
// Stacks of device work (StackKind::kDevice) end with kernels and copies: each is the innermost
// frame of its own path, and runtime calls are no frames. They have device time only, and `calls`
// counts kernels and copies. Work without frames around it is below the node kNoOperator.
//
// Sampled stacks (StackKind::kSampled) are those at which threads were interrupted: each sample
// counts as one call of its innermost frame and as one sampling period (SamplingPeriod) of host
// time. Samples without a stack are the node kNoStack.
//
// Stacks of calls (StackKind::kCalls) are the stacks recorded with calls, with the call as
// innermost frame. Every instant in calls belongs to the innermost call, and device work to its
// launch. A call without a stack is below the call around it; if no call around it has a stack, it
// is the node kNoStack.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"

namespace borescope::internal {

// Nodes that are no frames, besides kNoOperator; they have no kind.
inline constexpr std::string_view kNoLaunch = "(no launch)";
inline constexpr std::string_view kElsewhere = "(elsewhere)";  // outside of the requested roots
inline constexpr std::string_view kOtherFrames = "(other)";    // made when a tree is cut

inline constexpr std::string_view kNoStack = "(no stack)";  // of a sample or call

enum class StackKind : uint8_t { kHost, kDevice, kSampled, kCalls };

// Sums the stacks. Work that was launched before the recording is in kNoLaunch or kNoOperator. If
// it is aligned with recorded work (align_inherited.h), the frames around that work also have its
// time, as aligned time.
//
// Table `stacks`: the columns of --by, then depth, name, kind, calls, the self times and the total
// times, which are still 0. Each combination of the keys has a tree of its own, in preorder: nodes
// for what began with these keys, and nodes without calls around them.
//
// Unless `root` is empty, trees begin at the outermost frames whose name contains it; everything
// else is one node, kElsewhere. kMissingData when no frame has such a name. O(rows).
Result<Table> SumStacks(const RankView& view, const Selected& selected,
                        std::span<const std::string> by, std::string_view root, StackKind stacks);

}  // namespace borescope::internal
