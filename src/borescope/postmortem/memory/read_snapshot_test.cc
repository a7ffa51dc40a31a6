#include "borescope/postmortem/memory/read_snapshot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/memory/replay.h"

namespace borescope::internal::postmortem {
namespace {

// As PyTorch writes it since 2.1; the reader takes JSON and pickles alike.
constexpr std::string_view kSnapshot = R"({
"segments": [
 {"device": 0, "address": 1048576000, "total_size": 2097152, "allocated_size": 1024,
  "active_size": 1024, "requested_size": 600, "stream": 7, "segment_type": "small",
  "segment_pool_id": [0, 0], "is_expandable": false, "frames": [],
  "blocks": [
   {"address": 1048576000, "size": 1024, "requested_size": 600, "state": "active_allocated",
    "frames": [{"filename": "/app/train.py", "name": "f", "line": 3}]},
   {"address": 1048577024, "size": 2096128, "requested_size": 0, "state": "inactive",
    "frames": []}]}],
"device_traces": [[
 {"action": "segment_alloc", "addr": 1048576000, "size": 2097152, "stream": 7, "time_us": 10},
 {"action": "alloc", "addr": 1048576000, "size": 600, "stream": 7, "time_us": 11,
  "frames": [{"filename": "/app/train.py", "name": "f", "line": 3}]},
 {"action": "oom", "device_free": 12345, "size": 4096, "stream": 7, "time_us": 12},
 {"action": "something_new", "addr": 0, "size": 0, "stream": 7}], []],
"allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "large_segment_size_mb:32,max_split_size_mb:64",
 "max_split_size": 67108864, "garbage_collection_threshold": 0.5, "expandable_segments": false,
 "roundup_power2_divisions": {"1": 4, "2": 0, "32768": 8}},
"external_annotations": [{"stage": "START", "name": "Optimizer.step#SGD.step", "device": 0,
 "time_us": 11}]})";

Result<SnapshotFile> Read(std::string_view text) { return ReadSnapshot(*OpenMemory(text)); }

TEST(ReadSnapshotTest, EverythingHasItsPlace) {
  const Result<SnapshotFile> file = Read(kSnapshot);
  ASSERT_TRUE(file.ok()) << file.error().cause;
  const MemorySnapshot& snapshot = file->snapshot;
  EXPECT_FALSE(file->is_cut);
  EXPECT_EQ(snapshot.events_ignored, 1U);
  EXPECT_TRUE(snapshot.has_times);
  EXPECT_TRUE(snapshot.is_python_only);
  EXPECT_EQ(snapshot.settings.max_split, 64 * kMiB);
  EXPECT_EQ(snapshot.settings.large_segment, 32 * kMiB);
  EXPECT_EQ(snapshot.settings.gc_threshold, 0.5);
  EXPECT_EQ(snapshot.settings.divisions[0], 4U);
  EXPECT_EQ(snapshot.settings.divisions[15], 8U);
  ASSERT_EQ(snapshot.devices.size(), 1U);  // the other has nothing
  const DeviceMemory& device = snapshot.devices[0];
  ASSERT_EQ(device.segments.size(), 1U);
  EXPECT_TRUE(device.segments[0].is_small);
  EXPECT_EQ(snapshot.lanes[device.segments[0].lane].stream, 7U);
  ASSERT_EQ(device.blocks.size(), 2U);
  EXPECT_EQ(device.blocks[0].requested, 600U);
  EXPECT_EQ(device.blocks[1].state, MemoryBlockState::kFree);
  ASSERT_EQ(device.events.size(), 4U);
  EXPECT_EQ(device.events[1].action, MemoryAction::kAlloc);
  EXPECT_EQ(device.events[1].stack, device.blocks[0].stack);  // equal stacks are one
  EXPECT_EQ(device.events[2].address, 12345U);
  EXPECT_EQ(device.events[3].action, MemoryAction::kOther);
  ASSERT_EQ(device.annotations.size(), 1U);
  EXPECT_EQ(device.inconsistent, 0U);
  const Replay replay = ReplayDevice(snapshot, device);
  EXPECT_EQ(replay.predicted, 1U);
  EXPECT_TRUE(replay.segments_equal);
  ASSERT_EQ(replay.ooms.size(), 1U);
  EXPECT_EQ(replay.ooms[0].parts.usable, 2096128U);
}

