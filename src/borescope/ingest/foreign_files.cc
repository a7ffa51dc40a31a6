#include "borescope/ingest/foreign_files.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "borescope/base/text/text.h"
#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/ingest/pickle/plain_reader.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {

namespace {

// Types of fields.
constexpr uint64_t kVarint = 0;
constexpr uint64_t kEightBytes = 1;
constexpr uint64_t kBytes = 2;
constexpr uint64_t kFourBytes = 5;

// Consumes a protobuf varint from the front of `text`; nothing if it does not end there.
std::optional<uint64_t> TakeVarint(std::string_view& text) {
  uint64_t value = 0;
  for (int shift = 0; !text.empty() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) {
      return value;
    }
  }
  return std::nullopt;
}

// Whether the byte can begin a field of a message: its number, and its type.
bool CanBeTag(char byte) {
  const auto tag = static_cast<unsigned char>(byte);
  const unsigned type = tag & 7U;
  return tag >> 3 != 0 &&
         (type == kVarint || type == kEightBytes || type == kBytes || type == kFourBytes);
}

// Consumes a field of a message; false if there is none.
bool TakeField(std::string_view& message) {
  const std::optional<uint64_t> tag = TakeVarint(message);
  if (!tag.has_value() || *tag >> 3 == 0) {
    return false;
  }
  const uint64_t type = *tag & 7U;
  if (type == kVarint) {
    return TakeVarint(message).has_value();
  }
  const std::optional<uint64_t> size = type == kBytes        ? TakeVarint(message)
                                       : type == kEightBytes ? std::optional<uint64_t>(8)
                                       : type == kFourBytes  ? std::optional<uint64_t>(4)
                                                             : std::nullopt;
  if (!size.has_value() || *size > message.size()) {
    return false;
  }
  message.remove_prefix(*size);
  return true;
}

// Whether bytes are the consecutive fields of a message.
bool IsMessage(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!TakeField(bytes)) {
      return false;
    }
  }
  return true;
}

// Consumes one of Perfetto's packets, which is field 1 and bytes, from the front of the known part
// of a file; `size` includes its tag and length, or is 0 if the known part ends before. False if
// there is none.
bool TakePacket(std::string_view& rest, uint64_t& size) {
  constexpr char kPacket = '\n';
  constexpr uint64_t kLongest = uint64_t{1} << 31;  // of any protobuf message
  const std::string_view packet = rest;
  if (!rest.starts_with(kPacket)) {
    return false;
  }
  rest.remove_prefix(1);
  const std::optional<uint64_t> length = TakeVarint(rest);
  size = length.has_value() ? packet.size() - rest.size() + *length : 0;
  if (!length.has_value()) {
    return rest.empty();
  }
  const std::string_view message = rest.substr(0, *length);
  rest.remove_prefix(message.size());
  return *length <= kLongest &&
         (message.size() == *length ? IsMessage(message)
                                    : message.empty() || CanBeTag(message.front()));
}

// The text of field 2 of a message, of which the begin is known; empty where it is not in sight.
std::string_view NameIn(std::string_view message) {
  constexpr uint64_t kName = 2U << 3U | kBytes;
  while (!message.empty()) {
    std::string_view field = message;
    if (TakeVarint(field) == kName) {
      const std::optional<uint64_t> size = TakeVarint(field);
      return size.has_value() ? field.substr(0, *size) : std::string_view();
    }
    if (!TakeField(message)) {
      return {};
    }
  }
  return {};
}

}  // namespace

bool IsXplane(std::string_view start) {
  if (!start.starts_with('\n')) {
    return false;
  }
  start.remove_prefix(1);
  const std::optional<uint64_t> size = TakeVarint(start);
  const std::string_view name =
      size.has_value() ? NameIn(start.substr(0, *size)) : std::string_view();
  constexpr std::string_view kPlanes[] = {"/device:",         "/host:",    "#Chip",
                                          "Task Environment", "Host CPUs", "Syscalls"};
  return std::any_of(std::begin(kPlanes), std::end(kPlanes),
                     [&](std::string_view plane) { return name.starts_with(plane); });
}

