#include "borescope/ingest/chrome/chrome_trace.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/kineto/kineto_roles.h"
#include "borescope/json/json_cursor.h"

namespace borescope::internal {

std::string_view XlaRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
      return "record with jax.profiler.trace(folder), whose host tracer is on unless it was "
             "switched off";
    case MissingData::kDeviceWork:
      return "XLA ran on the CPU: install jax[cuda], or the plugin for ROCm or TPU, and check "
             "jax.devices()";
    case MissingData::kLaunches:
      return "record with jax.profiler.trace(folder) from before the launches on, with the host "
             "tracer on";
    case MissingData::kOperators:
      return "this profile names no operations of XLA: run compiled functions (jax.jit) in the "
             "profiled part";
    case MissingData::kSteps:
      return "put every iteration into jax.profiler.StepTraceAnnotation(\"train\", step_num=i)";
    case MissingData::kShapes:
      return "this profiler records no shapes of operations";
    case MissingData::kMemory:
      return "this form of the profile holds none: they are in the .xplane.pb file, or use "
             "jax.profiler.save_device_memory_profile";
    case MissingData::kAnnotations:
      return "mark code with jax.profiler.TraceAnnotation(\"name\")";
    case MissingData::kCollectives:
      return "profile a program on several devices; this profiler records no sizes of collectives";
    case MissingData::kCounters:
      return "this profiler records no hardware counters of kernels";
    default:
      return CommonRemedy(lack);
  }
}

std::string_view AscendRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
    case MissingData::kOperators:
      return "record with torch_npu.profiler and activities=[ProfilerActivity.CPU, "
             "ProfilerActivity.NPU]";
    case MissingData::kDeviceWork:
      return "record with torch_npu.profiler and ProfilerActivity.NPU";
    case MissingData::kLaunches:
      return "record with profiler_level=torch_npu.profiler.ProfilerLevel.Level1 in "
             "experimental_config: level 0 has no calls of CANN";
    case MissingData::kSteps:
      return "call prof.step() at the end of every iteration of the torch_npu profiler";
    case MissingData::kShapes:
      return "record with torch_npu.profiler and record_shapes=True";
    case MissingData::kMemory:
      return "this form of the profile holds none: record with profile_memory=True and see "
             "operator_memory.csv beside it";
    case MissingData::kAnnotations:
      return "mark code with torch.autograd.profiler.record_function(\"name\")";
    case MissingData::kCollectives:
      return "profile a distributed job with profiler_level Level1";
    case MissingData::kCounters:
      return "this form of the profile holds none: record with aic_metrics and see "
             "kernel_details.csv beside it";
    default:
      return CommonRemedy(lack);
  }
}

std::string_view OnnxRuntimeRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
    case MissingData::kOperators:
      return "set SessionOptions.enable_profiling, and call end_profiling() before the program "
             "ends";
    case MissingData::kDeviceWork:
      return "the session ran on the CPU, or its provider records no kernels: give "
             "providers=[\"CUDAExecutionProvider\"] (or ROCm's) of a build with its profiler";
    case MissingData::kLaunches:
      return "this profiler ties no kernels to their launches: record with Nsight Systems or "
             "borescope record";
    case MissingData::kSteps:
      return "call session.run once for every step";
    case MissingData::kShapes:
      return "record with a build whose nodes have input_type_shape";
    case MissingData::kMemory:
      return "this profiler records sizes alone, no allocations";
    case MissingData::kAnnotations:
      return "this profiler takes no marks of the program: record with Nsight Systems and NVTX "
             "ranges";
    case MissingData::kCopies:
      return "this profiler records no sizes of copies: record with Nsight Systems or borescope "
             "record";
    case MissingData::kCounters:
      return "this profiler records no hardware counters";
    default:
      return CommonRemedy(lack);
  }
}

