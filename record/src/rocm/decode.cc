#include "rocm/decode.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "core/fields.h"
#include "core/strings.h"
#include "core/vendor_clock.h"
#include "core/writer.h"
#include "rocm/values.h"

namespace borescope::inject::rocm {

namespace {

using recording::ApiDomain;
using recording::CopyBody;
using recording::KernelBody;
using recording::NameKind;
using recording::RecordType;

constexpr uint32_t kMostAgents = 64;
constexpr uint64_t kMostKernels = uint64_t{1} << 20U;
constexpr uint32_t kMostOperations = 4096;
constexpr uint32_t kHost = ~uint32_t{0};

uint64_t agents[kMostAgents];  // of GPUs, by number
uint32_t agent_count;
VendorClock device_clock;
uint32_t rccl_calls = kRcclCalls;
// The text of each kernel's name; a null pointer until the first is loaded.
std::atomic<std::atomic<uint32_t>*> kernel_names;
// Of calls, by domain; the name of one that is wanted is in the log.
enum class Wanted : uint8_t { kUnknown, kYes, kNo };
Wanted wanted[2][kMostOperations];

// A record, which begins with its size.
Fields FieldsOf(const uint8_t* record) {
  uint64_t bytes = 0;
  memcpy(&bytes, record, sizeof(bytes));
  return {record, bytes};
}

uint32_t DeviceOf(uint64_t agent) {
  for (uint32_t i = 0; i < agent_count; ++i) {
    if (agents[i] == agent) return i;
  }
  return kHost;
}

uint32_t NameOf(uint64_t kernel) {
  const std::atomic<uint32_t>* names = kernel_names.load();
  return names == nullptr || kernel >= kMostKernels ? 0 : names[kernel].load();
}

// Where its name is not known, it is.
bool IsWanted(ApiDomain domain, uint32_t kind, uint32_t operation, const Rocprofiler& library) {
  if (operation >= kMostOperations || library.operation_name == nullptr) return true;
  Wanted& known = wanted[domain == ApiDomain::kRccl ? 1 : 0][operation];
  if (known != Wanted::kUnknown) return known == Wanted::kYes;
  const char* name = nullptr;
  uint64_t length = 0;
  known = Wanted::kYes;
  if (library.operation_name(kind, static_cast<int32_t>(operation), &name, &length) != kSuccess ||
      name == nullptr) {
    return true;
  }
  if (!IsWantedCall(name)) {
    known = Wanted::kNo;
    return false;
  }
  InternName(NameKind::kCall, static_cast<uint32_t>(domain), operation, name, TextLength(name));
  return true;
}

void WriteCall(ApiDomain domain, uint32_t kind, const Fields& fields, const Rocprofiler& library) {
  using namespace call_offset;
  if (!fields.Has(kLeastBytes)) return;
  const size_t shift = fields.bytes() >= kWithAncestor ? kAncestorBytes : 0;
  const uint32_t operation = fields.U32(record_offset::kOperation);
  if (!IsWanted(domain, kind, operation, library)) return;
  const uint64_t body[] = {
      device_clock.TimeAt(fields, kStart + shift), device_clock.TimeAt(fields, kEnd + shift),
      operation | static_cast<uint64_t>(domain) << 32U, 0, fields.U64(kThread + shift)};
  Write(RecordType::kCall, CorrelationAt(fields, record_offset::kCorrelation), body);
}

void WriteKernel(const Fields& fields) {
  using namespace dispatch_offset;
  if (!fields.Has(kLeastBytes)) return;
  KernelBody body = {};
  body.start_ns = device_clock.TimeAt(fields, kStart);
  body.end_ns = device_clock.TimeAt(fields, kEnd);
  body.device = DeviceOf(fields.U64(kAgent));
  body.stream = static_cast<uint32_t>(fields.U64(kQueue));
  body.name = NameOf(fields.U64(kKernel));
  for (size_t i = 0; i < 3; ++i) {
    body.block[i] = fields.U32(kWorkgroup + 4 * i);
    body.grid[i] = Groups(fields.U32(kGrid + 4 * i), body.block[i]);
  }
  body.static_shared_bytes = fields.U32(kGroupBytes);
  body.local_bytes = fields.U32(kPrivateBytes);
  WriteBody(RecordType::kKernel, CorrelationAt(fields, record_offset::kCorrelation), body);
}

void SetKinds(uint32_t operation, CopyBody& body) {
  SetCopyKinds(operation == kHostToHost || operation == kHostToDevice,
               operation == kHostToHost || operation == kDeviceToHost, body);
}

void WriteCopy(const Fields& fields) {
  using namespace copy_offset;
  if (!fields.Has(kLeastBytes)) return;
  CopyBody body = {};
  body.start_ns = device_clock.TimeAt(fields, kStart);
  body.end_ns = device_clock.TimeAt(fields, kEnd);
  body.bytes = fields.U64(copy_offset::kBytes);
  const uint32_t target = DeviceOf(fields.U64(kTargetAgent));
  const uint32_t source = DeviceOf(fields.U64(kSourceAgent));
  body.device = target != kHost ? target : source != kHost ? source : 0;
  SetKinds(fields.U32(record_offset::kOperation), body);
  WriteBody(RecordType::kCopy, CorrelationAt(fields, record_offset::kCorrelation), body);
}

std::atomic<uint32_t>* KernelNames() {
  std::atomic<uint32_t>* names = kernel_names.load();
  if (names != nullptr) return names;
  void* memory = mmap(nullptr, kMostKernels * sizeof(*names), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  names = static_cast<std::atomic<uint32_t>*>(memory);
  std::atomic<uint32_t>* known = nullptr;
  if (kernel_names.compare_exchange_strong(known, names)) return names;
  munmap(memory, kMostKernels * sizeof(*names));
  return known;
}

}  // namespace

void SetVersion(uint32_t version) {
  rccl_calls = version >= kVersion1 ? kRcclCalls : kRcclCallsBefore1;
}

uint32_t RcclCalls() { return rccl_calls; }

void SetClockOffset(int64_t ahead_ns) { device_clock.SetAhead(ahead_ns); }

void DecodeRecord(const RecordHeader& header, const Rocprofiler& library) {
  if (header.category != kTracingCategory || header.payload == nullptr) return;
  const Fields fields = FieldsOf(header.payload);
  if (header.kind == rccl_calls) return WriteCall(ApiDomain::kRccl, header.kind, fields, library);
  switch (header.kind) {
    case kHipCalls:
      return WriteCall(ApiDomain::kHip, header.kind, fields, library);
    case kKernelDispatches:
      return WriteKernel(fields);
    case kMemoryCopies:
      return WriteCopy(fields);
    default:
      return;
  }
}

void NameKernel(uint64_t kernel, const char* name) {
  std::atomic<uint32_t>* names = kernel < kMostKernels && name != nullptr ? KernelNames() : nullptr;
  if (names == nullptr) return;
  // The file of a kernel's descriptor ends so; its name does not.
  constexpr char kSuffix[] = ".kd";
  size_t length = TextLength(name);
  const size_t suffix = sizeof(kSuffix) - 1;
  if (length > suffix && memcmp(name + length - suffix, kSuffix, suffix) == 0) length -= suffix;
  const Entry* entry = InternString(name, length);
  if (entry != nullptr) names[kernel].store(entry->id);
}

void AddAgent(const uint8_t* agent) {
  const Fields fields = FieldsOf(agent);
  if (!fields.Has(agent_offset::kLeastBytes) || fields.U32(agent_offset::kType) != kGpuAgent ||
      agent_count == kMostAgents) {
    return;
  }
  DescribeGpu(agent_count,
              {fields.U32(agent_offset::kTarget), fields.U32(agent_offset::kComputeUnits),
               fields.U32(agent_offset::kWarp)});
  agents[agent_count++] = fields.U64(agent_offset::kId);
}

}  // namespace borescope::inject::rocm
