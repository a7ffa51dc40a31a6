#include "borescope/postmortem/verdict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/hang_report.h"
#include "borescope/postmortem/logs/job_logs.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

constexpr int64_t kSince = 1'000 * kSecondNs;

// A hang in which the others wait for `ranks` since kSince.
SourceFindings Hang(const std::vector<int32_t>& ranks, std::string_view kind) {
  SourceFindings source;
  JobFinding finding;
  finding.order = CauseRank::kHang;
  finding.finding = "Others wait";
  finding.severity = Severity::kError;
  finding.ranks = RankList(ranks);
  finding.evidence =
      "3 ranks wait. That this is a hang is assumed: the dumps do not show how long it lasted.";
  finding.where = "not recorded (no stacks)";
  source.findings.push_back(finding);
  std::vector<HangCulpritRow> rows;
  for (const int32_t rank : ranks) {
    HangCulpritRow row;
    row.rank = rank;
    row.kind = kind;
    row.hang = "assumed";
    row.since_unix_ns = kSince;
    rows.push_back(row);
  }
  source.tables.push_back(MakeTable(rows));
  source.has_cause = true;
  return source;
}

JobEvent Event(LogKind kind, std::optional<int32_t> rank, std::string text) {
  JobEvent event;
  event.kind = kind;
  event.rank = rank;
  event.text = std::move(text);
  event.file = "job/run.log";
  event.line = 7;
  return event;
}

// All findings of the sources, in the order of the verdict, as "order/severity/ranks/finding".
std::vector<std::string> Told(const std::vector<SourceFindings>& sources) {
  std::vector<JobFinding> findings;
  for (const SourceFindings& source : sources) {
    findings.insert(findings.end(), source.findings.begin(), source.findings.end());
  }
  const Table table = VerdictTable(findings);
  std::vector<std::string> told;
  told.reserve(table.rows());
  const auto& names = std::get<StringValues>(table.Find("finding")->values);
  const auto& severities = std::get<StringValues>(table.Find("severity")->values);
  const auto& ranks = std::get<StringValues>(table.Find("ranks")->values);
  for (size_t i = 0; i < table.rows(); ++i) {
    told.push_back(std::string(severities[i]) + "/" + std::string(ranks[i]) + "/" +
                   std::string(names[i]));
  }
  return told;
}

std::vector<SourceFindings> Joined(std::vector<SourceFindings> sources,
                                   std::vector<JobEvent> events) {
  LogPart logs;
  logs.events = std::move(events);
  JoinLogs(std::move(logs), sources);
  return sources;
}

using Lines = std::vector<std::string>;

TEST(Verdict, AFailureExplainsThatOthersWaitForThatRank) {
  const auto sources =
      Joined({Hang({3}, "no-dump")}, {Event(LogKind::kException, 3, "ValueError: x")});
  EXPECT_EQ(Told(sources), (Lines{"error/3/Ranks ended with an exception"}));
  const JobFinding& cause = sources.back().findings.front();
  EXPECT_EQ(cause.evidence.find("run.log:7: ValueError: x. 3 ranks wait."), 0U) << cause.evidence;
  EXPECT_EQ(cause.where, "");
  EXPECT_TRUE(sources.back().has_cause);
}

TEST(Verdict, WhatFailsInOtherWaysThanByAbsenceIsNotExplained) {
  const auto sources = Joined({Hang({3}, "mismatch-operation")},
                              {Event(LogKind::kException, 3, "RuntimeError: timed out")});
  EXPECT_EQ(Told(sources),
            (Lines{"error/3/Others wait", "warning/3/Ranks ended with an exception"}));
}

TEST(Verdict, ALaterFailureOfAnotherRankIsNoCause) {
  JobEvent event = Event(LogKind::kException, 1, "RuntimeError: timed out");
  event.unix_ns = kSince + 600 * kSecondNs;
  const auto later = Joined({Hang({3}, "never-issued")}, {event});
  EXPECT_EQ(Told(later), (Lines{"error/3/Others wait", "warning/1/Ranks ended with an exception"}));
  // One that came before it is: what it left undone kept the others.
  event.unix_ns = kSince - kSecondNs;
  const auto earlier = Joined({Hang({3}, "never-issued")}, {event});
  EXPECT_EQ(Told(earlier), (Lines{"error/1/Ranks ended with an exception", "error/3/Others wait"}));
  // Clocks of hosts differ.
  event.unix_ns = kSince + kSecondNs;
  EXPECT_EQ(Told(Joined({Hang({3}, "never-issued")}, {event})), Told(earlier));
}