// PyTorch 2.0: blocks without addresses, and with a history in place of a size that was requested.
TEST(ReadSnapshotTest, TheOldestFormat) {
  const Result<SnapshotFile> file = Read(R"({"segments": [{"device": 1, "address": 4096000,
    "total_size": 2097152, "stream": 0, "segment_type": "small", "blocks": [
    {"size": 512, "state": "active_allocated", "history": [{"addr": 4096000, "real_size": 100,
     "frames": [{"filename": "a.py", "name": "g", "line": 1}]}]},
    {"size": 2096640, "state": "inactive"}]}]})");
  ASSERT_TRUE(file.ok()) << file.error().cause;
  const DeviceMemory& device = file->snapshot.devices[0];
  EXPECT_EQ(device.device, 1);
  EXPECT_EQ(device.blocks[0].address, 4096000U);
  EXPECT_EQ(device.blocks[1].address, 4096512U);
  EXPECT_EQ(device.blocks[0].requested, 100U);
  EXPECT_EQ(MemorySites(file->snapshot).Get(1).Text(), "a.py:1 g");
  EXPECT_EQ(device.inconsistent, 0U);
  EXPECT_EQ(ReplayDevice(file->snapshot, device).impossible, "the snapshot has no events");
}

TEST(ReadSnapshotTest, BlocksThatDoNotAddUp) {
  std::string text(kSnapshot);
  text.replace(text.find("2096128"), 7, "2096129");
  const Result<SnapshotFile> file = Read(text);
  ASSERT_TRUE(file.ok());
  const DeviceMemory& device = file->snapshot.devices[0];
  EXPECT_EQ(device.inconsistent, 1U);
  EXPECT_FALSE(ReplayDevice(file->snapshot, device).impossible.empty());
}

// A block that takes such a segment whole would have another size than its units add up to.
TEST(ReadSnapshotTest, ASegmentOfNoWholeBlocksIsNotReplayed) {
  std::string text(kSnapshot);
  const std::string given = R"("action": "segment_alloc", "addr": 1048576000, "size": )";
  text.replace(text.find(given + "2097152"), given.size() + 7, given + "1001");
  const Result<SnapshotFile> file = Read(text);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(ReplayDevice(file->snapshot, file->snapshot.devices[0]).impossible,
            "an address or a size is one that no device has");
}

// Blocks are whole multiples of the smallest from the begin of their segment.
TEST(ReadSnapshotTest, ABlockWhereNoneCanBeginIsNotReplayed) {
  for (const auto& [address, impossible] :
       {std::pair("1048577536", ""),
        std::pair("1048577184", "an event contradicts the events before it")}) {
    std::string text(kSnapshot);
    const std::string event =
        fmt::format(R"("addr": {}, "size": 600, "stream": 7, "time_us": 11}},)", address);
    text.insert(text.find(R"({"action": "oom")"),
                fmt::format(R"({{"action": "alloc", {0}{{"action": "free_completed", {0})", event));
    const Result<SnapshotFile> file = Read(text);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(ReplayDevice(file->snapshot, file->snapshot.devices[0]).impossible, impossible);
  }
}

TEST(ReadSnapshotTest, OddThingsAreCounted) {
  const Result<SnapshotFile> file = Read(R"({"segments": [], "device_traces": [[
    {"action": "alloc", "addr": "x", "size": -1, "stream": 0}, 7, {"action": 5, "size": 1, "addr": 2}]]})");
  ASSERT_TRUE(file.ok()) << file.error().cause;
  EXPECT_GE(file->bad_fields, 2U);
  EXPECT_FALSE(Read(R"({"a": 1})").ok());
}

