#include "borescope/postmortem/hang_analysis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/postmortem/hang_attempts.h"
#include "borescope/postmortem/hang_report.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kDone = "completed";
constexpr std::string_view kOpen = "scheduled";

// An entry of a dump in JSON. Groups are named by their members: "01" has ranks 0 and 1.
struct Entry {
  std::string group;
  int number = 1;
  std::string_view state = kOpen;
  std::string name = "all_reduce";
  int record = -1;  // the next one
  int elements = 16;
  bool is_p2p = false;
  int64_t finished = 0;
  std::string_view type = "Float";
  int outputs = -1;     // elements; -1: as many
  int64_t created = 0;  // 0: by the record
};

std::string RanksOf(const std::string& group) {
  std::string ranks;
  for (const char digit : group) {
    ranks += (ranks.empty() ? "" : ", ") + std::string(1, digit);
  }
  return "[" + ranks + "]";
}

FlightDump Read(const std::string& text) {
  Result<FlightDump> dump = ReadFlightDump(*OpenMemory(text));
  EXPECT_TRUE(dump.ok()) << dump.error().Sentence();
  return std::move(*dump);
}

FlightDump Dump(const std::vector<std::string>& groups, const std::vector<Entry>& entries,
                const std::string& status = "") {
  std::string config;
  for (const std::string& group : groups) {
    config += fmt::format(R"({}"{}": {{"name": "{}", "desc": "d{}", "ranks": "{}"}})",
                          config.empty() ? "" : ", ", group, group, group, RanksOf(group));
  }
  std::string list;
  int record = 0;
  for (const Entry& entry : entries) {
    record = entry.record >= 0 ? entry.record : record;
    list += fmt::format(
        R"({}{{"record_id": {}, "pg_id": {}, "process_group": ["{}", "d{}"], "collective_seq_id": {},
            "p2p_seq_id": {}, "profiling_name": "nccl:{}", "time_created_ns": {}, "state": "{}",
            "input_sizes": [[{}]], "input_dtypes": ["{}"], "output_sizes": [[{}]],
            "output_dtypes": ["{}"], "is_p2p": {}, "timeout_ms": 1000,
            "time_discovered_completed_ns": {}}})",
        list.empty() ? "" : ", ", record, entry.group.size(), entry.group, entry.group,
        entry.is_p2p ? 0 : entry.number, entry.is_p2p ? entry.number : 0, entry.name,
        entry.created != 0 ? entry.created : 1'000'000 + record, entry.state, entry.elements,
        entry.type, entry.outputs < 0 ? entry.elements : entry.outputs, entry.type,
        entry.is_p2p ? "true" : "false", entry.finished);
    ++record;
  }
  const std::string text = fmt::format(
      R"({{"version": "2.10", "pg_config": {{{}}}, {}"entries": [{}]}})", config, status, list);
  return Read(text);
}

// A dump of gloo, which lists but the members of the newest group: of all_gathers or barriers, of
// which the last one is outstanding unless `is_done`.
FlightDump GlooDump(int gathered, bool is_done, std::string_view members = "[0, 1]") {
  std::string list;
  for (int number = 1; number <= 2; ++number) {
    list += fmt::format(
        R"({}{{"record_id": {}, "pg_id": 0, "process_group": ["0", "default_pg"],
            "collective_seq_id": {}, "profiling_name": "gloo:{}", "time_created_ns": {},
            "state": "scheduled", "input_sizes": [[4]], "output_sizes": [[{}]],
            "is_p2p": false, "retired": {}}})",
        list.empty() ? "" : ", ", number - 1, number, gathered > 0 ? "all_gather" : "barrier",
        1'000'000 + number, 4 * gathered, number == 1 || is_done ? "true" : "false");
  }
  const std::string text = fmt::format(
      R"({{"version": "2.10", "pg_config": {{"": {{"ranks": "{}"}}}}, "entries": [{}]}})", members,
      list);
  Result<FlightDump> dump = ReadFlightDump(*OpenMemory(text));
  EXPECT_TRUE(dump.ok()) << dump.error().Sentence();
  return std::move(*dump);
}

HangResult Analysed(std::initializer_list<FlightDump> dumps, int32_t world = 0,
                    int64_t modified_ns = 0) {
  std::vector<RankDump> ranks;
  ranks.reserve(dumps.size());
  for (size_t i = 0; i < dumps.size(); ++i) {
    ranks.push_back({static_cast<int32_t>(i), dumps.begin() + i, modified_ns});
  }
  return AnalyseHang(BuildModelOfOneAttempt(ranks, world, 1), 1);
}

// "2 never-issued certain", one culprit after the other.
std::string Culprits(std::initializer_list<FlightDump> dumps, int32_t world = 0) {
  std::string text;
  for (const HangCulprit& culprit : Analysed(dumps, world).culprits) {
    text += fmt::format("{}{} {} {}{}", text.empty() ? "" : "; ", culprit.rank,
                        HangKindName(culprit.kind), CertaintyName(culprit.certainty),
                        culprit.is_primary ? "" : " with");
  }
  return text;
}

TEST(HangAnalysisTest, AHostThatDidNotCome) {
  const std::vector<Entry> waits = {{"012", 1, kDone}, {"012", 2}};
  EXPECT_EQ(
      Culprits({Dump({"012"}, waits), Dump({"012"}, waits), Dump({"012"}, {{"012", 1, kDone}})}),
      "2 never-issued certain");
}

TEST(HangAnalysisTest, AChainLeadsToItsEnd) {
  // 0 waits for 1 in their group, and 1 for 2 in another.
  EXPECT_EQ(Culprits({Dump({"01"}, {{"01", 1}}), Dump({"01", "12"}, {{"12", 1}, {"01", 1}}),
                      Dump({"12"}, {{"12", 0, kDone}})}),
            "2 never-issued certain");
}

TEST(HangAnalysisTest, ADeviceThatStopped) {
  EXPECT_EQ(Culprits({Dump({"01"}, {{"01", 1, kDone}, {"01", 2}}), Dump({"01"}, {{"01", 1}})}),
            "1 device-stuck certain");
  EXPECT_EQ(Culprits({Dump({"01"}, {{"01", 1, kDone, "broadcast"}, {"01", 2, kOpen, "broadcast"}}),
                      Dump({"01"}, {{"01", 1, kOpen, "broadcast"}})}),
            "1 device-stuck likely");
}

TEST(HangAnalysisTest, NobodyFinished) {
  EXPECT_EQ(Culprits({Dump({"01"}, {{"01", 1}}), Dump({"01"}, {{"01", 1}})}),
            "0 not-finished cannot tell; 1 not-finished cannot tell");
  // An end at the timeout is the end of the communicator, not of the operation.
  const Entry aborted = {"01", 1, kDone, "all_reduce", -1, 16, false, 1'000'000 + 1'000'000'000};
  EXPECT_EQ(Culprits({Dump({"01"}, {aborted}), Dump({"01"}, {aborted})}),
            "0 not-finished cannot tell; 1 not-finished cannot tell");
}

TEST(HangAnalysisTest, Differences) {
  const FlightDump others = Dump({"012"}, {{"012", 1}});
  const auto with = [&](const Entry& entry) {
    return Culprits(
        {Dump({"012"}, {{"012", 1}}), Dump({"012"}, {entry}), Dump({"012"}, {{"012", 1}})});
  };
  EXPECT_EQ(with({"012", 1, kOpen, "barrier"}), "1 mismatch-operation certain");
  EXPECT_EQ(with({"012", 1, kOpen, "all_reduce", -1, 17}), "1 mismatch-size-or-type certain");
  // Two names of one operation are one.
  EXPECT_EQ(with({"012", 1, kOpen, "allreduce"}),
            "0 not-finished cannot tell; 1 not-finished cannot tell; 2 not-finished cannot tell");
  EXPECT_EQ(Culprits({Dump({"01"}, {{"01", 1}}), Dump({"01"}, {{"01", 1, kOpen, "barrier"}})}),
            "0 mismatch-operation cannot tell; 1 mismatch-operation cannot tell");
}

TEST(HangAnalysisTest, RanksThatWaitForEachOther) {
  EXPECT_EQ(Culprits({Dump({"01", "012"}, {{"012", 1}, {"01", 1}}),
                      Dump({"01", "012"}, {{"01", 1}, {"012", 1}}), Dump({"012"}, {{"012", 1}})}),
            "1 order likely; 0 order likely with; 2 order likely with");
}

TEST(HangAnalysisTest, ARankWithoutADump) {
  EXPECT_EQ(Culprits({Dump({"012"}, {{"012", 1}}), Dump({"012"}, {{"012", 1}})}),
            "2 no-dump likely");
  // With another culprit it is a suspect alone.
  EXPECT_EQ(Culprits({Dump({"01", "012"}, {{"012", 1}}), Dump({"01", "012"}, {})}),
            "1 never-issued likely; 2 no-dump cannot tell with");
}

TEST(HangAnalysisTest, WhatOthersFinishedARankWithoutADumpBegan) {
  const auto finished = [](std::string_view name) {
    return Dump({"012"}, {{"012", 1, kDone, std::string(name)}});
  };
  const auto stands = [](std::string_view name) {
    return Dump({"012"}, {{"012", 1, kOpen, std::string(name)}});
  };
  EXPECT_EQ(Culprits({finished("all_reduce"), stands("all_reduce")}),
            "1 device-stuck likely; 2 no-dump cannot tell with");
  // A broadcast ends on some members before others come.
  EXPECT_EQ(Culprits({finished("broadcast"), stands("broadcast")}), "2 no-dump likely");
}

// The latest numbers of groups say at what a rank is that its ring lost.
TEST(HangAnalysisTest, WhatLeftTheRingIsWhereTheLatestNumbersSay) {
  const auto status = [](int completed) {
    return fmt::format(
        R"("pg_status": {{"2": {{"last_enqueued_collective": 8, "last_completed_collective": {}}},
                          "3": {{"last_enqueued_collective": 3, "last_completed_collective": 2}}}}, )",
        completed);
  };
  const FlightDump first =
      Dump({"01", "012"}, {{"012", 3, kOpen, "all_reduce", 10}, {"01", 7}, {"01", 8}}, status(5));
  const auto second = [&](int completed) {
    return Dump({"01", "012"}, {{"01", 7, kOpen, "all_reduce", 10}, {"01", 8}, {"012", 3}},
                status(completed));
  };
  const FlightDump third = Dump({"012"}, {{"012", 2, kDone}, {"012", 3}});
  EXPECT_EQ(Culprits({first, second(5), third}),
            "0 not-finished cannot tell; 1 not-finished cannot tell");
  // Another one finished that operation: its own device stopped there.
  EXPECT_EQ(Culprits({first, second(6), third}), "0 device-stuck likely");
}

