#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>

#include "tests/support/planted/planted_run.h"

namespace borescope::scenario {
namespace {

constexpr std::string_view kTables =
    "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);\n"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT "
    "NULL, returnValue INTEGER NOT NULL);\n"
    "CREATE TABLE NVTX_EVENTS(start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
    "text TEXT, globalTid INTEGER, domainId INTEGER);\n"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid "
    "INTEGER, demangledName INTEGER NOT NULL);\n"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid "
    "INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);\n";

constexpr int64_t kWorkPid = 100;

// Process and thread in one number.
int64_t GlobalId(int64_t pid, int64_t tid) { return pid << 24 | tid; }

// Texts by number. Rows of ranges have their own.
class Strings {
 public:
  size_t NumberOf(const std::string& text) {
    return numbers_.try_emplace(text, numbers_.size() + 1).first->second;
  }
  std::string Sql() const {
    std::string sql;
    for (const auto& [text, number] : numbers_) {
      sql += fmt::format("INSERT INTO StringIds VALUES({},'{}');\n", number, text);
    }
    return sql;
  }

 private:
  std::map<std::string, size_t> numbers_;
};

std::string FrameSql(const PlantedFrame& frame, Strings& strings) {
  const int64_t thread = GlobalId(frame.pid, frame.tid);
  return frame.kind == FrameKind::kCall
             ? fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({},{},0,{},{},{},0);\n",
                           frame.begin_ns, frame.end_ns, thread, frame.correlation,
                           strings.NumberOf(frame.name))
             : fmt::format("INSERT INTO NVTX_EVENTS VALUES({},{},59,'{}',{},0);\n", frame.begin_ns,
                           frame.end_ns, frame.name, thread);
}

// Copies are named by the kinds of their memory: 0 pageable, 1 pinned, 2 of the device.
std::string CopyKinds(const std::string& name) {
  const bool is_to_device = name.find("HtoD") != std::string::npos;
  const int host = name.find("Pageable") != std::string::npos ? 0 : 1;
  return is_to_device ? fmt::format("1,{},2", host) : fmt::format("2,2,{}", host);
}

std::string WorkSql(const PlantedWork& work, Strings& strings) {
  const std::string place = fmt::format("{},{},{},{},{},{}", work.begin_ns, work.end_ns, work.gpu,
                                        work.stream, work.correlation, GlobalId(kWorkPid, 0));
  return work.is_copy ? fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES({},0,{});\n",
                                    place, CopyKinds(work.name))
                      : fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({},{});\n",
                                    place, strings.NumberOf(work.name));
}

}  // namespace

std::string PlantedSql(const PlantedRun& run, int rank) {
  const PlantedRank& events = run.ranks[static_cast<size_t>(rank)];
  Strings strings;
  std::string rows;
  for (const PlantedFrame& frame : events.frames) {
    rows += FrameSql(frame, strings);
  }
  for (const PlantedWork& work : events.work) {
    rows += WorkSql(work, strings);
  }
  return fmt::format("{}BEGIN;\n{}{}COMMIT;\n", kTables, strings.Sql(), rows);
}

}  // namespace borescope::scenario
