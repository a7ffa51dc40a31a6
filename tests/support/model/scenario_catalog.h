// What can appear in a scenario: op, annotation and Python names, runtime calls, and device events
// with their names, classes and usual durations. To add one: an enumerator and its table row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/scenario_config.h"

namespace borescope::scenario {

enum class HostKind : uint8_t { kOp, kAnnotation, kPython };

enum class HostName : uint8_t {
  // Ops, in the order in which a step runs them.
  kTo,
  kToCopy,
  kEmptyStrided,
  kCopy,
  kEmpty,
  kZero,
  kEmbedding,
  kIndexSelect,
  kLayerNorm,
  kNativeLayerNorm,
  kLinear,
  kT,
  kTranspose,
  kAsStrided,
  kAddmm,
  kView,
  kSdpa,
  kSdpaFlash,
  kFlashForward,
  kGelu,
  kAdd,
  kCrossEntropy,
  kLogSoftmax,
  kLogSoftmaxInner,
  kNllLossNd,
  kNllLoss,
  kNllLossForward,
  kDiv,
  kEvalDiv,
  kDivBackward,
  kEvalNll,
  kNllBackward,
  kNllLossBackward,
  kEvalLogSoftmax,
  kLogSoftmaxBackward,
  kLogSoftmaxBackwardData,
  kEvalAddmm,
  kAddmmBackward,
  kMm,
  kSum,
  kEvalLayerNorm,
  kLayerNormBackward,
  kNativeLayerNormBackward,
  kEvalGelu,
  kGeluBackward,
  kGeluBackwardOp,
  kEvalAdd,
  kAddBackward,
  kEvalSdpa,
  kSdpaBackward,
  kSdpaBackwardOp,
  kFlashBackwardOp,
  kEvalEmbedding,
  kEmbeddingBackward,
  kEmbeddingBackwardOp,
  kEmbeddingDenseBackward,
  kEvalAccumulate,
  kAccumulate,
  kAddInPlace,
  kDetach,
  kRecordParamComms,
  kForeachNorm,
  kLinalgVectorNorm,
  kFusedAdamw,
  kItem,
  kLocalScalarDense,
  // Annotations.
  kProfilerStep,
  kDataLoaderNext,
  kZeroGrad,
  kForward,
  kBackward,
  kNcclAllReduce,
  kOptimizerStep,
  kGraphReplay,
  // Python frames.
  kPyModule,
  kPyMain,
  kPyTrainStep,
  kPyNext,
  kPyBlock,
  kPyLinear,
  kPyBuiltinLinear,
  kPyBackward,
  kPyOptimizer,
  kPyItem,
  kCount,
};

enum class Api : uint8_t {
  kLaunchKernel,
  kLaunchGemm,
  kLaunchCooperative,
  kMemcpyAsync,
  kMemsetAsync,
  kGraphLaunch,
  kStreamSynchronize,
  kDeviceSynchronize,
  kEventSynchronize,
  kEventRecord,
  kStreamWaitEvent,
  kStreamIsCapturing,
  kFuncSetAttribute,
  kCount,
};

enum class Kernel : uint8_t {
  kGemmForward,
  kGemmWide,
  kGemmDgrad,
  kGemmWgrad,
  kFlashForward,
  kFlashBackwardDot,
  kFlashBackward,
  kLayerNorm,
  kLayerNormBackward,
  kLayerNormGamma,
  kGelu,
  kGeluBackward,
  kAdd,
  kDiv,
  kAccumulate,
  kEmbedding,
  kEmbeddingBackward,
  kLogSoftmax,
  kLogSoftmaxBackward,
  kNll,
  kNllBackward,
  kSum,
  kNorm,
  kAdam,
  kAllReduce,
  kMemset,
  kMemcpyHtoD,
  kMemcpyDtoH,
  kMemcpyDtoD,
  kCount,
};

enum class DeviceKind : uint8_t { kKernel, kMemcpy, kMemset };

struct HostNameInfo {
  HostName id;
  HostKind kind;
  const char* text;
  // Recorded inputs, as JSON; empty where the profiler records none.
  const char* dims = "";
  const char* types = "";
  const char* strides = "";
  const char* concrete = "";
};

struct ApiInfo {
  std::string_view name;
  std::string_view category;
  int number;  // CUPTI's cbid or roctracer's cid
  bool is_launch;
  bool starts_flow;
};

// One member of an event's "args" whose value never changes. `value` is JSON with one blank after
// each comma and colon. Kineto separates some members by many blanks (`is_wide`).
struct StaticArg {
  std::string key;
  std::string value;
  bool is_wide = false;
};

struct KernelInfo {
  std::string name;
  std::string device_class;  // "gemm", ...; "copy" for memcpy and memset
  DeviceKind kind;
  Api api;
  int64_t usual_ns;  // of one call in the model; copies: derived from their bytes
  std::vector<StaticArg> device_args;
  std::vector<StaticArg> host_args;  // AMD repeats name and grid on the launch
};

const HostNameInfo& GetHostName(HostName name);
const ApiInfo& GetApi(Vendor vendor, Api api);

std::string KernelName(Vendor vendor, Kernel kernel);

// All device events of one vendor.
class KernelCatalog {
 public:
  explicit KernelCatalog(Vendor vendor);
  const KernelInfo& Get(Kernel kernel) const { return infos_[static_cast<size_t>(kernel)]; }

 private:
  std::vector<KernelInfo> infos_;
};

// The `deviceProperties` array of an eight-GPU machine, as JSON objects.
std::vector<std::string> DeviceProperties(Vendor vendor);

}  // namespace borescope::scenario