TEST(HangAnalysisTest, WhoSkippedAnOperationThatLeftTheRings) {
  const auto ring = [](int first, std::string_view names) {
    std::vector<Entry> entries;
    for (const char name : names) {
      entries.push_back({"012", first, kOpen, name == 'g' ? "all_gather" : "reduce_scatter",
                         entries.empty() ? 20 : -1});
      ++first;
    }
    return Dump({"012"}, entries,
                fmt::format(R"("pg_status": {{"3": {{"last_enqueued_collective": {},
                                "last_completed_collective": 4}}}}, )",
                            first - 1));
  };
  // The tenth is equal by chance.
  EXPECT_EQ(Culprits({ring(10, "rrgrrg"), ring(10, "rrgrrg"), ring(9, "rrgrrg")}),
            "2 mismatch-operation likely");
  EXPECT_EQ(Culprits({ring(10, "rrgrrg"), ring(10, "rrgrrg"), ring(10, "rrgrr")}),
            "0 not-finished cannot tell; 1 not-finished cannot tell; 2 not-finished cannot tell");
}

TEST(HangAnalysisTest, ATransferThatItsOtherEndFinished) {
  const auto transfer = [](int number, std::string_view state, std::string name) {
    return Entry{
        .group = "01", .number = number, .state = state, .name = std::move(name), .is_p2p = true};
  };
  // All records are there: the second of two.
  EXPECT_EQ(
      Culprits(
          {Dump({"01", "012"},
                {transfer(1, kDone, "send 0->1"), transfer(2, kDone, "send 0->1"), {"012", 1}}),
           Dump({"01", "012"},
                {transfer(1, kDone, "recv 1<-0"), transfer(2, kOpen, "recv 1<-0"), {"012", 1}}),
           Dump({"012"}, {{"012", 1}})}),
      "1 device-stuck likely");
  // What was finished was left out: all that waits where it came from waits for its target.
  EXPECT_EQ(Culprits({Dump({"01", "012"}, {{"012", 1, kOpen, "all_reduce", 7}}),
                      Dump({"01", "012"}, {transfer(2, kOpen, "recv 1<-0"), {"012", 1}}),
                      Dump({"012"}, {{"012", 1}})}),
            "1 device-stuck likely");
  // Both rings begin later, but before the first transfer of the group: it is the second, too, also
  // where the job waits for another rank besides.
  EXPECT_EQ(Culprits({Dump({"01", "012"}, {{"012", 1, kDone, "all_reduce", 5},
                                           transfer(1, kDone, "send 0->1"),
                                           transfer(2, kDone, "send 0->1"),
                                           {"012", 2}}),
                      Dump({"01", "012"}, {{"012", 1, kDone, "all_reduce", 5},
                                           transfer(1, kDone, "recv 1<-0"),
                                           transfer(2, kOpen, "recv 1<-0"),
                                           {"012", 2}}),
                      Dump({"012"}, {{"012", 1, kDone}})}),
            "2 never-issued certain; 1 device-stuck likely");
  // Each receives first.
  EXPECT_EQ(Culprits({Dump({"01"}, {transfer(1, kOpen, "recv 0<-1")}),
                      Dump({"01"}, {transfer(1, kOpen, "recv 1<-0")})}),
            "1 order likely; 0 order likely");
}

// The ring begins with the end of a launch, of which nobody knows with whom it was.
TEST(HangAnalysisTest, ALaunchOfWhichTheBeginIsLostBlamesNobody) {
  const Entry closing = {.group = "01",
                         .number = 4,
                         .state = kOpen,
                         .name = "coalesced",
                         .record = 12,
                         .is_p2p = true};
  EXPECT_EQ(Culprits({Dump({"01", "012"}, {closing, {"012", 2}}),
                      Dump({"01", "012"}, {{"012", 1, kDone, "all_reduce", 9}}),
                      Dump({"012"}, {{"012", 1, kDone}, {"012", 2}})}),
            "1 never-issued certain");
}

// A few bytes name as many ranks as they like.
TEST(HangAnalysisTest, ALargeRankCostsNoRowForEachBelowIt) {
  const auto dump = [](int64_t largest) {
    const std::string text = fmt::format(
        R"({{"version": "2.10", "pg_config": {{"0": {{"name": "0", "desc": "default_pg", "ranks": "[0, {}]"}}}},
            "entries": [{{"record_id": 0, "pg_id": 0, "process_group": ["0", "default_pg"],
            "collective_seq_id": 1, "profiling_name": "nccl:barrier", "time_created_ns": 1,
            "state": "scheduled"}}]}})",
        largest);
    return std::move(*ReadFlightDump(*OpenMemory(text)));
  };
  const FlightDump large = dump(FlightDump::kMostRanks - 1);
  const std::vector<RankDump> ranks = {{0, &large, 0}};
  const HangModel model = BuildHangModel(ranks, 0, 1);
  EXPECT_EQ(model.world, FlightDump::kMostRanks);
  const SourceFindings found = ReportHang(model, AnalyseHang(model, 1), LineFinder());
  for (const Table& table : found.tables) {
    EXPECT_LE(table.rows(), 2U) << table.name;
  }
  EXPECT_EQ(dump(FlightDump::kMostRanks).bad_fields, 1U);
}

TEST(HangAnalysisTest, DumpsOfOneStoreAreThoseOfTheirOwn) {
  const auto text = [](int rank) {
    return fmt::format(
        R"({{"version": "2.10", "pg_config": {{"a": {{"name": "a", "desc": "b", "ranks": "[0, 1, 2]"}}}},
            "entries": [{{"record_id": {}, "process_group": ["a", "b"], "collective_seq_id": 1,
            "profiling_name": "nccl:all_reduce", "state": "completed",
            "input_sizes": [[4, 8], [2], []], "output_sizes": [[0, 9]], "input_dtypes": ["Float"],
            "frames": [{{"name": "f", "filename": "/app/train.py", "line": 3}}]}}]}})",
        rank);
  };
  const auto store = std::make_shared<FlightStore>();
  const Result<FlightDump> first = ReadFlightDump(*OpenMemory(text(1)), store);
  const size_t texts = store->values.texts();
  const size_t containers = store->values.containers();
  const Result<FlightDump> second = ReadFlightDump(*OpenMemory(text(2)), store);
  const Result<FlightDump> alone = ReadFlightDump(*OpenMemory(text(2)));
  ASSERT_TRUE(first.ok() && second.ok() && alone.ok());
  EXPECT_EQ(store->values.texts(), texts);
  EXPECT_LE(store->values.containers(), containers + 2);
  for (const FlightDump* const dump : {&*second, &*alone}) {
    const FlightEntry& entry = dump->entries.at(0);
    EXPECT_EQ(entry.record_id, 2);
    EXPECT_EQ(dump->Name(entry), "nccl:all_reduce");
    EXPECT_EQ(ElementsOf(*dump, entry.input_sizes), 4 * 8 + 2 + 1);
    EXPECT_EQ(ElementsOf(*dump, entry.output_sizes), 0);
    EXPECT_EQ(dump->Texts(entry.input_types), std::vector<std::string_view>{"Float"});
    EXPECT_EQ(dump->Frames(entry).at(0).line, 3);
    EXPECT_EQ(dump->groups.at(0).ranks.size(), 3U);
    EXPECT_EQ(dump->named_groups.at(0).description, "b");
  }
  EXPECT_EQ(first->groups[0].ranks.data(), second->groups[0].ranks.data());
}

