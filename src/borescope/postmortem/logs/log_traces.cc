#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/log_pattern.h"
#include "borescope/postmortem/logs/log_scan.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostTraces = 4096;
constexpr size_t kMostFrames = 200;
constexpr size_t kMostFrameBytes = size_t{32} << 20U;

const LogPattern kGrammarFrame{"^ +File \".*\", line [0-9]+$"};
const LogPattern kGrammarError{"^(?:SyntaxError|IndentationError|TabError): "};
const LogPattern kExceptionLine{"^([A-Za-z_][\\w]*(?:\\.[\\w]+)*)(?:: (.*))?$"};
const LogPattern kGroupLine{"\\([0-9]+ sub-exceptions?\\)$"};
const LogPattern kFatalLine{"^Fatal Python error: (.*)$"};
const LogPattern kFaultThread{
    "^(Current thread|Thread) 0x[0-9a-f]+ .*\\(most recent call first\\):"};
const LogPattern kSpiedProcess{"^Process ([0-9]+): "};
const LogPattern kSpiedThread{
    "^Thread (?:0x)?[0-9A-Fa-f]+ \\((active|idle)(\\+gil)?\\)(?:: \"(.*)\")?$"};
const LogPattern kRichFrame{"^(.+):([0-9]+) in (\\S.*)$"};

constexpr std::string_view kHeader = "Traceback (most recent call last)";
constexpr std::string_view kListOfTasks = "Timed out task names:";  // of JAX
constexpr std::string_view kRayError = "ray.exceptions.RayTaskError(";

// py-spy shortens names of files to the part after the folder of the module: of libraries to these.
bool IsShortNameOfLibrary(std::string_view file) {
  constexpr std::string_view kPackages[] = {"torch",
                                            "torchvision",
                                            "numpy",
                                            "transformers",
                                            "accelerate",
                                            "deepspeed",
                                            "lightning",
                                            "datasets",
                                            "PIL",
                                            "ray",
                                            "tqdm",
                                            "wandb",
                                            "fsspec",
                                            "s3fs",
                                            "aiohttp",
                                            "requests",
                                            "urllib3",
                                            "pyarrow",
                                            "pandas",
                                            "scipy",
                                            "triton",
                                            "safetensors",
                                            "jax",
                                            "multiprocessing",
                                            "concurrent",
                                            "asyncio",
                                            "json",
                                            "logging",
                                            "importlib",
                                            "collections",
                                            "urllib",
                                            "http",
                                            "email",
                                            "xml",
                                            "ctypes",
                                            "unittest",
                                            "sqlite3",
                                            "tokenizers",
                                            "grpc",
                                            "flax",
                                            "peft",
                                            "trl",
                                            "apex",
                                            "huggingface_hub",
                                            "pytorch_lightning",
                                            "transformer_engine"};
  constexpr std::string_view kModules[] = {
      "threading.py",  "queue.py",      "selectors.py", "socket.py",       "ssl.py",
      "subprocess.py", "contextlib.py", "functools.py", "runpy.py",        "pickle.py",
      "copy.py",       "os.py",         "shutil.py",    "tempfile.py",     "random.py",
      "signal.py",     "traceback.py",  "inspect.py",   "typing.py",       "gzip.py",
      "zipfile.py",    "tarfile.py",    "glob.py",      "pathlib.py",      "codecs.py",
      "weakref.py",    "warnings.py",   "select.py",    "socketserver.py", "bdb.py",
      "pdb.py",        "cmd.py",        "abc.py",       "enum.py",         "types.py",
      "io.py"};
  const size_t slash = file.find('/');
  if (slash == std::string_view::npos) {
    return std::find(std::begin(kModules), std::end(kModules), file) != std::end(kModules);
  }
  return std::find(std::begin(kPackages), std::end(kPackages), file.substr(0, slash)) !=
         std::end(kPackages);
}

struct FrameText {
  std::string_view file;
  std::string_view function;
  int64_t line = 0;
};