TEST(ReadSnapshotTest, TimesAndDevicesThatCannotBe) {
  std::string text(kSnapshot);
  text.replace(text.find("\"time_us\": 12}"), 14, "\"time_us\": 9223372036854775807}");
  const Result<SnapshotFile> file = Read(text);
  ASSERT_TRUE(file.ok()) << file.error().cause;
  EXPECT_EQ(file->snapshot.devices[0].events[1].time_us, 11);
  EXPECT_EQ(file->snapshot.devices[0].events[2].time_us, kNoTime);
  EXPECT_EQ(file->bad_fields, 1U);
  text = kSnapshot;
  text.replace(text.find("\"device\": 0"), 11, "\"device\": 4096");
  const Result<SnapshotFile> far = Read(text);
  ASSERT_TRUE(far.ok()) << far.error().cause;
  EXPECT_EQ(far->bad_fields, 1U);
  EXPECT_TRUE(far->snapshot.devices[0].segments.empty());
}

// A pickle can name one list in many places.
TEST(ReadSnapshotTest, ListsAreTakenOnce) {
  const auto text = [](std::string_view word) {
    std::string bytes = "X";
    bytes += static_cast<char>(word.size());
    return bytes.append(3, '\0').append(word);
  };
  const std::string block = "}(" + text("size") + "M\x02\x02" + text("state") + text("inactive") +
                            text("address") + "M\x01\x10u";
  const auto segment = [&](std::string_view address, const std::string& blocks) {
    return "}(" + text("address") + std::string(address) + text("total_size") + "M\x02\x02" +
           text("blocks") + blocks + "u";
  };
  const std::string pickle = "\x80\x02}(" + text("segments") + "](" +
                             segment("M\x01\x10", "]q\x05(" + block + "e") +
                             segment("M\x01\x20", "h\x05") + segment("M\x01\x30", "h\x05") + "eu.";
  const Result<SnapshotFile> file = Read(pickle);
  ASSERT_TRUE(file.ok()) << file.error().cause;
  ASSERT_EQ(file->snapshot.devices.size(), 1U);
  EXPECT_EQ(file->snapshot.devices[0].segments.size(), 3U);
  EXPECT_EQ(file->snapshot.devices[0].blocks.size(), 1U);
}

TEST(OomMessageTest, MessagesOfOlderVersions) {
  // 1.4 to 2.0.
  std::optional<OomMessage> message = ParseOomMessage(
      "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 3; 79.35 GiB total "
      "capacity; 70.10 GiB already allocated; 1.19 GiB free; 78.00 GiB allowed; 76.50 GiB reserved "
      "in total by PyTorch) If reserved memory is >> allocated memory try setting "
      "max_split_size_mb to avoid fragmentation.");
  ASSERT_TRUE(message.has_value());
  EXPECT_NEAR(static_cast<double>(message->requested->low), 2.0 * 0x1p30, 1e7);
  EXPECT_NEAR(static_cast<double>(message->total->low), 79.35 * 0x1p30, 1e7);
  EXPECT_NEAR(static_cast<double>(message->allocated->low), 70.1 * 0x1p30, 1e7);
  EXPECT_NEAR(static_cast<double>(message->device_free->low), 1.19 * 0x1p30, 1e7);
  EXPECT_NEAR(static_cast<double>(message->allowed->low), 78.0 * 0x1p30, 1e7);
  EXPECT_LE(message->unallocated->low, static_cast<uint64_t>(6.4 * 0x1p30));
  EXPECT_GE(message->unallocated->high, static_cast<uint64_t>(6.4 * 0x1p30));
  // 1.0 to 1.3.
  message = ParseOomMessage(
      "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; 10.62 GiB "
      "already allocated; 832.00 KiB free; 1.24 MiB cached)");
  EXPECT_NEAR(static_cast<double>(message->unallocated->low), 1.24 * 0x1p20, 1e4);
  // 2.1.
  message = ParseOomMessage(
      "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacty of 15.78 GiB of "
      "which 3.75 MiB is free.");
  EXPECT_NEAR(static_cast<double>(message->total->low), 15.78 * 0x1p30, 1e7);
  EXPECT_NEAR(static_cast<double>(message->device_free->low), 3.75 * 0x1p20, 1e4);
}