TEST(HangAnalysisTest, ADumpThatEndsInTheMiddleIsUnknownFromThere) {
  const std::vector<Entry> waits = {{"012", 1, kDone}, {"012", 2}};
  const auto waiting = [&] { return Dump({"012"}, waits); };
  const auto idle = [] { return Dump({"012"}, {{"012", 1, kDone}}); };
  const auto cut = [](FlightDump dump) {
    dump.is_cut = true;
    return dump;
  };
  EXPECT_EQ(Culprits({waiting(), cut(idle()), idle()}), "2 never-issued likely");
  EXPECT_EQ(Culprits({waiting(), waiting(), cut(idle())}), "2 no-dump cannot tell");
  // What it holds counts: it came to the operation, and all wait for the third.
  EXPECT_EQ(Culprits({waiting(), cut(waiting()), idle()}), "2 never-issued likely");
  EXPECT_FALSE(Analysed({cut(idle()), cut(idle()), cut(idle())}).is_anything_outstanding);
}

TEST(HangAnalysisTest, OneDumpOfManyNamesNobody) {
  EXPECT_EQ(Culprits({Dump({"012"}, {{"012", 1}})}), "");
  EXPECT_TRUE(Analysed({Dump({"012"}, {{"012", 1}})}).is_too_few);
  EXPECT_FALSE(Analysed({Dump({"01"}, {{"01", 1}})}).is_too_few);
}

TEST(HangAnalysisTest, HowManyRanksThereAreWithGloo) {
  const auto dump = [](int gathered, bool is_done) { return GlooDump(gathered, is_done); };
  // An all_gather of four inputs: three dumps of four.
  EXPECT_EQ(Culprits({dump(4, false), dump(4, false), dump(4, false)}), "3 no-dump likely");
  EXPECT_TRUE(Analysed({dump(4, false)}).is_too_few);
  // Nothing says whether there are more than two.
  EXPECT_TRUE(Analysed({dump(0, false)}).is_too_few);
  EXPECT_TRUE(Analysed({dump(0, false), dump(0, false)}).is_too_few);
  EXPECT_EQ(Culprits({dump(0, false), dump(0, false)}, 2),
            "0 not-finished cannot tell; 1 not-finished cannot tell");
  EXPECT_EQ(Culprits({dump(0, false), dump(0, false)}, 3), "2 no-dump likely");
}

TEST(HangAnalysisTest, TimesOfFilesAreNoProof) {
  constexpr int64_t kDay = 86'400'000'000'000;
  const std::initializer_list<FlightDump> dumps = {Dump({"01"}, {{"01", 1, kDone}, {"01", 2}}),
                                                   Dump({"01"}, {{"01", 1, kDone}})};
  const auto shown = [&](int64_t after) {
    const HangResult result = Analysed(dumps, 0, 1'000'001 + after);
    return result.culprits.empty() ? "" : HangShownName(result.culprits.front().shown);
  };
  EXPECT_EQ(shown(400'000'000), "");  // as in a running job: the timeout is a second
  EXPECT_EQ(shown(kDay / 2), "assumed");
  EXPECT_EQ(shown(2 * kDay), "assumed");
  // What the watchdog ended had waited until then.
  const Entry aborted = {"01", 2, kDone, "all_reduce", -1, 16, false, 1'000'001 + 1'000'000'000};
  const HangResult result = Analysed(
      {Dump({"01"}, {{"01", 1, kDone}, aborted}), Dump({"01"}, {{"01", 1, kDone}})}, 0, kDay);
  ASSERT_EQ(result.culprits.size(), 1U);
  EXPECT_EQ(result.culprits.front().shown, HangShown::kShown);
  EXPECT_EQ(result.culprits.front().waited_ns, 1'000'000'000);
}

TEST(HangAnalysisTest, NumbersTellOfDumpsWithoutEntries) {
  const std::string completed =
      R"("pg_status": {"2": {"last_enqueued_collective": "7", "last_started_collective": "-1",
                             "last_completed_collective": "7"}}, )";
  const FlightDump empty = Dump({"01"}, {}, completed);
  EXPECT_EQ(Culprits({Dump({"01"}, {{"01", 8, kOpen, "all_reduce", 70}}, completed),
                      Dump({"01"}, {}, completed)}),
            "1 never-issued certain");
  EXPECT_EQ(Culprits({Dump({"01"}, {{"01", 7, kOpen, "all_reduce", 70}}, completed),
                      Dump({"01"}, {}, completed)}),
            "0 device-stuck certain");
}

TEST(HangAnalysisTest, LaunchesOfSeveralTransfers) {
  const Entry closing = {"01", 1, kOpen, "coalesced", -1, 0, true};
  const Entry closed = {"01", 1, kDone, "coalesced", -1, 0, true};
  const Entry send = {"01", 1, kOpen, "send 0->1", -1, 16, true};
  const Entry recv = {"01", 1, kOpen, "recv 1<-0", -1, 16, true};
  // Both issued it, in launches that did not end.
  EXPECT_EQ(Culprits({Dump({"01"}, {send, closing}), Dump({"01"}, {recv, closing})}),
            "0 not-finished cannot tell; 1 not-finished cannot tell");
  // The state of single entries never changes: that of the last one counts.
  EXPECT_EQ(Culprits({Dump({"01"}, {send, closed}), Dump({"01"}, {recv, closed})}), "");
  // The receiver did not come.
  EXPECT_EQ(Culprits({Dump({"01"}, {send, closing}), Dump({"01"}, {{"01", 1, kDone}})}),
            "1 never-issued likely");
}

TEST(HangAnalysisTest, NumbersThatFallBeginAgain) {
  const std::vector<Entry> again = {{"01", 5, kOpen}, {"01", 1, kDone}, {"01", 2, kOpen}};
  EXPECT_EQ(Culprits({Dump({"01"}, again), Dump({"01"}, {{"01", 1, kDone}})}),
            "1 never-issued certain");
}

TEST(HangAnalysisTest, NamesOfGroupsAreNumbersFirst) {
  EXPECT_TRUE(IsGroupNameBefore("2", "10"));
  EXPECT_TRUE(IsGroupNameBefore("10", "a"));
  EXPECT_FALSE(IsGroupNameBefore("b", "a"));
}

TEST(FlightDumpTest, OddFieldsAreCounted) {
  const std::string text =
      R"({"version": 7, "pg_config": {"0": {"desc": "d", "ranks": [1, 0, "x", -4]}},
          "entries": [{"record_id": "4", "profiling_name": "nccl:all_reduce", "state": "asleep",
                       "collective_seq_id": 99999999999, "timeout_ms": [], "frames": 3},
                      {"profiling_name": "nccl:send 0->1", "state": "scheduled", "p2p_seq_id": 1},
                      {"state": "scheduled"}]})";
  const Result<FlightDump> dump = ReadFlightDump(*OpenMemory(text));
  ASSERT_TRUE(dump.ok());
  // The first has neither a state nor a number that can be; the last has no name.
  ASSERT_EQ(dump->entries.size(), 1U);
  EXPECT_TRUE(dump->entries[0].is_p2p);
  EXPECT_EQ(dump->lost_entries, 2U) << "one of them because nothing names its group";
  EXPECT_EQ(dump->lost_outstanding, 2U);
  const std::span<const int32_t> listed = dump->groups.front().ranks;
  EXPECT_EQ(std::vector<int32_t>(listed.begin(), listed.end()), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(dump->bad_fields, 4U);
  EXPECT_FALSE(IsKnownFlightVersion(dump->version));
  EXPECT_TRUE(IsKnownFlightVersion("2.10"));
  EXPECT_TRUE(IsKnownFlightVersion("1.1"));
  EXPECT_FALSE(IsKnownFlightVersion("2.11"));
  EXPECT_FALSE(IsKnownFlightVersion("3.0"));
  EXPECT_FALSE(ReadFlightDump(*OpenMemory("[]")).ok());
  EXPECT_FALSE(ReadFlightDump(*OpenMemory("{}")).ok());
  EXPECT_FALSE(ReadFlightDump(*OpenMemory("")).ok());
}

