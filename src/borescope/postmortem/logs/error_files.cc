#include "borescope/postmortem/logs/error_files.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/pickle/plain_reader.h"
#include "borescope/postmortem/logs/ras_reports.h"
#include "borescope/postmortem/memory/oom.h"

namespace borescope::internal {
namespace {

class Reader {
 public:
  explicit Reader(const LineFinder& lines) : lines_(&lines) {}

  std::optional<std::vector<LogEvent>> Read(ErrorFileKind kind, std::string_view text) {
    const std::unique_ptr<ByteSource> source = OpenMemory(text);
    const Result<PlainRead> read = ReadPlainJson(*source, store_, folder_);
    if (!read.ok() || read->is_cut) {
      return std::nullopt;
    }
    return kind == ErrorFileKind::kElastic ? Elastic(read->root) : PySpy(read->root);
  }

 private:
  PlainValue Of(PlainValue dictionary, std::string_view key) const {
    return dictionary.kind == PlainKind::kDict ? store_.Find(dictionary, key) : PlainValue();
  }
  std::string TextOf(PlainValue value) const { return ToValidUtf8(store_.Text(value)); }

  // {"message": {"message": "Type: text", "extraInfo": {"py_callstack", "timestamp"}}}; the older
  // form has a text as its only message, and some writers put all of it one level deeper.
  std::optional<std::vector<LogEvent>> Elastic(PlainValue root) const {
    PlainValue message = Of(root, "message");
    constexpr int kMostLevels = 3;
    for (int i = 0; i < kMostLevels && Of(message, "message").kind == PlainKind::kDict; ++i) {
      message = Of(message, "message");
    }
    const bool is_old = message.IsText();
    const PlainValue words = is_old ? message : Of(message, "message");
    if (!words.IsText()) {
      return std::nullopt;
    }
    const PlainValue extra = Of(message, "extraInfo");
    LogEvent event;
    const std::string text = TextOf(words);
    event.out_of_memory = postmortem::ParseOomMessage(text);
    event.kind = event.out_of_memory.has_value() || IsDeviceOutOfMemory(text)
                     ? LogKind::kOutOfMemory
                     : LogKind::kException;
    event.text = WithoutSecrets(text);
    event.blamed = BlamedRanks(text);
    event.calls = CallsOf(text);
    event.is_consequence = IsConsequenceText(text) || !event.blamed.empty();
    event.program_line = LineOfCallstack(TextOf(Of(extra, "py_callstack")));
    constexpr int64_t kSecondNs = 1'000'000'000;
    if (const std::optional<int64_t> seconds = store_.Int(Of(extra, "timestamp"));
        seconds.has_value() && *seconds > 0 && *seconds < INT64_MAX / kSecondNs) {
      event.unix_ns = *seconds * kSecondNs;
    }
    if (const std::optional<int64_t> code = store_.Int(Of(message, "errorCode"));
        code.has_value() && *code >= -255 && *code <= 255) {
      event.exit_code = static_cast<int>(*code);
    }
    return std::vector{std::move(event)};
  }

  // The program's line of the last traceback in the text of one.
  std::string LineOfCallstack(std::string_view text) const {
    LogScanner scanner(*lines_);
    int64_t number = 1;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      scanner.Take(text.substr(0, end), number++);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    const std::vector<LogEvent> events = scanner.Finish();
    return events.empty() ? "" : events.back().program_line;
  }

  struct Process {
    PlainValue stack;  // of the thread that is shown
    bool is_main = false;
    bool holds_lock = false;
  };

  // [{"pid", "thread_id", "thread_name", "owns_gil", "frames": [{"name", "filename", "line"}]}]
  std::optional<std::vector<LogEvent>> PySpy(PlainValue root) const {
    if (root.kind != PlainKind::kList) {
      return std::nullopt;
    }
    std::map<int64_t, Process> processes;
    const std::span<const PlainValue> kept = store_.Items(root);
    for (const PlainValue thread : std::vector<PlainValue>(kept.begin(), kept.end())) {
      const std::optional<int64_t> pid = store_.Int(Of(thread, "pid"));
      const PlainValue frames = Of(thread, "frames");
      if (!pid.has_value() || frames.kind != PlainKind::kList) {
        return std::nullopt;
      }
      const auto [place, is_new] = processes.try_emplace(*pid);
      Process& process = place->second;
      const bool is_main = store_.Text(Of(thread, "thread_name")) == "MainThread";
      if (is_new || (is_main && !process.is_main)) {
        process.stack = frames;
        process.is_main = is_main;
        process.holds_lock = store_.Int(Of(thread, "owns_gil")).value_or(0) != 0;
      }
    }
    std::vector<LogEvent> events;
    for (const auto& [pid, process] : processes) {
      LogEvent event;
      event.kind = LogKind::kStack;
      event.pid = pid;
      event.text =
          process.holds_lock ? "stack of py-spy: its main thread runs Python" : "stack of py-spy";
      event.program_line = LineOfFrames(process.stack);
      events.push_back(std::move(event));
    }
    return events;
  }

  // Of frames with the innermost first.
  std::string LineOfFrames(PlainValue list) const {
    std::vector<ProgramFrame> frames;
    for (const PlainValue frame : store_.Items(list)) {
      frames.push_back({store_.Text(Of(frame, "filename")), store_.Text(Of(frame, "name")),
                        store_.Int(Of(frame, "line")).value_or(0)});
    }
    return ToValidUtf8(WithoutSecrets(lines_->LineOf(frames)));
  }

  const LineFinder* lines_;
  PlainStore store_;
  KeepAll folder_;
};

}  // namespace

ErrorFileKind GuessErrorFile(std::string_view head) {
  constexpr size_t kLookedAt = 4096;
  const std::string_view begin = Trimmed(head.substr(0, kLookedAt));
  if (begin.starts_with('[') && Contains(begin, "\"thread_id\"") && Contains(begin, "\"pid\"")) {
    return ErrorFileKind::kPySpy;
  }
  if (begin.starts_with('{') && Contains(begin, "\"nccl_version\"") &&
      Contains(begin, "\"communicators\"") && Contains(begin, "\"communicators_count\"")) {
    return ErrorFileKind::kRas;
  }
  const size_t key = begin.find_first_not_of(" \n\t\r", 1);
  return begin.starts_with('{') && key != std::string_view::npos &&
                 begin.substr(key).starts_with("\"message\"")
             ? ErrorFileKind::kElastic
             : ErrorFileKind::kNone;
}

std::optional<std::vector<LogEvent>> ReadErrorFile(ErrorFileKind kind, std::string_view text,
                                                   const LineFinder& lines) {
  return kind == ErrorFileKind::kNone  ? std::nullopt
         : kind == ErrorFileKind::kRas ? ReadRasJson(text)
                                       : Reader(lines).Read(kind, text);
}

std::optional<int32_t> RankOfFolder(std::string_view path) {
  const size_t end = path.rfind('/');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view folder = path.substr(0, end);
  const auto rank = ParseNumber<int32_t>(folder.substr(folder.rfind('/') + 1));
  return rank.has_value() && *rank >= 0 ? rank : std::nullopt;
}

std::optional<int32_t> AttemptOfFolder(std::string_view path) {
  constexpr std::string_view kFolder = "attempt_";
  const size_t at = path.rfind(kFolder);
  const std::string_view rest =
      at == std::string_view::npos ? "" : path.substr(at + kFolder.size());
  return ParseNumber<int32_t>(rest.substr(0, rest.find('/')));
}

}  // namespace borescope::internal
