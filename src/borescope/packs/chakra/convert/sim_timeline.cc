#include "borescope/packs/chakra/convert/sim_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/packs/chakra/json/python_json.h"

namespace borescope::internal {
namespace {

struct ClassRow {
  std::string_view part;  // of the name of a node
  int thread;
};
constexpr ClassRow kClasses[] = {
    {"MEM_LOAD_NODE", 1}, {"MEM_STORE_NODE", 1}, {"LOCAL_MEMORY", 1},   {"REMOTE_MEMORY", 2},
    {"COMP_NODE", 3},     {"COMM_SEND_NODE", 4}, {"COMM_RECV_NODE", 4}, {"COMM_COLL_NODE", 4}};

std::optional<int> ThreadOf(std::string_view name) {
  for (const ClassRow& row : kClasses) {
    if (name.find(row.part) != std::string_view::npos) {
      return row.thread;
    }
  }
  return std::nullopt;
}

// "issue,npu=0,cycle=1000,node=1,name=COMP_NODE": the texts after the first "=" of the columns from
// the second on.
struct LogLine {
  bool is_issue = false;
  uint64_t npu = 0;
  uint64_t cycle = 0;
  uint64_t node = 0;
  std::string_view name;
};

std::optional<LogLine> ParseLine(std::string_view line) {
  constexpr size_t kColumns = 5;
  std::array<std::string_view, kColumns> columns;
  for (size_t i = 0; i < kColumns; ++i) {
    const size_t end = std::min(line.find(','), line.size());
    columns[i] = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  const auto value = [&](size_t column) {
    std::string_view text = columns[column];
    text.remove_prefix(std::min(text.find('=') + 1, text.size()));
    return Trimmed(text.substr(0, text.find('=')));
  };
  const auto npu = ParseNumber<uint64_t>(value(1));
  const auto cycle = ParseNumber<uint64_t>(value(2));
  const auto node = ParseNumber<uint64_t>(value(3));
  if (!npu || !cycle || !node) {
    return std::nullopt;
  }
  return LogLine{columns[0].find("issue") != std::string_view::npos, *npu, *cycle, *node, value(4)};
}

class Timeline {
 public:
  Timeline(const TimelineOptions& options, Sink& sink) : options_(options), sink_(sink) {
    text_ = "{\"meta_user\": \"aras\", \"traceEvents\": [";
  }

  Result<void> Add(const LogLine& line, uint64_t number) {
    const std::pair key(line.npu, line.node);
    if (line.is_issue) {
      issued_[key] = {line.cycle, line.name};
      return {};
    }
    const auto found = issued_.find(key);
    if (found == issued_.end()) {
      counts_.unissued += 1;
      return {};
    }
    const std::optional<int> thread = ThreadOf(found->second.name);
    if (!thread.has_value()) {
      return Error{ErrorCode::kCorrupt, fmt::format("line {}: '{}' is not a known class of node",
                                                    number, found->second.name)};
    }
    PutSpan(line, found->second, *thread);
    issued_.erase(found);
    return {};
  }

  Result<TimelineCounts> Finish() {
    counts_.unfinished = issued_.size();
    text_ += fmt::format("], \"meta_cpu_count\": {}}}", options_.npus);
    BS_TRY(sink_.Write(text_));
    return counts_;
  }

 private:
  struct Issue {
    uint64_t cycle = 0;
    std::string_view name;
  };

  void PutSpan(const LogLine& line, const Issue& issue, int thread) {
    const auto frequency = static_cast<double>(options_.frequency_mhz);
    const double scale = options_.as_reference ? 1.0 : 1000.0;
    const double begin = static_cast<double>(issue.cycle) / frequency / 1000 * scale;
    const double cycles =
        line.cycle >= issue.cycle ? static_cast<double>(line.cycle - issue.cycle) : 0;
    const double length = cycles / (frequency * 1000) * scale;
    text_ += counts_.spans == 0 ? "" : ", ";
    text_ += fmt::format("{{\"pid\": {}, \"tid\": {}, \"ts\": ", line.npu, thread);
    AppendPythonFloat(begin, text_);
    text_ += ", \"dur\": ";
    AppendPythonFloat(length, text_);
    text_ += ", \"ph\": \"X\", \"name\": \"";
    AppendAsciiJson(text_, issue.name);
    text_ += "\", \"args\": {\"ms\": ";
    AppendPythonFloat(cycles / (frequency * 1000), text_);
    text_ += "}}";
    counts_.spans += 1;
  }

  const TimelineOptions& options_;
  Sink& sink_;
  std::map<std::pair<uint64_t, uint64_t>, Issue> issued_;
  std::string text_;
  TimelineCounts counts_;
};

}  // namespace

Result<TimelineCounts> WriteSimTimeline(std::string_view log, const TimelineOptions& options,
                                        Sink& sink) {
  Timeline timeline(options, sink);
  for (uint64_t number = 1; !log.empty(); ++number) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (line.find("issue") == std::string_view::npos &&
        line.find("callback") == std::string_view::npos) {
      continue;
    }
    const std::optional<LogLine> parsed = ParseLine(line);
    if (!parsed.has_value()) {
      return Error{
          ErrorCode::kCorrupt,
          fmt::format("line {}: no npu, cycle and node after 'issue' or 'callback'", number)};
    }
    BS_TRY(timeline.Add(*parsed, number));
  }
  return timeline.Finish();
}

}  // namespace borescope::internal