// The entries of a dump of which one field is changed, and how many fields are bad.
FlightDump WithField(std::string_view field) {
  return Read(fmt::format(
      R"({{"version": "2.10", "entries": [{{"record_id": 0, "pg_id": 0,
          "process_group": ["0", "default_pg"], "collective_seq_id": 1,
          "profiling_name": "nccl:all_reduce", "state": "completed", {}}}]}})",
      field));
}

TEST(FlightDumpTest, ValuesThatAFieldCannotHaveAreCounted) {
  EXPECT_EQ(WithField(R"("time_created_ns": 5)").bad_fields, 0U);
  for (const std::string_view field :
       {R"("time_created_ns": -7)", R"("time_created_ns": "5")", R"("timeout_ms": -1)",
        R"("input_sizes": [[-5, 2]])", R"("output_sizes": [["x"]])", R"("record_id": -1)",
        R"("p2p_seq_id": 3000000011)", R"("duration_ms": 1, "time_discovered_completed_ns": [])"}) {
    EXPECT_EQ(WithField(field).bad_fields, 1U) << field;
    EXPECT_EQ(WithField(field).entries.size(), 1U) << field;
  }
  EXPECT_EQ(WithField(R"("time_created_ns": "5")").entries[0].created_ns, 5);
  // A year: whoever means never says so.
  const FlightDump patient = WithField(R"("timeout_ms": 31536000000)");
  EXPECT_EQ(patient.bad_fields, 0U);
  EXPECT_EQ(patient.entries[0].timeout_ms, INT32_MAX);
  // What a list has that is read again counts again, whoever read it first.
  const auto store = std::make_shared<FlightStore>();
  const std::string text =
      R"({"entries": [{"profiling_name": "a", "state": "completed", "seq_id": 1,
                       "input_sizes": [[-5], [3, -1]]}]})";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ReadFlightDump(*OpenMemory(text), store)->bad_fields, 2U);
  }
}

TEST(FlightDumpTest, AnEntryWithoutANumberIsLost) {
  for (const std::string_view number : {"null", R"("eleven")", "3000000011", "-1", "[]"}) {
    const FlightDump dump = WithField(fmt::format(R"("collective_seq_id": {})", number));
    EXPECT_EQ(dump.entries.size(), 0U) << number;
    EXPECT_EQ(dump.lost_entries, 1U) << number;
    EXPECT_EQ(dump.bad_fields, 1U) << number;
    EXPECT_EQ(dump.lost_outstanding, 0U) << number;
    EXPECT_TRUE(dump.IsWhole());
    const FlightDump open =
        WithField(fmt::format(R"("collective_seq_id": {}, "state": "started")", number));
    EXPECT_EQ(open.lost_outstanding, 1U) << number;
    EXPECT_FALSE(open.IsWhole());
  }
}

TEST(FlightDumpTest, GroupsOfEntriesThatDoNotNameThem) {
  const auto read = [](std::string_view config, std::string_view entries) {
    return Read(fmt::format(R"({{"version": "2.10", "pg_config": {{{}}}, "entries": [{}]}})",
                            config, entries));
  };
  const auto entry = [](int id, std::string_view group) {
    return fmt::format(
        R"({{"pg_id": {}, {}"profiling_name": "nccl:a", "state": "scheduled", "seq_id": 1}})", id,
        group);
  };
  const std::string named = entry(1, R"("process_group": ["5", "tp"], )");
  const FlightDump like = read("", named + ", " + entry(1, "") + ", " + entry(2, ""));
  ASSERT_EQ(like.entries.size(), 3U);
  EXPECT_EQ(like.entries[1].group, like.entries[0].group);
  EXPECT_EQ(like.entries[2].group, FlightEntry::kNothing);
  EXPECT_EQ(like.lost_outstanding, 1U);
  // The default group is made first.
  const FlightDump listed =
      read(R"("7": {"desc": "default_pg", "ranks": "[0, 1]"}, "8": {"desc": "tp", "ranks": "[0]"})",
           entry(0, "") + ", " + entry(1, ""));
  ASSERT_EQ(listed.named_groups.size(), 1U);
  EXPECT_EQ(listed.named_groups[0].name, "7");
  EXPECT_EQ(listed.lost_outstanding, 1U);
  const FlightDump none = read("", entry(0, "") + ", " + entry(3, ""));
  ASSERT_EQ(none.named_groups.size(), 2U);
  EXPECT_EQ(none.named_groups[0].description, "default_pg");
  EXPECT_EQ(none.named_groups[1].name, "3");
  EXPECT_EQ(none.lost_entries, 0U);
}

TEST(FlightDumpTest, NumbersHaveBounds) {
  const Result<FlightDump> dump = ReadFlightDump(*OpenMemory(
      R"({"version": "2.10",
          "pg_status": {"0": {"last_enqueued_collective": 9223372036854775807,
                              "last_started_collective": -9223372036854775807,
                              "last_completed_collective": 3}},
          "entries": [{"record_id": -9223372036854775807, "profiling_name": "nccl:all_reduce",
                       "state": "scheduled", "collective_seq_id": 1}]})"));
  ASSERT_TRUE(dump.ok());
  EXPECT_EQ(dump->status.front().enqueued, int64_t{1} << 53);
  EXPECT_EQ(dump->status.front().started, -1);
  EXPECT_EQ(dump->status.front().completed, 3);
  EXPECT_EQ(dump->entries.front().record_id, 0);
}

TEST(HangAnalysisTest, AProcessHasOneDefaultGroup) {
  const Result<FlightDump> dump = ReadFlightDump(*OpenMemory(
      R"({"version": "2.10", "pg_config": {}, "entries": [
          {"record_id": 0, "process_group": ["0", "default_pg"], "profiling_name": "nccl:a",
           "state": "scheduled", "collective_seq_id": 1},
          {"record_id": 1, "process_group": ["1", "default_pg"], "profiling_name": "nccl:a",
           "state": "scheduled", "collective_seq_id": 1}]})"));
  ASSERT_TRUE(dump.ok());
  const HangModel model = BuildHangModel(std::vector<RankDump>{{0, &*dump, 0}}, 8, 1);
  ASSERT_EQ(model.groups.size(), 2U);
  EXPECT_EQ(model.groups[0].members.size(), 8U);
  EXPECT_EQ(model.groups[1].members.size(), 1U);
}

// ---- what others went through, and what another attempt left ----

// Dumps of four ranks, all of a group: `entries` of most, and those of one.
std::string CulpritsOfFour(const std::vector<Entry>& most, const std::vector<Entry>& second) {
  return Culprits(
      {Dump({"0123"}, most), Dump({"0123"}, second), Dump({"0123"}, most), Dump({"0123"}, most)});
}

TEST(HangAnalysisTest, NobodyHangsInADifferenceThatAllWentThrough) {
  const Entry half = {.group = "0123", .number = 1, .state = kDone, .type = "Half"};
  const std::vector<Entry> waits = {{"0123", 1, kDone}, {"0123", 2, kDone}, {"0123", 3}};
  EXPECT_EQ(
      Culprits({Dump({"0123"}, {half, {"0123", 2, kDone}, {"0123", 3}}), Dump({"0123"}, waits),
                Dump({"0123"}, {waits[0], waits[1]}), Dump({"0123"}, waits)}),
      "2 never-issued certain");
  // One of them is still in it.
  const std::vector<Entry> ended = {{"0123", 1, kDone}, {"0123", 2}};
  Entry open = half;
  open.state = kOpen;
  EXPECT_EQ(CulpritsOfFour(ended, {open}), "1 mismatch-size-or-type certain");
  // A later one is the cause, whatever differed before.
  const Entry cast = {"0123", 2, kOpen, "broadcast"};
  EXPECT_EQ(CulpritsOfFour(ended, {half, cast}), "1 mismatch-operation certain");
}

TEST(HangAnalysisTest, OneOperationLessIsTheCauseEvenIfItCompleted) {
  std::vector<Entry> most;
  std::vector<Entry> second;
  for (int number = 1; number <= 7; ++number) {
    most.push_back({"0123", number, number < 7 ? kDone : kOpen, "all_reduce", -1, 10 * number});
    if (number < 7) {  // it skipped the third
      second.push_back(
          {"0123", number, kDone, "all_reduce", -1, 10 * (number < 3 ? number : number + 1)});
    }
  }
  EXPECT_EQ(CulpritsOfFour(most, second), "1 mismatch-size-or-type certain");
}