// `  File "a.py", line 3, in f` of a traceback, `  File "a.py", line 3 in f` of faulthandler.
// Loguru marks the frame that caught the exception; an error of Python's grammar has no function.
std::optional<FrameText> FrameOf(std::string_view text) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  const size_t begin = text.find_first_not_of(' ', text.starts_with('>') ? 1 : 0);
  if (begin == std::string_view::npos || begin == 0 || text[begin - 1] != ' ' ||
      !text.substr(begin).starts_with(kFile)) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(begin + kFile.size());
  for (size_t at = rest.rfind(kLine); at != std::string_view::npos;
       at = at == 0 ? at - 1 : rest.rfind(kLine, at - 1)) {
    const std::string_view after = rest.substr(at + kLine.size());
    const size_t digits = std::min(after.find_first_not_of("0123456789"), after.size());
    const std::optional<int64_t> number = ParseNumber<int64_t>(after.substr(0, digits));
    std::string_view function = after.substr(digits);
    const std::string_view in = function.starts_with(", in ") ? ", in " : " in ";
    const bool is_whole = function.empty() || function.starts_with(in);
    if (number.has_value() && is_whole) {
      function.remove_prefix(std::min(in.size(), function.size()));
      return FrameText{rest.substr(0, at), function, *number};
    }
  }
  return std::nullopt;
}

// "    step (train.py:33)" of py-spy; values of variables are further to the right.
std::optional<FrameText> SpiedFrameOf(std::string_view text) {
  constexpr size_t kMostBlanks = 7;
  const size_t begin = text.find_first_not_of(' ');
  const size_t colon = text.rfind(':');
  if (begin == std::string_view::npos || begin == 0 || begin > kMostBlanks ||
      colon == std::string_view::npos || !text.ends_with(')')) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(colon + 1, text.size() - colon - 2);
  const std::optional<int64_t> number = ParseNumber<int64_t>(digits);
  const size_t open = text.find(" (", begin);
  if (!number.has_value() || open == std::string_view::npos || open + 2 >= colon) {
    return std::nullopt;
  }
  return FrameText{text.substr(open + 2, colon - open - 2), text.substr(begin, open - begin),
                   *number};
}

// Exceptions of launchers, which report those of their children.
bool IsOfLauncher(std::string_view type) {
  return type.ends_with("ChildFailedError") || type.ends_with("CalledProcessError") ||
         type.ends_with("ProcessExitedException") || type.ends_with("TrainingFailedError");
}

}  // namespace

// Keeps the outermost or the innermost ones of a long stack. That of all stacks together is
// bounded, too, as the names of files are as long as somebody wants.
void LogScanner::AddFrame(Trace& trace, Frame frame, bool is_newest_kept) {
  if (trace.frames.size() == kMostFrames && !is_newest_kept) {
    return;
  }
  frame_bytes_ += frame.file.size() + frame.function.size();
  trace.frames.push_back(std::move(frame));
  while (trace.frames.size() > kMostFrames ||
         (frame_bytes_ > kMostFrameBytes && !trace.frames.empty())) {
    const Frame& gone = is_newest_kept ? trace.frames.front() : trace.frames.back();
    frame_bytes_ -= gone.file.size() + gone.function.size();
    is_newest_kept ? trace.frames.pop_front() : trace.frames.pop_back();
  }
}

void LogScanner::ClearFrames(Trace& trace) {
  for (const Frame& frame : trace.frames) {
    frame_bytes_ -= frame.file.size() + frame.function.size();
  }
  trace.frames.clear();
}

bool LogScanner::TakeFrame(Trace& trace, std::string_view text) {
  std::optional<FrameText> frame = FrameOf(text);
  if (!frame.has_value()) {
    return false;
  }
  AddFrame(trace, {std::string(frame->file), std::string(frame->function), frame->line},
           trace.kind != Trace::Kind::kFault);
  return true;
}

std::string LogScanner::LineOf(const Trace& trace) const {
  std::vector<ProgramFrame> frames;
  frames.reserve(trace.frames.size());
  for (const Frame& frame : trace.frames) {
    frames.push_back({frame.file, frame.function, frame.line});
  }
  if (trace.kind != Trace::Kind::kFault && trace.kind != Trace::Kind::kSpy) {
    std::reverse(frames.begin(), frames.end());
  }
  return WithoutSecrets(lines_->LineOf(frames));
}

