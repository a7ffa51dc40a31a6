#include "borescope/ingest/kineto/kineto_fields.h"

#include <bit>
#include <cstring>

namespace borescope::internal {
namespace {

struct KeyRow {
  std::string_view key;
  Field field = Field::kCount;
};

constexpr KeyRow kEventKeys[] = {
    {"ph", Field::kPhase}, {"cat", Field::kCategory}, {"name", Field::kName},
    {"pid", Field::kPid},  {"tid", Field::kTid},      {"ts", Field::kTs},
    {"dur", Field::kDur},  {"id", Field::kFlowId},    {"args", Field::kArgs},
};

constexpr KeyRow kArgsKeys[] = {
    {"External id", Field::kExternalId},
    {"external id", Field::kExternalId},
    {"correlation", Field::kCorrelation},
    {"stream", Field::kStream},
    {"Sequence number", Field::kSequence},
    {"Fwd thread id", Field::kForwardThread},
    {"Record function id", Field::kRecordFunctionId},
    {"Input Dims", Field::kInputDims},
    {"Input dims", Field::kInputDims},
    {"Input type", Field::kInputTypes},
    {"Input Strides", Field::kInputStrides},
    {"Concrete Inputs", Field::kConcreteInputs},
    {"kernel_backend", Field::kKernelBackend},
    {"kernel_file", Field::kKernelFile},
    {"kernel_num_gb", Field::kKernelGigabytes},
    {"kernel_flop", Field::kKernelFlops},
    {"kernel", Field::kKernelName},
    {"grid", Field::kGrid},
    {"block", Field::kBlock},
    {"registers per thread", Field::kRegisters},
    {"shared memory", Field::kSharedBytes},
    {"est. achieved occupancy %", Field::kOccupancy},
    {"graph node id", Field::kGraphNodeId},
    {"bytes", Field::kBytes},
    {"memory bandwidth (GB/s)", Field::kGbps},
    {"wait_on_stream", Field::kWaitOnStream},
    {"wait_on_cuda_event_record_corr_id", Field::kWaitOnRecord},
    {"Collective name", Field::kCollective},
    {"In msg nelems", Field::kInElems},
    {"Out msg nelems", Field::kOutElems},
    {"Group size", Field::kGroupSize},
    {"dtype", Field::kDtype},
    {"Process Group Name", Field::kGroupName},
    {"Process Group Description", Field::kGroupDesc},
    {"Process Group Ranks", Field::kGroupRanks},
    {"Seq", Field::kCollectiveSequence},
    {"Device Type", Field::kDeviceType},
    {"Device Id", Field::kDeviceId},
    {"Addr", Field::kAddress},
    {"Bytes", Field::kAllocBytes},
    {"Total Allocated", Field::kTotalAllocated},
    {"Total Reserved", Field::kTotalReserved},
    {"name", Field::kArgName},
    {"domain", Field::kDomain},
    {"arguments", Field::kCallArgs},
    {"process", Field::kProcess},
    {"stream handle", Field::kStreamHandle},
    {"private memory per thread", Field::kPrivateBytes},
    {"memcpy kind", Field::kCopyKind},
    {"source", Field::kSource},
    {"target", Field::kTarget},
    {"source device", Field::kSourceDevice},
    {"target device", Field::kTargetDevice},
    {"width", Field::kWidth},
    {"height", Field::kHeight},
    {"is sync", Field::kIsSync},
    {"is pinned", Field::kIsPinned},
    {"Python id", Field::kFrameId},
    {"Python parent id", Field::kFrameCaller},
};

// A hash of length and first eight bytes distinguishes these few keys; the tables are built at
// compile time. Those eight bytes and the length decide short keys without reading the text again.
constexpr size_t kSlots = 256;
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;

constexpr size_t Slot(uint64_t first_bytes, size_t length) {
  return static_cast<size_t>(((first_bytes ^ (length << 3)) * kMultiplier) >> 56);
}

constexpr uint64_t FirstBytes(std::string_view key) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < key.size() && i < 8; ++i) {
    bytes |= static_cast<uint64_t>(static_cast<unsigned char>(key[i])) << (8 * i);
  }
  return bytes;
}

struct SlotRow {
  uint64_t first_bytes = 0;
  KeyRow key;
};
using KeyTable = std::array<SlotRow, kSlots>;

template <size_t N>
constexpr KeyTable MakeTable(const KeyRow (&keys)[N]) {
  KeyTable table{};
  for (const KeyRow& key : keys) {
    const uint64_t first_bytes = FirstBytes(key.key);
    size_t slot = Slot(first_bytes, key.key.size());
    while (table[slot].key.field != Field::kCount) {
      slot = (slot + 1) % kSlots;
    }
    table[slot] = {first_bytes, key};
  }
  return table;
}

constexpr KeyTable kEventTable = MakeTable(kEventKeys);
constexpr KeyTable kArgsTable = MakeTable(kArgsKeys);

uint64_t LoadFirstBytes(std::string_view key) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, key.data(), 8);
  if constexpr (std::endian::native == std::endian::big) {
    return FirstBytes(key);
  }
  return key.size() >= 8 ? bytes : bytes & ((uint64_t{1} << (8 * key.size())) - 1);
}

Field Find(const KeyTable& table, std::string_view key) {
  const uint64_t first_bytes = LoadFirstBytes(key);
  for (size_t slot = Slot(first_bytes, key.size());; slot = (slot + 1) % kSlots) {
    const SlotRow& row = table[slot];
    if (row.key.field == Field::kCount) {
      return Field::kCount;
    }
    if (row.first_bytes == first_bytes && row.key.key.size() == key.size() &&
        (key.size() <= 8 ||
         std::memcmp(row.key.key.data() + 8, key.data() + 8, key.size() - 8) == 0)) {
      return row.key.field;
    }
  }
}

}  // namespace

Field FindEventField(std::string_view key) { return Find(kEventTable, key); }
Field FindArgsField(std::string_view key) { return Find(kArgsTable, key); }

}  // namespace borescope::internal
