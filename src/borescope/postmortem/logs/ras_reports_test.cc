#include "borescope/postmortem/logs/ras_reports.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace borescope::internal {
namespace {

constexpr std::string_view kHead = R"(Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          4            1          8        8

Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
)";

std::vector<LogEvent> EventsIn(std::string_view text) {
  RasReader reader;
  int64_t number = 1;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    reader.Take(text.substr(0, end), number++);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.Finish();
}

TEST(RasReportsTest, WhoLaunchedFewer) {
  const std::string report =
      std::string(kHead) +
      R"(    0         1         2         4         8         8   RUNNING  MISMATCH

Warnings
========

#0-0 (78db921d1c117b4a) MISMATCH
  Communicator ranks have different AllReduce operation counts
  6 ranks have launched up to operation 64
  Rank 5 has not launched any operations -- GPU 1 managed by process 12 on node b
  Rank 7 has launched up to operation 60 -- GPU 3 managed by process 11 on node b

)";
  std::vector<LogEvent> events = EventsIn(report);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].text,
            "RAS, communicator 78db921d1c117b4a of 8 ranks: 6 ranks launched 64 AllReduce, rank 5 "
            "launched 0 AllReduce, rank 7 launched 60 AllReduce");
  EXPECT_EQ(events[0].ras->behind, (std::vector<int32_t>{5, 7}));
  EXPECT_EQ(events[0].line, 18);
  EXPECT_EQ(events[0].count, 1U);
  // A later report that says the same is counted.
  events = EventsIn(report + report);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].count, 2U);
}

TEST(RasReportsTest, ManyThatDifferAreNamedBelow) {
  const std::vector<LogEvent> events =
      EventsIn(std::string(kHead) +
               R"(    0         1         2         4         8         8   RUNNING  MISMATCH
#0-0 (27a079b828ff1a75) MISMATCH
  Communicator ranks have different collective operation counts
  6 ranks have launched up to operation 6650
  2 ranks have launched up to operation 6649
  Rank 0 -- GPU 0 managed by process 1 on node a
  Rank 2 -- GPU 2 managed by process 3 on node a
  Communicator ranks have different status
  7 ranks have status RUNNING
  Rank 4 has status FINALIZE -- GPU 0 managed by process 5 on node b
)");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].ras->behind, (std::vector<int32_t>{0, 2}));
  EXPECT_FALSE(events[0].ras->is_missing);
}

TEST(RasReportsTest, WhoDoesNotAnswer) {
  const std::vector<LogEvent> events =
      EventsIn(std::string(kHead) +
               R"(    0         1         2       3-4         8         8   RUNNING  INCOMPLETE
Errors
======
INCOMPLETE
  Missing communicator data from 2 job processes
  Process 3487984 on node 172.16.64.213 managing GPU 5
#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 2 ranks
  The missing ranks: 5, 6
)");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].ras->missing, (std::vector<int32_t>{5, 6}));
  EXPECT_TRUE(events[0].ras->is_missing);
}

// The largest communicator has half of the GPUs of the job.
TEST(RasReportsTest, TheLargestCommunicatorIsNotAlwaysThatOfAllRanks) {
  const std::vector<LogEvent> events =
      EventsIn(std::string(kHead) +
               R"(    0         1         2         2         4         4   RUNNING  MISMATCH
#0-0 (1122334455667788) MISMATCH
  Communicator ranks have different AllGather operation counts
  3 ranks have launched up to operation 10
  Rank 1 has launched up to operation 9 -- GPU 1 managed by process 78 on node n
)");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(events[0].ras->behind.empty());
}

// Places in a smaller communicator are no ranks of the job.
TEST(RasReportsTest, PlacesInOtherCommunicatorsAreNoRanks) {
  const std::vector<LogEvent> events = EventsIn(
      std::string(kHead) + R"(    0         1         2         4         8         8   RUNNING  OK
    1         4         1         2         2         8   RUNNING  MISMATCH
#1-2 (1122334455667788) MISMATCH
  Communicator ranks have different AllGather operation counts
  Rank 0 has launched up to operation 10 -- GPU 0 managed by process 77 on node n
  Rank 1 has launched up to operation 9 -- GPU 1 managed by process 78 on node n
)");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(events[0].ras->behind.empty());
  EXPECT_TRUE(events[0].ras->is_behind);
  EXPECT_NE(events[0].text.find("its rank 1 (process 78 on node n) launched 9"), std::string::npos)
      << events[0].text;
}

std::string Rank(int place, int pid, std::string_view counts) {
  return fmt::format(R"({{"rank": {}, "host": "n", "pid": {}, "nvml_dev": {}, "collective_counts":
      {{{}}}}})",
                     place, pid, pid % 8, counts);
}

std::string Json(const std::vector<std::string>& world, const std::vector<std::string>& pair,
                 std::string_view missing = "") {
  const auto list = [](const std::vector<std::string>& ranks) {
    std::string text;
    for (const std::string& rank : ranks) text += (text.empty() ? "" : ",") + rank;
    return text;
  };
  return fmt::format(
      R"({{"nccl_version": "2.29.1", "communicators_count": 2, "communicators": [
          {{"hash": "0xa", "size": 4, "ranks": [{}], "missing_ranks": [{}]}},
          {{"hash": "0xb", "size": 2, "ranks": [{}]}}]}})",
      list(world), missing, list(pair));
}

TEST(RasReportsTest, Json) {
  const std::string even = R"("AllReduce": 5, "Broadcast": 2)";
  const std::vector<std::string> world = {Rank(0, 10, even), Rank(1, 11, even), Rank(2, 12, even),
                                          Rank(3, 13, even)};
  // The processes of a smaller communicator are known from that of all ranks.
  auto events = ReadRasJson(
      Json(world, {Rank(0, 12, R"("AllGather": 9)"), Rank(1, 13, R"("AllGather": 8)")}));
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().ras->behind, std::vector<int32_t>{3});
  using Pair = std::pair<int64_t, int32_t>;
  EXPECT_EQ(events->front().ras->processes,
            (std::vector<Pair>{{10, 0}, {11, 1}, {12, 2}, {13, 3}}));
  // Who is behind in one kind and ahead in another called something else.
  events = ReadRasJson(
      Json({world[0], world[1], Rank(2, 12, R"("AllReduce": 4, "Broadcast": 3)"), world[3]}, {}));
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().ras->behind, std::vector<int32_t>{2});
  EXPECT_TRUE(events->front().ras->has_other_kinds);
  events = ReadRasJson(Json(
      {world[0], world[1], world[2]}, {},
      R"({"rank": 3, "host": "n", "pid": 13, "nvml_dev": 5, "status": {"unresponsive": true}})"));
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().ras->missing, std::vector<int32_t>{3});
  EXPECT_TRUE(ReadRasJson(Json(world, {}))->empty());
  EXPECT_FALSE(ReadRasJson("{\"communicators\": ").has_value());
  EXPECT_FALSE(ReadRasJson("[3]").has_value());
}

}  // namespace
}  // namespace borescope::internal
