// Whatever a memory snapshot holds: reading and replaying it ends, and what is reported adds up.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/postmortem/memory/address_map.h"
#include "borescope/postmortem/memory/areas.h"
#include "borescope/postmortem/memory/growth.h"
#include "borescope/postmortem/memory/held.h"
#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/memory/read_snapshot.h"
#include "borescope/postmortem/memory/replay.h"

namespace {

using namespace borescope::internal::postmortem;  // NOLINT(google-build-using-namespace)

// A map has each byte of its segments once; those of a snapshot that contradicts itself may
// overlap.
void CheckMap(const AddressMap& map, const MemoryCategories& categories) {
  uint64_t total = 0;
  uint64_t blocks = 0;
  BS_CHECK(map.blocks.size() == map.owners.size());
  for (const MemorySegment& segment : map.segments) {
    uint64_t at = segment.address;
    for (uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
      BS_CHECK(map.blocks[b].address == at && map.blocks[b].size > 0);
      at += map.blocks[b].size;
    }
    BS_CHECK(at == segment.address + segment.size);
    total += segment.size;
    blocks += segment.blocks;
  }
  BS_CHECK(blocks == map.blocks.size());
  uint64_t drawn = 0;
  const std::vector<MapPiece> pieces = PiecesOf(map, categories, 8);
  BS_CHECK(pieces.size() <= 8);
  for (const MapPiece& piece : pieces) {
    drawn += piece.total();
  }
  BS_CHECK(drawn == total);
}

void CheckDevice(const MemorySnapshot& snapshot, const DeviceMemory& device) {
  const Replay replay = ReplayDevice(snapshot, device);
  BS_CHECK(replay.predicted + replay.forced <= replay.allocations);
  if (!replay.impossible.empty()) {
    return;
  }
  const MemorySites sites(snapshot);
  const std::vector<MemoryStep> steps = FindSteps(snapshot, device);
  const MemoryCategories categories = Categorise(device, replay, sites, steps);
  const auto last = static_cast<uint32_t>(device.events.size()) - 1;
  const uint32_t moments[] = {kNoIndex, replay.peak_event, last / 2, last};
  for (const uint32_t moment : moments) {
    CheckMap(MapAt(snapshot, device, replay, moment), categories);
  }
  uint64_t live = 0;
  for (const LiveMemory& one : LiveAt(device, replay, sites, categories, last)) {
    live += one.bytes;
  }
  BS_CHECK(live == replay.end.allocated);
  const HeldMemory held = HeldAfterEach(device, replay);
  BS_CHECK(held.allocated.size() == device.events.size() + 1);
  static_cast<void>(FindAreas(device, replay, categories, 16));
  static_cast<void>(FindGrowth(device, replay, sites, categories, steps));
  for (const OomState& oom : replay.ooms) {
    BS_CHECK(oom.parts.reserved() == oom.reserved);
    static_cast<void>(ExplainOom(oom, {}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::unique_ptr<borescope::internal::ByteSource> source =
      borescope::internal::OpenMemory(bytes);
  const borescope::internal::Result<SnapshotFile> file = ReadSnapshot(*source);
  if (file.ok()) {
    for (const DeviceMemory& device : file->snapshot.devices) {
      CheckDevice(file->snapshot, device);
    }
  }
  return 0;
}
