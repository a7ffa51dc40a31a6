#include "borescope/postmortem/logs/log_scan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/postmortem/logs/error_files.h"
#include "borescope/postmortem/logs/log_lines.h"
#include "borescope/postmortem/logs/xid_catalog.h"
#include "borescope/postmortem/program_line.h"

namespace borescope::internal {
namespace {

std::vector<LogEvent> Scanned(std::string_view text) {
  const Result<LineFinder> lines = LineFinder::Make("");
  LogScanner scanner(*lines);
  const std::unique_ptr<ByteSource> source = OpenMemory(text);
  const Result<uint64_t> read =
      ForEachLogLine(*source, UINT64_MAX,
                     [&](std::string_view line, int64_t number) { scanner.Take(line, number); });
  EXPECT_TRUE(read.ok());
  EXPECT_EQ(*read, text.size());
  return scanner.Finish();
}

// The only event of a text.
LogEvent OnlyOf(std::string_view text) {
  const std::vector<LogEvent> events = Scanned(text);
  EXPECT_EQ(events.size(), 1U) << text;
  return events.empty() ? LogEvent() : events.front();
}

TEST(LogLines, PrefixesAndColoursAreTakenOff) {
  std::string kept;
  LogLine line = CleanLogLine("\x1b[31m[rank12]:   File \"a.py\"\x1b[0m", kept);
  EXPECT_EQ(line.text, "  File \"a.py\"");
  EXPECT_EQ(line.rank, 12);
  EXPECT_EQ(line.basis, LogRankBasis::kRank);
  line = CleanLogLine(" 3: [default1]:2026-11-28T12:00:00.5+01:00 hello", kept);
  EXPECT_EQ(line.text, "hello");
  EXPECT_EQ(line.rank, 1);
  EXPECT_EQ(line.basis, LogRankBasis::kLocal);
  EXPECT_EQ(line.unix_ns, 1'795'863'600'500'000'000);
  // The rank of PyTorch is surer than the place on the node, whichever comes first.
  line = CleanLogLine("[rank9]:[default1]: hello", kept);
  EXPECT_EQ(line.rank, 9);
  // A time without its zone says nothing, and is taken off all the same.
  line = CleanLogLine("[2026-11-28 12:00:00,123] hello", kept);
  EXPECT_EQ(line.text, "hello");
  EXPECT_EQ(line.unix_ns, 0);
  line = CleanLogLine("[E1218 20:27:21.4 x.cpp:1] [Rank 0] hello", kept);
  EXPECT_EQ(line.text, "[E1218 20:27:21.4 x.cpp:1] [Rank 0] hello");
  EXPECT_FALSE(line.rank.has_value());
}

TEST(LogLines, PrefixesOfLaunchers) {
  std::string kept;
  LogLine line = CleanLogLine("[1,3]<stderr>: hello", kept);
  EXPECT_EQ(line.text, "hello");
  EXPECT_EQ(line.rank, 3);
  EXPECT_EQ(line.basis, LogRankBasis::kTask);
  line = CleanLogLine("[12] hello", kept);
  EXPECT_EQ(line.text, "hello");
  EXPECT_EQ(line.rank, 12);
  line = CleanLogLine("(TrainWorker pid=77, ip=10.0.0.2) hello", kept);
  EXPECT_EQ(line.text, "hello");
  EXPECT_EQ(line.pid, 77);
  EXPECT_FALSE(line.rank.has_value());
  for (const std::string_view plain : {"[1,3]<other>: x", "[1,]<stderr>: x", "[3]:", "(pid=7) x",
                                       "(a pid=x) y", "(a pid=7", "[", "[1,", ""}) {
    line = CleanLogLine(plain, kept);
    EXPECT_EQ(line.text, plain);
    EXPECT_FALSE(line.rank.has_value() || line.pid.has_value()) << plain;
  }
}

TEST(LogLines, TimesWithoutAZoneAreOfOneClock) {
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t noon = YearNsOf("2026-11-28 12:00:00");
  EXPECT_NE(noon, 0);
  EXPECT_EQ(YearNsOf("2025-11-28T12:00:00"), noon);
  EXPECT_EQ(YearNsOf("2026-11-28_12:00:00"), noon);
  EXPECT_EQ(YearNsOf("2026/11/28 12:00:00"), noon);
  EXPECT_EQ(YearNsOf("1128 12:00:00"), noon);
  EXPECT_EQ(YearNsOf("Nov 28 12:00:00 host kernel:"), noon);
  EXPECT_EQ(YearNsOf("2026-11-28 12:00:01,5"), noon + kSecond * 3 / 2);
  EXPECT_EQ(YearNsBetween(YearNsOf("Nov  1 10:00:00"), YearNsOf("1101 10:00:07")), 7 * kSecond);
  // From one year to the next.
  EXPECT_EQ(YearNsBetween(YearNsOf("1231 23:59:59"), YearNsOf("0101 00:00:01")), 2 * kSecond);
  EXPECT_EQ(YearNsBetween(YearNsOf("0101 00:00:01"), YearNsOf("1231 23:59:59")), -2 * kSecond);
  for (const std::string_view text :
       {"", "2026", "2026-13-01 00:00:00", "2026-01-32 00:00:00", "2026-01-01 24:00:00",
        "2026-01-01 00:0", "1301 00:00:00", "Nox 28 12:00:00", "ovN 28 12:00:00", "Nov", "Nov 28",
        "step 28 of 100"}) {
    EXPECT_EQ(YearNsOf(text), 0) << text;
  }
  std::string kept;
  EXPECT_EQ(CleanLogLine("[2026-11-28 12:00:00,000] hello", kept).year_ns, noon);
  EXPECT_EQ(CleanLogLine("[rank1]:[E1128 12:00:00.0 x.cpp:1] hello", kept).year_ns, noon);
  EXPECT_EQ(CleanLogLine("2026-11-28T12:00:00Z hello", kept).year_ns, 0);  // it has its zone
}

TEST(LogLines, TimesNeedAZoneAndARealDate) {
  EXPECT_EQ(UnixNsOf("1970-01-01T00:00:01Z"), 1'000'000'000);
  EXPECT_EQ(UnixNsOf("1970-01-02 00:00:00,000000001+0000"), 86'400'000'000'001);
  EXPECT_EQ(UnixNsOf("2026-02-30T00:00:00Z"), std::nullopt);
  EXPECT_EQ(UnixNsOf("2026-02-03T00:00:00"), std::nullopt);
  EXPECT_EQ(UnixNsOf("2026-02-03T25:00:00Z"), std::nullopt);
  EXPECT_EQ(UnixNsOf("9999-02-03T00:00:00Z"), std::nullopt);
}

TEST(LogLines, LongLinesAreCutAndProgressBarsAreLinesOfOneNumber) {
  const std::string text = std::string(200'000, 'x') + "\n10%\r20%\n\nend";
  const std::unique_ptr<ByteSource> source = OpenMemory(text);
  std::vector<std::pair<size_t, int64_t>> seen;
  ASSERT_TRUE(ForEachLogLine(*source, UINT64_MAX, [&](std::string_view line, int64_t number) {
                seen.emplace_back(line.size(), number);
              }).ok());
  EXPECT_EQ(seen, (std::vector<std::pair<size_t, int64_t>>{
                      {kLogLineBytes, 1}, {3, 2}, {3, 2}, {0, 3}, {3, 4}}));
}

TEST(LogScan, TracebacksOfRanksThatInterruptEachOther) {
  const std::vector<LogEvent> events = Scanned(
      "[rank3]: Traceback (most recent call last):\n"
      "[rank3]:   File \"/app/train.py\", line 31, in main\n"
      "[rank1]: Traceback (most recent call last):\n"
      "[rank3]:     step(batch)\n"
      "[rank1]:   File \"/app/train.py\", line 22, in gather\n"
      "step 17\n"
      "[rank3]:   File \"/usr/lib/python3.11/site-packages/torch/nn/module.py\", line 7, in call\n"
      "[rank3]: ValueError: bad batch\n"
      "[rank1]: torch.distributed.DistBackendError: [2] is setting up NCCL communicator and "
      "retrieving ncclUniqueId from [0] via c10d key-value store, but store->get('0') got error: "
      "Connection reset by peer\n");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].rank, 3);
  EXPECT_EQ(events[0].line, 1);
  EXPECT_EQ(events[0].text, "ValueError: bad batch");
  EXPECT_EQ(events[0].program_line, "/app/train.py:31 main");
  EXPECT_FALSE(events[0].is_consequence);
  EXPECT_EQ(events[1].rank, 1);
  EXPECT_TRUE(events[1].is_consequence);
}

TEST(LogScan, ExceptionsOfLaunchersAreThoseOfTheirChildren) {
  EXPECT_TRUE(Scanned("Traceback (most recent call last):\n"
                      "  File \"/usr/bin/torchrun\", line 8, in <module>\n"
                      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n")
                  .empty());
}

// A traceback of a stream, then lines.
std::string After(std::string_view prefix, int lines, std::string_view text) {
  std::string log;
  for (const std::string_view line :
       {"Traceback (most recent call last):", "  File \"/app/a.py\", line 1, in f", "OSError: x"}) {
    log += fmt::format("{}{}\n", prefix, line);
  }
  for (int i = 0; i < lines; ++i) {
    log += fmt::format("{}{}\n", prefix, fmt::format(fmt::runtime(text), i));
  }
  return log;
}

TEST(LogScan, WorkAfterAnExceptionShowsThatItEndedNothing) {
  const LogEvent went_on = OnlyOf(After("", 50, "step {} loss 2.5"));
  EXPECT_TRUE(went_on.is_no_end);
  EXPECT_EQ(went_on.goes_on_to, 53);
  EXPECT_TRUE(OnlyOf(After("[rank1]: ", 5, "step {}")).is_no_end);
  EXPECT_TRUE(OnlyOf(After("2026-11-28 10:00:00,1 ", 20, "INFO train {}/500")).is_no_end);
  // A few steps of others, lines that count nothing, what is written at an end, and numbers of
  // others.
  EXPECT_FALSE(OnlyOf(After("", 5, "step {} loss 2.5")).is_no_end);
  EXPECT_FALSE(OnlyOf(After("", 50, "waiting")).is_no_end);
  EXPECT_FALSE(OnlyOf(After("", 50, "Sending process {} closing signal SIGTERM")).is_no_end);
  EXPECT_FALSE(OnlyOf(After("", 50, "frame #{}: c10::Error")).is_no_end);
  EXPECT_FALSE(OnlyOf(After("", 50, "loss 0.{}")).is_no_end);
  EXPECT_FALSE(OnlyOf(After("", 50, "10:00:{} waiting")).is_no_end);
  EXPECT_FALSE(
      OnlyOf(After("[rank1]: ", 0, "") + After("[rank2]: ", 50, "step {}").substr(120)).is_no_end);
  // The same one again, at the end; and again in every step.
  const LogEvent again = OnlyOf(After("", 50, "step {}") + After("", 0, ""));
  EXPECT_FALSE(again.is_no_end);
  EXPECT_EQ(again.count, 2U);
  EXPECT_EQ(again.line, 54);
  EXPECT_TRUE(OnlyOf(After("", 50, "step {}") + After("", 0, "") + "step 51\n").is_no_end);
}

TEST(LogScan, OfExceptionsThatAreRaisedWhileAnotherIsHandledTheLastCounts) {
  const std::string chain =
      "\nDuring handling of the above exception, another exception occurred:\n\n";
  const std::string second = "Traceback (most recent call last):\nValueError: y\n";
  std::vector<LogEvent> events = Scanned(After("", 0, "") + chain + second);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(events[0].is_no_end);
  EXPECT_FALSE(events[1].is_no_end);
  events = Scanned("Traceback (most recent call last):\nRuntimeError: Connection closed by peer\n" +
                   chain + second);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(events[1].is_consequence);
  EXPECT_TRUE(OnlyOf("Exception ignored in: <function f>\n" + After("", 0, "")).is_no_end);
}

TEST(LogScan, WhatLaunchersSayOfExits) {
  const LogEvent agent = OnlyOf(
      "E1101 10:00:00.0 12 api.py:869] failed (exitcode: -9) local_rank: 2 (pid: 102) of binary: "
      "p\n");
  EXPECT_EQ(agent.rank, 2);
  EXPECT_EQ(agent.basis, LogRankBasis::kLocal);
  EXPECT_EQ(agent.exit_code, -9);
  EXPECT_TRUE(agent.is_named_first);
  EXPECT_EQ(OnlyOf("[x] ['python', 't.py'] exits with return code = -11\n").exit_code, -11);
  EXPECT_EQ(
      OnlyOf("Traceback (most recent call last):\nsubprocess.CalledProcessError: Command '['p']' "
             "died with <Signals.SIGKILL: 9>.\n")
          .exit_code,
      -9);
  EXPECT_EQ(
      OnlyOf("subprocess.CalledProcessError: Command 'p' returned non-zero exit status 139.\n")
          .text,
      "signal 11 (SIGSEGV)");
  const LogEvent mpi = OnlyOf(
      "mpirun noticed that process rank 3 with PID 77 on node n1 exited on signal 9 (Killed).\n");
  EXPECT_EQ(mpi.rank, 3);
  EXPECT_EQ(mpi.pid, 77);
  EXPECT_EQ(mpi.exit_code, -9);
  EXPECT_EQ(OnlyOf("  Process name: [[12345,1],3]\n  Exit code:    1\n").rank, 3);
  EXPECT_EQ(OnlyOf("  Process name: [prterun-n1-77@1,5]\n  Exit code:    1\n").rank, 5);
  EXPECT_TRUE(Scanned("  Exit code:    1\n").empty());
  const LogEvent hydra =
      OnlyOf("=   RANK 4 PID 77 RUNNING AT n1\n=   KILLED BY SIGNAL: 9 (Killed)\n");
  EXPECT_EQ(hydra.rank, 4);
  EXPECT_EQ(hydra.exit_code, -9);
  EXPECT_EQ(OnlyOf("=   PID 77 RUNNING AT n1\n=   EXIT CODE: 139\n").exit_code, -11);
  EXPECT_TRUE(OnlyOf("p exits with return code = -15\n").is_consequence);
  EXPECT_EQ(OnlyOf("srun: error: Node failure on n12\n").text, "node failure");
}

TEST(LogScan, TracesOfRaysWorkers) {
  const LogEvent event = OnlyOf(
      "Traceback (most recent call last):\n"
      "  File \"/app/driver.py\", line 9, in <module>\n"
      "ray.exceptions.RayTaskError(ValueError): ray::train() (pid=12, ip=10.0.0.2)\n"
      "  File \"/app/train.py\", line 31, in train\n"
      "ValueError: bad batch\n");
  EXPECT_EQ(event.text, "ValueError: bad batch");
  EXPECT_EQ(event.program_line, "/app/train.py:31 train");
  // Workers interrupt each other.
  const std::vector<LogEvent> events = Scanned(
      "(W pid=1) Traceback (most recent call last):\n"
      "(W pid=2) Traceback (most recent call last):\n"
      "(W pid=1)   File \"/app/a.py\", line 1, in f\n"
      "(W pid=2)   File \"/app/b.py\", line 2, in g\n"
      "(W pid=2) KeyError: 2\n"
      "(W pid=1) KeyError: 1\n");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].program_line, "/app/a.py:1 f");
  EXPECT_EQ(events[1].pid, 2);
}

TEST(LogScan, SecretsAreNotKept) {
  const LogEvent event = OnlyOf(
      "Traceback (most recent call last):\n"
      "  File \"/app/a.py\", line 1, in f\n"
      "OSError: https://user:pw@store.example.com/x failed, password=hunter2 for me@example.com "
      "ghp_0123456789abcdefghijklmnopqrstuvwxyz\n");
  for (const std::string_view secret : {"pw@", "hunter2", "me@", "ghp_0123"}) {
    EXPECT_EQ(event.text.find(secret), std::string::npos) << event.text;
  }
  EXPECT_TRUE(event.text.starts_with("OSError: ")) << event.text;
  const LogEvent in_frame = OnlyOf(
      "Traceback (most recent call last):\n"
      "  File \"/data/run.py\", line 3, in <module> password=hunter2secret\n"
      "ValueError: x\n");
  EXPECT_TRUE(in_frame.program_line.starts_with("/data/run.py:3 <module>"))
      << in_frame.program_line;
  EXPECT_EQ(in_frame.program_line.find("hunter2"), std::string::npos) << in_frame.program_line;
}

TEST(LogScan, ExitCodesAreThoseOfProcesses) {
  const LogEvent event = OnlyOf(
      "Failures:\n[1]:\n  rank      : 1 (local_rank: 1)\n"
      "  exitcode  : -2147483648 (pid: 6175)\n");
  EXPECT_EQ(event.exit_code, -65'535);
  EXPECT_EQ(event.text, "signal 65535");
}

TEST(LogScan, LongTextsAreCutBetweenCharacters) {
  const std::string text = WithoutSecrets("x" + std::string(149, 'y') + std::string(400, '\xC3'));
  EXPECT_LE(text.size(), 303U);
  std::string umlauts = "x";
  for (int i = 0; i < 300; ++i) umlauts += "\xC3\xA4";
  const std::string cut = WithoutSecrets(umlauts);
  EXPECT_EQ(cut.size(), 302U);  // 299 bytes of whole characters, and the dots
  EXPECT_TRUE(cut.ends_with("\xC3\xA4..."));
}

TEST(LogScan, SummaryOfTorchrun) {
  const std::vector<LogEvent> events = Scanned(
      "Failures:\n[1]:\n  time      : 2026-01-15_05:44:28\n  host      : a\n"
      "  rank      : 1 (local_rank: 1)\n  exitcode  : -15 (pid: 6175)\n  error_file: <N/A>\n"
      "  traceback : Signal 15 (SIGTERM) received by PID 6175\n"
      "------------------------------------------------------\n"
      "Root Cause (first observed failure):\n[0]:\n  time      : 2026-01-15_05:44:28\n"
      "  host      : b\n  rank      : 9 (local_rank: 1)\n  exitcode  : -9 (pid: 6174)\n"
      "======================================================\n"
      "  exitcode  : 3 (pid: 1)\n");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].rank, 1);
  EXPECT_TRUE(events[0].is_consequence);
  EXPECT_EQ(events[1].rank, 9);
  EXPECT_EQ(events[1].pid, 6174);
  EXPECT_EQ(events[1].exit_code, -9);
  EXPECT_EQ(events[1].host, "b");
  EXPECT_EQ(events[1].text, "signal 9 (SIGKILL)");
  EXPECT_FALSE(events[1].is_consequence);
}