// More differences than are kept, before the one that matters.
TEST(HangAnalysisTest, ManyDifferencesThatCompletedHideNone) {
  std::vector<Entry> most;
  std::vector<Entry> second;
  for (int number = 1; number <= 60; ++number) {
    most.push_back({"0123", number, number < 60 ? kDone : kOpen});
    second.push_back(most.back());
    if (number < 50) second.back().type = "Half";
  }
  second.back().name = "broadcast";
  EXPECT_EQ(CulpritsOfFour(most, second), "1 mismatch-operation certain");
  EXPECT_LE(Analysed({Dump({"0123"}, most), Dump({"0123"}, second), Dump({"0123"}, most),
                      Dump({"0123"}, most)})
                .mismatches.size(),
            kMostMismatches + 2);
}

// Lists of tensors of which each member has one of its own size.
TEST(HangAnalysisTest, UnevenShares) {
  const auto dumps = [](std::string_view name, int whole, std::initializer_list<int> shares) {
    std::string text;
    std::vector<FlightDump> made;
    for (const int share : shares) {
      Entry entry = {.group = "0123", .name = std::string(name)};
      (name == "all_gather" ? entry.elements : entry.outputs) = share;
      (name == "all_gather" ? entry.outputs : entry.elements) = whole;
      made.push_back(Dump({"0123"}, {entry}));
    }
    std::vector<RankDump> ranks;
    ranks.reserve(made.size());
    for (size_t i = 0; i < made.size(); ++i) {
      ranks.push_back({static_cast<int32_t>(i), &made[i], 0});
    }
    const HangResult result = AnalyseHang(BuildHangModel(ranks, 0, 1), 1);
    for (const HangMismatch& mismatch : result.mismatches) {
      for (const int32_t rank : mismatch.ranks) text += fmt::format("{} ", rank);
    }
    return text;
  };
  EXPECT_EQ(dumps("all_gather", 46, {10, 11, 12, 13}), "");
  EXPECT_EQ(dumps("reduce_scatter", 46, {10, 11, 12, 13}), "");
  EXPECT_EQ(dumps("all_gather", 46, {10, 11, 12}), "") << "of some who are there";
  EXPECT_EQ(dumps("all_gather", 46, {10, 11, 12, 12}), "0 1 2 3 ");
  EXPECT_EQ(dumps("all_gather", 40, {10, 8, 10, 10}), "1 ");
  EXPECT_EQ(dumps("all_gather", 40, {10, 8, 10}), "1 ");
}

// Versions before 2.4 record of a list of tensors the first one alone.
TEST(HangAnalysisTest, SumsOfListsAreKnownFromVersion24On) {
  const auto culprits = [](const std::string& version) {
    std::vector<FlightDump> dumps;
    std::vector<RankDump> ranks;
    for (int rank = 0; rank < 3; ++rank) {
      Entry entry = {.group = "012", .name = "all_to_all", .elements = 10 + rank, .outputs = 10};
      dumps.push_back(Dump({"012"}, {entry}));
      dumps.back().version = version;
    }
    ranks.reserve(3);
    for (int rank = 0; rank < 3; ++rank) {
      ranks.push_back({rank, &dumps[static_cast<size_t>(rank)], 0});
    }
    return AnalyseHang(BuildHangModel(ranks, 0, 1), 1).culprits.front().kind;
  };
  EXPECT_EQ(culprits("2.3"), HangKind::kNotFinished);
  EXPECT_EQ(culprits("1.5"), HangKind::kNotFinished);
  EXPECT_EQ(culprits("2.4"), HangKind::kMismatchSizeOrType);
  EXPECT_EQ(culprits("2.10"), HangKind::kMismatchSizeOrType);
}

// Entries of the numbers up to `last` at so many hours; the last one may be open.
std::vector<Entry> AtHour(int hour, int last, bool is_last_open) {
  constexpr int64_t kHour = 3600'000'000'000;
  std::vector<Entry> entries;
  for (int number = 1; number <= last; ++number) {
    const int64_t created = (hour + 1) * kHour + int64_t{number} * 1'000'000;
    const bool is_open = is_last_open && number == last;
    entries.push_back({.group = "0123",
                       .number = number,
                       .state = is_open ? kOpen : kDone,
                       .finished = is_open ? 0 : created + 1000,
                       .created = created});
  }
  return entries;
}

TEST(HangAnalysisTest, ADumpOfAnotherAttemptIsNoEvidence) {
  const std::vector<Entry> waits = AtHour(1, 9, true);
  // An hour before it was at what the others finished; or it had finished more than they issued.
  EXPECT_EQ(CulpritsOfFour(waits, AtHour(0, 8, true)), "1 no-dump likely");
  EXPECT_EQ(CulpritsOfFour(waits, AtHour(0, 7, false)), "1 no-dump likely");
  EXPECT_EQ(CulpritsOfFour(waits, AtHour(0, 20, true)), "1 no-dump likely");
  EXPECT_EQ(CulpritsOfFour(waits, AtHour(3, 8, true)), "1 no-dump likely") << "of a later one";
  // Of the same time it is one.
  EXPECT_EQ(CulpritsOfFour(waits, AtHour(1, 8, true)), "1 device-stuck certain");
}

TEST(HangAnalysisTest, AWrongClockIsOneWhereAllElseFits) {
  const std::vector<Entry> waits = AtHour(1, 9, true);
  EXPECT_EQ(CulpritsOfFour(waits, AtHour(0, 8, false)), "1 never-issued likely");
  EXPECT_EQ(CulpritsOfFour(waits, AtHour(5, 8, false)), "1 never-issued likely");
  // The clock of one who waits: the hang did not begin then.
  const FlightDump most = Dump({"0123"}, waits);
  const FlightDump early = Dump({"0123"}, AtHour(0, 9, true));
  const FlightDump idle = Dump({"0123"}, AtHour(1, 8, false));
  const HangResult result = Analysed({most, early, idle, most});
  ASSERT_EQ(result.culprits.size(), 1U);
  EXPECT_EQ(result.culprits.front().rank, 2);
  EXPECT_EQ(result.culprits.front().certainty, Certainty::kLikely);
  EXPECT_EQ(result.culprits.front().waiting_rank, 0);
  EXPECT_EQ(result.culprits.front().since_ns, waits.back().created);
  EXPECT_EQ(result.culprits.front().waited_ns, 0);
  // Two against two: nobody knows whose clock is right.
  EXPECT_EQ(Culprits({most, early, Dump({"0123"}, AtHour(0, 8, false)), most}),
            "2 never-issued likely");
}

// ---- circles, and several without dumps ----

TEST(HangAnalysisTest, ACircleIsOneWhateverElseIsMissing) {
  // 0, 1 and 3 wait in the first group, 2 in the second, each for the other; 4 left no dump.
  const auto dump = [](bool is_other) {
    const Entry first = {"01234", 1};
    const Entry second = {"0123", 1};
    return Dump({"01234", "0123"},
                is_other ? std::vector<Entry>{second, first} : std::vector<Entry>{first, second});
  };
  EXPECT_EQ(Culprits({dump(false), dump(false), dump(true), dump(false)}),
            "2 order likely; 0 order likely with; 1 order likely with; 3 order likely with; "
            "4 no-dump cannot tell with");
}

TEST(HangAnalysisTest, OfSeveralWithoutADumpThoseCountWhomOthersNeed) {
  // 0 and 1 wait for 2 alone; 3 for all, among them 4.
  const std::vector<Entry> waits = {{"012", 1}, {"01234", 1}};
  const FlightDump pair = Dump({"012", "01234"}, waits);
  const FlightDump other = Dump({"01234"}, {{"01234", 1}});
  std::vector<RankDump> ranks = {{0, &pair, 0}, {1, &pair, 0}, {3, &other, 0}};
  const HangResult result = AnalyseHang(BuildHangModel(ranks, 0, 1), 1);
  ASSERT_EQ(result.culprits.size(), 2U);
  EXPECT_EQ(result.culprits[0].rank, 2);
  EXPECT_TRUE(result.culprits[0].is_primary);
  EXPECT_EQ(result.culprits[0].certainty, Certainty::kLikely);
  EXPECT_EQ(result.culprits[1].rank, 4);
  EXPECT_FALSE(result.culprits[1].is_primary);
  EXPECT_EQ(result.culprits[1].certainty, Certainty::kCannotTell);
}

// ---- transfers are operations, too ----

Entry Transfer(int number, std::string_view state, std::string name, int elements = 16,
               std::string_view type = "Float") {
  return {.group = "0123",
          .number = number,
          .state = state,
          .name = std::move(name),
          .elements = elements,
          .is_p2p = true,
          .type = type};
}

