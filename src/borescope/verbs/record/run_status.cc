#include "borescope/verbs/record/run_status.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/io/paths.h"
#include "borescope/recorder/control_page.h"
#include "borescope/recorder/process_facts.h"
#include "borescope/recorder/run_folder.h"
#include "borescope/table/table.h"

namespace borescope::internal {
namespace {

std::string_view StateOf(const LogFile& log, bool is_recording) {
  if (log.is_launchers()) return "launcher";
  if (!log.is_alive) return "ended";
  return is_recording ? "recording" : "paused";
}

// Logs of other users, which permissions hide: all that is known is that they are there.
struct HiddenLog {
  std::string name;
  uint64_t bytes = 0;
};

struct Logs {
  std::vector<LogFile> logs;
  std::vector<HiddenLog> hidden;
};

Result<Logs> LogsOf(const std::string& folder) {
  Logs found;
  std::vector<std::string> hidden;
  BS_ASSIGN(found.logs, ListLogs(folder, &hidden));
  for (std::string& name : hidden) {
    BS_ASSIGN(const uint64_t bytes, SizeOfFile(std::filesystem::path(folder) / name));
    found.hidden.push_back({std::move(name), bytes});
  }
  return found;
}

// Whether nothing is recorded any more, whatever the page says: neither the launcher nor any
// process of the run is there. On another machine, and of hidden logs, that cannot be seen.
bool HasEnded(const Logs& found, const ControlPage& page) {
  const std::vector<LogFile>& logs = found.logs;
  const bool has_launcher = page.launcher() != 0 && StillRuns(page.launcher(), 0);
  return !logs.empty() && found.hidden.empty() && !has_launcher &&
         std::none_of(logs.begin(), logs.end(), [](const LogFile& log) { return log.is_alive; });
}

std::string_view TitleOf(bool has_ended, bool is_recording) {
  if (has_ended) return "Processes of the run, which have ended";
  return is_recording ? "Processes of the run, which is recording"
                      : "Processes of the run, which is paused";
}

Table ProcessTable(const Logs& found, const ControlPage& page) {
  const bool is_recording = page.is_recording();
  Table table{.name = "processes",
              .title = std::string(TitleOf(HasEnded(found, page), is_recording)),
              .columns = {}};
  table.columns.reserve(5);
  Column& pid = AddInt(table, "pid", Unit::kNone, Role::kKey,
                       "The process; missing for a log that may not be read here.");
  Column& rank = AddInt(table, "rank", Unit::kNone, Role::kKey,
                        "Its rank in a distributed job; missing outside of one.");
  Column& state =
      AddString(table, "state", Role::kDerived,
                "recording, paused, or ended (also of a process on another machine); launcher "
                "for a log of samples or of marks; unreadable for a log of another user.");
  Column& bytes = AddInt(table, "log_bytes", Unit::kBytes, Role::kSum, "The size of its log.");
  Column& file = AddString(table, "log", Role::kKey, "The name of its log.");
  for (const LogFile& log : found.logs) {
    Push(pid, int64_t{log.header.pid});
    log.header.rank < 0 ? PushMissing(rank) : Push(rank, int64_t{log.header.rank});
    Push(state, StateOf(log, is_recording));
    Push(bytes, static_cast<int64_t>(log.bytes));
    Push(file, log.name);
  }
  for (const HiddenLog& log : found.hidden) {
    PushMissing(pid);
    PushMissing(rank);
    Push(state, "unreadable");
    Push(bytes, static_cast<int64_t>(log.bytes));
    Push(file, log.name);
  }
  return table;
}

}  // namespace

Result<Document> StatusOfRun(const std::string& folder) {
  BS_ASSIGN(const ControlPage page, ControlPage::OpenToRead(folder));
  BS_ASSIGN(const Logs found, LogsOf(folder));
  Document document;
  document.tables.push_back(ProcessTable(found, page));
  return document;
}

}  // namespace borescope::internal
