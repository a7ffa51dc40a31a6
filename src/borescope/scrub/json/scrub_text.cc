#include "borescope/scrub/json/scrub_text.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "borescope/base/stop.h"
#include "borescope/ingest/events/event_parser.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_space.h"
#include "borescope/json/json_string.h"
#include "borescope/scrub/json/clean_json.h"

namespace borescope::internal {
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

  // The text of the next value, which is consumed with the next call; empty where the text ends.
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
      if (value.empty()) {  // what there is of it goes
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
