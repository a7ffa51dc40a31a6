// The names of the kernels that the launch calls of a capture requested. Where the call does not
// record it, the name is that of the Triton operator around the call; else of the kernel that the
// same call (n-th launch of an operator of this name, these shapes and types) started elsewhere in
// the recording, eagerly; not known if those differ.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

inline constexpr uint32_t kUnknownName = ~uint32_t{0};

// Per capture, given by its calls in order: the StringId of each name, or kUnknownName. O(device
// rows + calls), times a logarithm.
std::vector<std::vector<uint32_t>> NamesOfCaptured(const RankView& view,
                                                   std::span<const std::vector<HostId>> captures);

// Whether a call of this name copies or sets memory.
bool IsCopyName(std::string_view call);

}  // namespace borescope::internal
