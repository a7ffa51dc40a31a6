// Which operation a rank is at where its dump does not hold it, and what other ranks show of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/postmortem/hang_analysis.h"
#include "borescope/postmortem/hang_report.h"
#include "borescope/table/string_values.h"
#include "borescope/table/table.h"

namespace borescope::internal {
namespace {

struct Recorded {
  int record = 0;
  std::string group;  // "d" and its members: "d01"
  int number = 1;
  bool is_done = false;
  std::string name = "all_reduce";
  bool is_p2p = false;
  bool is_begun = false;
};

// Groups of one size have one description, as those of one kind of parallelism have.
FlightDump DumpOf(std::string_view groups, const std::vector<Recorded>& entries,
                  std::string_view status = "") {
  std::string config;
  std::string list;
  const auto members = [](std::string_view group) {
    std::string text;
    for (const char digit : group.substr(1)) {
      text += (text.empty() ? "" : ", ") + std::string(1, digit);
    }
    return text;
  };
  while (!groups.empty()) {
    const std::string_view group = groups.substr(0, groups.find(' '));
    groups.remove_prefix(std::min(group.size() + 1, groups.size()));
    config +=
        fmt::format(R"({}"{}": {{"name": "{}", "desc": "of {}", "ranks": "[{}]"}})",
                    config.empty() ? "" : ", ", group, group, group.size() - 1, members(group));
  }
  for (const Recorded& entry : entries) {
    list += fmt::format(
        R"({}{{"record_id": {}, "pg_id": {}, "process_group": ["{}", "of {}"], "op_id": {},
            "collective_seq_id": {}, "p2p_seq_id": {}, "profiling_name": "nccl:{}", "state": "{}",
            "time_created_ns": {}, "time_discovered_started_ns": {}, "is_p2p": {},
            "timeout_ms": 1000}})",
        list.empty() ? "" : ", ", entry.record, entry.group.size() - 1, entry.group,
        entry.group.size() - 1, entry.record, entry.is_p2p ? 0 : entry.number,
        entry.is_p2p ? entry.number : 0, entry.name, entry.is_done ? "completed" : "scheduled",
        1'000'000 + entry.record, entry.is_begun ? "1000001" : "null",
        entry.is_p2p ? "true" : "false");
  }
  const std::string text = fmt::format(
      R"({{"version": "2.10", "pg_config": {{{}}}, "pg_status": {{{}}}, "entries": [{}]}})", config,
      status, list);
  Result<FlightDump> dump = ReadFlightDump(*OpenMemory(text));
  EXPECT_TRUE(dump.ok()) << dump.error().Sentence();
  return std::move(*dump);
}

std::string Status(int pg_id, int enqueued, int completed) {
  return fmt::format(
      R"("{}": {{"last_enqueued_collective": {}, "last_started_collective": -1,
          "last_completed_collective": {}}})",
      pg_id, enqueued, completed);
}

// "2 never-issued certain" of each culprit that is primary; `absent` ranks left no dump.
std::string Named(const std::vector<FlightDump>& dumps, int absent = -1) {
  std::vector<RankDump> ranks;
  for (size_t i = 0; i < dumps.size(); ++i) {
    if (static_cast<int>(i) != absent) {
      ranks.push_back({static_cast<int32_t>(i), &dumps[i], 0});
    }
  }
  std::string text;
  for (const HangCulprit& culprit : AnalyseHang(BuildHangModel(ranks, 0, 1), 1).culprits) {
    if (culprit.is_primary) {
      text += fmt::format("{}{} {} {}", text.empty() ? "" : "; ", culprit.rank,
                          HangKindName(culprit.kind), CertaintyName(culprit.certainty));
    }
  }
  return text;
}

Recorded Transfer(int record, std::string group, int number, std::string name) {
  return {.record = record,
          .group = std::move(group),
          .number = number,
          .name = std::move(name),
          .is_p2p = true};
}

// 0 sends to 2 and 1 to 3, of one program each. 2 waits for a send that its dump of outstanding
// operations cannot show; 3 has received the same, and 1 is no further than 0.
TEST(HangHeads, APairThatRunsTheSameProgramShowsThatATransferIsDone) {
  const auto first = [](std::string_view groups) {
    return DumpOf(groups, {{.record = 9, .group = "d0123", .number = 2}});
  };
  const auto second = [](std::string_view groups, std::vector<Recorded> entries) {
    entries.push_back({.record = 9, .group = "d0123", .number = 2});
    return DumpOf(groups, entries);
  };
  const std::vector<FlightDump> dumps = [&] {
    std::vector<FlightDump> made;
    made.push_back(first("d02 d0123"));
    made.push_back(first("d13 d0123"));
    made.push_back(second("d02 d0123", {Transfer(8, "d02", 5, "recv 1<-0")}));
    made.push_back(second("d13 d0123", {}));
    return made;
  }();
  EXPECT_EQ(Named(dumps), "2 device-stuck likely");
}