TEST(LogScan, WatchdogsOfSeveralVersions) {
  LogEvent event = OnlyOf(
      "[rank4]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST, NumelIn=131072000, "
      "NumelOut=131072000, Timeout(ms)=600000) ran for 600081 milliseconds before timing out.\n");
  EXPECT_EQ(event.rank, 4);  // the rank in the group is 0
  ASSERT_TRUE(event.timeout.has_value());
  EXPECT_EQ(event.timeout->operation, "BROADCAST");
  EXPECT_EQ(event.timeout->seq, 1);
  EXPECT_EQ(event.timeout->waited_ms, 600'081);
  EXPECT_EQ(event.text, "BROADCAST 1 did not end within 600 s");
  event = OnlyOf(
      "[E ProcessGroupNCCL.cpp:587] [PG ID 2 PG GUID 7(tp) Rank 3] Watchdog caught collective "
      "operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1803170 "
      "milliseconds before timing out.\n");
  EXPECT_EQ(event.rank, 3);
  EXPECT_EQ(event.timeout->group, "7(tp)");
  EXPECT_EQ(event.timeout->seq, std::nullopt);
  event = OnlyOf(
      "[rank1]:[E409 05:10:01.9 ProcessGroupNCCL.cpp:1595] [PG ID 0 PG GUID 0(default_pg) Rank 1] "
      "Process group watchdog thread terminated with exception: CUDA error: an illegal memory "
      "access was encountered\n");
  EXPECT_EQ(event.kind, LogKind::kException);
  EXPECT_EQ(event.text, "CUDA error: an illegal memory access was encountered");
}

TEST(LogScan, AmountsOfOutOfMemory) {
  const LogEvent event = OnlyOf(
      "Traceback (most recent call last):\n"
      "  File \"/app/cases.py\", line 26, in oom\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 200.00 MiB. GPU 0 has a "
      "total capacity of 79.18 GiB of which 77.01 GiB is free. Process 12 has 1.00 GiB memory in "
      "use. Process 13 has 512.00 MiB memory in use. Including non-PyTorch memory, this process "
      "has 2.16 GiB memory in use. 1.58 GiB allowed; Of the allocated memory 1.07 GiB is allocated "
      "by PyTorch, and 372.93 MiB is reserved by PyTorch but unallocated.\n");
  EXPECT_EQ(event.kind, LogKind::kOutOfMemory);
  EXPECT_EQ(event.program_line, "/app/cases.py:26 oom");
  ASSERT_TRUE(event.out_of_memory.has_value());
  ASSERT_TRUE(event.out_of_memory->allowed.has_value());
  EXPECT_LT(event.out_of_memory->allowed->low, event.out_of_memory->allowed->high);
  EXPECT_EQ(OnlyOf("RuntimeError: HIP out of memory. Tried to allocate 2.00 GiB.\n").kind,
            LogKind::kOutOfMemory);
  EXPECT_TRUE(Scanned("the GPU is out of memory\n").empty());
}

TEST(LogScan, FaulthandlerShowsTheThreadThatFailed) {
  const LogEvent event = OnlyOf(
      "Fatal Python error: Segmentation fault\n\n"
      "Thread 0x00007f1 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/threading.py\", line 5 in wait\n\n"
      "Current thread 0x00007f2 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/ctypes/__init__.py\", line 486 in string_at\n"
      "  File \"/app/kernel.py\", line 9 in launch\n"
      "  File \"/app/train.py\", line 3 in main\n\n"
      "Extension modules: numpy (total: 1)\n");
  EXPECT_EQ(event.kind, LogKind::kFatal);
  EXPECT_EQ(event.text, "Segmentation fault");
  EXPECT_EQ(event.program_line, "/app/kernel.py:9 launch");
  EXPECT_EQ(event.line, 1);
  const LogEvent stack = OnlyOf(
      "Timeout (0:00:30)!\nThread 0x00007f1 (most recent call first):\n"
      "  File \"/app/data.py\", line 5 in read\n");
  EXPECT_EQ(stack.kind, LogKind::kStack);
  EXPECT_EQ(stack.program_line, "/app/data.py:5 read");
}

// faulthandler.dump_traceback_later marks no thread as the current one, and writes the main thread
// last.
TEST(LogScan, FaulthandlerOfAllThreadsShowsTheMainThread) {
  const std::string helper =
      "Thread 0x00007f2 (most recent call first):\n"
      "  File \"/app/heartbeat.py\", line 12 in beat\n\n";
  const std::string main_thread =
      "Thread 0x00007f1 (most recent call first):\n"
      "  File \"/app/data.py\", line 55 in read\n"
      "  File \"/app/train.py\", line 80 in <module>\n";
  const LogEvent stack = OnlyOf("Timeout (0:00:30)!\n" + helper + main_thread);
  EXPECT_EQ(stack.program_line, "/app/data.py:55 read");
  EXPECT_EQ(stack.line, 5);
  const std::string no_frame =
      "Thread 0x00007f3 (most recent call first):\n  <no Python frame>\n\n";
  EXPECT_EQ(OnlyOf("Timeout (0:00:30)!\n" + no_frame + helper + main_thread).program_line,
            "/app/data.py:55 read");
  // Where a thread is marked its frames alone count, though they are of libraries.
  const std::string current =
      "Current thread 0x00007f4 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/selectors.py\", line 468 in select\n\n";
  EXPECT_EQ(OnlyOf(current + helper + main_thread).program_line,
            "/usr/lib/python3.11/selectors.py:468 select");
  // Of more than a hundred threads the main one is not there.
  EXPECT_TRUE(Scanned("Timeout (0:00:30)!\n" + helper + helper + "...\n").empty());
}

TEST(LogScan, LinesOfTheKernel) {
  LogEvent event = OnlyOf(
      "[123.4] NVRM: Xid (PCI:0000:1b:00): 31, pid=79749, name=python, Ch 0000000a, MMU Fault\n");
  EXPECT_EQ(event.xid, 31);
  EXPECT_EQ(event.pid, 79'749);
  EXPECT_EQ(event.text, "Xid 31 (GPU memory page fault) of the GPU at 0000:1b:00");
  event = OnlyOf("NVRM: Xid (PCI:0000:23:00): 79, pid='<unknown>', GPU has fallen off the bus.\n");
  EXPECT_EQ(event.pid, std::nullopt);
  EXPECT_TRUE(OnlyOf("NVRM: Xid (PCI:0000:23:00): 45, pid=7, Ch 1\n").is_consequence);
  event = OnlyOf(
      "Out of memory: Killed process 77 (python) total-vm:100kB, anon-rss:50kB, file-rss:0kB\n");
  EXPECT_EQ(event.kind, LogKind::kKilled);
  EXPECT_EQ(event.pid, 77);
  // The summary and the kill are of one process.
  event = OnlyOf(
      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/a,task=python,pid=77,"
      "uid=0\nMemory cgroup out of memory: Killed process 77 (python) total-vm:1kB\n");
  EXPECT_EQ(event.count, 2U);
}

TEST(LogScan, LinesOfSlurm) {
  LogEvent event = OnlyOf(
      "slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-09-30T16:00:24 DUE TO TIME LIMIT "
      "***\n");
  EXPECT_EQ(event.kind, LogKind::kCancelled);
  EXPECT_EQ(event.text, "time limit");
  EXPECT_EQ(event.host, "n1");
  event = OnlyOf("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-09-30T16:00:24 ***\n");
  EXPECT_EQ(event.text, "cancelled");
  event = OnlyOf(
      "[2026-09-14T17:14:38.784] error: Detected 1 oom_kill event in StepId=22035606.1. Some of "
      "the step tasks have been OOM Killed.\n");
  EXPECT_EQ(event.kind, LogKind::kKilled);
  event = OnlyOf("srun: error: n5: task 3: Out Of Memory\n");
  EXPECT_EQ(event.kind, LogKind::kTaskFailed);
  EXPECT_EQ(event.text, "task 3: Out Of Memory");
  EXPECT_TRUE(OnlyOf("srun: error: n5: tasks 0-2,5,7: Terminated\n").is_consequence);
}

TEST(LogScan, WarningsOfNcclAreCounted) {
  const std::string line =
      "node-0:5911:5971 [0] transport/net_ib.cc:154 NCCL WARN NET/IB : mlx5_3:1 async fatal "
      "event\n";
  const LogEvent event = OnlyOf(line + line + line);
  EXPECT_EQ(event.count, 3U);
  EXPECT_EQ(event.pid, 5911);
  EXPECT_EQ(event.text, "NET/IB : mlx5_3:1 async fatal event");
}

TEST(LogScan, OrdinaryLinesAreNothing) {
  EXPECT_TRUE(
      Scanned("step 1 loss 3.2\n10%|##| 1/10\nFailures: 0 tests\n\xFF\xFE\n\nRank 3\n").empty());
}

TEST(ErrorFiles, OfTorchElastic) {
  const Result<LineFinder> lines = LineFinder::Make("");
  const std::string_view text =
      R"({"message": {"message": "ValueError: bad\nmore", "extraInfo": {"py_callstack": )"
      R"("Traceback (most recent call last):\n  File \"/app/t.py\", line 4, in f\n    g()\n)"
      R"(ValueError: bad\n", "timestamp": "1700000000"}}})";
  ASSERT_EQ(GuessErrorFile(text), ErrorFileKind::kElastic);
  const auto events = ReadErrorFile(ErrorFileKind::kElastic, text, *lines);
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().text, "ValueError: bad");
  EXPECT_EQ(events->front().program_line, "/app/t.py:4 f");
  EXPECT_EQ(events->front().unix_ns, 1'700'000'000'000'000'000);
  const auto old =
      ReadErrorFile(ErrorFileKind::kElastic, R"({"message": "RuntimeError: x"})", *lines);
  ASSERT_TRUE(old.has_value());
  EXPECT_EQ(old->front().text, "RuntimeError: x");
  EXPECT_FALSE(ReadErrorFile(ErrorFileKind::kElastic, R"({"message": 3})", *lines).has_value());
  EXPECT_FALSE(ReadErrorFile(ErrorFileKind::kElastic, R"({"message": )", *lines).has_value());
  EXPECT_EQ(GuessErrorFile(R"({"traceEvents": []})"), ErrorFileKind::kNone);
}

