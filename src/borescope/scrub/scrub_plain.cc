#include "borescope/scrub/scrub_plain.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/base/text/sensitive.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

// What the value of a key may hold.
enum class KeyUse : uint8_t {
  kUnknown,
  kValue,      // numbers stay
  kVersion,    // "2.21.5+cuda12"
  kGroup,      // names and descriptions of process groups
  kRanks,      // "[0, 1]"
  kOperation,  // "nccl:all_reduce"
  kWord,       // of the format, or a type
  kPath,       // of a source file
  kName,       // what it names depends on what it is in
  kThread,
  kSettings,  // "expandable_segments:True"
};

// What names are of.
enum class NameOf : uint8_t { kNothing, kGroups, kFunctions, kAnnotations };

struct KeyRow {
  std::string_view key;
  KeyUse use = KeyUse::kValue;
  NameOf names = NameOf::kNothing;  // of what is in its value
};

constexpr KeyRow kKeys[] = {
    // dumps
    {"version", KeyUse::kVersion},
    {"nccl_version", KeyUse::kVersion},
    {"comm_lib_version", KeyUse::kVersion},
    {"pg_config", KeyUse::kGroup, NameOf::kGroups},
    {"pg_status"},
    {"nccl_comm_state"},
    {"entries"},
    {"desc", KeyUse::kGroup},
    {"ranks", KeyUse::kRanks},
    {"last_enqueued_collective"},
    {"last_started_collective"},
    {"last_completed_collective"},
    {"record_id"},
    {"pg_id"},
    {"process_group", KeyUse::kGroup},
    {"collective_seq_id"},
    {"p2p_seq_id"},
    {"op_id"},
    {"profiling_name", KeyUse::kOperation},
    {"is_p2p"},
    {"time_created_ns"},
    {"duration_ms"},
    {"input_sizes"},
    {"output_sizes"},
    {"input_dtypes", KeyUse::kWord},
    {"output_dtypes", KeyUse::kWord},
    {"time_discovered_started_ns"},
    {"time_discovered_completed_ns"},
    {"retired"},
    {"timeout_ms"},
    {"thread_name", KeyUse::kThread},
    {"thread_id"},
    // snapshots
    {"segments"},
    {"device_traces"},
    {"blocks"},
    {"history"},
    {"device"},
    {"address"},
    {"addr"},
    {"size"},
    {"real_size"},
    {"total_size"},
    {"allocated_size"},
    {"active_size"},
    {"requested_size"},
    {"stream"},
    {"segment_type", KeyUse::kWord},
    {"segment_pool_id"},
    {"pool_id"},
    {"is_expandable"},
    {"action", KeyUse::kWord},
    {"time_us"},
    {"device_free"},
    {"compile_context"},
    {"user_metadata"},
    {"allocator_settings"},
    {"PYTORCH_CUDA_ALLOC_CONF", KeyUse::kSettings},
    {"max_split_size"},
    {"garbage_collection_threshold"},
    {"expandable_segments"},
    {"roundup_power2_divisions"},
    {"external_annotations", KeyUse::kUnknown, NameOf::kAnnotations},
    {"stage", KeyUse::kWord},
    {"host_segments"},
    {"host_traces"},
    // both
    {"state", KeyUse::kWord},
    {"frames", KeyUse::kUnknown, NameOf::kFunctions},
    {"filename", KeyUse::kPath},
    {"line"},
    {"name", KeyUse::kName},
};

// Values that these formats write.
constexpr std::string_view kWords[] = {
    "scheduled", "started", "completed", "active_allocated", "active_pending_free",
    "active_awaiting_free", "inactive", "small", "large", "alloc", "free_requested",
    "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot",
    "oom", "workspace_snapshot", "START", "END",
    // c10::ScalarType
    "Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "ComplexHalf",
    "ComplexFloat", "ComplexDouble", "Bool", "QInt8", "QUInt8", "QInt32", "BFloat16", "Float8_e5m2",
    "Float8_e4m3fn", "Float8_e5m2fnuz", "Float8_e4m3fnuz", "Float8_e8m0fnu", "UInt16", "UInt32",
    "UInt64", "Undefined"};

// Functions by which a post-mortem knows what memory is for (postmortem/memory/live.cc).
constexpr std::string_view kFunctions[] = {
    "forward",    "backward",           "step",           "__init__", "reset_parameters",
    "_call_impl", "_wrapped_call_impl", "_apply",         "to",       "cuda",
    "to_empty",   "load_state_dict",    "from_pretrained"};