// Ctrl-C on a job that hangs ends all of its ranks, and is no cause.
TEST(Verdict, AnInterruptedHangIsAHang) {
  std::vector<JobEvent> events;
  for (int32_t rank = 0; rank < 4; ++rank) {
    events.push_back(Event(LogKind::kException, rank, "KeyboardInterrupt"));
    events.back().program_line = rank == 2 ? "/app/data.py:5 read" : "/app/train.py:12 step";
  }
  const auto sources = Joined({Hang({2}, "never-issued")}, events);
  EXPECT_EQ(Told(sources),
            (Lines{"error/2/Others wait", "info/0..3/The job was interrupted while it hung"}));
  EXPECT_EQ(sources.front().findings.front().where,
            "rank 2 was interrupted at /app/data.py:5 read");
  // Half an hour later, of all ranks in one finding.
  for (JobEvent& event : events) {
    event.unix_ns = kSince + 1'800 * kSecondNs;
    event.program_line = "/app/train.py:12 step";
  }
  EXPECT_EQ(Told(Joined({Hang({2}, "never-issued")}, events)), Told(sources));
  // One that came before the others waited is why they do.
  JobEvent before = Event(LogKind::kException, 2, "KeyboardInterrupt");
  before.unix_ns = kSince - 10 * kSecondNs;
  EXPECT_EQ(Told(Joined({Hang({2}, "never-issued")}, {before})),
            (Lines{"error/2/Ranks ended with an exception"}));
  // Without a hang it is what ended the job.
  EXPECT_EQ(Told(Joined({}, {events.front()})), (Lines{"error/0/Ranks ended with an exception"}));
}

// One exception of which no line says whose it is, and one rank for which the others wait.
TEST(Verdict, AnExceptionOfNobodyIsThatOfTheRankThatIsWaitedFor) {
  const JobEvent nameless = Event(LogKind::kException, std::nullopt, "ValueError: bad batch");
  const auto sources = Joined({Hang({2}, "never-issued")}, {nameless});
  EXPECT_EQ(Told(sources), (Lines{"error/2/Ranks ended with an exception"}));
  const JobFinding& cause = sources.back().findings.front();
  EXPECT_EQ(cause.certainty, Certainty::kLikely);
  EXPECT_NE(cause.evidence.find("Nothing says whose it is; rank 2 is the one for which the others "
                                "wait."),
            std::string::npos)
      << cause.evidence;
  // Any rank that waits may have raised this.
  const JobEvent broken =
      Event(LogKind::kException, std::nullopt, "torch.distributed.DistBackendError: NCCL error");
  EXPECT_EQ(Told(Joined({Hang({2}, "never-issued")}, {broken})),
            (Lines{"error/2/Others wait", "warning//Ranks ended with an exception"}));
  // Of two it is not known, and nothing is said that nobody knows.
  const auto two = Joined({Hang({1, 2}, "never-issued")}, {nameless});
  EXPECT_EQ(Told(two), (Lines{"error/1,2/Others wait", "warning//Ranks ended with an exception"}));
  EXPECT_EQ(two.back().findings.front().evidence,
            "run.log:7: ValueError: bad batch. Nothing shows of which rank it is, or whether it "
            "came before the others began to wait: it may be why they wait, or follow from it.");
  // Of a rank for which nobody waits, without a time.
  const auto other =
      Joined({Hang({2}, "never-issued")}, {Event(LogKind::kException, 1, "ValueError: bad batch")});
  EXPECT_EQ(other.back().findings.front().evidence,
            "run.log:7: ValueError: bad batch. Nothing shows whether it came before the others "
            "began to wait: it may be why they wait, or follow from it.");
}

TEST(Verdict, WhatIsKnownOfAnEndIsInTheTable) {
  JobEvent exit = Event(LogKind::kExit, 3, "exit code -9");
  exit.exit_code = -9;
  exit.basis = LogRankBasis::kRank;
  const auto sources = Joined({Hang({3}, "no-dump")}, {exit});
  const auto rows = ReadRows<HangCulpritRow>(sources.front().tables.front());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().certainty, "certain");
}

JobEvent Ras(std::vector<int32_t> behind, std::vector<int32_t> missing, uint64_t count = 1) {
  JobEvent event = Event(LogKind::kRas, std::nullopt,
                         fmt::format("RAS: {} behind, {} missing", behind.size(), missing.size()));
  event.ras = RasText{.behind = std::move(behind), .missing = std::move(missing)};
  event.ras->is_behind = !event.ras->behind.empty();
  event.ras->is_missing = !event.ras->missing.empty();
  event.count = count;
  return event;
}

