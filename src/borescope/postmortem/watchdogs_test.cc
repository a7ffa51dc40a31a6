#include "borescope/postmortem/watchdogs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace borescope::internal {
namespace {

JobEvent Waits(int32_t rank, int64_t seq, std::string operation, int64_t elements = 8) {
  JobEvent event;
  event.kind = LogKind::kTimeout;
  event.rank = rank;
  event.timeout = TimeoutText{.operation = std::move(operation),
                              .seq = seq,
                              .input_elements = elements,
                              .output_elements = elements,
                              .group = "0(default_pg)"};
  return event;
}

JobEvent Did(int32_t rank, int64_t enqueued, int64_t completed) {
  JobEvent event;
  event.kind = LogKind::kProgress;
  event.rank = rank;
  event.timeout =
      TimeoutText{.group = "0(default_pg)", .last_enqueued = enqueued, .last_completed = completed};
  return event;
}

std::vector<int32_t> RanksOf(const std::vector<JobEvent>& events) {
  const std::optional<WatchdogCulprits> found = CompareWatchdogs(events);
  return found.has_value() ? found->ranks : std::vector<int32_t>();
}

TEST(Watchdogs, OneIsBehind) {
  EXPECT_EQ(RanksOf({Waits(0, 9, "ALLREDUCE"), Waits(1, 8, "ALLREDUCE"), Waits(2, 9, "ALLREDUCE")}),
            std::vector<int32_t>{1});
  // The later of two lines of one rank says nothing more.
  EXPECT_EQ(
      RanksOf({Waits(0, 9, "ALLREDUCE"), Waits(0, 10, "ALLREDUCE"), Waits(1, 9, "ALLREDUCE")}),
      std::vector<int32_t>());
  // A root leaves a broadcast before others came.
  EXPECT_EQ(RanksOf({Waits(0, 9, "BROADCAST"), Waits(1, 8, "BROADCAST")}), std::vector<int32_t>());
}

TEST(Watchdogs, OneIssuedNoMore) {
  EXPECT_EQ(RanksOf({Waits(0, 9, "ALLREDUCE"), Waits(1, 9, "ALLREDUCE"), Did(2, 8, 8)}),
            std::vector<int32_t>{2});
  EXPECT_EQ(RanksOf({Waits(0, 9, "ALLREDUCE"), Did(2, 8, 7)}), std::vector<int32_t>());
  EXPECT_EQ(RanksOf({Waits(0, 9, "ALLREDUCE"), Did(2, 9, 8)}), std::vector<int32_t>());
}

TEST(Watchdogs, DifferentCalls) {
  EXPECT_EQ(RanksOf({Waits(0, 9, "ALLREDUCE"), Waits(1, 9, "BROADCAST"), Waits(2, 9, "ALLREDUCE")}),
            std::vector<int32_t>{1});
  EXPECT_EQ(RanksOf({Waits(0, 9, "ALLREDUCE"), Waits(1, 9, "BROADCAST")}), std::vector<int32_t>());
  EXPECT_EQ(
      RanksOf({Waits(0, 9, "ALLREDUCE"), Waits(1, 9, "ALLREDUCE", 7), Waits(2, 9, "ALLREDUCE")}),
      std::vector<int32_t>{1});
  // Uneven sizes are right there.
  EXPECT_EQ(RanksOf({Waits(0, 9, "ALLTOALL_BASE"), Waits(1, 9, "ALLTOALL_BASE", 7),
                     Waits(2, 9, "ALLTOALL_BASE")}),
            std::vector<int32_t>());
  // Sends count with numbers of their own.
  EXPECT_EQ(RanksOf({Waits(0, 9, "ALLREDUCE"), Waits(1, 3, "SEND"), Waits(2, 9, "ALLREDUCE")}),
            std::vector<int32_t>());
}

TEST(Watchdogs, GroupsAreNotMixed) {
  std::vector<JobEvent> events = {Waits(0, 9, "ALLREDUCE"), Waits(1, 9, "ALLREDUCE"),
                                  Waits(2, 3, "ALLREDUCE")};
  events[2].timeout->group = "7(tp)";
  EXPECT_EQ(RanksOf(events), std::vector<int32_t>());
  // Of a line without its group, that which its rank names elsewhere; of several, none.
  events = {Waits(0, 9, "ALLREDUCE"), Waits(1, 8, "ALLREDUCE"), Did(1, 8, 7)};
  events[1].timeout->group.clear();
  EXPECT_EQ(RanksOf(events), std::vector<int32_t>{1});
  events.push_back(Did(1, 2, 1));
  events[3].timeout->group = "7(tp)";
  EXPECT_EQ(RanksOf(events), std::vector<int32_t>());
  for (JobEvent& event : events) event.timeout->group.clear();
  EXPECT_EQ(RanksOf(events), std::vector<int32_t>());
}

}  // namespace
}  // namespace borescope::internal