std::string_view AutogradRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
    case MissingData::kOperators:
    case MissingData::kDeviceWork:
    case MissingData::kLaunches:
    case MissingData::kGraphs:
    case MissingData::kCopies:
      return "the old profiler of PyTorch does not record it: record with torch.profiler.profile "
             "instead of torch.autograd.profiler.profile";
    case MissingData::kSteps:
      return "record with torch.profiler.profile and call prof.step() at the end of every "
             "iteration";
    case MissingData::kShapes:
      return "record with torch.profiler.profile and record_shapes=True";
    case MissingData::kMemory:
      return "record with torch.profiler.profile and profile_memory=True";
    case MissingData::kAnnotations:
      return "record with torch.profiler.profile; record_function(\"name\") marks code";
    case MissingData::kCollectives:
      return "profile a distributed job with torch.profiler.profile";
    default:
      return CommonRemedy(lack);
  }
}

// Which program wrote a Chrome trace, by what the first of its events say.

namespace {

// So many events are looked at, and so much text before them.
constexpr int kLooked = 64;
constexpr size_t kHeadBytes = size_t{64} << 10;

// What the head of a file shows. Texts are as written, quotation marks included.
struct HeadEvent {
  std::string_view phase, category, name, pid, ts, args;
};

bool HasText(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

HeadEvent ReadEvent(std::string_view text) {
  HeadEvent event;
  JsonCursor cursor(text);
  std::string_view key;
  if (!cursor.EnterObject()) {
    return event;
  }
  while (cursor.NextMember(key)) {
    const std::string_view value = cursor.Value();
    std::string_view* const field = key == "ph"     ? &event.phase
                                    : key == "cat"  ? &event.category
                                    : key == "name" ? &event.name
                                    : key == "pid"  ? &event.pid
                                    : key == "ts"   ? &event.ts
                                    : key == "args" ? &event.args
                                                    : nullptr;
    if (field != nullptr) {
      *field = value;
    }
  }
  return event;
}

// Where the list of events begins; npos if it is not in sight, or if members before it are
// Kineto's.
size_t FindEvents(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] == '[') {
    return first;
  }
  JsonCursor cursor(text, first);
  std::string_view key;
  if (!cursor.EnterObject()) {
    return std::string_view::npos;
  }
  while (cursor.NextMember(key)) {
    if (key == "schemaVersion" || key == "deviceProperties" || key == "distributedInfo") {
      return std::string_view::npos;
    }
    if (key == "traceEvents") {
      return text.find('[', cursor.offset());
    }
    cursor.Value();
  }
  return std::string_view::npos;
}

// Whether only Kineto writes such events. Ascend's have the same categories, and times as texts;
// ONNX Runtime's kernels have the category of old ones, and no device.
bool IsOfKineto(const HeadEvent& event) {
  return event.category.size() > 2 && event.ts.size() > 1 && event.ts.front() != '"' &&
         event.pid != "-1" &&
         RoleOfCategory(event.category.substr(1, event.category.size() - 2)) != EventRole::kOther;
}

// Whether one of the first events is as `is_like` says.
template <class IsLike>
bool AnyEvent(std::string_view text, const IsLike& is_like) {
  text = text.substr(0, kHeadBytes);
  const size_t begin = FindEvents(text);
  if (begin == std::string_view::npos) {
    return false;
  }
  JsonCursor cursor(text, begin);
  if (!cursor.EnterArray()) {
    return false;
  }
  for (int i = 0; i < kLooked && cursor.NextElement(); ++i) {
    const std::string_view event = cursor.Value();
    if (event.empty() || cursor.failed()) {
      return false;
    }
    const HeadEvent read = ReadEvent(event);
    if (is_like(read)) {
      return true;
    }
    if (IsOfKineto(read)) {
      return false;
    }
  }
  return false;
}

bool IsProcessName(const HeadEvent& event) {
  return event.phase == "\"M\"" && event.name == "\"process_name\"";
}

// The first rocprof repeats the times of each event among its arguments.
bool IsOfRocprof(const HeadEvent& event) {
  return HasText(event.args, "\"BeginNs\"") && HasText(event.args, "\"EndNs\"");
}

// A TensorFlow 1 timeline calls processes "/job:localhost/.../device:CPU:0 Compute" and
// "/device:GPU:0/stream:all Compute".
bool IsOfTensorFlow1(const HeadEvent& event) {
  return IsProcessName(event) &&
         (HasText(event.args, "\"/job:") || HasText(event.args, " Compute\"") ||
          HasText(event.args, "\"Allocators\"") || HasText(event.args, "\"Tensors\""));
}

