#include "roctracer/decode.h"

#include <atomic>

#include "core/fields.h"
#include "core/options.h"
#include "core/state.h"
#include "core/strings.h"
#include "core/vendor_clock.h"
#include "core/writer.h"
#include "rocm/values.h"

namespace borescope::inject::roctracer {

namespace {

using recording::CopyBody;
using recording::KernelBody;
using recording::RecordType;

VendorClock device_clock;
std::atomic<bool> is_described[kMostGpus];

// A device's number among the GPUs: roctracer says that of its node, which counts processors, too.
// Where the node is none of the GPUs that are known, it stays as it is.
uint32_t DeviceOf(const Fields& fields) {
  const uint32_t node = fields.U32(record_offset::kDevice);
  for (uint32_t i = 0; i < g_options.gpu_count; ++i) {
    const RocmGpu& gpu = g_options.gpus[i];
    if (gpu.node != node) continue;
    if (!is_described[i].exchange(true)) {
      rocm::DescribeGpu(i, {gpu.target, gpu.compute_units, gpu.warp});
    }
    return i;
  }
  return node;
}

uint32_t NameOf(const Fields& fields) {
  // An older version has a size there, which is 0.
  constexpr uint64_t kLeastAddress = 4096;
  if (fields.U64(record_offset::kKernelName) < kLeastAddress) return 0;
  const char* name = fields.Text(record_offset::kKernelName);
  const Entry* entry = InternString(name, TextLength(name));
  return entry == nullptr ? 0 : entry->id;
}

void WriteKernel(const Fields& fields) {
  KernelBody body = {};
  body.start_ns = device_clock.TimeAt(fields, record_offset::kStart);
  body.end_ns = device_clock.TimeAt(fields, record_offset::kEnd);
  body.device = DeviceOf(fields);
  body.stream = static_cast<uint32_t>(fields.U64(record_offset::kQueue));
  body.name = NameOf(fields);
  WriteBody(RecordType::kKernel, CorrelationAt(fields, record_offset::kCorrelation), body);
}

// Of images no direction is said.
void SetKinds(uint32_t command, CopyBody& body) {
  switch (command) {
    case kDeviceToHost:
    case kDeviceToHost2D:
      return rocm::SetCopyKinds(false, true, body);
    case kHostToDevice:
    case kHostToDevice2D:
      return rocm::SetCopyKinds(true, false, body);
    case kDeviceToDevice:
    case kDeviceToDevice2D:
      return rocm::SetCopyKinds(false, false, body);
    default:
      return;
  }
}

void WriteCopy(const Fields& fields) {
  const uint32_t command = fields.U32(record_offset::kKind);
  const bool is_set = command == kFillBuffer || command == kFillImage;
  CopyBody body = {};
  body.start_ns = device_clock.TimeAt(fields, record_offset::kStart);
  body.end_ns = device_clock.TimeAt(fields, record_offset::kEnd);
  body.bytes = fields.U64(record_offset::kCopyBytes);
  body.device = DeviceOf(fields);
  body.stream = static_cast<uint32_t>(fields.U64(record_offset::kQueue));
  if (is_set) {
    constexpr uint32_t kOfDevice = 3;
    body.target_kind = kOfDevice;
  } else {
    SetKinds(command, body);
  }
  WriteBody(is_set ? RecordType::kSet : RecordType::kCopy,
            CorrelationAt(fields, record_offset::kCorrelation), body);
}

// Barriers take no time of the device, and are passed over.
void DecodeRecord(const uint8_t* record) {
  const Fields fields(record, record_offset::kBytes);
  if (fields.U32(record_offset::kDomain) != kHipWork) return;
  switch (fields.U32(record_offset::kOperation)) {
    case kDispatch:
      return WriteKernel(fields);
    case kCopy:
      return WriteCopy(fields);
    default:
      return;
  }
}

}  // namespace

void SetClockOffset(int64_t ahead_ns) { device_clock.SetAhead(ahead_ns); }

size_t DecodeBuffer(const uint8_t* begin, const uint8_t* end, const Roctracer& library) {
  if (begin == nullptr || end <= begin) return 0;
  const uint8_t* record = begin;
  while (static_cast<size_t>(end - record) >= record_offset::kBytes) {
    DecodeRecord(record);
    const void* next = nullptr;
    const int result = library.next_record(record, &next);
    const auto* after = static_cast<const uint8_t*>(next);
    // Never backwards or beyond the buffer, whatever roctracer says.
    if (result != kSuccess || after < record + record_offset::kBytes || after > end) {
      return static_cast<size_t>(end - record) - record_offset::kBytes;
    }
    record = after;
  }
  return static_cast<size_t>(end - record);
}

}  // namespace borescope::inject::roctracer