bool LogScanner::TakeTrace(LogTopics topics, const LogLine& line, int64_t number) {
  const int64_t stream = LogStreamOf(line);
  const std::pair key(stream, line.output);
  auto open = traces_.find(key);
  // A logger puts its prefix before the header alone: the frames follow without it.
  if (open == traces_.end() && header_line_ + 1 == number && header_ != key &&
      FrameOf(line.text).has_value()) {
    if (auto node = traces_.extract(header_); !node.empty()) {
      node.key() = key;
      open = traces_.insert(std::move(node)).position;
    }
  }
  if (open != traces_.end()) {
    Trace& trace = open->second;
    const bool is_taken = trace.kind == Trace::Kind::kFault  ? TakeFault(trace, line, number)
                          : trace.kind == Trace::Kind::kRich ? TakeRich(stream, trace, line)
                          : trace.kind == Trace::Kind::kSpy  ? TakeSpyFrame(trace, line)
                                                             : TakePython(stream, trace, line);
    if (trace.kind == Trace::Kind::kNone) {
      ClearFrames(trace);
      traces_.erase(open);
    }
    if (is_taken) {
      return true;
    }
  }
  if (!Has(topics, LogTopic::kTrace)) {
    return false;
  }
  if (TakeSpied(line, number)) {
    return true;
  }
  Trace trace;
  trace.line = number;
  trace.unix_ns = line.unix_ns;
  trace.year_ns = line.year_ns;
  trace.is_time_least = line.is_time_least;
  if (!BeginTrace(trace, line.text)) {
    return false;
  }
  // Of a process that a loader of data or a pool started: what it raised is the cause of the
  // exception before, which only repeats it.
  const auto last = last_exception_.find(stream);
  if (line.text.starts_with("Original Traceback") && last != last_exception_.end()) {
    handled_[stream] = {last->second, false};
  }
  const auto before = traces_.find(key);
  if (before != traces_.end()) {
    ClearFrames(before->second);
  }
  if (before != traces_.end() || traces_.size() < kMostTraces) {
    traces_.insert_or_assign(key, std::move(trace));
    header_ = key;
    header_line_ = number;
  } else {
    ClearFrames(trace);
  }
  return true;
}

bool LogScanner::BeginTrace(Trace& trace, std::string_view text) {
  std::string word;
  if (const size_t at = text.find(kHeader); at != std::string_view::npos) {
    const std::string_view after = text.substr(at + kHeader.size());
    if (after.starts_with(":")) {
      trace.kind = Trace::Kind::kPython;
    } else if (after.starts_with(" ─") || after.starts_with(" -")) {
      trace.kind = Trace::Kind::kRich;
    }
  } else if (text.starts_with(kRayError)) {
    trace.kind = Trace::Kind::kPython;  // the worker's frames, without a header
  } else if (Finds(text, kFatalLine, &word)) {
    trace.kind = Trace::Kind::kFault;
    trace.fatal = WithoutSecrets(word);
  } else if (Finds(text, kFaultThread, &word)) {
    trace.kind = Trace::Kind::kFault;
    trace.is_current = word == "Current thread";
  } else if (Finds(text, kGrammarFrame)) {
    trace.kind = Trace::Kind::kSyntax;
    TakeFrame(trace, text);
  }
  return trace.kind != Trace::Kind::kNone;
}

// Frames, the lines of source below them, and the exception at the end, which is not indented.
bool LogScanner::TakePython(int64_t stream, Trace& trace, const LogLine& line) {
  const std::string_view text = line.text;
  if (text.empty() || text.front() == ' ' || text.front() == '\t' ||
      text.starts_with("> File \"")) {
    TakeFrame(trace, text);
    return true;
  }
  if (text.starts_with(kRayError)) {
    ClearFrames(trace);  // the frames of the worker follow
    return true;
  }
  if (trace.kind == Trace::Kind::kSyntax && !Finds(text, kGrammarError)) {
    trace.kind = Trace::Kind::kNone;
    return false;
  }
  return EndPython(stream, trace, line, text);
}

