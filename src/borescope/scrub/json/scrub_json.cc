#include "borescope/scrub/json/scrub_json.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/events/event_parser.h"
#include "borescope/ingest/kineto/kineto_roles.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/output/json_writer.h"

namespace borescope::internal {

namespace {

bool IsNumber(std::string_view value) {
  constexpr size_t kLongest = 64;
  return !value.empty() && value.size() <= kLongest &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return (c >= '0' && c <= '9') ||
                  std::string_view("+-.eE").find(c) != std::string_view::npos;
         });
}

bool IsWord(std::string_view value) {
  constexpr std::string_view kWords[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
  return std::find(std::begin(kWords), std::end(kWords), value) != std::end(kWords);
}

std::string CleanElement(std::string_view value, TextUse use, Scrubber& scrubber) {
  if (IsString(value)) {
    return JsonString(scrubber.Clean(StringText(value), use));
  }
  return value.starts_with('{') ? "{}" : std::string(NumberOrNull(value));
}

// Without recursion: brackets and commas are copied, and the values between them are cleaned.
std::string CleanArray(std::string_view value, TextUse use, Scrubber& scrubber) {
  std::string clean;
  size_t depth = 0;
  for (size_t at = 0; at < value.size();) {
    const char c = value[at];
    if (c == '[' || c == ']' || c == ',') {
      depth += c == '[' ? 1 : 0;
      depth -= c == ']' && depth > 0 ? 1 : 0;
      clean += c;
      ++at;
    } else if (IsSpace(c)) {
      clean += c;
      ++at;
    } else {
      JsonCursor element(value, at);
      const std::string_view text = element.Value();
      if (text.empty()) {
        return "[]";
      }
      clean += CleanElement(text, use, scrubber);
      at = element.offset();
    }
  }
  return depth == 0 ? clean : "[]";
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string quoted;
  AppendJsonString(quoted, text);
  return quoted;
}

std::string_view NumberOrNull(std::string_view value) {
  return IsNumber(value) || IsWord(value) ? value : "null";
}

std::string CleanJson(std::string_view value, TextUse use, Scrubber& scrubber) {
  return value.starts_with('[') ? CleanArray(value, use, scrubber)
                                : CleanElement(value, use, scrubber);
}

std::string_view NumberField(std::string_view value) {
  if (!IsString(value)) {
    return NumberOrNull(value);
  }
  std::string_view text = StringContent(value);
  text.remove_prefix(text.starts_with("0x") ? 2 : 0);
  const bool is_hex =
      text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      });
  return is_hex || IsNumber(text) ? value : "null";
}

namespace {

constexpr size_t kLongest = size_t{256} << 20;

bool EndsScalar(char c) {
  return IsSpace(c) || std::string_view(",]}:\"[{").find(c) != std::string_view::npos;
}

}  // namespace

bool ValueStream::HasByte(size_t at) {
  while (at >= reader_.window().size()) {
    if (at >= kLongest || !reader_.Fill()) {
      return false;
    }
  }
  return true;
}

std::optional<std::string_view> ValueStream::Next() {
  size_ = 0;
  reader_.SkipSpace();
  std::string open;  // the expected closing brackets
  bool in_string = false;
  size_t at = 0;
  for (; HasByte(at); ++at) {
    const char c = reader_.window()[at];
    if (in_string) {
      at += c == '\\' ? 1 : 0;
      in_string = c != '"';
      if (!in_string && open.empty()) {
        size_ = at + 1;
        return reader_.window().substr(0, size_);
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) {
        return std::nullopt;
      }
      open.pop_back();
      if (open.empty()) {
        size_ = at + 1;
        return reader_.window().substr(0, size_);
      }
    } else if (open.empty()) {
      while (HasByte(at) && !EndsScalar(reader_.window()[at])) {
        ++at;
      }
      size_ = at;
      return at == 0 ? std::nullopt : std::optional(reader_.window().substr(0, at));
    }
  }
  size_ = reader_.window().size();
  return at >= kLongest ? std::nullopt : std::optional(std::string_view());
}