const KeyRow* FindKey(std::string_view key) {
  const auto* const row = std::find_if(std::begin(kKeys), std::end(kKeys),
                                       [key](const KeyRow& each) { return each.key == key; });
  return row == std::end(kKeys) ? nullptr : row;
}

bool IsIn(std::string_view text, std::span<const std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool HasOnly(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
  });
}

bool IsHarmless(std::string_view text, std::string_view others, size_t longest) {
  return text.size() <= longest && HasOnly(text, others) && FindSensitive(text).empty();
}

// Where a value is: the nearest key that is known, and what names are of.
struct Context {
  KeyUse use = KeyUse::kUnknown;
  NameOf names = NameOf::kNothing;
};

class TextCleaner {
 public:
  TextCleaner(Scrubber& scrubber, bool renames) : scrubber_(scrubber), renames_(renames) {}

  // A key in a dictionary that is at `at`; sets where its value is.
  std::string Key(std::string_view key, const Context& at, Context& of_value) {
    const KeyRow* const row = FindKey(key);
    if (row == nullptr) {
      // Keys that are names of groups, numbers of groups, and sizes.
      of_value = at;
      return at.use == KeyUse::kGroup ? Cleaned(key, TextUse::kAnnotation)
                                      : Cleaned(key, TextUse::kValue);
    }
    of_value.use = row->use;
    of_value.names = row->names == NameOf::kNothing ? at.names : row->names;
    return std::string(key);
  }

  std::string Value(std::string_view text, const Context& at) {
    if (text.empty() || IsIn(text, kWords)) {
      return std::string(text);
    }
    switch (at.use) {
      case KeyUse::kVersion:
        return IsHarmless(text, "._+- ()", 40) ? std::string(text)
                                               : scrubber_.Replaced("version", text);
      case KeyUse::kGroup:
        return Cleaned(text, TextUse::kAnnotation);
      case KeyUse::kRanks:
        return text.find_first_not_of("0123456789[], ") == std::string_view::npos
                   ? std::string(text)
                   : scrubber_.Replaced("ranks", text);
      case KeyUse::kOperation:
        return Cleaned(text, TextUse::kOperator);
      case KeyUse::kWord:
        return Cleaned(text, TextUse::kWord);
      case KeyUse::kPath:
        return Path(text);
      case KeyUse::kName:
        return Name(text, at.names);
      case KeyUse::kThread:
        return Cleaned(text, TextUse::kThread);
      case KeyUse::kSettings:
        return IsHarmless(text, "_:,.-[]> ", 1000) ? std::string(text)
                                                   : scrubber_.Replaced("text", text);
      default:
        return Cleaned(text, TextUse::kValue);
    }
  }

 private:
  std::string Cleaned(std::string_view text, TextUse use) {
    return std::string(scrubber_.Clean(text, use));
  }

  std::string Name(std::string_view text, NameOf of) {
    if (of == NameOf::kGroups || of == NameOf::kAnnotations) {
      return Cleaned(text, TextUse::kAnnotation);
    }
    return of == NameOf::kFunctions ? Function(text) : Cleaned(text, TextUse::kValue);
  }

  std::string Function(std::string_view text) {
    if (!renames_ || IsIn(text, kFunctions)) {
      return Cleaned(text, TextUse::kFrame);
    }
    // Functions of PyTorch itself, without their arguments.
    constexpr std::string_view kSpaces[] = {"torch::", "at::", "c10::", "c10d::"};
    const std::string_view name = text.substr(0, text.find_first_of("<( "));
    const bool is_public =
        std::any_of(std::begin(kSpaces), std::end(kSpaces),
                    [&](std::string_view space) { return name.starts_with(space); }) &&
        HasOnly(name, "_:~");
    return is_public ? std::string(name) : Cleaned(text, TextUse::kFrame);
  }