// Whether `text` is the exception at the end of a traceback; the trace ends anyhow.
bool LogScanner::EndPython(int64_t stream, Trace& trace, const LogLine& line,
                           std::string_view text) {
  std::string type;
  std::string message;
  const bool is_chained = text.starts_with("During handling of the above exception") ||
                          text.starts_with("The above exception was the direct cause");
  const bool is_exception = Finds(text, kExceptionLine, &type, &message);
  if (is_exception && !is_chained) {
    LogEvent event = EventAt(LogKind::kException, line, trace.line);
    event.unix_ns = trace.unix_ns;
    event.year_ns = trace.year_ns;
    event.is_time_least = trace.is_time_least;
    event.program_line = LineOf(trace);
    event.out_of_memory = postmortem::ParseOomMessage(text);
    event.kind = event.out_of_memory.has_value() || IsDeviceOutOfMemory(text)
                     ? LogKind::kOutOfMemory
                     : LogKind::kException;
    event.text = WithoutSecrets(text);
    event.blamed = BlamedRanks(text);
    event.calls = CallsOf(text);
    event.is_consequence = IsConsequenceText(text) || !event.blamed.empty();
    if (Contains(text, "killed due to the node running low on memory")) {
      event.kind = LogKind::kKilled;
      event.rank.reset();
      Add(std::move(event));
    } else if (!IsOfLauncher(type)) {
      AddException(stream, std::move(event));
      // Of several that were raised together each says more than that they were.
      const auto last = last_exception_.find(stream);
      if (groups_.contains(stream) && last != last_exception_.end() && Finds(text, kGroupLine)) {
        handled_[stream] = {last->second, false};
      }
      if (last != last_exception_.end() && text.ends_with(kListOfTasks)) {
        detailed_[stream] = last->second;
      }
    } else {
      TakeLauncher(line, trace.line);
    }
  }
  trace.kind = Trace::Kind::kNone;
  return is_exception;
}

// A frame that Rich draws: a line for each frame of the stack, which may go on in the next line,
// then lines of source and values; below it the exception.
bool LogScanner::TakeRich(int64_t stream, Trace& trace, const LogLine& line) {
  std::string_view text = Trimmed(line.text);
  if (text.empty()) {
    return true;
  }
  if (text.starts_with("╰") || text.starts_with("+-") || text.starts_with("└")) {
    trace.is_closed = true;
    return true;
  }
  const std::string_view border = text.starts_with("│") ? "│" : "|";
  if (trace.is_closed || !text.starts_with(border)) {
    return EndPython(stream, trace, line, text);
  }
  text.remove_prefix(border.size());
  text.remove_prefix(text.starts_with(' ') ? 1 : 0);
  text.remove_suffix(text.ends_with(border) ? border.size() : 0);
  text = WithoutSpaceBehind(text);
  constexpr size_t kLongest = 4096;
  const bool is_head = !text.empty() && text.front() != ' ' && !text.starts_with("❱") &&
                       !text.starts_with("│") && !text.starts_with("╭") && !text.starts_with("╰");
  if (!is_head || trace.head.size() > kLongest) {
    trace.head.clear();
    return true;
  }
  std::string file;
  std::string function;
  int64_t number = 0;
  const std::string apart = trace.head + " " + std::string(text);
  trace.head += text.substr(0, kLongest);
  if (Finds(trace.head, kRichFrame, &file, &number, &function) ||
      (apart.front() != ' ' && Finds(apart, kRichFrame, &file, &number, &function))) {
    trace.head.clear();
    AddFrame(trace, {std::move(file), std::move(function), number}, true);
  }
  return true;
}

// The log ends within it.
void LogScanner::EndCutTrace(int64_t stream, Trace& trace) {
  LogLine line;
  if (stream >= 0 && stream <= INT32_MAX) {
    line.rank = static_cast<int32_t>(stream);
    line.basis = LogRankBasis::kRank;
  }
  if (trace.kind == Trace::Kind::kFault) {
    EndFault(trace, line);
  } else if (trace.kind == Trace::Kind::kSpy) {
    EndSpyThread(trace, line);
  } else if (trace.kind != Trace::Kind::kSyntax && !trace.frames.empty()) {
    LogEvent event = EventAt(LogKind::kException, line, trace.line);
    event.unix_ns = trace.unix_ns;
    event.year_ns = trace.year_ns;
    event.is_time_least = trace.is_time_least;
    event.program_line = LineOf(trace);
    event.text = "an exception, of which the log ends before its name";
    AddException(stream, std::move(event));
  }
}