// "1736408883573887.920" as a text: a time in microseconds with three decimals.
bool IsTextTime(std::string_view ts) {
  return ts.size() > 6 && ts.front() == '"' && ts[ts.size() - 5] == '.';
}

}  // namespace

bool IsXlaTrace(std::string_view text) {
  return AnyEvent(text, [](const HeadEvent& event) {
    return IsProcessName(event) && !IsOfTensorFlow1(event) &&
           (HasText(event.args, "\"/host:CPU\"") || HasText(event.args, "\"/device:GPU:") ||
            HasText(event.args, "\"/device:TPU:"));
  });
}

bool IsAscendTrace(std::string_view text) {
  return AnyEvent(text, [](const HeadEvent& event) {
    const bool names_ascend = IsProcessName(event) && (HasText(event.args, "\"Ascend Hardware\"") ||
                                                       HasText(event.args, "\"CANN\""));
    return names_ascend || (event.phase == "\"X\"" && IsTextTime(event.ts) && !IsOfRocprof(event));
  });
}

bool IsOnnxRuntimeTrace(std::string_view text) {
  return AnyEvent(text, [](const HeadEvent& event) {
    return event.category == "\"Session\"" ||
           (event.category == "\"Node\"" && HasText(event.args, "\"provider\""));
  });
}

bool IsAutogradTrace(std::string_view text) {
  return AnyEvent(text, [](const HeadEvent& event) {
    return event.pid == "\"CPU functions\"" || event.pid == "\"CUDA functions\"" ||
           event.pid == "\"CPU Functions\"" || event.pid == "\"CUDA Functions\"";
  });
}

ForeignChrome ForeignChromeOf(std::string_view text) {
  struct Kind {
    ForeignChrome is;
    bool (*is_like)(const HeadEvent& event);
  };
  static constexpr Kind kKinds[] = {
      {{"a TensorFlow 1 timeline",
        "record with tf.profiler.experimental.start and give its trace.json.gz"},
       [](const HeadEvent& event) {
         return IsOfTensorFlow1(event) ||
                (event.category == "\"Op\"" && HasText(event.args, "\"op\""));
       }},
      {{"a trace of rocprof, the first of ROCm's profilers (results.json)",
        "record with rocprofv3 --sys-trace --output-format rocpd, whose database is read"},
       [](const HeadEvent& event) {
         return IsOfRocprof(event) ||
                (IsProcessName(event) &&
                 (HasText(event.args, "CPU HIP API\"") || HasText(event.args, "CPU HSA API\"")));
       }},
      {{"a profile of a build with Bazel",
        "give the trace of a profiler of the GPU, such as torch.profiler's"},
       [](const HeadEvent& event) {
         return event.category == "\"build phase marker\"" ||
                event.category == "\"action processing\"";
       }},
      {{"a trace of a web browser or of Node.js",
        "give the trace of a profiler of the GPU, such as torch.profiler's"},
       [](const HeadEvent& event) {
         return event.category == "\"__metadata\"" || HasText(event.category, "toplevel") ||
                HasText(event.category, "disabled-by-default");
       }},
      {{"a trace of VizTracer", "record the GPU with torch.profiler and give its trace"},
       [](const HeadEvent& event) {
         return event.category == "\"FEE\"" || event.category == "\"fee\"";
       }},
      {{"a trace of unitrace (Intel PTI)",
        "record with torch.profiler and ProfilerActivity.XPU, and give its trace"},
       [](const HeadEvent& event) {
         return IsProcessName(event) &&
                (HasText(event.args, "\"DEVICE<") || HasText(event.args, "HOST<"));
       }},
  };
  for (const Kind& kind : kKinds) {
    if (AnyEvent(text, kind.is_like)) {
      return kind.is;
    }
  }
  const std::string_view head = text.substr(0, 4096);
  if (head.starts_with('[') && HasText(head, "\"model_name\"") &&
      (HasText(head, "\"timestamps\"") || HasText(head, "\"model_version\""))) {
    return {"a trace of the Triton inference server",
            "profile the model itself with Nsight Systems or its framework's profiler"};
  }
  return {};
}

}  // namespace borescope::internal