  // The folders of libraries stay, as they decide which frame is the line of the program, and so do
  // those of optimizers and modules, which say what memory is for.
  std::string Path(std::string_view text) {
    if (text == "??" || (text.starts_with('<') && IsHarmless(text, "<>_. ", 100))) {
      return std::string(text);
    }
    constexpr std::string_view kWhole[] = {"/site-packages/torch/", "/dist-packages/torch/",
                                           "/lib/python3."};
    constexpr std::string_view kMarks[] = {
        "/site-packages/", "/dist-packages/", "/optimizers/", "/optim/", "/nn/", "/torch/"};
    // A module of the standard library is a file, or one in a package; below its folder may be
    // more.
    constexpr std::ptrdiff_t kMostFoldersOfLibrary = 4;
    for (const std::string_view folder : kWhole) {
      const size_t at = text.find(folder);
      const bool is_packages = at != std::string_view::npos &&
                               Contains(text.substr(at), "-packages/") && folder == "/lib/python3.";
      const bool is_deep = at != std::string_view::npos && folder == "/lib/python3." &&
                           std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                                      '/') > kMostFoldersOfLibrary;
      if (at != std::string_view::npos && !is_packages && !is_deep &&
          IsHarmless(text.substr(at + 1), "/_.-+", 300)) {
        return scrubber_.Replaced("path", text.substr(0, at)) + std::string(text.substr(at));
      }
    }
    std::string clean = Cleaned(text, TextUse::kPath);
    for (const std::string_view folder : kMarks) {
      if (Contains(text, folder) && !Contains(clean, folder)) {
        const size_t slash = clean.rfind('/');
        const std::string file = slash == std::string::npos ? clean : clean.substr(slash + 1);
        clean = slash == std::string::npos ? std::string("path") : clean.substr(0, slash);
        clean.append(folder).append(file);
        break;
      }
    }
    return text.ends_with(".py") && !clean.ends_with(".py") ? clean + ".py" : clean;
  }

  Scrubber& scrubber_;
  bool renames_;
};

// ---- pickles ----

// What is on the stack of a pickle.
struct Slot {
  enum class Kind : uint8_t { kOther, kDict, kMark };
  Kind kind = Kind::kOther;
  bool is_filled = false;  // of a dictionary
  // Of a key that is known: where the value after it is. Of others that of what is before them.
  Context context = {};
  bool is_memoised = false;
};

class PickleScrubber {
 public:
  PickleScrubber(TextReader& reader, const std::string& name, TextCleaner& cleaner, Sink& sink)
      : reader_(reader), name_(name), cleaner_(cleaner), out_(sink) {}

  Result<ScrubbedText> Run() {
    for (size_t i = 0; !is_done_; ++i) {
      CheckStopAt(i);
      at_ = reader_.byte();
      BS_ASSIGN(const std::string opcode, Take(1));
      BS_TRY(Apply(static_cast<unsigned char>(opcode[0])));
      out_.EndRecord();
    }
    BS_TRY(out_.Finish());
    return result_;
  }

 private:
  static constexpr size_t kMostSlots = size_t{1} << 22;
  static constexpr size_t kMostMemo = size_t{1} << 28;
  static constexpr uint64_t kLongestText = uint64_t{64} << 20;

  Error Bad(std::string cause) const {
    return {.code = ErrorCode::kCorrupt, .cause = std::move(cause), .file = name_, .offset = at_};
  }

  Result<std::string> Take(size_t count) {
    while (reader_.window().size() < count && reader_.Fill()) {
    }
    if (reader_.error().has_value()) {
      return InFile(name_, *reader_.error());
    }
    if (reader_.window().size() < count) {
      return Bad("the pickle ends in the middle: only whole ones are scrubbed");
    }
    std::string bytes(reader_.window().substr(0, count));
    reader_.Consume(count);
    return bytes;
  }

  static uint64_t NumberOf(std::string_view bytes) {
    uint64_t number = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      number |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return number;
  }

  void Put(unsigned char opcode) { out_.text() += static_cast<char>(opcode); }

  // An opcode with so many bytes of argument, as it is.
  Result<std::string> Copy(unsigned char opcode, size_t bytes) {
    BS_ASSIGN(std::string argument, Take(bytes));
    Put(opcode);
    out_.text() += argument;
    return argument;
  }

  Context Before() const { return stack_.empty() ? Context() : stack_.back().context; }

  Result<void> Push(Slot::Kind kind, const Context& context) {
    if (stack_.size() >= kMostSlots) {
      return Bad("too many values wait on the stack");
    }
    if (kind == Slot::Kind::kMark) {
      marks_.push_back(stack_.size());
    }
    stack_.push_back({kind, false, context});
    return {};
  }

  Result<void> PopValues(size_t count) {
    const size_t floor = marks_.empty() ? 0 : marks_.back() + 1;
    if (stack_.size() < floor + count) {
      return Bad("an opcode takes more values than there are");
    }
    stack_.resize(stack_.size() - count);
    return {};
  }