namespace {

// Traces are not nested more deeply.
constexpr int kDeepest = 16;

class Cleaner {
 public:
  Cleaner(std::span<const MemberRule> rules, Scrubber& scrubber)
      : rules_(rules), scrubber_(scrubber) {}

  void Add(std::string_view value, int depth) {
    if (depth < kDeepest && value.starts_with('{')) {
      AddObject(value, depth);
    } else if (depth < kDeepest && value.starts_with('[')) {
      AddArray(value, depth);
    } else {
      text_ += "null";
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  void AddObject(std::string_view object, int depth) {
    JsonCursor cursor(object);
    cursor.EnterObject();
    std::string_view key;
    std::string_view separator;
    text_ += '{';
    while (cursor.NextMember(key)) {
      const std::string_view value = cursor.Value();
      const std::string decoded = HasEscapes(key) ? DecodedText(key) : std::string();
      key = HasEscapes(key) ? std::string_view(decoded) : key;
      const auto rule = std::find_if(rules_.begin(), rules_.end(),
                                     [&](const MemberRule& row) { return row.key == key; });
      if (rule != rules_.end() && !value.empty()) {
        text_.append(separator).append("\"").append(key).append("\":");
        AddMember(value, *rule, depth);
        separator = ",";
      }
    }
    text_ += '}';
  }

  void AddArray(std::string_view array, int depth) {
    std::string_view separator;
    text_ += '[';
    for (const std::string_view element : ElementsOf(array)) {
      text_ += separator;
      Add(element, depth + 1);
      separator = ",\n";
    }
    text_ += ']';
  }

  void AddMember(std::string_view value, const MemberRule& rule, int depth) {
    if (rule.use == MemberUse::kMembers) {
      Add(value, depth + 1);
    } else if (rule.use == MemberUse::kText || value.starts_with('[')) {
      text_ += CleanJson(value, rule.text, scrubber_);
    } else {
      text_ += NumberField(value);
    }
  }

  std::span<const MemberRule> rules_;
  Scrubber& scrubber_;
  std::string text_;
};

}  // namespace

std::string CleanMembers(std::string_view value, std::span<const MemberRule> rules,
                         Scrubber& scrubber) {
  Cleaner cleaner(rules, scrubber);
  cleaner.Add(value, 0);
  return cleaner.Take();
}

namespace {

// The uses of arguments with texts; all others are numbers.
struct FieldUse {
  Field field;
  TextUse use;
};
constexpr FieldUse kTexts[] = {
    {Field::kInputTypes, TextUse::kWord},      {Field::kConcreteInputs, TextUse::kValue},
    {Field::kKernelBackend, TextUse::kWord},   {Field::kKernelFile, TextUse::kPath},
    {Field::kCollective, TextUse::kOperator},  {Field::kDtype, TextUse::kWord},
    {Field::kGroupName, TextUse::kAnnotation}, {Field::kGroupDesc, TextUse::kAnnotation},
    {Field::kGroupRanks, TextUse::kValue},     {Field::kInputDims, TextUse::kValue},
    {Field::kInputStrides, TextUse::kValue},   {Field::kGrid, TextUse::kValue},
    {Field::kBlock, TextUse::kValue},          {Field::kArgName, TextUse::kThread},
    {Field::kDomain, TextUse::kWord},          {Field::kCallArgs, TextUse::kAnnotation},
    {Field::kStreamHandle, TextUse::kPlace},   {Field::kKernelName, TextUse::kKernel},
    {Field::kSource, TextUse::kPlace},         {Field::kTarget, TextUse::kPlace},
};

// Numbers that Borescope does not read, but viewers and other tools show.
constexpr std::string_view kOtherNumbers[] = {"Python id",
                                              "Python parent id",
                                              "Python module id",
                                              "Ev Idx",
                                              "device",
                                              "context",
                                              "queued",
                                              "blocks per SM",
                                              "warps per SM",
                                              "cbid",
                                              "priority",
                                              "Trace iteration",
                                              "Profiler Event Index",
                                              "sort_index",
                                              "Call stack depth",
                                              "fbgemm_id",
                                              "Rank"};

// Names of metadata events.
constexpr std::string_view kMetadata[] = {"process_name", "process_labels", "process_sort_index",
                                          "thread_name", "thread_sort_index"};

template <class Rows>
bool IsIn(const Rows& rows, std::string_view text) {
  return std::find(std::begin(rows), std::end(rows), text) != std::end(rows);
}

// Keys are short; FindArgsField reads eight bytes from the start of one.
Field ArgsFieldOf(std::string_view key) { return FindArgsField(key); }

}  // namespace

std::string EventCleaner::Text(std::string_view value, TextUse use) {
  return IsString(value) ? JsonString(scrubber_.Clean(StringText(value), use))
                         : std::string(NumberOrNull(value));
}

// A text that names a process or thread becomes the number in it, as which it is read, or a
// negative one of its own, which without the key says nothing of the text.
std::string EventCleaner::Process(std::string_view value) {
  if (!IsString(value)) {
    return std::string(NumberOrNull(value));
  }
  const std::string text = StringText(value);
  const int64_t own = -2 - static_cast<int64_t>(scrubber_.Hash(text) >> 32);
  return std::to_string(ProcessNumberIn(text).value_or(own));
}

// Monitors name a device in their category.
std::string EventCleaner::Category() {
  const bool is_known = RoleOfCategory(category_) != EventRole::kOther;
  return JsonString(is_known ? std::string_view(category_)
                             : scrubber_.Clean(category_, TextUse::kAnnotation));
}

TextUse EventCleaner::NameUse() const {
  switch (RoleOfCategory(category_)) {
    case EventRole::kKernel:
    case EventRole::kProfilerRange:
      return TextUse::kKernel;
    case EventRole::kOp:
      return TextUse::kOperator;
    case EventRole::kPython:
      return TextUse::kFrame;
    case EventRole::kRuntime:
      return TextUse::kCall;
    default:
      return TextUse::kAnnotation;
  }
}

void EventCleaner::AddMember(std::string_view key, std::string_view value, Field field) {
  out_->append("\"").append(key).append("\":");
  switch (field) {
    case Field::kPhase: {
      const char letter = PhaseOf(value);
      const bool is_phase = letter >= 'A' && letter <= 'z' && letter != '\\';
      out_->append("\"").append(1, is_phase ? letter : '?').append("\"");
      return;
    }
    case Field::kCategory:
      *out_ += IsString(value) ? Category() : NumberOrNull(value);
      return;
    case Field::kName:
      *out_ += PhaseOf(event_.Get(Field::kPhase)) == 'M' && IsIn(kMetadata, StringText(value))
                   ? JsonString(StringText(value))
                   : Text(value, NameUse());
      return;
    case Field::kPid:
    case Field::kTid:
      *out_ += Process(value);
      return;
    case Field::kFlowId:
      *out_ += IsString(value) && NumberField(value) == "null"
                   ? JsonString(scrubber_.Replaced("id", StringText(value)))
                   : NumberField(value);
      return;
    case Field::kArgs:
      AddArgs(value);
      return;
    default:
      *out_ += NumberField(value);
  }
}

// Counters and monitors have keys of their own, with numbers.
void EventCleaner::AddArgument(std::string_view key, std::string_view value,
                               std::string_view& separator) {
  const Field field = ArgsFieldOf(key);
  const char phase = PhaseOf(event_.Get(Field::kPhase));
  const bool is_counter = RoleOfCategory(category_) == EventRole::kProfilerRange || phase == 'C';
  const bool is_thread_name = Says(event_.Get(Field::kName), "thread_name");
  const auto add = [&](std::string_view name, std::string_view text) {
    out_->append(separator).append(name).append(":").append(text);
    separator = ",";
  };
  if (field == Field::kArgName && !(phase == 'M' && is_thread_name)) {
    return;
  }
  if (field != Field::kCount) {
    const auto* use = std::find_if(std::begin(kTexts), std::end(kTexts),
                                   [&](const FieldUse& row) { return row.field == field; });
    add('"' + std::string(key) + '"', use != std::end(kTexts)
                                          ? CleanJson(value, use->use, scrubber_)
                                          : std::string(NumberField(value)));
  } else if (IsIn(kOtherNumbers, key)) {
    add('"' + std::string(key) + '"', NumberField(value));
  } else if (is_counter && NumberOrNull(value) == value) {
    add(JsonString(scrubber_.Clean(key, TextUse::kWord)), value);
  }
}

void EventCleaner::AddArgs(std::string_view args) {
  JsonCursor cursor(args);
  std::string_view separator;
  *out_ += '{';
  if (cursor.EnterObject()) {
    std::string_view key;
    while (cursor.NextMember(key)) {
      const std::string_view value = cursor.Value();
      if (!value.empty()) {
        AddArgument(Key(key), value, separator);
      }
    }
  }
  *out_ += '}';
}

// What a key says, with eight bytes after its start that can be read.
std::string_view EventCleaner::Key(std::string_view raw) {
  if (!HasEscapes(raw)) {
    return raw;
  }
  std::string& key = keys_.emplace_back(DecodedText(raw));
  const size_t size = key.size();
  key.append(8, '\0');
  return std::string_view(key).substr(0, size);
}

void EventCleaner::Append(std::string_view object, std::string& out) {
  struct Member {
    std::string_view key;
    std::string_view value;
    Field field;
  };
  constexpr size_t kMost = 32;
  std::array<Member, kMost> members;
  size_t count = 0;
  event_.Clear();
  keys_.clear();
  JsonCursor cursor(object);
  if (cursor.EnterObject()) {
    std::string_view raw_key;
    while (cursor.NextMember(raw_key)) {
      const std::string_view value = cursor.Value();
      const std::string_view key = Key(raw_key);
      const Field field = FindEventField(key);
      if (!value.empty() && field != Field::kCount && count < kMost) {
        event_.Set(field, value);
        members[count++] = {key, value, field};
      }
    }
  }
  category_ = IsString(event_.Get(Field::kCategory)) ? StringText(event_.Get(Field::kCategory))
                                                     : std::string();
  out_ = &out;
  out += '{';
  for (size_t i = 0; i < count; ++i) {
    out += i == 0 ? "" : ",";
    AddMember(members[i].key, members[i].value, members[i].field);
  }
  out += '}';
}

namespace {

using enum MemberUse;

// Members of the head of a Kineto trace, and of the objects in it.
constexpr MemberRule kHead[] = {
    {"schemaVersion"},
    {"deviceProperties", kMembers},
    {"distributedInfo", kMembers},
    {"baseTimeNanoseconds"},
    {"borescopeCut", kMembers},
    {"displayTimeUnit", kText, TextUse::kWord},
    {"traceName", kText, TextUse::kPath},
    {"record_shapes"},
    {"profile_memory"},
    {"with_stack"},
    {"with_modules"},
    {"with_flops"},
    {"cuda_runtime_version"},
    {"cuda_driver_version"},
    {"cupti_version"},
    {"hip_runtime_version"},
    {"hip_driver_version"},
    {"roctracer_version"},
    {"trace_id"},
};
constexpr MemberRule kInHead[] = {
    {"id"},
    {"name", kText, TextUse::kWord},
    {"totalGlobalMem"},
    {"computeMajor"},
    {"computeMinor"},
    {"maxThreadsPerBlock"},
    {"maxThreadsPerMultiprocessor"},
    {"regsPerBlock"},
    {"warpSize"},
    {"sharedMemPerBlock"},
    {"numSms"},
    {"maxComputeUnits"},
    {"regsPerMultiprocessor"},
    {"sharedMemPerBlockOptin"},
    {"sharedMemPerMultiprocessor"},
    {"rank"},
    {"world_size"},
    {"pg_count"},
    {"backend", kText, TextUse::kWord},
    {"nccl_version", kText, TextUse::kWord},
    {"begin_ns"},
    {"end_ns"},
    {"recording_begin_ns"},
    {"recording_end_ns"},
    {"steps", kText, TextUse::kWord},
};

// Members of an execution trace and of its nodes, of both forms of schema and of linked ones.
constexpr MemberRule kNodes[] = {
    {"schema", kText, TextUse::kWord},
    {"pid"},
    {"start_ts"},
    {"finish_ts"},
    {"nodes", kMembers},
    {"id"},
    {"name", kText, TextUse::kOperator},
    {"parent"},
    {"ctrl_deps"},
    {"data_deps"},
    {"rf_id"},
    {"fw_parent"},
    {"seq_id"},
    {"scope"},
    {"tid"},
    {"fw_tid"},
    {"op_schema", kText, TextUse::kWord},
    {"inputs", kMembers},
    {"outputs", kMembers},
    {"input_shapes", kText, TextUse::kValue},
    {"output_shapes", kText, TextUse::kValue},
    {"input_types", kText, TextUse::kWord},
    {"output_types", kText, TextUse::kWord},
    {"input_strides", kText, TextUse::kValue},
    {"output_strides", kText, TextUse::kValue},
    {"values", kText, TextUse::kValue},
    {"shapes", kText, TextUse::kValue},
    {"types", kText, TextUse::kWord},
    {"strides", kText, TextUse::kValue},
    {"kernel_backend", kText, TextUse::kWord},
    {"kernel_file", kText, TextUse::kPath},
    {"attrs", kMembers},
    {"type", kText, TextUse::kWord},
    {"value", kText, TextUse::kAnnotation},
    {"exclusive_dur"},
    {"inclusive_dur"},
    {"ts"},
    {"dur"},
    {"timestamp"},
    {"cat", kText, TextUse::kWord},
    {"ph", kText, TextUse::kWord},
    {"stream"},
    {"inter_thread_dep"},
    {"sync_dep"},
    {"pg_name", kText, TextUse::kAnnotation},
};

class JsonScrub {
 public:
  JsonScrub(TextReader& reader, const std::string& name, Scrubber& scrubber, Sink& sink)
      : stream_(reader),
        reader_(reader),
        name_(name),
        scrubber_(scrubber),
        cleaner_(scrubber),
        out_(sink) {}