TEST(ErrorFiles, OfPySpy) {
  const Result<LineFinder> lines = LineFinder::Make("");
  const std::string_view text =
      R"([{"pid": 77, "thread_id": 2, "thread_name": "loader", "os_thread_id": null, )"
      R"("active": true, "owns_gil": true, "frames": [{"name": "w", "filename": "/app/w.py", )"
      R"("module": null, "short_filename": "w.py", "line": 1, "locals": [{"repr": "'secret'"}]}]},)"
      R"({"pid": 77, "thread_id": 1, "thread_name": "MainThread", "active": false, )"
      R"("owns_gil": false, "frames": [{"name": "wait", "filename": "/usr/lib/python3.11/t.py", )"
      R"("line": 9}, {"name": "load", "filename": "/app/data.py", "line": 12}]}])";
  ASSERT_EQ(GuessErrorFile(text), ErrorFileKind::kPySpy);
  const auto events = ReadErrorFile(ErrorFileKind::kPySpy, text, *lines);
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().pid, 77);
  EXPECT_EQ(events->front().program_line, "/app/data.py:12 load");
}

TEST(ErrorFiles, RanksAndAttemptsOfFolders) {
  EXPECT_EQ(RankOfFolder("/tmp/run_7/attempt_0/3/error.json"), 3);
  EXPECT_EQ(RankOfFolder("attempt_0/error.json"), std::nullopt);
  EXPECT_EQ(RankOfFolder("2/error.json"), 2);
  EXPECT_EQ(RankOfFolder("2/x/error.json"), std::nullopt);
  EXPECT_EQ(RankOfFolder("error.json"), std::nullopt);
  EXPECT_EQ(AttemptOfFolder("/tmp/attempt_1/3/error.json"), 1);
  EXPECT_EQ(AttemptOfFolder("/tmp/3/error.json"), std::nullopt);
}