  Result<void> PopToMark() {
    if (marks_.empty()) {
      return Bad("an opcode takes a mark that is not there");
    }
    stack_.resize(marks_.back());
    marks_.pop_back();
    return {};
  }

  // The dictionary in which the next value is a key, if it is one.
  const Slot* DictOfKey() const {
    if (!stack_.empty() && stack_.back().kind == Slot::Kind::kDict && !stack_.back().is_filled) {
      return &stack_.back();
    }
    if (!marks_.empty() && marks_.back() > 0 &&
        stack_[marks_.back() - 1].kind == Slot::Kind::kDict) {
      const bool is_key = (stack_.size() - marks_.back()) % 2 == 1;
      return is_key ? &stack_[marks_.back() - 1] : nullptr;
    }
    return nullptr;
  }

  // Whether the text before the next opcode, which may remember it first, is the last element of a
  // list or of a tuple that is made without a mark: then it is no key.
  bool EndsSequence() {
    constexpr size_t kMost = 6;
    while (reader_.window().size() < kMost && reader_.Fill()) {
    }
    std::string_view next = reader_.window();
    const char first = next.empty() ? '\0' : next.front();
    next.remove_prefix(std::min<size_t>(next.size(), first == 'q'      ? 2
                                                     : first == 'r'    ? 5
                                                     : first == '\x94' ? 1
                                                                       : 0));
    return !next.empty() && Contains("a\x85\x86\x87", next.substr(0, 1));
  }

  void FillTop() {
    if (!stack_.empty()) stack_.back().is_filled = true;
  }

  Result<void> PushText(uint64_t size) {
    if (size > kLongestText) {
      return Bad("a text of more than 64 MiB");
    }
    BS_ASSIGN(const std::string text, Take(size));
    std::string clean;
    Context context = Before();
    const Slot* const dict = EndsSequence() ? nullptr : DictOfKey();
    if (dict != nullptr) {
      const Context at = dict->context;
      clean = cleaner_.Key(text, at, context);
    } else {
      clean = cleaner_.Value(text, context);
    }
    result_.events += 1;
    Put('X');
    for (int shift = 0; shift < 32; shift += 8) {
      out_.text() += static_cast<char>(clean.size() >> shift & 0xffU);
    }
    out_.text() += clean;
    return Push(Slot::Kind::kOther, context);
  }

  Result<void> PushBytes(uint64_t size) {
    if (size > kLongestText) {
      return Bad("bytes of more than 64 MiB");
    }
    BS_TRY(Take(size));
    result_.dropped += size > 0 ? 1 : 0;
    out_.text() += std::string_view("C\0", 2);  // no byte of it stays
    return Push(Slot::Kind::kOther, Before());
  }

  Result<void> SizedText(size_t size_bytes, bool is_text) {
    BS_ASSIGN(const std::string size, Take(size_bytes));
    return is_text ? PushText(NumberOf(size)) : PushBytes(NumberOf(size));
  }

  Result<void> PushLong(unsigned char opcode, size_t size_bytes) {
    BS_ASSIGN(const std::string size, Take(size_bytes));
    if (NumberOf(size) > 9) {
      return Bad("a number of more than 9 bytes");
    }
    BS_ASSIGN(const std::string number, Take(NumberOf(size)));
    Put(opcode);
    out_.text() += size;
    out_.text() += number;
    return Push(Slot::Kind::kOther, Before());
  }

  Result<void> Memoise(uint64_t place) {
    if (stack_.empty() || stack_.back().kind == Slot::Kind::kMark) {
      return Bad("nothing is there to remember");
    }
    if (place > memo_.size() || place >= kMostMemo) {
      return Bad("the memo has gaps");
    }
    if (place == memo_.size()) {
      // Writers remember a value once; a byte each would fill the memory.
      if (stack_.back().is_memoised) {
        return Bad("a value is remembered twice");
      }
      stack_.back().is_memoised = true;
      memo_.push_back(stack_.back());
    } else {
      memo_[place] = stack_.back();
    }
    return {};
  }

  // What was remembered, and is complete. A key that is known says where its value is wherever it
  // is used; of others the place is where they are now.
  Result<void> Recall(uint64_t place) {
    if (place >= memo_.size()) {
      return Bad("the memo has no such value");
    }
    const Slot slot = memo_[place];
    const bool is_key = DictOfKey() != nullptr;
    return Push(Slot::Kind::kOther, is_key ? slot.context : Before());
  }