// One report of a running job shows differences, too; one that stays as it is shows a hang.
TEST(Verdict, ReportsOfRasNameWhoIsBehind) {
  EXPECT_EQ(Told(Joined({}, {Ras({5}, {})})),
            (Lines{"warning/5/Ranks launched fewer collectives than others"}));
  const auto stuck = Joined({}, {Ras({5}, {}, 2)});
  EXPECT_EQ(Told(stuck), (Lines{"error/5/Ranks stopped issuing work"}));
  EXPECT_EQ(stuck.back().findings.front().certainty, Certainty::kLikely);
  EXPECT_TRUE(stuck.back().has_cause);
  EXPECT_EQ(Told(Joined({}, {Ras({5}, {}), Ras({5}, {})})), Told(stuck));
  JobEvent other = Ras({5}, {}, 2);
  other.ras->has_other_kinds = true;
  EXPECT_EQ(Told(Joined({}, {other})), (Lines{"error/5/Ranks called different operations"}));
  EXPECT_EQ(Told(Joined({}, {Ras({}, {3})})),
            (Lines{"error/3/Processes do not answer NCCL's RAS service"}));
}

TEST(Verdict, ReportsOfRasJoinWhatElseIsKnown) {
  // A watchdog shows that it hangs, and RAS who was missing.
  JobEvent timeout = Event(LogKind::kTimeout, 0, "ALLREDUCE 9 did not end");
  const auto watched = Joined({}, {timeout, Ras({5}, {})});
  EXPECT_EQ(Told(watched), (Lines{"error/5/Ranks stopped issuing work"}));
  EXPECT_NE(watched.back().findings.front().evidence.find("ALLREDUCE 9 did not end"),
            std::string::npos);
  EXPECT_FALSE(watched.back().is_unclear);
  // Dumps say more.
  const auto dumps = Joined({Hang({5}, "never-issued")}, {Ras({5}, {}, 2)});
  EXPECT_EQ(Told(dumps), (Lines{"error/5/Others wait"}));
  EXPECT_NE(dumps.front().findings.front().evidence.find("RAS: 1 behind"), std::string::npos);
  EXPECT_EQ(Told(Joined({Hang({2}, "never-issued")}, {Ras({5}, {}, 2)})),
            (Lines{"error/2/Others wait", "warning/5/Ranks stopped issuing work"}));
}

JobEvent NodeFailure() { return Event(LogKind::kCancelled, std::nullopt, "node failure"); }
JobEvent KilledTasks() {
  JobEvent event = Event(LogKind::kTaskFailed, std::nullopt, "tasks 4-5,7: Killed");
  event.is_consequence = true;
  return event;
}

TEST(Verdict, ANodeThatFailedExplainsRanksWithoutADump) {
  const auto killed = Joined({Hang({4, 5, 7}, "no-dump")}, {NodeFailure(), KilledTasks()});
  EXPECT_EQ(Told(killed), (Lines{"error/4,5,7/A node of the job failed"}));
  EXPECT_NE(killed.back().findings.front().evidence.find("3 ranks wait."), std::string::npos);
  EXPECT_TRUE(killed.back().has_cause);
  EXPECT_FALSE(killed.front().has_cause);
  // Another one without a dump may still have to do with it, but nobody says so.
  const auto other = Joined({Hang({2}, "no-dump")}, {NodeFailure(), KilledTasks()});
  EXPECT_EQ(Told(other), (Lines{"error//A node of the job failed"}));
  EXPECT_NE(other.back().findings.front().evidence.find("may follow"), std::string::npos);
}

TEST(Verdict, AnEndFromOutsideComesBeforeAHangThatIsAssumed) {
  const JobEvent preemption = Event(LogKind::kCancelled, std::nullopt, "preemption");
  EXPECT_EQ(Told(Joined({Hang({0, 1}, "not-finished")}, {preemption})),
            (Lines{"error//Slurm took the nodes for another job", "info/0,1/Others wait"}));
  EXPECT_EQ(Told(Joined({Hang({1}, "never-issued")}, {preemption})),
            (Lines{"error//Slurm took the nodes for another job", "warning/1/Others wait"}));
  // A watchdog shows that it hung before.
  EXPECT_EQ(Told(Joined({Hang({1}, "never-issued")},
                        {preemption, Event(LogKind::kTimeout, 0, "ALLREDUCE 1 did not end")})),
            (Lines{"error/1/Others wait", "info//Slurm took the nodes for another job"}));
  // Jobs that hang arrive at their limit.
  EXPECT_EQ(Told(Joined({Hang({1}, "never-issued")},
                        {Event(LogKind::kCancelled, std::nullopt, "time limit")})),
            (Lines{"error/1/Others wait", "info//Slurm cancelled the job at its time limit"}));
}

TEST(Verdict, OfSeveralCulpritsOneFailed) {
  const auto sources = Joined({Hang({3, 5}, "no-dump")}, {Event(LogKind::kFatal, 5, "Aborted?")});
  EXPECT_EQ(Told(sources),
            (Lines{"error/5/Ranks were ended by a signal", "error/3,5/Others wait"}));
  EXPECT_NE(sources.front().findings.front().evidence.find("Of these, rank 5 failed"),
            std::string::npos);
}

