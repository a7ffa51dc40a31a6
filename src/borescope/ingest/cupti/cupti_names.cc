#include "borescope/ingest/cupti/cupti_names.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "borescope/ingest/cupti/cuda_call_names.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

namespace {

std::string NameOf(std::span<const CudaCallName> callbacks, int64_t number,
                   std::string_view unknown) {
  const auto found =
      std::lower_bound(callbacks.begin(), callbacks.end(), number,
                       [](const CudaCallName& row, int64_t wanted) { return row.number < wanted; });
  if (found != callbacks.end() && found->number == number) {
    return std::string(found->name);
  }
  return std::string(unknown) + (number == kMissing ? "" : std::to_string(number));
}

}  // namespace

std::string RuntimeApiName(int64_t callback) {
  return NameOf(kRuntimeCallNames, callback, "cudaApi_");
}

std::string DriverApiName(int64_t callback) { return NameOf(kDriverCallNames, callback, "cuApi_"); }

namespace {

// CUpti_ActivityMemoryKind.
constexpr std::string_view kMemoryKinds[] = {"Unknown",       "Pageable",      "Pinned",
                                             "Device",        "Array",         "Managed",
                                             "Device Static", "Managed Static"};

// CUpti_ActivityMemcpyKind, and from 11 on the migrations of unified memory that Nsight Systems
// adds.
constexpr std::string_view kCopyKinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH",
                                           "AtoA",    "AtoD", "DtoA", "DtoD", "HtoH",
                                           "PtoP",    "HtoD", "DtoH", "DtoD"};
constexpr int64_t kFirstUnified = 11;

// CUpti_ActivitySynchronizationType.
constexpr std::string_view kSyncTypes[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                           "Stream Sync", "Context Sync"};
// Functions of the runtime and the driver that wait; "_ptsz" or a release may follow.
struct WaitingCall {
  std::string_view prefix;
  int64_t sync_type;
};
constexpr WaitingCall kWaitingCalls[] = {
    {"cudaEventSynchronize", 1},  {"cuEventSynchronize", 1},    {"cudaStreamWaitEvent", 2},
    {"cuStreamWaitEvent", 2},     {"cudaStreamSynchronize", 3}, {"cuStreamSynchronize", 3},
    {"cudaDeviceSynchronize", 4}, {"cudaThreadSynchronize", 4}, {"cuCtxSynchronize", 4}};

// Releases have at least four digits: v3020, v12000.
constexpr size_t kFewestDigits = 4;

}  // namespace

std::string_view MemoryKindName(int64_t kind, MemoryKindNumbers numbers) {
  constexpr auto kKinds = static_cast<int64_t>(std::size(kMemoryKinds));
  if (kind < 0 || kind >= kKinds) {
    return kMemoryKinds[0];
  }
  const int64_t cupti = numbers == MemoryKindNumbers::kCupti ? kind : kind + 1;
  return kMemoryKinds[cupti < kKinds ? cupti : 0];
}

bool IsCopyKind(int64_t kind) {
  return kind > 0 && kind < static_cast<int64_t>(std::size(kCopyKinds));
}

std::string CopyName(int64_t copy_kind, int64_t source, int64_t target, MemoryKindNumbers numbers) {
  std::string name = "Memcpy ";
  name += kCopyKinds[IsCopyKind(copy_kind) ? copy_kind : 0];
  if (IsCopyKind(copy_kind) && copy_kind >= kFirstUnified) {
    return name + " (unified memory)";
  }
  if (source == kMissing && target == kMissing) {
    return name;
  }
  return name.append(" (")
      .append(MemoryKindName(source, numbers))
      .append(" -> ")
      .append(MemoryKindName(target, numbers))
      .append(")");
}

std::string MemsetName(int64_t memory_kind, MemoryKindNumbers numbers) {
  std::string name = "Memset";
  if (memory_kind != kMissing) {
    name.append(" (").append(MemoryKindName(memory_kind, numbers)).append(")");
  }
  return name;
}

std::string_view SyncName(int64_t sync_type) {
  const bool is_known = sync_type > 0 && sync_type < static_cast<int64_t>(std::size(kSyncTypes));
  return kSyncTypes[is_known ? sync_type : 0];
}

std::string_view SyncNameOfCall(std::string_view call) {
  for (const WaitingCall& waiting : kWaitingCalls) {
    if (call.starts_with(waiting.prefix)) {
      return SyncName(waiting.sync_type);
    }
  }
  return {};
}

std::string ApiName(std::string_view recorded) {
  const size_t end = recorded.find_last_not_of("0123456789");
  const bool is_release = end != std::string_view::npos && end > 1 && recorded[end] == 'v' &&
                          recorded[end - 1] == '_' && recorded.size() - end > kFewestDigits;
  return std::string(is_release ? recorded.substr(0, end - 1) : recorded);
}

}  // namespace borescope::internal