// The launch of 1 receives from 0, which is through, and sends to 2, which is there as well.
TEST(HangHeads, OfALaunchThePartAtWhichBothEndsStandIsStuck) {
  const auto dumps = [](bool is_timed) {
    std::vector<FlightDump> made;
    made.push_back(DumpOf("d012 d01 d12", {{.record = 20, .group = "d012", .number = 2}}));
    std::vector<Recorded> launch = {Transfer(10, "d12", 3, "send 0->1"),
                                    Transfer(11, "d12", 3, "coalesced"),
                                    {.record = 12, .group = "d012", .number = 2}};
    std::vector<Recorded> recv = {Transfer(10, "d12", 3, "recv 1<-0"),
                                  Transfer(11, "d12", 3, "coalesced"),
                                  {.record = 12, .group = "d012", .number = 2}};
    launch[0].is_begun = launch[1].is_begun = is_timed;
    made.push_back(DumpOf("d012 d01 d12", launch));
    made.push_back(DumpOf("d012 d01 d12", recv));
    return made;
  };
  EXPECT_EQ(Named(dumps(false)), "1 not-finished cannot tell; 2 not-finished cannot tell");
  EXPECT_EQ(Named(dumps(true)), "2 not-started likely");
}

// Rank 2 left no dump. It took part in the all_gather that all others issued after the all_reduce,
// and so issued the all_reduce as well.
TEST(HangHeads, WhoTookPartInALaterOperationIssuedTheEarlierOne) {
  const auto made = [](bool is_later) {
    std::vector<FlightDump> dumps;
    for (int rank = 0; rank < 3; ++rank) {
      const int of_other = is_later ? 5 : 3;
      std::vector<Recorded> entries = {{.record = 4, .group = "d012", .number = 2},
                                       {.record = of_other,
                                        .group = "d0123",
                                        .number = 7,
                                        .is_done = true,
                                        .name = "all_gather"}};
      if (!is_later) std::swap(entries[0], entries[1]);
      dumps.push_back(DumpOf("d012 d0123", entries));
    }
    return dumps;
  };
  EXPECT_EQ(Named(made(true), 2),
            "0 not-finished cannot tell; 1 not-finished cannot tell; 2 not-finished cannot tell");
  EXPECT_EQ(Named(made(false), 2), "2 no-dump likely");
}

// The ring of rank 1 is full of later operations; its latest number shows that it lacks some of
// another group, of which nobody has an entry. It is no culprit beside one of which all is known.
TEST(HangHeads, WhoseOldestOperationLeftItsRingIsNoCulpritBesideAnother) {
  std::vector<FlightDump> dumps;
  const Recorded done = {.record = 0, .group = "d0123", .number = 1, .is_done = true};
  dumps.push_back(DumpOf("d0123", {done}));
  const std::vector<Recorded> entries = {{.record = 40, .group = "d12", .number = 9},
                                         {.record = 41, .group = "d0123", .number = 2}};
  const auto ring = [&](int of_another) {
    return DumpOf("d0123 d12", entries,
                  Status(2, 9, 8) + ", " + Status(4, 2, 1) + ", " + Status(9, of_another, 4));
  };
  const FlightDump waits = DumpOf("d0123", {done, {.record = 1, .group = "d0123", .number = 2}});
  EXPECT_EQ(Named({dumps[0], ring(5), ring(5), waits}), "0 never-issued certain");
  // Where nothing is lacking, both are.
  EXPECT_EQ(Named({dumps[0], ring(4), ring(4), waits}),
            "0 never-issued certain; 1 not-finished cannot tell; 2 not-finished cannot tell");
}

// What is left out of a dump of outstanding operations may be the newest of all: the latest number
// of the group is more than what another rank's records suggest.
TEST(HangHeads, TheLatestNumberIsMoreThanTheRecordsOfAnotherRank) {
  std::vector<FlightDump> dumps;
  dumps.push_back(DumpOf(
      "d01 d012",
      {{.record = 8, .group = "d012", .number = 4}, {.record = 9, .group = "d01", .number = 5}},
      Status(2, 5, 4)));
  dumps.push_back(
      DumpOf("d01 d012", {{.record = 8, .group = "d012", .number = 4}}, Status(2, 5, 5)));
  dumps.push_back(DumpOf("d012", {{.record = 8, .group = "d012", .number = 4}}));
  const std::vector<RankDump> ranks = {{0, dumps.data(), 0}, {1, &dumps[1], 0}, {2, &dumps[2], 0}};
  const HangModel model = BuildHangModel(ranks, 0, 1);
  uint32_t of_two = 0;
  while (model.groups[of_two].members.size() != 2) ++of_two;
  const Where where = WhereIs(model, 1, {.group = of_two, .number = 5});
  EXPECT_EQ(where.state, WhereState::kDone);
  EXPECT_EQ(where.basis, WhereBasis::kStatus);
}

TEST(HangHeads, BothSidesOfATieAreShown) {
  std::vector<FlightDump> dumps;
  dumps.push_back(DumpOf("d01", {{.record = 0, .group = "d01", .name = "broadcast"}}));
  dumps.push_back(DumpOf("d01", {{.record = 0, .group = "d01", .name = "all_gather"}}));
  const std::vector<RankDump> ranks = {{0, dumps.data(), 0}, {1, &dumps[1], 0}};
  const HangModel model = BuildHangModel(ranks, 0, 1);
  const SourceFindings found = ReportHang(model, AnalyseHang(model, 1), LineFinder());
  std::string operations;
  for (const Table& table : found.tables) {
    const Column* const column = table.name == "hang_culprits" ? table.Find("operation") : nullptr;
    for (size_t row = 0; column != nullptr && row < table.rows(); ++row) {
      operations += fmt::format("{}; ", std::get<StringValues>(column->values)[row]);
    }
  }
  EXPECT_EQ(operations, "broadcast / all_gather; all_gather / broadcast; ");
}

}  // namespace
}  // namespace borescope::internal
