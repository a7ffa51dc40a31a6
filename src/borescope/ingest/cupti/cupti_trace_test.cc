#include "borescope/ingest/cupti/cupti_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "borescope/ingest/cupti/cupti_test_database.h"

namespace borescope::internal {

namespace {

using Source = ContextDevices::Source;

TEST(ContextDevicesTest, TheSurestSourceCounts) {
  ContextDevices devices;
  devices.Learn({1, 2, 15}, 3, Source::kContextTable);
  EXPECT_EQ(devices.Find({1, 2, 15}, 0), 3);
  devices.Learn({1, 2, 15}, 1, Source::kWork);
  devices.Learn({1, 2, 15}, 5, Source::kCopy);  // between two devices
  EXPECT_EQ(devices.Find({1, 2, 15}, 0), 1);
  EXPECT_EQ(devices.Find({1, 2, kMissing}, 0), 1);
}

TEST(ContextDevicesTest, AnUnknownContextIsThatOfTheStream) {
  ContextDevices devices;
  devices.Learn({1, 2, 15}, 1, Source::kWork);
  EXPECT_EQ(devices.Find({1, kMissing, 15}, 0), 1);
  EXPECT_EQ(devices.Find({1, 9, 15}, 0), 1);
  EXPECT_EQ(devices.Find({2, 2, 15}, 0), 0);  // another process
  EXPECT_EQ(devices.Find({1, 9, 16}, 0), 0);
}

TEST(ContextDevicesTest, WhatIsDisputedStaysAsRecorded) {
  ContextDevices devices;
  devices.Learn({1, 2, 15}, 1, Source::kWork);
  devices.Learn({1, 2, 15}, 2, Source::kWork);
  EXPECT_EQ(devices.Find({1, 2, 15}, 7), 7);
}

// Exports of random programs: processes with contexts of devices, and waits whose rows name device
// 0.
struct Program {
  explicit Program(uint64_t seed) : random(seed) {
    sql =
        "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT,"
        "streamId INT, correlationId INT, globalPid INT, shortName INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, deviceId INT,"
        "contextId INT, streamId INT, correlationId INT, globalPid INT, syncType INT);"
        "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INT, globalPid INT, deviceId INT,"
        "contextId INT, address INT, bytes INT, memKind INT, memoryOperationType INT);"
        "CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO(nullStreamId INT, processId INT, deviceId INT,"
        "contextId INT);";
    for (int64_t process = 100; process < 101 + Below(3); ++process) {
      for (int64_t context = 1; context < 2 + Below(4); ++context) {
        AddContext(process, context);
      }
    }
  }

  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  }

  void AddRow(const char* table, const std::vector<int64_t>& values) {
    sql += "INSERT INTO " + std::string(table) + " VALUES(";
    for (size_t i = 0; i < values.size(); ++i) {
      sql += (i == 0 ? "" : ",") + std::to_string(values[i]);
    }
    sql += ");";
  }

  void AddContext(int64_t process, int64_t context) {
    const int64_t device = Below(8);
    const int64_t stream = 6 * context + 1;
    const int64_t pid = process << 24;
    if (Below(4) == 0) {  // without work
      AddRow("TARGET_INFO_CUDA_CONTEXT_INFO", {stream, process, device, context});
    } else {
      AddRow("CUPTI_ACTIVITY_KIND_KERNEL", {now, now + 9, device, context, stream, 1, pid, 1});
    }
    for (int64_t wait = 0; wait < 3; ++wait) {
      now += 20;
      AddRow(
          "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
          {now, now + 5, 0, context, wait == 0 ? 4294967295 : stream, 2, pid, wait == 0 ? 4 : 3});
      AddRow("CUDA_GPU_MEMORY_USAGE_EVENTS", {now, pid, 0, context, 4096, 512, 2, 0});
      devices.push_back(device);
    }
  }

  std::mt19937_64 random;
  std::string sql;
  int64_t now = 1000;
  std::vector<int64_t> devices;  // of the waits, in their order in time
};

TEST(ContextDevicesTest, WaitsAreOnTheDeviceOfTheirContext) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Program program(seed);
    const Trace trace = LoadSql(program.sql);
    std::vector<std::pair<int64_t, int64_t>> waits;  // begin, device
    for (uint32_t row = 0; row < trace.device().size(); ++row) {
      if (trace.device().kind[row] == DeviceKind::kSync) {
        waits.emplace_back(trace.device().ts_ns[row], trace.DeviceOf({row}));
      }
    }
    std::sort(waits.begin(), waits.end());
    ASSERT_EQ(waits.size(), program.devices.size());
    ASSERT_EQ(trace.memory().size(), program.devices.size());
    for (size_t i = 0; i < waits.size(); ++i) {
      EXPECT_EQ(waits[i].second, program.devices[i]) << seed << " wait " << i;
      EXPECT_EQ(trace.memory().device[i], program.devices[i]) << seed << " memory " << i;
    }
    for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
      if (trace.tracks().kind[track] == TrackKind::kDevice) {
        EXPECT_LT(trace.tracks().first_row[track], trace.tracks().end_row[track]) << seed;
      }
    }
  }
}

// nvprof's rows of waits name no device at all.
TEST(ContextDevicesTest, WaitsOfNvprofHaveADevice) {
  const Trace trace = LoadSql(
      "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start INT, end INT, deviceId INT,"
      "contextId INT, streamId INT, correlationId INT, name INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, type INT,"
      "correlationId INT, contextId INT, streamId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES(10,30,1,2,15,5,1);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(12,35,3,6,2,15);");
  ASSERT_EQ(trace.device().size(), 2U);
  EXPECT_EQ(trace.DeviceOf({0}), 1);
  EXPECT_EQ(trace.DeviceOf({1}), 1);
  EXPECT_EQ(trace.StreamOf({1}), 15);
}

}  // namespace

}  // namespace borescope::internal