TEST(Xids, ClassesAndMeanings) {
  EXPECT_EQ(XidClassOf(79), XidClass::kHardware);
  EXPECT_EQ(XidClassOf(31), XidClass::kProgram);
  EXPECT_EQ(XidClassOf(45), XidClass::kConsequence);
  EXPECT_EQ(XidClassOf(63), XidClass::kInformation);
  EXPECT_EQ(XidClassOf(9999), XidClass::kUnknown);
  EXPECT_EQ(XidMeaning(79), "GPU has fallen off the bus");
  // The table is searched by halves: every number in it is found.
  int known = 0;
  for (int xid = 0; xid < 200; ++xid) {
    known += XidClassOf(xid) != XidClass::kUnknown ? 1 : 0;
  }
  EXPECT_EQ(known, 46);
}

TEST(LogScan, OfAGroupOfExceptionsEachCounts) {
  const std::vector<LogEvent> events = Scanned(
      "  + Exception Group Traceback (most recent call last):\n"
      "  |   File \"/app/main.py\", line 9, in <module>\n"
      "  |     main()\n"
      "  | ExceptionGroup: all of it (2 sub-exceptions)\n"
      "  +-+---------------- 1 ----------------\n"
      "    | Exception Group Traceback (most recent call last):\n"
      "    |   File \"/app/load.py\", line 5, in load\n"
      "    |     read()\n"
      "    | ExceptionGroup: inner (1 sub-exception)\n"
      "    +-+---------------- 1 ----------------\n"
      "      | Traceback (most recent call last):\n"
      "      |   File \"/app/load.py\", line 3, in read\n"
      "      |     raise OSError(\"no such shard\")\n"
      "      | OSError: no such shard\n"
      "      +------------------------------------\n"
      "    +---------------- 2 ----------------\n"
      "    | TypeError: 2\n"
      "    +------------------------------------\n"
      "step 1\n");
  std::string ends;
  for (const LogEvent& event : events) {
    if (!event.is_no_end) {
      ends += fmt::format("{}: {} at {}; ", event.line, event.text, event.program_line);
    }
  }
  EXPECT_EQ(ends, "11: OSError: no such shard at /app/load.py:3 read; 17: TypeError: 2 at ; ");
  EXPECT_EQ(events.size(), 4U);
  // Without its parts, as where they are nested too deep to be printed, the group is what there is.
  const LogEvent alone = OnlyOf(
      "[rank2]:   + Exception Group Traceback (most recent call last):\n"
      "[rank2]:   |   File \"/app/main.py\", line 9, in <module>\n"
      "[rank2]:   | ExceptionGroup: all of it (2 sub-exceptions)\n");
  EXPECT_EQ(alone.rank, 2);
  EXPECT_FALSE(alone.is_no_end);
  EXPECT_EQ(alone.program_line, "/app/main.py:9 <module>");
}