TEST(Verdict, ConsequencesAreNoCauses) {
  JobEvent report = Event(LogKind::kException, 1, "RuntimeError: Connection closed by peer");
  report.is_consequence = true;
  EXPECT_EQ(Told(Joined({}, {report, Event(LogKind::kException, 3, "ValueError: x")})),
            (Lines{"error/3/Ranks ended with an exception",
                   "info/1/Ranks ended because others failed or did not come"}));
  const auto alone = Joined({}, {report});
  EXPECT_EQ(Told(alone), (Lines{"warning/1/Ranks report that another one failed or did not come"}));
  EXPECT_FALSE(alone.back().has_cause);
}

TEST(Verdict, AWatchdogShowsThatItWasAHang) {
  JobEvent timeout = Event(LogKind::kTimeout, 0, "ALLREDUCE 12 did not end within 600 s");
  timeout.timeout = TimeoutText{.operation = "ALLREDUCE",
                                .seq = 12,
                                .group = "",
                                .timeout_ms = 600'000,
                                .waited_ms = 600'081};
  JobEvent aborted = Event(LogKind::kExit, 0, "signal 6 (SIGABRT)");
  aborted.exit_code = -6;  // how the watchdog ends the process
  const auto waits_in = [](std::string_view operation, int64_t seq) {
    SourceFindings hang = Hang({3}, "never-issued");
    auto rows = ReadRows<HangCulpritRow>(hang.tables.front());
    rows.front().operation = operation;
    rows.front().seq = seq;
    hang.tables.front() = MakeTable(rows);
    return hang;
  };
  const auto sources = Joined({waits_in("all_reduce", 12)}, {timeout, aborted});
  EXPECT_EQ(Told(sources), (Lines{"error/3/Others wait"}));
  EXPECT_EQ(sources.front().findings.front().evidence,
            "3 ranks wait. The watchdog of rank 0 reported that ALLREDUCE 12 did not end within "
            "600 s (run.log:7).");
  const auto rows = ReadRows<HangCulpritRow>(sources.front().tables.front());
  EXPECT_EQ(rows.front().hang, "shown");
  // What it says about another operation shows nothing of this one.
  for (const auto& [operation, seq] : {std::pair("broadcast", 12), std::pair("all_reduce", 13)}) {
    const auto other = Joined({waits_in(operation, seq)}, {timeout, aborted});
    EXPECT_EQ(other.front().findings.front().evidence,
              "3 ranks wait. That this is a hang is assumed: the dumps do not show how long it "
              "lasted. The watchdog of rank 0 reported that ALLREDUCE 12 did not end within 600 s "
              "(run.log:7).");
    EXPECT_EQ(ReadRows<HangCulpritRow>(other.front().tables.front()).front().hang, "assumed");
  }
  const auto alone = Joined({}, {timeout});
  EXPECT_EQ(Told(alone),
            (Lines{"error/0/A watchdog gave up, and the logs do not say who was missing"}));
  EXPECT_TRUE(alone.back().is_unclear);
}

TEST(Verdict, AKilledProcessIsTheRankThatEndedBySignalNine) {
  JobEvent ended = Event(LogKind::kExit, 2, "signal 9 (SIGKILL)");
  ended.exit_code = -9;
  EXPECT_EQ(Told(Joined({}, {ended})), (Lines{"error/2/Ranks were ended by a signal"}));
  EXPECT_EQ(Told(Joined({}, {ended, Event(LogKind::kKilled, std::nullopt, "killed 77")})),
            (Lines{"error/2/Ranks were killed for lack of host memory"}));
  EXPECT_EQ(Told(Joined({}, {Event(LogKind::kKilled, std::nullopt, "killed 77")})),
            (Lines{"error//Processes were killed for lack of host memory"}));
}

TEST(Verdict, ASnapshotAndALogOfOneFailureAreOneFinding) {
  SourceFindings memory;
  JobFinding finding;
  finding.order = CauseRank::kOutOfMemory;
  finding.finding = "Out of memory, by the snapshot";
  finding.severity = Severity::kError;
  finding.ranks = "0";
  finding.evidence = "By the snapshot.";
  memory.findings.push_back(finding);
  JobEvent event = Event(LogKind::kOutOfMemory, 0, "CUDA out of memory");
  event.out_of_memory =
      postmortem::ParseOomMessage("CUDA out of memory. Tried to allocate 200.00 MiB.");
  const auto same = Joined({memory}, {event});
  EXPECT_EQ(Told(same), (Lines{"error/0/Out of memory, by the snapshot"}));
  EXPECT_EQ(same.front().findings.front().evidence,
            "By the snapshot. run.log:7: 209.7 MB requested.");
  event.rank = 4;
  EXPECT_EQ(Told(Joined({memory}, {event})), (Lines{"error/0/Out of memory, by the snapshot",
                                                    "error/4/Out of memory on the device"}));
}

// A snapshot of rank 3, of which a request failed then.
SourceFindings Snapshot(int64_t failed_ns) {
  SourceFindings memory;
  JobFinding finding;
  finding.order = CauseRank::kOutOfMemory;
  finding.finding = "Out of memory, by the snapshot";
  finding.severity = Severity::kError;
  finding.certainty = Certainty::kCertain;
  finding.ranks = "3";
  finding.failed_unix_ns = failed_ns;
  memory.findings.push_back(finding);
  memory.has_cause = true;
  return memory;
}

// A hang of rank 5 in which the dump of rank 3 ends with an operation issued then.
SourceFindings HangWithRank3(int64_t issued_ns, int32_t culprit = 5) {
  SourceFindings hang = Hang({culprit}, "never-issued");
  HangRankRow row;
  row.rank = 3;
  row.dump = true;
  row.waits_for = "5";
  row.last_issue_unix_ns = issued_ns;
  hang.tables.push_back(MakeTable(std::vector<HangRankRow>{row}));
  return hang;
}

const Lines kWentOn = {"error/5/Others wait",
                       "info/3/A request for memory failed, and the program went on"};

TEST(Verdict, ARequestAfterWhichItsRankIssuedOperationsEndedNothing) {
  const auto survived = Joined({HangWithRank3(kSince), Snapshot(kSince - 500 * kSecondNs)}, {});
  EXPECT_EQ(Told(survived), kWentOn);
  const JobFinding& finding = survived[1].findings.front();
  EXPECT_EQ(finding.certainty, Certainty::kLikely);
  EXPECT_TRUE(
      finding.evidence.starts_with("It was at 00:08:20.000 UTC; the dump of rank 3 has operations "
                                   "issued after that, the last at "
                                   "00:16:40.000 UTC. Out of memory, by the snapshot:"))
      << finding.evidence;
  EXPECT_FALSE(survived[1].has_cause);
  // The rank that others wait for may have issued what it cleaned up with.
  const Lines is_cause = {"error/3/Out of memory, by the snapshot", "error/3/Others wait"};
  EXPECT_EQ(Told(Joined({HangWithRank3(kSince, 3), Snapshot(kSince - 5 * kSecondNs)}, {})),
            is_cause);
  // At the moment at which the others began to wait it may have ended the rank.
  const Lines at_once = {"error/3/Out of memory, by the snapshot", "error/5/Others wait"};
  EXPECT_EQ(Told(Joined({HangWithRank3(kSince), Snapshot(kSince + kSecondNs)}, {})), at_once);
  // Its log says that it ended so.
  JobEvent death = Event(LogKind::kOutOfMemory, 3, "CUDA out of memory");
  const auto died = Joined({HangWithRank3(kSince), Snapshot(kSince - 5 * kSecondNs)}, {death});
  EXPECT_EQ(died[1].findings.front().severity, Severity::kError);
}

TEST(Verdict, ARequestThatFailedWhileItsRankWaitedIsNoCause) {
  const auto later = Joined({HangWithRank3(kSince), Snapshot(kSince + 300 * kSecondNs)}, {});
  EXPECT_EQ(Told(later), (Lines{"error/5/Others wait",
                                "warning/3/A request for memory failed while the rank waited for "
                                "others"}));
  EXPECT_NE(later[1].findings.front().evidence.find(
                "rank 3 has waited for rank 5 since 00:16:40.000 UTC"),
            std::string::npos);
}

TEST(Verdict, ASnapshotOfAnotherDayIsOfAnotherJob) {
  constexpr int64_t kDays = 2 * 86'400 * kSecondNs;
  const auto before = Joined({HangWithRank3(kSince + kDays), Snapshot(kSince)}, {});
  EXPECT_EQ(Told(before), kWentOn);
  EXPECT_NE(
      before[1].findings.front().evidence.find(
          "It was at 1970-01-01 00:16:40.000 UTC, and the newest operation of the dumps is of "
          "1970-01-03 00:16:40.000 UTC"),
      std::string::npos)
      << before[1].findings.front().evidence;
  EXPECT_EQ(Told(Joined({HangWithRank3(kSince), Snapshot(kSince + kDays)}, {})), kWentOn);
}

std::vector<SourceFindings> JoinedWithEnd(std::vector<SourceFindings> sources,
                                          std::vector<JobEvent> events, EndOfLog end) {
  LogPart logs;
  logs.events = std::move(events);
  end.file = "job/run.log";
  end.rank = 3;
  logs.ends.push_back(std::move(end));
  JoinLogs(std::move(logs), sources);
  return sources;
}

TEST(Verdict, ARequestAfterWhichTheLogGoesOnEndedNothing) {
  const Lines went_on = {"info/3/A request for memory failed, and the program went on"};
  EndOfLog end = {.line = 300, .text = "step 299"};
  // The log has the exception: said once.
  JobEvent outlived = Event(LogKind::kOutOfMemory, 3, "CUDA out of memory");
  outlived.is_no_end = true;
  outlived.goes_on_to = 300;
  EXPECT_EQ(Told(JoinedWithEnd({Snapshot(kSince)}, {outlived}, end)), went_on);
  end.retry_line = 12;
  EXPECT_EQ(Told(JoinedWithEnd({Snapshot(kSince)}, {}, end)), went_on);
  end.retry_line = 0;
  end.last_unix_ns = kSince + 3600 * kSecondNs;
  EXPECT_EQ(Told(JoinedWithEnd({Snapshot(kSince)}, {}, end)), went_on);
  // A death in the log explains the snapshot.
  EXPECT_EQ(Told(JoinedWithEnd({Snapshot(kSince)}, {Event(LogKind::kOutOfMemory, 3, "x")}, end)),
            (Lines{"error/3/Out of memory, by the snapshot"}));
  // Without their zone, times show it where the log says as well how the job ended.
  constexpr int64_t kYearBegin = 1;
  end.last_unix_ns = 0;
  end.first_year_ns = kYearBegin;
  end.last_year_ns = kYearBegin + 5 * 3600 * kSecondNs;
  const JobEvent limit = Event(LogKind::kCancelled, std::nullopt, "time limit");
  EXPECT_EQ(Told(JoinedWithEnd({Snapshot(kSince)}, {limit}, end)),
            (Lines{"error//Slurm cancelled the job at its time limit", went_on.front()}));
  EXPECT_EQ(Told(JoinedWithEnd({Snapshot(kSince)}, {}, end)),
            (Lines{"error/3/Out of memory, by the snapshot"}));
  end.has_finished = true;
  EXPECT_EQ(Told(JoinedWithEnd({Snapshot(kSince)}, {}, end)), went_on);
}

TEST(Verdict, TheLogOfACulpritIsCited) {
  EndOfLog end = {.line = 2, .text = "saving checkpoint"};
  const auto stuck = JoinedWithEnd({Hang({3}, "never-issued")}, {}, end);
  EXPECT_NE(stuck.front().findings.front().evidence.find(
                "The log of rank 3 ends with \"saving checkpoint\" (run.log:2)."),
            std::string::npos)
      << stuck.front().findings.front().evidence;
  EXPECT_EQ(stuck.front().findings.front().help, "");
  end.has_finished = true;
  const auto finished = JoinedWithEnd({Hang({3}, "no-dump")}, {}, end);
  EXPECT_TRUE(finished.front().findings.front().help.starts_with("By its log its program ended"));
}

TEST(Verdict, HelpAboutAllRanksDoesNotSpeakOfThese) {
  const JobEvent first = Event(LogKind::kException, 0, "AssertionError: loss is nan");
  JobEvent second = first;
  second.rank = 1;
  const auto all = Joined({}, {first, second});
  EXPECT_NE(all.back().findings.front().help.find("what all ranks have in common"),
            std::string::npos);
  JobEvent other = Event(LogKind::kTimeout, 2, "ALLREDUCE 12 did not end within 600 s");
  const auto some = Joined({}, {first, second, other});
  EXPECT_NE(some.back().findings.front().help.find("what these ranks alone had"),
            std::string::npos);
}

TEST(Verdict, XidsAndStacksAreEvidenceOfTheirRank) {
  JobEvent xid = Event(LogKind::kXid, 3, "Xid 79 (GPU has fallen off the bus)");
  xid.xid = 79;
  JobEvent stack = Event(LogKind::kStack, 3, "stack of py-spy");
  stack.program_line = "/app/data.py:12 load";
  const auto sources = Joined({Hang({3}, "device-stuck")}, {xid, stack});
  EXPECT_EQ(Told(sources), (Lines{"error/3/Others wait"}));
  const JobFinding& hang = sources.front().findings.front();
  EXPECT_NE(hang.evidence.find("Xid 79 (GPU has fallen off the bus), of rank 3"),
            std::string::npos);
  EXPECT_EQ(hang.where, "rank 3 is at /app/data.py:12 load");
  EXPECT_TRUE(hang.help.starts_with("Drain the node")) << hang.help;
  EXPECT_EQ(ReadRows<HangCulpritRow>(sources.front().tables.front()).front().stack_line,
            "/app/data.py:12 load");
  xid.rank.reset();
  EXPECT_EQ(Told(Joined({}, {xid})), (Lines{"error//The kernel reports errors of a GPU"}));
}

TEST(Verdict, EqualFailuresOfSeveralRanksAreOne) {
  const auto sources = Joined({}, {Event(LogKind::kException, 4, "KeyError: 'a'"),
                                   Event(LogKind::kException, 2, "KeyError: 'b'"),
                                   Event(LogKind::kException, std::nullopt, "KeyError: 'b'")});
  EXPECT_EQ(Told(sources), (Lines{"error/2,4/Ranks ended with an exception"}));
}

// Failures of rank 5 and rank 0, whose times say which came first, or do not.
std::vector<SourceFindings> TwoFailures(int64_t first_ns, int64_t second_ns) {
  JobEvent first = Event(LogKind::kException, 5, "ValueError: x");
  first.file = "5/error.json";
  first.line = 0;
  first.unix_ns = first_ns;
  JobEvent second = Event(LogKind::kException, 0, "AssertionError: closed");
  second.file = "0/error.json";
  second.line = 0;
  second.unix_ns = second_ns;
  return Joined({}, {second, first});
}

TEST(Verdict, OfSeveralFailuresTheFirstIsTheCause) {
  const auto later = TwoFailures(kSince, kSince + 50 * kSecondNs);
  EXPECT_EQ(Told(later), (Lines{"error/5/Ranks ended with an exception",
                                "warning/0/Ranks ended with an exception"}));
  EXPECT_NE(later.back().findings.back().evidence.find(
                "It came 50 s after the failure of rank 5: it may follow from that."),
            std::string::npos);
  const auto unknown = TwoFailures(0, 0);
  EXPECT_EQ(Told(unknown), (Lines{"error/0/Ranks ended with an exception",
                                  "error/5/Ranks ended with an exception"}));
  EXPECT_NE(unknown.back().findings.front().evidence.find(
                "Nothing shows whether it or the failure of rank 5 came first."),
            std::string::npos);
  // Clocks of hosts differ: the earlier one is first, but it is not said to be the cause.
  EXPECT_EQ(
      Told(TwoFailures(kSince, kSince + kSecondNs)),
      (Lines{"error/5/Ranks ended with an exception", "error/0/Ranks ended with an exception"}));
}

TEST(Verdict, LackOfMemoryIsACauseOfItsOwn) {
  JobEvent memory = Event(LogKind::kOutOfMemory, 6, "CUDA out of memory");
  memory.unix_ns = kSince;
  JobEvent error = Event(LogKind::kException, 1, "KeyError: 'x'");
  error.file = "job/other.log";
  error.unix_ns = kSince + 5 * kSecondNs;
  EXPECT_EQ(Told(Joined({}, {error, memory})), (Lines{"error/6/Out of memory on the device",
                                                      "warning/1/Ranks ended with an exception"}));
  error.unix_ns = kSince - 5 * kSecondNs;
  EXPECT_EQ(Told(Joined({}, {error, memory})), (Lines{"error/1/Ranks ended with an exception",
                                                      "error/6/Out of memory on the device"}));
}

TEST(Verdict, LaunchersAndLogsSayWhatCameFirst) {
  JobEvent root = Event(LogKind::kExit, 3, "exit code 1");
  root.exit_code = 1;
  root.is_listed = true;
  root.is_named_first = true;
  root.line = 20;
  JobEvent other = Event(LogKind::kExit, 0, "exit code 1");
  other.exit_code = 1;
  other.is_listed = true;
  EXPECT_EQ(Told(Joined({}, {other, root})), (Lines{"error/3/Ranks ended with an exit code",
                                                    "warning/0/Ranks ended with an exit code"}));
  JobEvent early = Event(LogKind::kException, 3, "KeyError: 'k'");
  JobEvent late = Event(LogKind::kException, 0, "RuntimeError: lost");
  late.line = 9;
  EXPECT_EQ(Told(Joined({}, {late, early})), (Lines{"error/3/Ranks ended with an exception",
                                                    "warning/0/Ranks ended with an exception"}));
  // A cycle of what is said ends somewhere, and always at the same place.
  early.is_named_first = false;
  late.is_named_first = true;
  EXPECT_EQ(Told(Joined({}, {late, early})).front(), "error/0/Ranks ended with an exception");
}

TEST(Verdict, ExitCodesBelongToExceptionsOfNobodyInParticular) {
  JobEvent status = Event(LogKind::kExit, 3, "exit code 1");
  status.exit_code = 1;
  status.is_named_first = true;
  const JobEvent error = Event(LogKind::kException, std::nullopt, "KeyError: 'k'");
  EXPECT_EQ(Told(Joined({}, {error, status})), (Lines{"error/3/Ranks ended with an exception"}));
  JobEvent more = Event(LogKind::kExit, 0, "exit code 1");
  more.exit_code = 1;
  const auto several = Joined({}, {error, status, more});
  EXPECT_EQ(Told(several), (Lines{"error//Ranks ended with an exception"}));
  EXPECT_NE(several.back().findings.front().evidence.find(
                "The launcher names rank 3 as the first that ended, with exit code 1."),
            std::string::npos);
}

TEST(Verdict, ExceptionsThatWereOutlivedAreNoDeaths) {
  JobEvent event = Event(LogKind::kException, std::nullopt, "OSError: retry");
  event.is_no_end = true;
  event.goes_on_to = 500;
  const auto alone = Joined({}, {event});
  EXPECT_EQ(Told(alone), (Lines{"info//Failures after which the program went on"}));
  EXPECT_FALSE(alone.back().has_cause);
  // Unless a process failed of which nothing else is known.
  JobEvent task = Event(LogKind::kTaskFailed, std::nullopt, "task 3: Exited with exit code 1");
  EXPECT_EQ(Told(Joined({}, {event, task})).front(), "error//Ranks ended with an exception");
}

TEST(Verdict, RankListsAreReadAsTheyAreWritten) {
  for (const std::vector<int32_t>& ranks :
       {std::vector<int32_t>{}, {7}, {0, 1}, {0, 1, 2, 3}, {0, 1, 2, 5, 9, 10, 11, 12}}) {
    EXPECT_EQ(ReadRankList(RankList(ranks)), ranks);
  }
  for (const std::string_view text : {"x", "1..", "-3", "0..99999999", ","}) {
    EXPECT_TRUE(ReadRankList(text).empty()) << text;
  }
}

JobEvent Desync(DesyncKind kind, std::vector<int32_t> ranks, std::optional<int32_t> teller) {
  JobEvent event = Event(LogKind::kProgress, teller, "ranks did not join");
  event.desync = kind;
  event.blamed = std::move(ranks);
  return event;
}

TEST(Verdict, DesyncReportsNameWhoWasMissing) {
  EXPECT_EQ(Told(Joined({}, {Desync(DesyncKind::kNotJoined, {2, 5}, 0)})),
            (Lines{"error/2,5/Ranks stopped issuing work"}));
  // That all of them joined and none finished says nothing about anybody.
  EXPECT_EQ(Told(Joined({}, {Desync(DesyncKind::kNotFinished, {0, 1}, 0)})), Lines{});
  EXPECT_EQ(Told(Joined({}, {Desync(DesyncKind::kNotFinished, {1}, 0)})),
            (Lines{"error/1/Devices stopped inside a collective"}));
}

JobEvent Calls(std::vector<CallText> calls) {
  JobEvent event = Event(LogKind::kException, calls.front().rank, "RuntimeError: differ");
  event.is_consequence = true;
  event.calls = std::move(calls);
  return event;
}

TEST(Verdict, CallsThatDifferAreThoseOfTheFew) {
  const CallText zero{0, 12, "ALLREDUCE", "4"};
  const CallText one{1, 12, "ALLREDUCE", "4"};
  const CallText two{2, 12, "BROADCAST", "4"};
  const auto most = Joined({}, {Calls({zero, two}), Calls({one, two})});
  EXPECT_EQ(Told(most).front(), "error/2/Ranks called different operations");
  EXPECT_EQ(most.back().findings.front().certainty, Certainty::kLikely);
  // Of two that differ either may be wrong.
  const auto two_only = Joined({}, {Calls({zero, two})});
  EXPECT_EQ(Told(two_only).front(), "error/0,2/Ranks called different operations");
  EXPECT_EQ(two_only.back().findings.front().certainty, Certainty::kCannotTell);
  CallText wide = two;
  wide.operation = "ALLREDUCE";
  wide.shape = "8";
  EXPECT_EQ(Told(Joined({}, {Calls({zero, wide}), Calls({one, wide})})).front(),
            "error/2/Ranks called with different sizes or types");
}

// A time of an earlier line is no proof that a failure came first.
TEST(Verdict, TimesOfEarlierLinesShowOnlyThatAFailureWasNotBefore) {
  JobEvent early = Event(LogKind::kException, 0, "KeyError: 'k'");
  early.year_ns = 10 * kSecondNs;
  early.is_time_least = true;
  JobEvent late = Event(LogKind::kException, 1, "ValueError: x");
  late.file = "other.log";
  late.year_ns = 100 * kSecondNs;
  const auto unknown = Joined({}, {early, late});
  EXPECT_EQ(Told(unknown), (Lines{"error/0/Ranks ended with an exception",
                                  "error/1/Ranks ended with an exception"}));
  EXPECT_NE(unknown.back().findings.front().evidence.find("Nothing shows whether"),
            std::string::npos);
  early.year_ns = 200 * kSecondNs;
  EXPECT_EQ(Told(Joined({}, {early, late})), (Lines{"error/1/Ranks ended with an exception",
                                                    "warning/0/Ranks ended with an exception"}));
}

TEST(Verdict, AProcessOfSeveralMayHaveEnded) {
  JobEvent event = Event(LogKind::kException, std::nullopt, "KeyError: 3");
  event.is_no_end = true;
  event.is_end_unclear = true;
  event.goes_on_to = 500;
  const auto told = Joined({}, {event});
  EXPECT_EQ(Told(told),
            (Lines{"warning//A process failed while others went on, or went on itself"}));
  EXPECT_TRUE(told.back().is_unclear);
}

}  // namespace
}  // namespace borescope::internal