  Result<ScrubbedText> Run() {
    const char first = reader_.SkipSpace();
    BS_TRY(first == '{' ? Document() : List());
    if (reader_.error().has_value()) {
      return InFile(name_, *reader_.error());
    }
    out_.text() += '\n';
    BS_TRY(out_.Finish());
    return result_;
  }

 private:
  Error Damaged(std::string_view what) const {
    return {.code = ErrorCode::kCorrupt,
            .cause = std::string(what),
            .remedy =
                "only whole JSON can be scrubbed: copy the file again, or repair it with borescope "
                "convert first",
            .file = name_,
            .offset = reader_.byte()};
  }

  // The text of the next value, consumed by the next call; empty at the end of the text.
  Result<std::string_view> Value() {
    const std::optional<std::string_view> value = stream_.Next();
    if (!value.has_value()) {
      return Damaged("brackets do not match, or a value is longer than 256 MB");
    }
    return *value;
  }

  Result<void> Document() {
    stream_.Consume(1);
    out_.text() += '{';
    std::string_view separator;
    bool is_recording = false;
    for (;;) {
      const char c = reader_.SkipSpace();
      if (c == '}' || c == 0) {
        result_.was_cut |= c == 0;
        break;
      }
      if (c == ',') {
        stream_.Consume(1);
        continue;
      }
      if (c != '"') {
        return Damaged("no member begins here");
      }
      BS_ASSIGN(const std::string_view quoted, Value());
      const std::string key = StringText(quoted);
      if (quoted.empty()) {
        result_.was_cut = true;
        break;
      }
      stream_.ConsumeValue();
      if (reader_.SkipSpace() != ':') {
        return Damaged("a member without a colon");
      }
      stream_.Consume(1);
      BS_TRY(Member(key, separator));
      is_recording |= key == "traceEvents" || key == "nodes";
    }
    out_.text() += '}';
    if (!is_recording) {
      return Error{ErrorCode::kUnsupportedFormat,
                   "neither \"traceEvents\" nor \"nodes\" in this JSON",
                   "give a trace of the PyTorch profiler or an execution trace", name_};
    }
    return {};
  }