  Result<void> Apply(unsigned char opcode) {
    switch (opcode) {
      case 0x80: {
        BS_TRY(Copy(opcode, 1));
        return {};
      }
      case 0x95: {  // FRAME: lengths of texts change
        BS_TRY(Take(8));
        return {};
      }
      case '.':
        Put(opcode);
        is_done_ = true;
        return {};
      case 'N':
      case 0x88:
      case 0x89:
      case ']':
      case ')':
        Put(opcode);
        return Push(Slot::Kind::kOther, Before());
      case '}':
        Put(opcode);
        return Push(Slot::Kind::kDict, Before());
      case '(':
        Put(opcode);
        return Push(Slot::Kind::kMark, Before());
      case 'J':
      case 'K':
      case 'M':
      case 'G': {
        BS_TRY(Copy(opcode, opcode == 'J' ? 4 : opcode == 'K' ? 1 : opcode == 'M' ? 2 : 8));
        return Push(Slot::Kind::kOther, Before());
      }
      case 0x8a:
        return PushLong(opcode, 1);
      case 0x8b:
        return PushLong(opcode, 4);
      case 'X':
      case 'B':
        return SizedText(4, opcode == 'X');
      case 0x8c:
      case 'C':
        return SizedText(1, opcode == 0x8c);
      case 0x8d:
        return SizedText(8, true);
      default:
        return ApplyToContainers(opcode);
    }
  }

  Result<void> ApplyToContainers(unsigned char opcode) {
    switch (opcode) {
      case 's':
      case 'a':
      case '0':
        Put(opcode);
        BS_TRY(PopValues(opcode == 's' ? 2 : 1));
        FillTop();
        return {};
      case 'u':
      case 'e':
        Put(opcode);
        BS_TRY(PopToMark());
        FillTop();
        return {};
      case 0x85:
      case 0x86:
      case 0x87: {
        Put(opcode);
        const size_t count = opcode - 0x84U;
        BS_TRY(PopValues(count));
        return Push(Slot::Kind::kOther, Before());
      }
      case 't': {
        Put(opcode);
        BS_TRY(PopToMark());
        return Push(Slot::Kind::kOther, Before());
      }
      case 'q': {
        BS_ASSIGN(const std::string place, Copy(opcode, 1));
        return Memoise(NumberOf(place));
      }
      case 'r': {
        BS_ASSIGN(const std::string place, Copy(opcode, 4));
        return Memoise(NumberOf(place));
      }
      case 0x94:
        Put(opcode);
        return Memoise(memo_.size());
      case 'h': {
        BS_ASSIGN(const std::string place, Copy(opcode, 1));
        return Recall(NumberOf(place));
      }
      case 'j': {
        BS_ASSIGN(const std::string place, Copy(opcode, 4));
        return Recall(NumberOf(place));
      }
      default:
        return Error{.code = ErrorCode::kUnsupportedFormat,
                     .cause =
                         "the pickle has an opcode that a flight recorder dump or memory "
                         "snapshot has not, and may ask to run code",
                     .remedy = "",
                     .file = name_,
                     .offset = at_};
    }
  }

  TextReader& reader_;
  const std::string& name_;
  TextCleaner& cleaner_;
  BufferedSink out_;
  std::vector<Slot> stack_;
  std::vector<size_t> marks_;
  std::vector<Slot> memo_;
  ScrubbedText result_;
  uint64_t at_ = 0;
  bool is_done_ = false;
};

// ---- JSON ----

class PlainJsonScrubber {
 public:
  PlainJsonScrubber(TextReader& reader, const std::string& name, TextCleaner& cleaner, Sink& sink)
      : reader_(reader), name_(name), cleaner_(cleaner), out_(sink) {}

  Result<ScrubbedText> Run() {
    do {
      BS_TRY(Step());
      out_.EndRecord();
    } while (!levels_.empty());
    if (reader_.SkipSpace() != 0) {
      return Bad("something follows the value");
    }
    BS_TRY(out_.Finish());
    return result_;
  }

 private:
  // An object or an array that is not closed.
  struct Level {
    bool is_object = false;
    bool is_first = true;
    Context at;     // where it is
    Context value;  // where the value of the latest key is
  };
  static constexpr size_t kDeepest = 64;
  static constexpr size_t kLongest = size_t{16} << 20;

  Error Bad(std::string cause) const {
    return {.code = ErrorCode::kCorrupt,
            .cause = "this is no whole JSON text: " + std::move(cause),
            .file = name_,
            .offset = reader_.byte()};
  }

