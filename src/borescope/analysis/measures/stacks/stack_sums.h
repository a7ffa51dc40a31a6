// StackSums: the time of one rank by host call stack, as a table that ranks can be merged by.
//
// A frame is a host event; the frames around it are those that the call tree has around it on its
// thread, and the names and kinds of them, outermost first, are its path. Frames with one path are
// one node of the tree, on whatever thread they ran. Training steps have one name,
// kAnyStep, so that what recurs in every step stands together.
//
//   self host    Every instant of a thread belongs to the frame begun last of those that are open,
//                so that all self times of a thread add up to the time in which it has a frame
//                open. Those of a frame and of all below it add up to its own length, less the time
//                that a frame which begins in it and outlives it (and is not below it) takes.
//   self device  work that this frame launched itself: a runtime call for most work. Where the call
//                was not recorded but its operator was, the operator; else the node kNoLaunch.
//
// Stacks of device work (StackKind::kDevice) go on to kernels and copies: each is the innermost
// frame of its own path, and runtime calls are no frames. They hold device time only, and `calls`
// counts works. What no frame is around stands below the node kNoOperator.
//
// Sampled stacks (StackKind::kSampled) are those at which threads were interrupted: each sample
// counts as one call of its innermost frame and as one sampling period (time/late_host.h) of host
// time. Samples without a stack are the node kNoStack.
//
// Stacks of calls (StackKind::kCalls) are those from which calls were made, where they were
// recorded with them: the call is the innermost frame. Every instant in calls belongs to the
// innermost one, and device work to its launch. Calls without a stack are
// below the call around them; those that are in none with a stack are the node kNoStack.
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
inline constexpr std::string_view kElsewhere = "(elsewhere)";  // outside of the roots asked for
inline constexpr std::string_view kOtherFrames = "(other)";    // made when a tree is cut

inline constexpr std::string_view kNoStack = "(no stack)";  // of a sample or call

enum class StackKind : uint8_t { kHost, kDevice, kSampled, kCalls };

// Work that was launched before the recording is in kNoLaunch or kNoOperator. Where it is known
// what it is like (align_inherited.h), the frames around that have its time once more, as aligned
// time.
//
// Table `stacks`: the columns of --by, then depth, name, kind, calls, the self times and the total
// times, which are still 0. Each combination of the keys has a tree of its own, in preorder: its
// nodes hold what began with these keys, and the nodes around those without calls.
//
// With `root` not empty trees begin at the outermost frames whose name contains it; all else is one
// node, kElsewhere. kMissingData when no frame has such a name. O(rows).
Result<Table> SumStacks(const RankView& view, const Selected& selected,
                        std::span<const std::string> by, std::string_view root, StackKind stacks);

}  // namespace borescope::internal