  Result<void> Member(const std::string& key, std::string_view& separator) {
    const bool is_list = reader_.SkipSpace() == '[';
    if (is_list && (key == "traceEvents" || key == "nodes")) {
      AddKey(key, separator);
      return List(key == "nodes");
    }
    BS_ASSIGN(const std::string_view value, Value());
    const MemberRule* rule = FindRule(key);
    result_.was_cut |= value.empty();
    if (rule == nullptr || value.empty()) {
      result_.dropped += 1;
    } else {
      AddKey(key, separator);
      out_.text() += rule->use == kMembers ? CleanMembers(value, kInHead, scrubber_)
                     : rule->use == kText  ? CleanJson(value, rule->text, scrubber_)
                                           : std::string(NumberField(value));
    }
    stream_.ConsumeValue();
    return {};
  }

  static const MemberRule* FindRule(std::string_view key) {
    for (const std::span<const MemberRule> rules :
         {std::span<const MemberRule>(kHead), std::span<const MemberRule>(kNodes).first(4)}) {
      const auto rule = std::find_if(rules.begin(), rules.end(),
                                     [&](const MemberRule& row) { return row.key == key; });
      if (rule != rules.end()) {
        return &*rule;
      }
    }
    return nullptr;
  }

  void AddKey(std::string_view key, std::string_view& separator) {
    out_.text().append(separator).append("\"").append(key).append("\":");
    separator = ",\n";
  }

