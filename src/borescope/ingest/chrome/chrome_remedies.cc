#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/ingest/common_remedies.h"

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
    case MissingData::kGraphs:
      return remedies::kNoGraphs;
    case MissingData::kCopies:
      return remedies::kNoCopies;
    case MissingData::kCounters:
      return "this profiler records no hardware counters of kernels";
    case MissingData::kNone:
    case MissingData::kCount:
      break;
  }
  return {};
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
    case MissingData::kGraphs:
      return remedies::kNoGraphs;
    case MissingData::kCopies:
      return remedies::kNoCopies;
    case MissingData::kCounters:
      return "this form of the profile holds none: record with aic_metrics and see "
             "kernel_details.csv beside it";
    case MissingData::kNone:
    case MissingData::kCount:
      break;
  }
  return {};
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
    case MissingData::kCollectives:
      return remedies::kDistributed;
    case MissingData::kGraphs:
      return remedies::kNoGraphs;
    case MissingData::kCopies:
      return "this profiler records no sizes of copies: record with Nsight Systems or borescope "
             "record";
    case MissingData::kCounters:
      return "this profiler records no hardware counters";
    case MissingData::kNone:
    case MissingData::kCount:
      break;
  }
  return {};
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
    case MissingData::kCounters:
      return "record with torch.profiler.profile and profiler_metrics=[...]";
    case MissingData::kNone:
    case MissingData::kCount:
      break;
  }
  return {};
}

}  // namespace borescope::internal