TEST(HangAnalysisTest, EndsOfATransferThatDiffer) {
  const Entry closing = {"0123", 1, kOpen, "coalesced", -1, 0, true};
  const Entry done = {"0123", 1, kDone};
  const FlightDump waits = Dump({"0123"}, {done, {"0123", 2}});
  const auto two = [&](const Entry& sent, const Entry& received) {
    return Culprits({Dump({"0123"}, {done, sent}), Dump({"0123"}, {done, received}), waits, waits});
  };
  const Entry send = Transfer(1, kOpen, "send 0->1");
  const std::string_view differ =
      "0 mismatch-size-or-type cannot tell; 1 mismatch-size-or-type cannot tell";
  EXPECT_EQ(two(send, Transfer(1, kOpen, "recv 1<-0", 15)), differ);
  EXPECT_EQ(two(send, Transfer(1, kOpen, "recv 1<-0", 16, "Half")), differ);
  EXPECT_EQ(two(send, Transfer(1, kOpen, "recv 1<-0")),
            "0 not-finished cannot tell; 1 not-finished cannot tell");
  // A pipeline of launches: one pair alone differs, and the others wait for these.
  EXPECT_EQ(Culprits({Dump({"0123"}, {send, closing}),
                      Dump({"0123"}, {Transfer(1, kOpen, "send 1->2"),
                                      Transfer(1, kOpen, "recv 1<-0"), closing}),
                      Dump({"0123"}, {Transfer(1, kOpen, "send 2->3"),
                                      Transfer(1, kOpen, "recv 2<-1", 60), closing}),
                      Dump({"0123"}, {Transfer(1, kOpen, "recv 3<-2"), closing})}),
            "1 mismatch-size-or-type cannot tell; 2 mismatch-size-or-type cannot tell");
}

TEST(HangAnalysisTest, WhoLeavesATransferOutOfALaunch) {
  const auto closing = [](int number, std::string_view state) {
    return Entry{"0123", number, state, "coalesced", -1, 0, true};
  };
  std::vector<Entry> of[4];
  for (int number = 1; number <= 4; ++number) {
    for (int rank = 0; rank < 4; ++rank) {
      const bool is_last = number == 4;
      const std::string_view state = is_last && rank == 1 ? kOpen : kDone;
      if (rank < 3) {
        of[rank].push_back(Transfer(number, kOpen, fmt::format("send {}->{}", rank, rank + 1)));
      }
      if (rank > 0 && !(is_last && rank == 2)) {
        of[rank].push_back(Transfer(number, kOpen, fmt::format("recv {}<-{}", rank, rank - 1)));
      }
      of[rank].push_back(closing(number, state));
    }
  }
  for (const int rank : {0, 2, 3}) {
    of[rank].push_back({"0123", 1});
  }
  const HangResult result = Analysed(
      {Dump({"0123"}, of[0]), Dump({"0123"}, of[1]), Dump({"0123"}, of[2]), Dump({"0123"}, of[3])});
  ASSERT_FALSE(result.culprits.empty());
  const HangCulprit& first = result.culprits.front();
  EXPECT_EQ(first.rank, 2);
  EXPECT_EQ(first.kind, HangKind::kOrder);
  EXPECT_TRUE(first.is_primary);
  EXPECT_EQ(first.waiting_rank, 1);
  EXPECT_EQ(first.evidence.from, 1);
  EXPECT_EQ(first.evidence.to, 2);
  ASSERT_TRUE(first.left_out.has_value());
  EXPECT_EQ(first.left_out->entry, 9U);
  for (const HangCulprit& other : std::span(result.culprits).subspan(1)) {
    EXPECT_FALSE(other.is_primary) << other.rank;
  }
}

// Two steps of a pipeline of three, in which 1 sends to 0 twice a step; what a rank left out.
std::vector<Entry> StepsOf(int rank, int steps, int left_out_in) {
  std::vector<Entry> entries;
  int transfers = 0;
  for (int step = 1; step <= steps; ++step) {
    for (int i = 0; i < 2 && rank < 2; ++i) {
      if (rank == 0 && step == left_out_in && i == 1) {
        continue;
      }
      const bool is_open = rank == 1 && step == left_out_in && i == 1;
      entries.push_back(
          Transfer(++transfers, is_open ? kOpen : kDone, rank == 0 ? "recv 0<-1" : "send 1->0"));
      if (is_open) return entries;
    }
    entries.push_back({"0123", step, step == left_out_in ? kOpen : kDone});
  }
  return entries;
}

TEST(HangAnalysisTest, AnEndOfATransferThatIsMissing) {
  const auto culprits = [](int step) {
    const FlightDump others = Dump({"0123"}, StepsOf(2, step, step));
    return Culprits({Dump({"0123"}, StepsOf(0, step, step)), Dump({"0123"}, StepsOf(1, step, step)),
                     others, others});
  };
  // In the first step nobody can say which of the two is wrong.
  EXPECT_EQ(culprits(1),
            "0 order cannot tell; 1 order cannot tell; 2 order likely with; 3 order likely with");
  EXPECT_EQ(culprits(3),
            "0 order likely; 2 order likely with; 3 order likely with; 1 order likely with");
  // It went on to the next step, which is a usual one.
  std::vector<Entry> ahead = StepsOf(0, 1, 1);
  ahead.push_back(Transfer(2, kOpen, "recv 0<-1"));
  ahead.push_back(Transfer(3, kOpen, "recv 0<-1"));
  ahead.push_back({"0123", 2});
  const FlightDump others = Dump({"0123"}, StepsOf(2, 1, 1));
  EXPECT_EQ(Culprits({Dump({"0123"}, ahead), Dump({"0123"}, StepsOf(1, 1, 1)), others, others}),
            "0 order likely; 2 order likely with; 3 order likely with; 1 order likely with");
}

TEST(HangAnalysisTest, WhoComesLaterThanTheTimeoutIsAtFault) {
  // The timeout is a second; the clocks agreed until then.
  constexpr int64_t kFirst = 5'000'000'000;
  const auto dump = [](int64_t late_ns, int64_t late_before_ns) {
    return Dump({"0123"}, {{.group = "0123",
                            .number = 1,
                            .state = kDone,
                            .finished = kFirst + 100,
                            .created = kFirst + late_before_ns},
                           {.group = "0123", .number = 2, .created = kFirst + 1000 + late_ns}});
  };
  const auto culprits = [&](int64_t late_ns, int64_t late_before_ns) {
    return Culprits({dump(0, 0), dump(late_ns, late_before_ns), dump(0, 0), dump(1, 1)});
  };
  EXPECT_EQ(culprits(1'100'000'000, 0), "1 never-issued likely");
  EXPECT_EQ(culprits(600'000'000, 0), "1 never-issued likely");
  const std::string nobody =
      "0 not-finished cannot tell; 1 not-finished cannot tell; 2 not-finished cannot tell; 3 "
      "not-finished cannot tell";
  EXPECT_EQ(culprits(400'000'000, 0), nobody);
  EXPECT_EQ(culprits(600'000'000, 600'000'000), nobody) << "its clock is that much ahead";
}

SourceFindings Reported(std::initializer_list<FlightDump> dumps, int64_t modified_ns = 0) {
  std::vector<RankDump> ranks;
  ranks.reserve(dumps.size());
  for (size_t i = 0; i < dumps.size(); ++i) {
    ranks.push_back({static_cast<int32_t>(i), dumps.begin() + i, modified_ns});
  }
  const HangModel model = BuildModelOfOneAttempt(ranks, 0, 1);
  const Result<LineFinder> lines = LineFinder::Make("");
  return ReportHang(model, AnalyseHang(model, 1), *lines);
}

// The evidence of the first finding, and where.
std::string FirstEvidence(std::initializer_list<FlightDump> dumps, int64_t modified_ns = 0) {
  const SourceFindings found = Reported(dumps, modified_ns);
  return found.findings.empty() ? "" : found.findings.front().evidence;
}

// "2 Ranks skipped an operation", one finding after the other, without their certainty.
std::string Titles(const SourceFindings& found) {
  std::string text;
  for (const JobFinding& finding : found.findings) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", finding.ranks, finding.finding);
  }
  return text;
}

template <class Row>
std::vector<Row> RowsOf(const SourceFindings& found) {
  for (const Table& table : found.tables) {
    if (table.name == Row::kTable.name) return ReadRows<Row>(table);
  }
  return {};
}

// An unused layer is a pair of operations that a rank leaves out.
TEST(HangAnalysisTest, ARankThatSkippedTwoOperations) {
  const auto layers = [](std::initializer_list<int> elements) {
    std::vector<Entry> entries;
    for (const int count : elements) {
      const auto number = static_cast<int>(entries.size()) + 1;
      entries.push_back({"012", number, number <= 2 ? kDone : kOpen, "all_gather", -1, count});
    }
    return Dump({"012"}, entries);
  };
  const FlightDump all = layers({10, 20, 30, 40, 50, 60, 70});
  const std::string skipped = FirstEvidence({all, layers({10, 20, 50, 60, 70}), all});
  EXPECT_NE(skipped.find("From there on they are 2 operations ahead: they skipped this one and the "
                         "next."),
            std::string::npos)
      << skipped;
  const std::string more = FirstEvidence({all, layers({10, 20, 1, 2, 3, 30, 40, 50}), all});
  EXPECT_NE(more.find("From there on they are 3 operations behind: they have 3 more."),
            std::string::npos)
      << more;
  // One call alone that was another one, in a program that repeats itself.
  const FlightDump even = layers({10, 20, 10, 20, 10, 20, 10, 20});
  const std::string one = FirstEvidence({even, layers({10, 20, 20, 20, 10, 20, 10, 20}), even});
  EXPECT_EQ(one.find("From there on"), std::string::npos) << one;
}

// Where ranks called new_group in another order, one group has two names.
TEST(HangAnalysisTest, GroupsOfTheSameMembersWithOtherNames) {
  const auto dump = [](std::string_view name) {
    return Read(fmt::format(
        R"({{"version": "2.10", "pg_config": {{"{0}": {{"name": "{0}", "desc": "undefined",
            "ranks": "[0, 1]"}}}}, "entries": [{{"record_id": 0, "pg_id": 1,
            "process_group": ["{0}", "undefined"], "collective_seq_id": 1, "p2p_seq_id": 0,
            "profiling_name": "nccl:all_reduce", "time_created_ns": 1000000,
            "state": "scheduled", "input_sizes": [[4]], "output_sizes": [[4]],
            "is_p2p": false}}]}})",
        name));
  };
  const std::string evidence = FirstEvidence({dump("1"), dump("2")});
  EXPECT_NE(evidence.find("Groups 1 and 2 have the same members"), std::string::npos) << evidence;
  const FlightDump first = Dump({"01"}, {{"01", 1}});
  const FlightDump other = Dump({"01", "10"}, {{"10", 1}});
  EXPECT_EQ(FirstEvidence({first, other}).find("have the same members"), std::string::npos);
}