// A process does not find its own number in a container: one of those that are named is this one.
TEST(OomMessageTest, ProcessesInAContainer) {
  const auto others = [](std::string_view processes, std::string_view held) {
    const std::optional<OomMessage> message = ParseOomMessage(
        "CUDA out of memory. Tried to allocate 3.50 GiB. GPU 0 has a total capacity of 23.64 GiB "
        "of which 1.42 GiB is free. " +
        std::string(processes) + " Of the allocated memory " + std::string(held) +
        " is allocated by PyTorch, with 1.00 GiB allocated in private pools (e.g., CUDA Graphs), "
        "and 1.75 GiB is reserved by PyTorch but unallocated.");
    EXPECT_TRUE(message->private_pools.has_value());
    return static_cast<double>(message->other_processes_bytes) / 0x1p30;
  };
  EXPECT_EQ(others("Process 2722 has 22.22 GiB memory in use.", "20.13 GiB"), 0);
  EXPECT_NEAR(others("Process 1 has 10.00 GiB memory in use. Process 2 has 7.20 GiB memory in use.",
                     "5.13 GiB"),
              10, 0.1);
  EXPECT_NEAR(others("Process 1 has 10.00 GiB memory in use. Including non-PyTorch memory, this "
                     "process has 7.20 GiB memory in use.",
                     "5.13 GiB"),
              10, 0.1);
  // None of these can be this one: nothing is known then.
  EXPECT_EQ(others("Process 1 has 10.00 GiB memory in use.", "20.13 GiB"), 0);
  EXPECT_EQ(others("Process 1 has 17179869184.00 GiB memory in use.", "5.13 GiB"), 0);
}

TEST(OomMessageTest, AmountsAreRanges) {
  const std::optional<OomMessage> message = ParseOomMessage(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 3 has a total "
      "capacity of 80.00 GiB of which 1.50 MiB is free. Process 77 has 30.00 GiB memory in use. "
      "Process 78 has 10.00 GiB memory in use. Including non-PyTorch memory, this process has 39.9 "
      "GiB memory in use. Of the allocated memory 1.07 GiB is allocated by PyTorch, and 512 bytes "
      "is reserved by PyTorch but unallocated.");
  ASSERT_TRUE(message.has_value());
  EXPECT_LE(message->requested->low, 2 * kMiB);
  EXPECT_GE(message->requested->high, 2 * kMiB);
  EXPECT_FALSE(message->allowed.has_value());
  EXPECT_TRUE(message->unallocated->is_exact());
  EXPECT_NEAR(static_cast<double>(message->other_processes_bytes), 40.0 * 0x1p30, 1e8);
  EXPECT_FALSE(ParseOomMessage("out of cheese").has_value());
  EXPECT_EQ(ParseByteRange("1700349870")->low, 1700349870U);
  EXPECT_EQ(ParseByteRange("1.58GiB")->low, 1691143373U);
  EXPECT_EQ(ParseByteRange("1.58G")->low, 1'575'000'000U);
  EXPECT_EQ(ParseByteRange("1.58G")->high, 1'585'000'000U);
  EXPECT_EQ(ParseByteRange("1.58GB")->low, ParseByteRange("1.58G")->low);
  EXPECT_EQ(ParseByteRange("1.58Gi")->low, ParseByteRange("1.58GiB")->low);
  EXPECT_EQ(ParseByteRange("512K")->high, 512'500U);
  EXPECT_FALSE(ParseByteRange("1.58Gb").has_value());
  EXPECT_FALSE(ParseByteRange("many").has_value());
  EXPECT_FALSE(ParseByteRange("").has_value());
}

}  // namespace
}  // namespace borescope::internal::postmortem