  // Events, nodes, or the entries of a memory timeline.
  Result<void> List(bool of_nodes = false) {
    stream_.Consume(1);
    out_.text() += '[';
    for (uint64_t count = 0;; ++count) {
      CheckStopAt(count);
      char c = reader_.SkipSpace();
      if (c == ',') {
        stream_.Consume(1);
        c = reader_.SkipSpace();
      }
      if (c == ']' || c == 0) {
        result_.was_cut |= c == 0;
        break;
      }
      BS_ASSIGN(const std::string_view value, Value());
      if (value.empty()) {  // the incomplete value is removed
        result_.was_cut = true;
        stream_.ConsumeValue();
        break;
      }
      out_.text() += count == 0 ? "\n" : ",\n";
      AddElement(value, of_nodes);
      out_.EndRecord();
      stream_.ConsumeValue();
      ++result_.events;
    }
    stream_.Consume(reader_.SkipSpace() == ']' ? 1 : 0);
    out_.text() += "\n]";
    return {};
  }

  void AddElement(std::string_view value, bool of_nodes) {
    if (of_nodes) {
      out_.text() += CleanMembers(value, kNodes, scrubber_);
    } else if (value.starts_with('[')) {
      out_.text() += CleanJson(value, TextUse::kValue, scrubber_);
    } else {
      padded_.assign(value);
      padded_.append(kTextPadding, ' ');
      cleaner_.Append(std::string_view(padded_).substr(0, value.size()), out_.text());
    }
  }

  ValueStream stream_;
  TextReader& reader_;
  const std::string& name_;
  Scrubber& scrubber_;
  EventCleaner cleaner_;
  BufferedSink out_;
  std::string padded_;
  ScrubbedText result_;
};

}  // namespace

Result<ScrubbedText> ScrubJson(TextReader& reader, const std::string& name, Scrubber& scrubber,
                               Sink& sink) {
  return JsonScrub(reader, name, scrubber, sink).Run();
}

}  // namespace borescope::internal