TEST(LogScan, LimitsOfPbsAndLsf) {
  LogEvent event = OnlyOf("=>> PBS: job killed: walltime 3650 exceeded limit 3600\n");
  EXPECT_EQ(event.kind, LogKind::kCancelled);
  EXPECT_EQ(event.text, "walltime limit");
  event = OnlyOf("=>> PBS: job killed: mem 2097152kb exceeded limit 1048576kb\n");
  EXPECT_EQ(event.kind, LogKind::kKilled);
  EXPECT_EQ(event.text, "PBS killed the job, as its mem exceeded 1048576kb");
  event = OnlyOf("TERM_RUNLIMIT: job killed after reaching LSF run time limit.\n");
  EXPECT_EQ(event.kind, LogKind::kCancelled);
  EXPECT_EQ(event.text, "run time limit");
  event = OnlyOf("TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n");
  EXPECT_EQ(event.kind, LogKind::kKilled);
  EXPECT_TRUE(Scanned("=>> PBS: job killed: ncpus 39.46 exceeded limit 32 (sum)\n").empty());
}

// Other programs number their lines in brackets as well.
TEST(LogScan, ANumberInBracketsIsARankBesideALauncherOfMpi) {
  const std::string_view died =
      "[3] Traceback (most recent call last):\n"
      "[3]   File \"/app/a.py\", line 3, in f\n"
      "[3] ValueError: x\n";
  EXPECT_EQ(OnlyOf(died).rank, std::nullopt);
  EXPECT_EQ(OnlyOf(died).program_line, "/app/a.py:3 f");
  const std::vector<LogEvent> events =
      Scanned(std::string(died) + "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].rank, 3);
}

// The text of `py-spy dump --pid PID`: of each process the main thread, or the first one.
TEST(LogScan, StacksOfPySpyInText) {
  const std::vector<LogEvent> events = Scanned(
      "Process 72: python train.py\nPython v3.12.4 (/usr/bin/python3.12)\n\n"
      "Thread 9 (idle): \"Thread-1\"\n    wait (threading.py:359)\n    pump (io_thread.py:7)\n"
      "Thread 0x7F0A (active+gil): \"MainThread\"\n"
      "    c10::Work::wait (libtorch.so)\n    all_reduce (torch/distributed/c10d.py:2806)\n"
      "    step (train.py:33)\n        Arguments:\n            batch: 3\n    main (train.py:90)\n"
      "Process 73: python other.py\n\nThread 5 (active)\n    read (/app/data (old).py:55)\n");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, LogKind::kStack);
  EXPECT_EQ(events[0].pid, 72);
  EXPECT_EQ(events[0].text, "stack of py-spy: its main thread runs Python");
  EXPECT_EQ(events[0].program_line, "train.py:33 step");
  EXPECT_EQ(events[0].line, 7);
  EXPECT_EQ(events[1].pid, 73);
  EXPECT_EQ(events[1].program_line, "/app/data (old).py:55 read");
  // Other programs number processes as well.
  EXPECT_TRUE(Scanned("Process 3: ready\nThread pool (idle)\n  read (x.py:3)\n").empty());
}