// The clock of one host is off: its operations ended when those of the others did.
TEST(HangAnalysisTest, AClockThatIsAheadIsTakenAway) {
  constexpr int64_t kBegin = 1'790'000'000'000'000'000;
  const auto dump = [](int64_t ahead_ns, int64_t late_ns, bool is_last_issued) {
    std::vector<Entry> entries;
    for (int number = 1; number <= 4; ++number) {
      const bool is_last = number == 4;
      if (is_last && !is_last_issued) continue;
      const int64_t began = kBegin + number * kSecondNs;
      entries.push_back({.group = "012",
                         .number = number,
                         .state = is_last ? kOpen : kDone,
                         .finished = is_last ? 0 : began + kSecondNs / 2 + ahead_ns,
                         .created = began + ahead_ns + (is_last ? late_ns : 0)});
    }
    return Dump({"012"}, entries);
  };
  const int64_t now = kBegin + 4 * kSecondNs + kSecondNs / 5;  // the timeout is a second
  for (const int64_t ahead_ns : {400 * kSecondNs, -400 * kSecondNs}) {
    // A running job, of which rank 2 has not come yet.
    EXPECT_TRUE(Analysed({dump(0, 0, true), dump(0, 0, true), dump(ahead_ns, 0, false)}, 0, now)
                    .culprits.empty());
    const std::vector<HangCulprit> culprits =
        Analysed({dump(ahead_ns, 0, true), dump(0, 0, true), dump(0, 0, false)}, 0,
                 now + 100 * kSecondNs)
            .culprits;
    ASSERT_EQ(culprits.size(), 1U);
    EXPECT_EQ(culprits[0].activity, HangActivity::kStopped);
    EXPECT_EQ(culprits[0].certainty, Certainty::kLikely) << "or it is of another attempt";
    EXPECT_EQ(culprits[0].since_ns, kBegin + 4 * kSecondNs);
    const HangResult result =
        Analysed({dump(0, 0, true), dump(0, 0, true), dump(ahead_ns, 0, true)});
    EXPECT_EQ(result.late_ns, std::vector<int64_t>(3, 0));
  }
  // Who comes late every time, but sees the work end with the others, has a good clock.
  const FlightDump late = dump(0, 50 * kSecondNs, true);
  const std::vector<HangCulprit> culprits =
      Analysed({dump(0, 0, true), dump(0, 0, true), late}).culprits;
  ASSERT_EQ(culprits.size(), 1U);
  EXPECT_EQ(culprits[0].rank, 2);
}

TEST(HangAnalysisTest, DifferencesAreInTheEvidence) {
  const auto evidence = [](const Entry& sent, const Entry& received) {
    const Entry done = {"0123", 1, kDone};
    const FlightDump waits = Dump({"0123"}, {done, {"0123", 2}});
    return FirstEvidence(
        {Dump({"0123"}, {done, sent}), Dump({"0123"}, {done, received}), waits, waits});
  };
  EXPECT_NE(evidence(Transfer(1, kOpen, "send 0->1"), Transfer(1, kOpen, "recv 1<-0", 15, "Half"))
                .find("rank 0 sends 16 Float, rank 1 receives 15 Half"),
            std::string::npos);
  // Several in one launch: how many is what differs.
  const auto launch = [](int calls) {
    std::vector<Entry> entries;
    entries.reserve(static_cast<size_t>(calls) + 1);
    for (int i = 0; i < calls; ++i) {
      entries.push_back({"012", 1, kOpen, "_reduce_scatter_base", -1, 40});
    }
    entries.push_back({"012", 1, kOpen, "reduce_scatter_tensor_coalesced", -1, 0});
    return Dump({"012"}, entries);
  };
  EXPECT_NE(FirstEvidence({launch(3), launch(2), launch(3)})
                .find("rank 1 called 2 times reduce_scatter in one launch, of 80 to 80 Float in "
                      "all, ranks 0 and 2 called 3 times reduce_scatter in one launch, of 120 to "
                      "120 Float in all"),
            std::string::npos)
      << FirstEvidence({launch(3), launch(2), launch(3)});
}

TEST(HangAnalysisTest, AnOperationSkippedIsNamedSo) {
  const auto dump = [](int skipped) {
    std::vector<Entry> entries;
    for (int i = 1; i <= 6; ++i) {
      if (i != skipped) {
        entries.push_back({"012", static_cast<int>(entries.size()) + 1, i == 1 ? kDone : kOpen,
                           "all_reduce", -1, 10 * i});
      }
    }
    return Dump({"012"}, entries);
  };
  const FlightDump most = dump(0);
  const FlightDump other = dump(2);
  const std::vector<RankDump> ranks = {{0, &most, 0}, {1, &other, 0}, {2, &most, 0}};
  const HangModel model = BuildHangModel(ranks, 0, 1);
  const SourceFindings found = ReportHang(model, AnalyseHang(model, 1), LineFinder());
  EXPECT_EQ(found.findings.front().finding, "Ranks skipped an operation");
  EXPECT_EQ(found.findings.front().help.find("pad uneven"), std::string::npos);
}

// Of two that differ, one skipped an operation and one called another one.
TEST(HangAnalysisTest, WhatEachRankThatDiffersDidIsItsOwn) {
  const auto dump = [](int skipped, int cast) {
    std::vector<Entry> entries;
    for (int i = 1; i <= 8; ++i) {
      if (i != skipped) {
        const auto number = static_cast<int>(entries.size()) + 1;
        entries.push_back({"0123456", number, i <= 2 ? kDone : kOpen,
                           i == cast ? "broadcast" : "all_reduce", -1, 10 * i});
      }
    }
    return Dump({"0123456"}, entries);
  };
  const FlightDump most = dump(0, 0);
  const SourceFindings found = Reported({most, most, dump(3, 0), most, most, dump(0, 3), most});
  EXPECT_EQ(Titles(found), "2 Ranks skipped an operation; 5 Ranks called different operations");
  std::string shifted;
  for (const HangMismatchRow& row : RowsOf<HangMismatchRow>(found)) {
    if (row.what == "shift" && row.primary) {
      shifted += fmt::format("{} {};", row.rank, row.value);
    }
  }
  EXPECT_EQ(shifted, "2 skipped this operation;");
}

