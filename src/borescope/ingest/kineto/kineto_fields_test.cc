#include "borescope/ingest/kineto/kineto_fields.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace borescope::internal {
namespace {

// Both functions may read eight bytes from the start of a key.
Field Event(std::string key) {
  const size_t size = key.size();
  key.append(8, '"');
  return FindEventField(std::string_view(key).substr(0, size));
}

Field Args(std::string key) {
  const size_t size = key.size();
  key.append(8, '"');
  return FindArgsField(std::string_view(key).substr(0, size));
}

const std::map<std::string, Field> kEventKeys = {
    {"ph", Field::kPhase}, {"cat", Field::kCategory}, {"name", Field::kName},
    {"pid", Field::kPid},  {"tid", Field::kTid},      {"ts", Field::kTs},
    {"dur", Field::kDur},  {"id", Field::kFlowId},    {"args", Field::kArgs}};

const std::map<std::string, Field> kArgsKeys = {
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
    {"is pinned", Field::kIsPinned}};

TEST(KinetoFieldsTest, EveryKeyIsFoundWhereItBelongs) {
  for (const auto& [key, field] : kEventKeys) {
    EXPECT_EQ(Event(key), field) << key;
  }
  for (const auto& [key, field] : kArgsKeys) {
    EXPECT_EQ(Args(key), field) << key;
  }
}

// Every field is reached by some key: a new field needs a row in the tables above.
TEST(KinetoFieldsTest, EveryFieldHasAKey) {
  std::map<Field, int> keys;
  for (const auto* table : {&kEventKeys, &kArgsKeys}) {
    for (const auto& [key, field] : *table) {
      ++keys[field];
    }
  }
  EXPECT_EQ(keys.size(), kFieldCount);
}

TEST(KinetoFieldsTest, KeysOfTheOtherPlaceAreNotFound) {
  for (const auto& [key, field] : kArgsKeys) {
    if (!kEventKeys.contains(key)) {
      EXPECT_EQ(Event(key), Field::kCount) << key;
    }
  }
  for (const auto& [key, field] : kEventKeys) {
    if (!kArgsKeys.contains(key)) {
      EXPECT_EQ(Args(key), Field::kCount) << key;
    }
  }
}

// Cut, lengthened or with any one letter changed, no key is mistaken for another.
TEST(KinetoFieldsTest, NearMissesAreNotFound) {
  const auto expect_only = [](const auto& table, const std::string& key, auto find) {
    const auto known = table.find(key);
    EXPECT_EQ(find(key), known == table.end() ? Field::kCount : known->second) << key;
  };
  const auto try_all = [&](const auto& table, auto find) {
    for (const auto& [key, field] : table) {
      expect_only(table, key + "s", find);
      expect_only(table, key + std::string(1, '\0'), find);
      expect_only(table, " " + key, find);
      for (size_t i = 0; i < key.size(); ++i) {
        expect_only(table, key.substr(0, i), find);
        std::string changed = key;
        changed[i] = static_cast<char>(changed[i] ^ 0x20);
        expect_only(table, changed, find);
        changed[i] = '\0';
        expect_only(table, changed, find);
      }
    }
  };
  try_all(kEventKeys, Event);
  try_all(kArgsKeys, Args);
}

TEST(KinetoFieldsTest, KeysThatAreNotReadAreNotFound) {
  for (const char* key :
       {"", "device", "context", "queued", "Ev Idx", "cbid", "blocks per SM", "warps per SM"}) {
    EXPECT_EQ(Args(key), Field::kCount) << key;
  }
  for (const char* key : {"", "s", "bp", "tts", "cname"}) {
    EXPECT_EQ(Event(key), Field::kCount) << key;
  }
}

TEST(RawEventTest, TheLastOfTwoValuesCounts) {
  RawEvent event;
  event.Clear();
  EXPECT_FALSE(event.Has(Field::kName));
  EXPECT_EQ(event.Get(Field::kName), "");
  event.Set(Field::kName, "\"a\"");
  EXPECT_FALSE(event.has_duplicates());
  event.Set(Field::kName, "\"b\"");
  EXPECT_TRUE(event.has_duplicates());
  EXPECT_EQ(event.Get(Field::kName), "\"b\"");
  event.Clear();
  EXPECT_FALSE(event.has_duplicates());
  EXPECT_FALSE(event.Has(Field::kName));
}

// The fields are bits of one word: both ends of it included.
TEST(RawEventTest, HasAnyLooksAtExactlyTheRange) {
  for (size_t set = 0; set < kFieldCount; ++set) {
    RawEvent event;
    event.Clear();
    event.Set(static_cast<Field>(set), "1");
    for (size_t first = 0; first < kFieldCount; ++first) {
      for (size_t last = first; last < kFieldCount; ++last) {
        ASSERT_EQ(event.HasAny(static_cast<Field>(first), static_cast<Field>(last)),
                  first <= set && set <= last);
      }
    }
  }
}

}  // namespace
}  // namespace borescope::internal
