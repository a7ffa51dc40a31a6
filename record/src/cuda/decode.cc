#include "cuda/decode.h"

#include <cstring>

#include "core/fields.h"
#include "core/strings.h"
#include "core/text.h"
#include "core/writer.h"
#include "cuda/abi.h"
#include "cuda/call_numbers.h"
#include "cuda/calls.h"
#include "cuda/devices.h"

namespace borescope::inject::cuda {

namespace {

using recording::ApiDomain;
using recording::CopyBody;
using recording::DeviceRecordKind;
using recording::KernelBody;
using recording::RecordType;

constexpr uint64_t Pair(uint64_t low, uint64_t high) { return (low & 0xffffffffU) | high << 32U; }

struct KnownName {
  const char* pointer;
  const Entry* entry;
};

constexpr size_t kKnownNames = 4096;
KnownName known_names[kKnownNames];

// The kernels of a name share its pointer. A module that is unloaded may leave it to another name,
// so the text is compared, which is quicker than looking it up.
uint32_t NameId(const char* name) {
  if (name == nullptr) return 0;
  KnownName& known = known_names[(reinterpret_cast<uintptr_t>(name) >> 4U) % kKnownNames];
  const size_t length = TextLength(name);
  if (known.pointer == name && IsText(known.entry, name, length)) return known.entry->id;
  const Entry* entry = InternString(name, length);
  if (entry == nullptr) return 0;
  known = {name, entry};
  return entry->id;
}

void WriteKernel(const Fields& fields) {
  using namespace kernel_offset;
  if (!fields.Has(kName + sizeof(char*))) return;
  KernelBody body = {};
  body.start_ns = fields.U64(kStart);
  body.end_ns = fields.U64(kEnd);
  body.device = fields.U32(kDevice);
  body.context = fields.U32(kContext);
  body.stream = fields.U32(kStream);
  body.name = NameId(fields.Text(kName));
  for (size_t i = 0; i < 3; ++i) {
    body.grid[i] = fields.U32(kGrid + 4 * i);
    body.block[i] = fields.U32(kBlock + 4 * i);
  }
  body.registers = fields.U16(kRegisters);
  body.static_shared_bytes = fields.U32(kStaticShared);
  body.dynamic_shared_bytes = fields.U32(kDynamicShared);
  body.local_bytes = fields.U32(kLocal);
  body.graph_node = fields.U64(kGraphNode);
  body.graph = fields.U32(kGraph);
  body.channel = fields.U32(kChannel);
  DescribeDevice(body.device);
  WriteBody(RecordType::kKernel, fields.U32(kCorrelation), body);
}

CopyBody CommonOfCopy(const Fields& fields) {
  using namespace copy_offset;
  CopyBody body = {};
  body.start_ns = fields.U64(kStart);
  body.end_ns = fields.U64(kEnd);
  body.bytes = fields.U64(kBytes);
  body.device = fields.U32(kDevice);
  body.context = fields.U32(kContext);
  body.stream = fields.U32(kStream);
  DescribeDevice(body.device);
  return body;
}

void WriteCopy(const Fields& fields, bool is_peer) {
  using namespace copy_offset;
  if (!fields.Has(kPeerCorrelation)) return;
  CopyBody body = CommonOfCopy(fields);
  body.copy_kind = fields.U8(kCopyKind);
  body.source_kind = fields.U8(kSourceKind);
  body.target_kind = fields.U8(kTargetKind);
  body.graph_node = fields.U64(is_peer ? kPeerGraphNode : kGraphNode);
  body.graph = fields.U32(is_peer ? kPeerGraph : kGraph);
  WriteBody(RecordType::kCopy, fields.U32(is_peer ? kPeerCorrelation : kCorrelation), body);
}

void WriteSet(const Fields& fields) {
  using namespace copy_offset;
  if (!fields.Has(kCorrelation + 4)) return;
  CopyBody body = CommonOfCopy(fields);
  body.value = fields.U32(kSetValue);
  body.target_kind = fields.U16(kSetMemoryKind);
  body.graph_node = fields.U64(kGraphNode);
  body.graph = fields.U32(kGraph);
  WriteBody(RecordType::kSet, fields.U32(kCorrelation), body);
}

// What is newer than the tables of those who read the log is named in it. A name is written once.
void NameNewCall(uint32_t callback, ApiDomain domain, const Cupti& cupti) {
  const bool is_runtime = domain == ApiDomain::kRuntime;
  const bool is_known = callback <= (is_runtime ? kNewestRuntimeCall : kNewestDriverCall);
  const char* name = nullptr;
  if (is_known || cupti.callback_name == nullptr) return;
  const uint32_t theirs = is_runtime ? kRuntimeDomain : kDriverDomain;
  if (cupti.callback_name(theirs, callback, &name) != kSuccess || name == nullptr) return;
  InternName(recording::NameKind::kCall, static_cast<uint32_t>(domain), callback, name,
             TextLength(name));
}

void WriteCall(const Fields& fields, ApiDomain domain, const Options& options, const Cupti& cupti) {
  using namespace api_offset;
  if (!fields.Has(kBytes)) return;
  const uint32_t callback = fields.U32(kCallback);
  const bool is_wanted = domain == ApiDomain::kRuntime ? IsWantedRuntimeCall(callback, options)
                                                       : IsWantedDriverCall(callback, options);
  if (!is_wanted) return;
  NameNewCall(callback, domain, cupti);
  const auto result = static_cast<int32_t>(fields.U32(kResult));
  const uint64_t body[] = {fields.U64(kStart), fields.U64(kEnd),
                           Pair(callback, static_cast<uint64_t>(domain)),
                           static_cast<uint64_t>(int64_t{result}), fields.U32(kThread)};
  Write(RecordType::kCall, fields.U32(kCorrelation), body);
}

void WriteSync(const Fields& fields) {
  using namespace sync_offset;
  if (!fields.Has(kBytes)) return;
  const uint64_t body[] = {fields.U64(kStart), fields.U64(kEnd),
                           Pair(fields.U32(kType), fields.U32(kStream)),
                           Pair(fields.U32(kContext), fields.U32(kEvent))};
  Write(RecordType::kSync, fields.U32(kCorrelation), body);
}

void WriteMemory(const Fields& fields) {
  using namespace memory_offset;
  if (!fields.Has(kBytes)) return;
  const uint64_t body[] = {fields.U64(kTime),
                           fields.U64(kAddress),
                           fields.U64(kSize),
                           Pair(fields.U32(kOperation), fields.U32(kKind)),
                           Pair(fields.U32(kDevice), fields.U32(kContext)),
                           Pair(fields.U32(kStream), 0)};
  Write(RecordType::kMemory, fields.U32(kCorrelation), body);
}

void WriteGraphRun(const Fields& fields) {
  using namespace graph_offset;
  if (!fields.Has(kBytes)) return;
  DescribeDevice(fields.U32(kDevice));
  const uint64_t body[] = {fields.U64(kStart), fields.U64(kEnd),
                           Pair(fields.U32(kDevice), fields.U32(kContext)),
                           Pair(fields.U32(kStream), fields.U32(kGraph))};
  Write(RecordType::kGraphRun, fields.U32(kCorrelation), body);
}

void WriteExternal(const Fields& fields) {
  using namespace external_offset;
  if (!fields.Has(kBytes)) return;
  const uint64_t body[] = {fields.U32(kKind), fields.U64(kId)};
  Write(RecordType::kExternal, fields.U32(kCorrelation), body);
}

void WriteOverhead(const Fields& fields) {
  using namespace overhead_offset;
  if (!fields.Has(kBytes)) return;
  const bool is_thread = fields.U32(kObjectKind) == kThreadObject;
  const uint64_t body[] = {fields.U64(kStart), fields.U64(kEnd),
                           is_thread ? fields.U32(kThread) : 0};
  Write(RecordType::kOverhead, fields.U32(kKind), body);
}

void WriteDescription(DeviceRecordKind kind, uint32_t id, uint32_t parent,
                      const TextBuilder& json) {
  const uint64_t body[] = {Pair(id, parent)};
  WriteKept(RecordType::kDevice, static_cast<uint32_t>(kind), body, json.text(), json.length());
}

void WriteDevice(const Fields& fields) {
  using namespace device_offset;
  if (!fields.Has(kBytes) || !BeginDescription(fields.U32(kId))) return;
  char text[1024];
  TextBuilder json(text, sizeof(text));
  const char* name = fields.Text(kName);
  json.Add("{\"name\":")
      .AddJson(name == nullptr ? "" : name, name == nullptr ? 0 : strnlen(name, 128));
  json.Add(",\"total_bytes\":").Add(fields.U64(kMemory));
  json.Add(",\"multiprocessors\":").Add(uint64_t{fields.U32(kMultiprocessors)});
  json.Add(",\"compute_major\":").Add(uint64_t{fields.U32(kMajor)});
  json.Add(",\"compute_minor\":").Add(uint64_t{fields.U32(kMinor)});
  json.Add(",\"warp_size\":").Add(uint64_t{fields.U32(kWarp)}).Add("}");
  WriteDescription(DeviceRecordKind::kDevice, fields.U32(kId), 0, json);
}

void WriteContext(const Fields& fields) {
  if (!fields.Has(context_offset::kBytes)) return;
  char text[8];
  TextBuilder json(text, sizeof(text));
  json.Add("{}");
  WriteDescription(DeviceRecordKind::kContext, fields.U32(context_offset::kContext),
                   fields.U32(context_offset::kDevice), json);
}

void WriteStream(const Fields& fields) {
  if (!fields.Has(stream_offset::kBytes)) return;
  char text[64];
  TextBuilder json(text, sizeof(text));
  json.Add("{\"priority\":").Add(uint64_t{fields.U32(stream_offset::kPriority)}).Add("}");
  WriteDescription(DeviceRecordKind::kStream, fields.U32(stream_offset::kStream),
                   fields.U32(stream_offset::kContext), json);
}

}  // namespace

void DecodeRecord(const uint8_t* record, size_t bytes, const Options& options, const Cupti& cupti) {
  const Fields fields(record, bytes);
  switch (fields.U32(0)) {
    case kConcurrentKernel:
      return WriteKernel(fields);
    case kMemcpy:
      return WriteCopy(fields, false);
    case kMemcpyPeer:
      return WriteCopy(fields, true);
    case kMemset:
      return WriteSet(fields);
    case kRuntime:
      return WriteCall(fields, ApiDomain::kRuntime, options, cupti);
    case kDriver:
      return WriteCall(fields, ApiDomain::kDriver, options, cupti);
    case kSynchronization:
      return WriteSync(fields);
    case kMemory2:
      return WriteMemory(fields);
    case kGraphTrace:
      return WriteGraphRun(fields);
    case kExternalCorrelation:
      return WriteExternal(fields);
    case kOverheadKind:
      return WriteOverhead(fields);
    case kDeviceKind:
      return WriteDevice(fields);
    case kContextKind:
      return WriteContext(fields);
    case kStreamKind:
      return WriteStream(fields);
    default:
      return;
  }
}

}  // namespace borescope::inject::cuda