// The text of `py-spy dump`: "Process 70: python train.py", and of each thread
// `Thread 70 (active+gil): "MainThread"` with frames below it, the innermost first.
bool LogScanner::TakeSpied(const LogLine& line, int64_t number) {
  const int64_t stream = LogStreamOf(line);
  int64_t pid = 0;
  if (Finds(line.text, kSpiedProcess, &pid)) {
    if (const auto before = spied_.find(stream); before != spied_.end()) {
      EndSpied(before->second);
    }
    if (spied_.size() < kMostTraces || spied_.contains(stream)) {
      spied_[stream] = {pid, false, std::nullopt};
    }
    return true;
  }
  std::string state;
  std::string lock;
  std::string name;
  if (!Finds(line.text, kSpiedThread, &state, &lock, &name)) {
    return false;
  }
  const std::pair key(stream, line.output);
  if (traces_.size() < kMostTraces || traces_.contains(key)) {
    Trace& trace = traces_[key];
    ClearFrames(trace);
    trace = {};
    trace.kind = Trace::Kind::kSpy;
    trace.line = number;
    trace.is_current = name == "MainThread";
    trace.holds_lock = !lock.empty();
  }
  return true;
}

bool LogScanner::TakeSpyFrame(Trace& trace, const LogLine& line) {
  if (const std::optional<FrameText> frame = SpiedFrameOf(line.text)) {
    if (!IsShortNameOfLibrary(frame->file)) {
      AddFrame(trace, {std::string(frame->file), std::string(frame->function), frame->line}, false);
    }
    return true;
  }
  if (!line.text.empty() && line.text.front() == ' ') {
    return true;  // a native frame, or a value
  }
  EndSpyThread(trace, line);
  return false;
}

void LogScanner::EndSpyThread(Trace& trace, const LogLine& line) {
  const int64_t stream = LogStreamOf(line);
  if (spied_.size() < kMostTraces || spied_.contains(stream)) {
    SpiedProcess& process = spied_[stream];
    if (!process.event.has_value() || (trace.is_current && !process.is_main)) {
      LogEvent event = EventAt(LogKind::kStack, line, trace.line);
      event.pid = process.pid;
      event.text =
          trace.holds_lock ? "stack of py-spy: its main thread runs Python" : "stack of py-spy";
      event.program_line = LineOf(trace);
      process.event = std::move(event);
      process.is_main = trace.is_current;
    }
  }
  trace.kind = Trace::Kind::kNone;
}

void LogScanner::EndSpied(SpiedProcess& process) {
  if (process.event.has_value()) {
    Add(*std::move(process.event));
  }
  process = {};
}

// One or more threads with frames, with empty lines between them. The current one counts; where
// none is marked, as with dump_traceback_later, the main thread: Python writes the newest thread
// first and that last.
bool LogScanner::TakeFault(Trace& trace, const LogLine& line, int64_t number) {
  std::string word;
  if (FrameOf(line.text).has_value()) {
    return trace.is_closed || TakeFrame(trace, line.text);
  }
  if (Trimmed(line.text).empty()) {
    return true;
  }
  if (Finds(line.text, kFaultThread, &word)) {
    trace.is_closed = trace.is_current;  // the stack that counts is there
    if (!trace.is_closed) {
      ClearFrames(trace);
      trace.is_current = word == "Current thread";
      trace.line = trace.fatal.empty() ? number : trace.line;
    }
    return true;
  }
  if (line.text == "...") {  // of more threads than a hundred the others, with the main thread
    if (!trace.is_current) ClearFrames(trace);
    return true;
  }
  // "  <no Python frame>", "  <tstate is freed>"
  if (line.text.starts_with("Python runtime state:") || line.text.starts_with("  ...") ||
      line.text.starts_with("  <")) {
    return true;
  }
  EndFault(trace, line);
  return false;
}

void LogScanner::EndFault(Trace& trace, const LogLine& line) {
  const bool is_fatal = !trace.fatal.empty();
  LogEvent event = EventAt(is_fatal ? LogKind::kFatal : LogKind::kStack, line, trace.line);
  event.unix_ns = trace.unix_ns;
  event.year_ns = trace.year_ns;
  event.is_time_least = trace.is_time_least;
  event.text = is_fatal ? trace.fatal : "stack of faulthandler";
  event.program_line = LineOf(trace);
  if (is_fatal) {
    AddCrash(LogStreamOf(line), std::move(event));
  } else if (!event.program_line.empty()) {
    Add(std::move(event));
  }
  trace.kind = Trace::Kind::kNone;
}

}  // namespace borescope::internal
