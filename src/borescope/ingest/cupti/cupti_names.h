// Display names for values that CUPTI, and thus both Nsight Systems and nvprof, records as numbers.
// Copies, sets and waits are named as in PyTorch's profiler, so that one workload gives the same
// names from all of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace borescope::internal {

// Names of the CUDA API functions that nvprof records as callback numbers.

// "cudaLaunchKernel" for 211; "cudaApi_9999" for a number that is not in the table.
std::string RuntimeApiName(int64_t callback);

// "cuLaunchKernel" for 307; "cuApi_9999" for a number that is not in the table.
std::string DriverApiName(int64_t callback);

// Memory kinds are numbered by CUPTI from 1 (pageable), by Nsight Systems from 0.
enum class MemoryKindNumbers : uint8_t { kCupti, kNsightSystems };

// "Pageable", "Pinned", "Device", ...; "Unknown" for any other number.
std::string_view MemoryKindName(int64_t kind, MemoryKindNumbers numbers);

// Whether the number of a copy kind (1: host to device, ...) is known.
bool IsCopyKind(int64_t kind);

// "Memcpy HtoD (Pageable -> Device)"; without the brackets if neither kind of memory was recorded,
// and "(unified memory)" for a migration of pages.
std::string CopyName(int64_t copy_kind, int64_t source, int64_t target, MemoryKindNumbers numbers);

// "Memset (Device)"; "Memset" if the kind of memory was not recorded.
std::string MemsetName(int64_t memory_kind, MemoryKindNumbers numbers);

// "Stream Sync", "Context Sync", ...
std::string_view SyncName(int64_t sync_type);

// What a call of the CUDA API waits for, by its name and named as SyncName() does; empty for calls
// that do not wait.
std::string_view SyncNameOfCall(std::string_view call);

// A function of the CUDA API without the release at its end, as nsys stats shows it:
// "cudaLaunchKernel_v7000" is "cudaLaunchKernel"; "cuMemAlloc_v2" is a name of its own and stays.
std::string ApiName(std::string_view recorded);

}  // namespace borescope::internal