TEST(LogScan, CommandsThatCouldNotRun) {
  for (const auto& [line, text] :
       {std::pair("job.sh: line 12: torchrun: command not found", "torchrun: command not found"),
        {"python3: can't open file '/app/trian.py': [Errno 2] No such",
         "can't open file '/app/trian.py'"},
        {"train.py: error: unrecognized arguments: --foo", "unrecognized arguments: --foo"}}) {
    const LogEvent event = OnlyOf(line);
    EXPECT_EQ(event.kind, LogKind::kNoStart);
    EXPECT_EQ(event.text, text);
  }
}

TEST(LogScan, DesyncReportsAndChecksOfCollectivesNameRanks) {
  LogEvent event = OnlyOf(
      "\t     [2, 5] finished collective #12, but didn't join collective #13 (count from 1)");
  EXPECT_EQ(event.desync, DesyncKind::kNotJoined);
  EXPECT_EQ(event.blamed, (std::vector<int32_t>{2, 5}));
  EXPECT_EQ(event.text, "ranks 2, 5 finished collective 12 and did not join the next");
  event = OnlyOf("\t   - [3] joined but didn't finish collective #7 (count from 1)");
  EXPECT_EQ(event.desync, DesyncKind::kNotFinished);
  event = OnlyOf(
      "\t - To our best knowledge, ranks [3] are the lagging ranks that caused this timeout. They "
      "never joined any collectives");
  EXPECT_EQ(event.desync, DesyncKind::kNeverJoined);
  event = OnlyOf(
      "RuntimeError: Detected mismatch between collectives on ranks. Rank 2 is running "
      "collective: CollectiveFingerPrint(SequenceNumber=12, OpType=BROADCAST, TensorShape=[4, 2], "
      "TensorDtypes=Float), but Rank 0 is running collective: "
      "CollectiveFingerPrint(SequenceNumber=9OpType=BARRIER)");
  EXPECT_TRUE(event.is_consequence);
  ASSERT_EQ(event.calls.size(), 2U);
  EXPECT_EQ(event.calls[0].rank, 2);
  EXPECT_EQ(event.calls[0].operation, "BROADCAST");
  EXPECT_EQ(event.calls[0].seq, 12);
  EXPECT_EQ(event.calls[0].shape, "4, 2");
  EXPECT_EQ(event.calls[1].rank, 0);
  EXPECT_EQ(event.calls[1].seq, 9);
  EXPECT_EQ(event.calls[1].operation, "BARRIER");
}

