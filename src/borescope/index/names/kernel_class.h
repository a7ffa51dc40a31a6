// Kernel classes: the purpose of a device function, derived from its name by one table of rules
// (kernel_class.cc), first match wins. Vendor neutral: NVIDIA, AMD, Triton and MTIA names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/trace/tables.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

enum class KernelClass : uint8_t {
  kGemm,
  kConv,
  kAttention,
  kNorm,
  kSoftmax,
  kReduction,
  kPointwise,
  kEmbedding,
  kOptimizer,
  kSort,
  kCollective,  // communication between devices
  kCopy,        // moves data and computes nothing: memcpy, memset, blit kernels
  kOther,
  kCount
};

std::string_view KernelClassName(KernelClass kind);

// The class of a kernel by name. Pure; any thread.
KernelClass ClassifyKernel(std::string_view name);

// How device time is split (breakdown): every event of device work is exactly one of these.
enum class Activity : uint8_t { kCompute, kCommunication, kCopy };

// memcpy and memset are copies, kernels are split by class: collective -> communication, copy ->
// copy, anything else -> compute.
Activity ActivityOf(DeviceKind kind, KernelClass kernel_class);

// One row of the rule table, for documentation and tests.
struct KernelRule {
  std::string_view family;  // what it matches: "NCCL device kernels"
  KernelClass kind;
  std::string_view example;  // a real name that must match this row
};
std::span<const KernelRule> KernelRules();

// The patterns of the rows, in their order: alternatives in lower case, separated by '|'.
std::vector<std::string_view> KernelPatterns();

// Kinds of copies: source and target, derived from the name of the event by one table of rules.
// NVIDIA, AMD, Intel and MTIA names.

// In the order in which tables list them.
enum class CopyKind : uint8_t {
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeerToPeer,  // between devices
  kHostToHost,
  kMemset,
  kOther,
  kCount
};

// "HtoD", ...
std::string_view CopyKindName(CopyKind kind);

// The kind of a copy by its name; every memset is one. Pure; any thread.
CopyKind ClassifyCopy(DeviceKind kind, std::string_view name);

// The classes of all names of a recording: TraceIndex::class_of_name.
ColumnData<KernelClass> ClassifyNames(const Trace& trace);

}  // namespace borescope::internal