  // One value, key or bracket.
  Result<void> Step() {
    CheckStopAt(steps_++);
    char c = reader_.SkipSpace();
    if (levels_.empty()) {
      return Value(c, {});
    }
    Level& level = levels_.back();
    if (c == (level.is_object ? '}' : ']')) {
      reader_.Consume(1);
      out_.text() += c;
      levels_.pop_back();
      return {};
    }
    if (!level.is_first) {
      if (c != ',') {
        return Bad(c == 0 ? "it ends in the middle" : "a comma is missing");
      }
      reader_.Consume(1);
      out_.text() += ',';
      c = reader_.SkipSpace();
    }
    level.is_first = false;
    if (!level.is_object) {
      return Value(c, level.at);
    }
    if (c != '"') {
      return Bad("a key is missing");
    }
    BS_ASSIGN(const std::string key, String());
    out_.text() += JsonString(cleaner_.Key(key, level.at, level.value));
    if (reader_.SkipSpace() != ':') {
      return Bad("a colon is missing");
    }
    reader_.Consume(1);
    out_.text() += ':';
    return Value(reader_.SkipSpace(), level.value);
  }

  Result<void> Value(char c, const Context& at) {
    if (c == '"') {
      BS_ASSIGN(const std::string text, String());
      result_.events += 1;
      out_.text() += JsonString(cleaner_.Value(text, at));
      return {};
    }
    if (c == '{' || c == '[') {
      if (levels_.size() >= kDeepest) {
        return Bad("it nests too deeply");
      }
      reader_.Consume(1);
      out_.text() += c;
      levels_.push_back({.is_object = c == '{', .is_first = true, .at = at, .value = at});
      return {};
    }
    return Literal();
  }

  // The bytes up to the first one that `ends` holds for.
  template <class Ends>
  Result<std::string> TakeUntil(const Ends& ends) {
    size_t at = 0;
    while (true) {
      const std::string_view window = reader_.window();
      while (at < window.size() && !ends(window, at)) {
        ++at;
      }
      if (at < window.size() || at > kLongest || !reader_.Fill()) {
        break;
      }
    }
    if (reader_.error().has_value()) {
      return InFile(name_, *reader_.error());
    }
    if (at > kLongest) {
      return Bad("a value is too long");
    }
    std::string text(reader_.window().substr(0, at));
    reader_.Consume(text.size());
    return text;
  }

  // What a string says. The reader is at its first quotation mark.
  Result<std::string> String() {
    reader_.Consume(1);
    bool is_escaped = false;
    BS_ASSIGN(const std::string raw, TakeUntil([&](std::string_view window, size_t at) {
                const bool is_end = !is_escaped && window[at] == '"';
                is_escaped = !is_escaped && window[at] == '\\';
                return is_end;
              }));
    if (reader_.window().empty()) {
      return Bad("it ends in the middle");
    }
    reader_.Consume(1);
    std::string scratch;
    StringRepairs repairs;
    return std::string(DecodeString(raw, scratch, repairs));
  }

  Result<void> Literal() {
    BS_ASSIGN(const std::string text, TakeUntil([](std::string_view window, size_t at) {
                return IsSpace(window[at]) || Contains(",]}:\"[{", window.substr(at, 1));
              }));
    const bool is_number =
        !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string::npos;
    if (!is_number && text != "true" && text != "false" && text != "null") {
      return Bad(text.empty() ? "it ends in the middle, or a value is missing"
                              : "a value is neither text nor number");
    }
    out_.text() += text;
    return {};
  }

  TextReader& reader_;
  const std::string& name_;
  TextCleaner& cleaner_;
  BufferedSink out_;
  std::vector<Level> levels_;
  ScrubbedText result_;
  size_t steps_ = 0;
};

}  // namespace

Result<ScrubbedText> ScrubPickle(TextReader& reader, const std::string& name, Scrubber& scrubber,
                                 Sink& sink) {
  TextCleaner cleaner(scrubber, scrubber.renames());
  return PickleScrubber(reader, name, cleaner, sink).Run();
}

Result<ScrubbedText> ScrubPlainJson(TextReader& reader, const std::string& name, Scrubber& scrubber,
                                    Sink& sink) {
  TextCleaner cleaner(scrubber, scrubber.renames());
  return PlainJsonScrubber(reader, name, cleaner, sink).Run();
}

}  // namespace borescope::internal