uint64_t FirstPacketEnd(std::string_view start) {
  constexpr int kEnough = 1000;
  constexpr uint64_t kEmpty = 2;  // tag and length
  std::string_view rest = start;
  uint64_t first = 0;
  if (!TakePacket(rest, first) || first <= kEmpty) {
    return 0;
  }
  for (int packet = 1; packet < kEnough && !rest.empty(); ++packet) {
    uint64_t ignored = 0;
    if (!TakePacket(rest, ignored)) {
      return 0;
    }
  }
  return first;
}

namespace {

struct ForeignRow {
  std::string_view magic;
  std::string_view what;
  std::string_view remedy;
  size_t within = 0;  // the last offset at which the magic may begin
  // An additional condition.
  bool (*also)(std::string_view text) = nullptr;
};

// A Perfetto trace starts with the byte of a newline, and so may any text: the next bytes decide.
bool IsPerfetto(std::string_view text) {
  const auto is_binary = [](char c) { return static_cast<unsigned char>(c) < '\t'; };
  return FirstPacketEnd(text) > 0 && std::any_of(text.begin(), text.end(), is_binary);
}

// Bytes that are not UTF-8 became U+FFFD, and what is left has the names of planes.
bool IsRuinedXplane(std::string_view text) {
  constexpr std::string_view kReplaced = "\xef\xbf\xbd";
  const size_t first = text.substr(0, 16).find(kReplaced);
  return first != std::string_view::npos && Contains(text.substr(first + 1), kReplaced) &&
         (Contains(text, "/device:") || Contains(text, "/host:"));
}

// "0.0.4", "1.0.0": numbers with dots between them.
bool IsVersion(std::string_view text) {
  const auto is_part = [](char c) { return c == '.' || IsDigit(c); };
  return Contains(text, ".") && !Contains(text, "..") && IsDigit(text.front()) &&
         IsDigit(text.back()) && std::all_of(text.begin(), text.end(), is_part);
}

// A Chakra trace whose first message has no attributes: its length, then tag, length and text of
// the version.
bool BeginsWithVersion(std::string_view text) {
  constexpr size_t kHead = 3;
  constexpr unsigned kLongest = 16;
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  return text.size() > kHead && byte(2) <= kLongest && byte(0) == byte(2) + kHead - 1 &&
         text.size() >= kHead + byte(2) && IsVersion(text.substr(kHead, byte(2)));
}

bool IsMemorySnapshot(std::string_view text) {
  return GuessPlain(text).content == PlainContent::kMemorySnapshot;
}

bool IsFlightRecorder(std::string_view text) {
  return GuessPlain(text).content == PlainContent::kFlightRecorder;
}

bool IsWorkbook(std::string_view text) {
  return Contains(text, "[Content_Types].xml") || Contains(text, "xl/");
}

bool IsTorchSave(std::string_view text) { return Contains(text, "/data.pkl"); }

bool IsVisualProfilerSession(std::string_view text) { return Contains(text, "nvvp"); }

using namespace std::string_view_literals;
constexpr std::string_view kChakra = "a Chakra execution trace";
constexpr std::string_view kChakraRemedy = "give it to borescope chakra dump, draw or check";
constexpr std::string_view kTraceInstead = "give the trace written by export_chrome_trace";
constexpr std::string_view kPostmortem =
    "ask `borescope postmortem FOLDER`, which explains how the job ended";
constexpr std::string_view kXplaneInstead = "give the .trace.json.gz that was written beside it";
constexpr std::string_view kNsysRemedy = "turn it into a database with nsys export --type sqlite";
constexpr ForeignRow kForeign[] = {
    {"borescope graph\n"sv, "a graph that critical-path --save wrote",
     "give it with critical-path --load"},
    // An attribute of its first message, after lengths and tags.
    {"\x0a\x06schema"sv, kChakra, kChakraRemedy, 16},
    {"\x0a"sv, kChakra, kChakraRemedy, 1, BeginsWithVersion},
    {"PK\x03\x04"sv, "an Excel workbook", "give the recording that it was made from", 0,
     IsWorkbook},
    {"PK\x03\x04"sv, "a file of torch.save", kTraceInstead, 0, IsTorchSave},
    {"PK\x03\x04"sv, "a zip archive", "unpack it and give the trace inside"},
    {"\x80"sv, "a dump of PyTorch's flight recorder (a Python pickle)", kPostmortem, 0,
     IsFlightRecorder},
    {"\x80"sv, "a snapshot of PyTorch's memory (a Python pickle of _dump_snapshot)", kPostmortem, 0,
     IsMemorySnapshot},
    {"\x80"sv, "a Python pickle (memory snapshot?)", kTraceInstead},
    {"\x0a"sv,
     "an XPlane profile of XLA (JAX, TensorFlow) that passed through a text decoder, which "
     "replaced its bytes",
     kXplaneInstead, 0, IsRuinedXplane},
    {"\x0a"sv, "an XPlane profile of XLA (JAX, TensorFlow)", kXplaneInstead, 0, IsXplane},
    {"\x0a"sv, "a Perfetto protobuf trace",
     "record with export_chrome_trace to a .json or .json.gz file", 0, IsPerfetto},
    // The first line of .nsys-rep and .qdrep files, followed by the version that wrote them.
    {"NVIDIA Tegra Profiler Report"sv, "an Nsight Systems report", kNsysRemedy},
    {"\x7f"
     "ELF"sv,
     "a program", "give a trace file"},
    {"\x89PNG"sv, "a picture", "give a trace file"},
    {"<?xml"sv, "a session of NVIDIA's Visual Profiler (.nvvp, XML)",
     "give the database of nvprof (nvprof -o FILE) that it names", 0, IsVisualProfilerSession},
    {"<?xml"sv, "an XML file", "give a trace file"},
};

// Lists and objects of JSON that are no Chrome traces, by names that are in their begin.
struct JsonRow {
  std::string_view what, remedy;
  std::string_view names[3];
};
constexpr JsonRow kJson[] = {
    {"a dump of PyTorch's flight recorder (JSON)",
     kPostmortem,
     {"\"entries\"", "\"collective_seq_id\"", "\"profiling_name\""}},
    {"a dump of PyTorch's flight recorder (JSON)",
     kPostmortem,
     {"\"pg_config\"", "\"version\"", "\"ranks\""}},
    {"a snapshot of PyTorch's memory (JSON)",
     kPostmortem,
     {"\"segments\"", "\"blocks\"", "\"total_size\""}},
    {"a profile of Proton (Triton) in its Hatchet form",
     "it holds sums without times: run proton with data=\"trace\", or record with torch.profiler",
     {"\"children\"", "\"frame\"", "\"metrics\""}},
    {"a report of NCCL's RAS service",
     kPostmortem,
     {"\"nccl_version\"", "\"communicators\"", "\"communicators_count\""}},
    {"a log of NCCL's inspector",
     "it holds no timeline: give the traces of the ranks",
     {"\"header\"", "\"metadata\"", "\"inspector_output_format_version\""}},
    {"a profile of TensorRT's layers",
     "it holds averages without times: record trtexec with nsys profile",
     {"\"timeMs\"", "\"averageMs\"", "\"percentage\""}},
    {"a list of the times of trtexec (--exportTimes)",
     "it holds sums of each inference without kernels: record trtexec with nsys profile",
     {"\"computeMs\"", "\"latencyMs\"", "Ms\""}},
    {"a CPU profile of V8 (.cpuprofile of Node.js or a web browser)",
     "give the trace of a profiler of the GPU, such as torch.profiler's",
     {"\"nodes\"", "\"callFrame\"", "\"id\""}},
};

// One word of a command for a shell.
std::string Quoted(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

bool IsInstalled(std::string_view program) {
  const char* const found = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): only read
  std::string_view folders = found == nullptr ? std::string_view() : found;
  while (!folders.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    std::string path(folders.substr(0, end));
    path += '/';
    path += program;
    if (path.front() == '/' && access(path.c_str(), X_OK) == 0) {
      return true;
    }
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return false;
}

// The command itself, where it can be run here.
std::string RemedyFor(const ForeignRow& row, const std::string& name) {
  if (row.remedy != kNsysRemedy || !IsInstalled("nsys")) {
    return std::string(row.remedy);
  }
  return "turn it into a database: nsys export --type sqlite --output " +
         Quoted(name.substr(0, name.rfind('.')) + ".sqlite") + " " + Quoted(name);
}

Error Unsupported(const std::string& name, std::string_view what, std::string_view remedy) {
  return {.code = ErrorCode::kUnsupportedFormat,
          .cause = "this is " + std::string(what) + ", not a profile that borescope reads",
          .remedy = std::string(remedy),
          .file = name,
          .offset = 0};
}

bool IsForeign(std::string_view text, const ForeignRow& row) {
  return Contains(text.substr(0, row.within + row.magic.size()), row.magic) &&
         (row.also == nullptr || row.also(text));
}

constexpr size_t kJsonHead = 8192;

// The row that a list or object of JSON is of; none for Chrome traces and what is not known.
const JsonRow* JsonRowOf(std::string_view text) {
  const std::string_view head = text.substr(0, kJsonHead);
  for (const JsonRow& row : kJson) {
    if (!Contains(head, "\"traceEvents\"") && !Contains(head, "\"ph\"") &&
        std::all_of(std::begin(row.names), std::end(row.names),
                    [&](std::string_view part) { return Contains(head, part); })) {
      return &row;
    }
  }
  return nullptr;
}

Result<void> CheckJson(std::string_view text, const std::string& name) {
  const std::string_view head = text.substr(0, kJsonHead);
  if (const JsonRow* const row = JsonRowOf(text); row != nullptr) {
    return Unsupported(name, row->what, row->remedy);
  }
  const bool is_chrome = Contains(head, "\"traceEvents\"") || Contains(head, "\"ph\"");
  const PlainContent content = is_chrome ? PlainContent::kNone : GuessPlain(text).content;
  if (content == PlainContent::kFlightRecorder || content == PlainContent::kMemorySnapshot) {
    const bool is_dump = content == PlainContent::kFlightRecorder;
    return Unsupported(name, kJson[is_dump ? 0 : 2].what, kPostmortem);
  }
  const ForeignChrome foreign = ForeignChromeOf(text);
  return foreign.what.empty() ? Result<void>() : Unsupported(name, foreign.what, foreign.remedy);
}

}  // namespace

Result<void> CheckIsNotForeign(std::string_view text, const std::string& name) {
  const auto first = std::find_if_not(text.begin(), text.end(), IsSpace);
  if (first == text.end()) {
    return Error{.code = ErrorCode::kCorrupt,
                 .cause = "the file is empty",
                 .remedy = "profile again or check that the copy finished",
                 .file = name,
                 .offset = 0};
  }
  for (const ForeignRow& row : kForeign) {
    if (IsForeign(text, row)) {
      return Unsupported(name, row.what, RemedyFor(row, name));
    }
  }
  if (*first != '{' && *first != '[' && !text.starts_with(kByteOrderMark)) {
    return Unsupported(name, "neither JSON nor a database",
                       "give a file written by torch.profiler's export_chrome_trace, or one of "
                       "another format in `borescope list`");
  }
  const auto second = std::find_if_not(first + 1, text.end(), IsSpace);
  if (*first == '[' && second != text.end() && *second != '{' && *second != ']') {
    return Unsupported(name, "a JSON list of something else than events",
                       "give a file written by torch.profiler's export_chrome_trace");
  }
  return CheckJson(text, name);
}

std::string_view ForeignJsonName(std::string_view head) {
  const auto first = std::find_if_not(head.begin(), head.end(), IsSpace);
  const bool is_json = first != head.end() && (*first == '{' || *first == '[');
  const JsonRow* const row = is_json ? JsonRowOf(head) : nullptr;
  return row == nullptr || row->remedy == kPostmortem ? std::string_view() : row->what;
}

}  // namespace borescope::internal