std::string Steps(int first, int last, int writers) {
  std::string text;
  for (int step = first; step < last; ++step) {
    for (int i = 0; i < writers; ++i) text += fmt::format("step {} loss 0.{}\n", step, step + 11);
  }
  return text;
}

// A log of several processes does not say who went on; how often each step is there may.
TEST(LogScan, OfSeveralProcessesOneMayHaveEnded) {
  const std::string error =
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 3\n";
  LogEvent event = OnlyOf(Steps(0, 20, 8) + error + Steps(20, 40, 7));
  EXPECT_FALSE(event.is_no_end);
  EXPECT_EQ(event.writers_before, 8U);
  EXPECT_EQ(event.writers_after, 7U);
  event = OnlyOf(Steps(0, 20, 8) + error + Steps(20, 40, 8));
  EXPECT_TRUE(event.is_no_end);
  EXPECT_FALSE(event.is_end_unclear);
  event = OnlyOf(error + Steps(0, 20, 8));
  EXPECT_TRUE(event.is_no_end);
  EXPECT_TRUE(event.is_end_unclear);
  event = OnlyOf(error + Steps(0, 20, 1));
  EXPECT_TRUE(event.is_no_end);
  EXPECT_FALSE(event.is_end_unclear);
}

// Tracebacks have no time of their own: of a logger's line about it they do, else a least one.
TEST(LogScan, TimesOfTracebacksAreThoseOfLinesBefore) {
  const std::string error =
      "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 3\n";
  LogEvent event = OnlyOf("2026-11-01 10:00:01,000 ERROR step failed\n" + error);
  EXPECT_NE(event.year_ns, 0);
  EXPECT_FALSE(event.is_time_least);
  event = OnlyOf("2026-11-01 10:00:01,000 INFO step 3\n" + std::string(40, '\n') +
                 "  3%| 3/300 [00:12<1:02:33, 2.1it/s]\n" + error);
  EXPECT_NE(event.year_ns, 0);
  EXPECT_TRUE(event.is_time_least);
  // Of another rank it says nothing.
  EXPECT_EQ(OnlyOf("[rank1]: 2026-11-01 10:00:01,000 ERROR x\n[rank0]: " + error).year_ns, 0);
}

TEST(LogScan, StacksOfAnyLengthTakeBoundedMemory) {
  const std::string file(60'000, 'x');
  std::string text;
  for (int rank = 0; rank < 40; ++rank) {
    text += fmt::format("[rank{}]: Traceback (most recent call last):\n", rank);
    for (int i = 0; i < 30; ++i) {
      text += fmt::format("[rank{}]:   File \"{}/a.py\", line {}, in f\n", rank, file, i);
    }
  }
  text += "[rank39]: KeyError: 3\n";
  const std::vector<LogEvent> events = Scanned(text);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().text, "KeyError: 3");
  EXPECT_LE(events.back().program_line.size(), 400U);
}

}  // namespace
}  // namespace borescope::internal