// In a program that repeats two operations, one less looks like one more.
TEST(HangAnalysisTest, WhetherAnOperationIsSkippedCannotAlwaysBeTold) {
  const auto dump = [](bool has_more) {
    std::vector<Entry> entries;
    for (int i = 1; i <= 10; ++i) {
      const bool gathers = (has_more && i >= 5 ? i - 1 : i) % 2 == 1;
      entries.push_back(
          {"0123", i, i < 5 ? kDone : kOpen, gathers ? "all_gather" : "reduce_scatter"});
    }
    return Dump({"0123"}, entries);
  };
  const FlightDump most = dump(false);
  const SourceFindings found = Reported({most, most, dump(true), most});
  EXPECT_EQ(Titles(found), "2 Ranks called different operations");
  EXPECT_EQ(found.findings.front().certainty, Certainty::kCertain);
  EXPECT_NE(found.findings.front().evidence.find(
                "From there on they have one operation less than the others, or one more"),
            std::string::npos)
      << found.findings.front().evidence;
}

TEST(HangAnalysisTest, EachRankStandsAtWhatItCalledItself) {
  const FlightDump gather = Dump({"0123"}, {{"0123", 1, kOpen, "all_gather"}});
  const FlightDump cast = Dump({"0123"}, {{"0123", 1, kOpen, "broadcast"}});
  std::string heads;
  for (const HangRankRow& row : RowsOf<HangRankRow>(Reported({cast, gather, gather, gather}))) {
    heads += fmt::format("{} {};", row.rank, row.head_operation.value_or("-"));
  }
  EXPECT_EQ(heads, "0 broadcast;1 all_gather;2 all_gather;3 all_gather;");
}

// Two agree and one does not, but five never came.
TEST(HangAnalysisTest, MostOfAFewAreNoMajority) {
  const FlightDump gather =
      Dump({"01234567"}, {{"01234567", 1, kDone}, {"01234567", 2, kOpen, "all_gather"}});
  const FlightDump cast =
      Dump({"01234567"}, {{"01234567", 1, kDone}, {"01234567", 2, kOpen, "broadcast"}});
  const FlightDump idle = Dump({"01234567"}, {{"01234567", 1, kDone}});
  EXPECT_EQ(Culprits({gather, gather, cast, idle, idle, idle, idle, idle}),
            "2 mismatch-operation cannot tell");
  const std::string evidence = FirstEvidence({gather, gather, cast, idle, idle, idle, idle, idle});
  EXPECT_NE(evidence.find("5 more members have not come there."), std::string::npos) << evidence;
  EXPECT_EQ(Culprits({gather, gather, gather, gather, gather, cast, idle, idle}),
            "5 mismatch-operation certain");
}

TEST(HangAnalysisTest, ARecvFromAnybodyToWhomNobodySends) {
  const Entry done = {"012", 1, kDone};
  const FlightDump receives = Dump({"012"}, {done, {"012", 1, kOpen, "recv 2<-?", -1, 16, true}});
  const FlightDump idle = Dump({"012"}, {done});
  const SourceFindings found = Reported({idle, idle, receives});
  EXPECT_EQ(Titles(found), "2 A rank receives from any rank, and none sends");
  EXPECT_EQ(found.findings.front().evidence.find("rank 2 waits in recv 2<-? of d012 (3 members)"),
            0U)
      << found.findings.front().evidence;
  EXPECT_EQ(found.findings.front().certainty, Certainty::kCannotTell);
  const FlightDump sends = Dump({"012"}, {done, {"012", 1, kOpen, "send 0->2", -1, 16, true}});
  EXPECT_EQ(Titles(Reported({sends, idle, receives})).find("none sends"), std::string::npos);
}

// An empty dump has the latest numbers of its groups.
TEST(HangAnalysisTest, WhatAnEmptyDumpCompleted) {
  const auto status = [](int enqueued, int completed) {
    return fmt::format(R"("pg_status": {{"2": {{"last_enqueued_collective": {},
        "last_started_collective": {}, "last_completed_collective": {}}}}}, )",
                       enqueued, enqueued, completed);
  };
  const FlightDump waits = Dump({"01"}, {{"01", 10, kDone}, {"01", 11}}, status(11, 10));
  const std::string evidence = FirstEvidence({waits, Dump({"01"}, {}, status(10, 10))});
  EXPECT_NE(evidence.find("rank 1 completed all that it issued there (10 of 10) and issued no more "
                          "(its dump is empty)"),
            std::string::npos)
      << evidence;
}

// The watchdog of one that waits gave up, of another one that came first it did not yet.
TEST(HangAnalysisTest, WhoeverGaveUpShowsThatItHangs) {
  const auto dump = [](int64_t created, bool is_retired) {
    return Read(fmt::format(
        R"({{"version": "2.10", "pg_config": {{"0": {{"name": "0", "desc": "d", "ranks": "[0, 1, 2]"}}}},
            "entries": [{{"record_id": 0, "pg_id": 0, "process_group": ["0", "d"],
            "collective_seq_id": 1, "p2p_seq_id": 0, "profiling_name": "nccl:all_reduce",
            "time_created_ns": {}, "state": "started", "input_sizes": [[4]], "output_sizes": [[4]],
            "is_p2p": false, "retired": {}, "timeout_ms": 1000}}]}})",
        created, is_retired));
  };
  const FlightDump idle = Read(
      R"({"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "d", "ranks": "[0, 1, 2]"}},
          "entries": []})");
  const auto shown = [&](bool first, bool second) {
    const HangResult result = Analysed({dump(1'000'000, first), dump(2'000'000, second), idle});
    return result.culprits.empty() ? std::string("nobody")
                                   : std::string(HangShownName(result.culprits.front().shown));
  };
  EXPECT_EQ(shown(false, true), "shown");
  EXPECT_EQ(shown(true, false), "shown");
  EXPECT_EQ(shown(false, false), "assumed");
}

TEST(HangAnalysisTest, SidesOfAMismatchAreNamedWithWhatTheyCalled) {
  const FlightDump reduce = Dump({"0123"}, {{"0123", 1}});
  const FlightDump cast = Dump({"0123"}, {{"0123", 1, kOpen, "broadcast"}});
  const FlightDump more = Dump({"0123"}, {{"0123", 1, kOpen, "all_reduce", -1, 32}});
  EXPECT_EQ(
      FirstEvidence({reduce, cast, reduce, cast})
          .find("Number 1 of d0123 (4 members): ranks 0 and 2 called all_reduce of 16 to 16 "
                "Float, ranks 1 and 3 called broadcast of 16 to 16 Float; no more than half of "
                "the members agree."),
      0U)
      << FirstEvidence({reduce, cast, reduce, cast});
  // Those who differ from most may differ from each other.
  const FlightDump five = Dump({"01234"}, {{"01234", 1}});
  const FlightDump other = Dump({"01234"}, {{"01234", 1, kOpen, "broadcast"}});
  const FlightDump size = Dump({"01234"}, {{"01234", 1, kOpen, "all_reduce", -1, 32}});
  EXPECT_EQ(
      FirstEvidence({five, other, five, size, five})
          .find("Number 1 of d01234 (5 members): rank 1 called broadcast of 16 to 16 Float, "
                "rank 3 called all_reduce of 32 to 32 Float, ranks 0, 2 and 4 called all_reduce "
                "of 16 to 16 Float."),
      0U)
      << FirstEvidence({five, other, five, size, five});
  EXPECT_NE(
      FirstEvidence({reduce, reduce, more, more}).find("ranks 2 and 3 called all_reduce of 32"),
      std::string::npos);
}

TEST(HangAnalysisTest, EndsOfATransferHaveTheirOwnNames) {
  const FlightDump done = Dump({"01"}, {{"01", 1, kDone}});
  EXPECT_EQ(FirstEvidence({done, Dump({"01"}, {{"01", 1, kDone},
                                               {"01", 1, kOpen, "recv 1<-0", -1, 16, true}})})
                .find("1 rank waits in recv 1<-0 of d01 (2 members)"),
            0U);
  EXPECT_EQ(
      FirstEvidence(
          {Dump({"01"}, {{"01", 1, kDone}, {"01", 1, kOpen, "send 0->1", -1, 16, true}}), done})
          .find("1 rank waits in send 0->1 of d01 (2 members)"),
      0U);
}

TEST(HangAnalysisTest, FilesWrittenAtATimeoutShowAHang) {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto shown = [](int64_t age_ns) {
    const FlightDump waits = Dump({"01"}, {{"01", 1, kDone}, {"01", 2}});
    const HangResult result =
        Analysed({waits, Dump({"01"}, {{"01", 1, kDone}})}, 0, 1'000'001 + age_ns);
    return result.culprits.empty() ? std::string("nobody")
                                   : std::string(HangShownName(result.culprits.front().shown));
  };
  // The timeout is a second.
  EXPECT_EQ(shown(kSecond / 2), "shown");
  EXPECT_EQ(shown(2 * kSecond), "shown");
  EXPECT_NE(shown(kSecond / 2 - 1), "shown");
  EXPECT_EQ(shown(63 * kSecond), "assumed") << "so late it is that of a copy";
}

}  // namespace
}  // namespace borescope::internal
