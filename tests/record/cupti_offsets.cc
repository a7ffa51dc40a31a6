// Compares the numbers of record/src/cuda/abi.h with the headers of CUPTI; compiled only where
// those are at hand (test_offsets.py).
#include <cupti.h>

#include <cstddef>

#include "cuda/abi.h"
#include "cuda/range_abi.h"

namespace abi = borescope::inject::cuda;

#define SAME(ours, theirs) \
  static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
#define AT(ours, type, member) SAME(ours, offsetof(type, member))

// Every layout of a kernel's record since CUDA 9 has these.
#define KERNEL(type)                                                 \
  AT(abi::kernel_offset::kStart, type, start);                       \
  AT(abi::kernel_offset::kEnd, type, end);                           \
  AT(abi::kernel_offset::kDevice, type, deviceId);                   \
  AT(abi::kernel_offset::kContext, type, contextId);                 \
  AT(abi::kernel_offset::kStream, type, streamId);                   \
  AT(abi::kernel_offset::kGrid, type, gridX);                        \
  AT(abi::kernel_offset::kBlock, type, blockX);                      \
  AT(abi::kernel_offset::kRegisters, type, registersPerThread);      \
  AT(abi::kernel_offset::kStaticShared, type, staticSharedMemory);   \
  AT(abi::kernel_offset::kDynamicShared, type, dynamicSharedMemory); \
  AT(abi::kernel_offset::kLocal, type, localMemoryPerThread);        \
  AT(abi::kernel_offset::kCorrelation, type, correlationId);         \
  AT(abi::kernel_offset::kName, type, name)
KERNEL(CUpti_ActivityKernel3);
KERNEL(CUpti_ActivityKernel4);
KERNEL(CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel6);
KERNEL(CUpti_ActivityKernel7);
#if CUDA_VERSION >= 11080
KERNEL(CUpti_ActivityKernel8);
#endif
#if CUDA_VERSION >= 12000
KERNEL(CUpti_ActivityKernel9);
#endif
#define GRAPH_KERNEL(type)                               \
  AT(abi::kernel_offset::kGraphNode, type, graphNodeId); \
  AT(abi::kernel_offset::kGraph, type, graphId)
GRAPH_KERNEL(CUpti_ActivityKernel6);
GRAPH_KERNEL(CUpti_ActivityKernel7);
AT(abi::kernel_offset::kChannel, CUpti_ActivityKernel7, channelID);
#if CUDA_VERSION >= 12000
GRAPH_KERNEL(CUpti_ActivityKernel9);
AT(abi::kernel_offset::kChannel, CUpti_ActivityKernel9, channelID);
#endif
#if CUPTI_API_VERSION >= 130000
KERNEL(CUpti_ActivityKernel10);
GRAPH_KERNEL(CUpti_ActivityKernel10);
#endif

SAME(abi::kDriverDomain, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(abi::kRuntimeDomain, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(abi::kSystemThreadIds, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME(abi::kProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
SAME(abi::kProfilerStop, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
SAME(abi::kBeforeCall, CUPTI_API_ENTER);
AT(0, CUpti_CallbackData, callbackSite);

AT(abi::call_offset::kSymbol, CUpti_CallbackData, symbolName);
AT(abi::call_offset::kContext, CUpti_CallbackData, context);
AT(abi::call_offset::kContextUid, CUpti_CallbackData, contextUid);
AT(abi::call_offset::kCorrelation, CUpti_CallbackData, correlationId);
SAME(abi::kKernelLaunches[0], CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
SAME(abi::kKernelLaunches[1], CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
SAME(abi::kKernelLaunches[2], CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
SAME(abi::kKernelLaunches[3], CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
#if CUPTI_API_VERSION >= 24
SAME(abi::kKernelLaunches[4], CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
SAME(abi::kKernelLaunches[5], CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);
#endif

// The range profiler, of CUDA 12.6 and later. Sizes are those of 12.6, to which later versions add
// members at the end.
#if __has_include(<cupti_range_profiler.h>)
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#define PARAMS(ours, last, theirs, their_last)       \
  AT(offsetof(abi::ours, last), theirs, their_last); \
  SAME(sizeof(abi::ours::last), sizeof(theirs::their_last))
PARAMS(ProfilerInitParams, unused, CUpti_Profiler_Initialize_Params, pPriv);
PARAMS(ChipNameParams, device, CUpti_Device_GetChipName_Params, deviceIndex);
PARAMS(ChipNameParams, name, CUpti_Device_GetChipName_Params, pChipName);
PARAMS(RangeEnableParams, context, CUpti_RangeProfiler_Enable_Params, ctx);
PARAMS(RangeEnableParams, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
PARAMS(RangeParams, profiler, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
PARAMS(RangeParams, profiler, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
PARAMS(RangeStopParams, profiler, CUpti_RangeProfiler_Stop_Params, pRangeProfilerObject);
PARAMS(RangeStopParams, has_all_submitted, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
PARAMS(RangeConfigParams, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
PARAMS(RangeConfigParams, config_bytes, CUpti_RangeProfiler_SetConfig_Params, configSize);
PARAMS(RangeConfigParams, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
PARAMS(RangeConfigParams, data_bytes, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
PARAMS(RangeConfigParams, range, CUpti_RangeProfiler_SetConfig_Params, range);
PARAMS(RangeConfigParams, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
PARAMS(RangeConfigParams, most_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
PARAMS(RangeConfigParams, nesting_levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
PARAMS(RangeConfigParams, least_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
PARAMS(RangeConfigParams, target_level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
PARAMS(RangeDecodeParams, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
PARAMS(RangeDataSizeParams, metrics, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
PARAMS(RangeDataSizeParams, metric_count, CUpti_RangeProfiler_GetCounterDataSize_Params,
       numMetrics);
PARAMS(RangeDataSizeParams, most_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params,
       maxNumOfRanges);
PARAMS(RangeDataSizeParams, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
       maxNumRangeTreeNodes);
PARAMS(RangeDataSizeParams, data_bytes, CUpti_RangeProfiler_GetCounterDataSize_Params,
       counterDataSize);
PARAMS(RangeDataParams, data_bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
       counterDataSize);
PARAMS(RangeDataParams, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
PARAMS(RangeCountParams, data, CUpti_RangeProfiler_GetCounterDataInfo_Params, pCounterDataImage);
PARAMS(RangeCountParams, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
PARAMS(HostInitParams, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
PARAMS(HostInitParams, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
PARAMS(HostInitParams, availability, CUpti_Profiler_Host_Initialize_Params,
       pCounterAvailabilityImage);
PARAMS(HostInitParams, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
PARAMS(HostParams, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
PARAMS(HostMetricsParams, metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
PARAMS(HostMetricsParams, metric_count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
PARAMS(HostConfigSizeParams, config_bytes, CUpti_Profiler_Host_GetConfigImageSize_Params,
       configImageSize);
PARAMS(HostConfigParams, config_bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
PARAMS(HostConfigParams, config, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
PARAMS(HostValuesParams, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
PARAMS(HostValuesParams, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
PARAMS(HostValuesParams, metrics, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
PARAMS(HostValuesParams, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SAME(abi::kAutoRange, CUPTI_AutoRange);
SAME(abi::kKernelReplay, CUPTI_KernelReplay);
SAME(abi::kRangeProfilerType, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME(abi::kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME(abi::kVirtualPrivileges, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
#endif

#define COPY(type)                                 \
  AT(abi::copy_offset::kBytes, type, bytes);       \
  AT(abi::copy_offset::kStart, type, start);       \
  AT(abi::copy_offset::kEnd, type, end);           \
  AT(abi::copy_offset::kDevice, type, deviceId);   \
  AT(abi::copy_offset::kContext, type, contextId); \
  AT(abi::copy_offset::kStream, type, streamId)
COPY(CUpti_ActivityMemcpy5);
COPY(CUpti_ActivityMemcpyPtoP4);
COPY(CUpti_ActivityMemset4);
AT(abi::copy_offset::kCopyKind, CUpti_ActivityMemcpy5, copyKind);
AT(abi::copy_offset::kSourceKind, CUpti_ActivityMemcpy5, srcKind);
AT(abi::copy_offset::kTargetKind, CUpti_ActivityMemcpy5, dstKind);
AT(abi::copy_offset::kCorrelation, CUpti_ActivityMemcpy5, correlationId);
AT(abi::copy_offset::kCorrelation, CUpti_ActivityMemset4, correlationId);
AT(abi::copy_offset::kGraphNode, CUpti_ActivityMemcpy5, graphNodeId);
AT(abi::copy_offset::kGraphNode, CUpti_ActivityMemset4, graphNodeId);
AT(abi::copy_offset::kGraph, CUpti_ActivityMemcpy5, graphId);
AT(abi::copy_offset::kGraph, CUpti_ActivityMemset4, graphId);
AT(abi::copy_offset::kSetValue, CUpti_ActivityMemset4, value);
AT(abi::copy_offset::kSetMemoryKind, CUpti_ActivityMemset4, memoryKind);
AT(abi::copy_offset::kPeerCorrelation, CUpti_ActivityMemcpyPtoP4, correlationId);
AT(abi::copy_offset::kPeerGraphNode, CUpti_ActivityMemcpyPtoP4, graphNodeId);
AT(abi::copy_offset::kPeerGraph, CUpti_ActivityMemcpyPtoP4, graphId);

AT(abi::api_offset::kCallback, CUpti_ActivityAPI, cbid);
AT(abi::api_offset::kStart, CUpti_ActivityAPI, start);
AT(abi::api_offset::kEnd, CUpti_ActivityAPI, end);
AT(abi::api_offset::kThread, CUpti_ActivityAPI, threadId);
AT(abi::api_offset::kCorrelation, CUpti_ActivityAPI, correlationId);
AT(abi::api_offset::kResult, CUpti_ActivityAPI, returnValue);
SAME(abi::api_offset::kBytes, sizeof(CUpti_ActivityAPI));

AT(abi::sync_offset::kType, CUpti_ActivitySynchronization, type);
AT(abi::sync_offset::kStart, CUpti_ActivitySynchronization, start);
AT(abi::sync_offset::kEnd, CUpti_ActivitySynchronization, end);
AT(abi::sync_offset::kCorrelation, CUpti_ActivitySynchronization, correlationId);
AT(abi::sync_offset::kContext, CUpti_ActivitySynchronization, contextId);
AT(abi::sync_offset::kStream, CUpti_ActivitySynchronization, streamId);
AT(abi::sync_offset::kEvent, CUpti_ActivitySynchronization, cudaEventId);

AT(abi::memory_offset::kOperation, CUpti_ActivityMemory3, memoryOperationType);
AT(abi::memory_offset::kKind, CUpti_ActivityMemory3, memoryKind);
AT(abi::memory_offset::kCorrelation, CUpti_ActivityMemory3, correlationId);
AT(abi::memory_offset::kAddress, CUpti_ActivityMemory3, address);
AT(abi::memory_offset::kSize, CUpti_ActivityMemory3, bytes);
AT(abi::memory_offset::kTime, CUpti_ActivityMemory3, timestamp);
AT(abi::memory_offset::kDevice, CUpti_ActivityMemory3, deviceId);
AT(abi::memory_offset::kContext, CUpti_ActivityMemory3, contextId);
AT(abi::memory_offset::kStream, CUpti_ActivityMemory3, streamId);

AT(abi::graph_offset::kCorrelation, CUpti_ActivityGraphTrace, correlationId);
AT(abi::graph_offset::kStart, CUpti_ActivityGraphTrace, start);
AT(abi::graph_offset::kEnd, CUpti_ActivityGraphTrace, end);
AT(abi::graph_offset::kDevice, CUpti_ActivityGraphTrace, deviceId);
AT(abi::graph_offset::kGraph, CUpti_ActivityGraphTrace, graphId);
AT(abi::graph_offset::kContext, CUpti_ActivityGraphTrace, contextId);
AT(abi::graph_offset::kStream, CUpti_ActivityGraphTrace, streamId);

AT(abi::external_offset::kKind, CUpti_ActivityExternalCorrelation, externalKind);
AT(abi::external_offset::kId, CUpti_ActivityExternalCorrelation, externalId);
AT(abi::external_offset::kCorrelation, CUpti_ActivityExternalCorrelation, correlationId);

AT(abi::overhead_offset::kKind, CUpti_ActivityOverhead, overheadKind);
AT(abi::overhead_offset::kObjectKind, CUpti_ActivityOverhead, objectKind);
AT(abi::overhead_offset::kThread, CUpti_ActivityOverhead, objectId.pt.threadId);
AT(abi::overhead_offset::kStart, CUpti_ActivityOverhead, start);
AT(abi::overhead_offset::kEnd, CUpti_ActivityOverhead, end);

AT(abi::context_offset::kContext, CUpti_ActivityContext, contextId);
AT(abi::context_offset::kDevice, CUpti_ActivityContext, deviceId);
AT(abi::stream_offset::kContext, CUpti_ActivityStream, contextId);
AT(abi::stream_offset::kStream, CUpti_ActivityStream, streamId);
AT(abi::stream_offset::kPriority, CUpti_ActivityStream, priority);

AT(abi::device_offset::kMemory, CUpti_ActivityDevice4, globalMemorySize);
AT(abi::device_offset::kWarp, CUpti_ActivityDevice4, numThreadsPerWarp);
AT(abi::device_offset::kMultiprocessors, CUpti_ActivityDevice4, numMultiprocessors);
AT(abi::device_offset::kMajor, CUpti_ActivityDevice4, computeCapabilityMajor);
AT(abi::device_offset::kMinor, CUpti_ActivityDevice4, computeCapabilityMinor);
AT(abi::device_offset::kId, CUpti_ActivityDevice4, id);
AT(abi::device_offset::kName, CUpti_ActivityDevice4, name);

SAME(abi::kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(abi::kMemset, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(abi::kDriver, CUPTI_ACTIVITY_KIND_DRIVER);
SAME(abi::kRuntime, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME(abi::kDeviceKind, CUPTI_ACTIVITY_KIND_DEVICE);
SAME(abi::kContextKind, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME(abi::kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(abi::kOverheadKind, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(abi::kMemcpyPeer, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(abi::kStreamKind, CUPTI_ACTIVITY_KIND_STREAM);
SAME(abi::kSynchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(abi::kExternalCorrelation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME(abi::kMemory2, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME(abi::kGraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME(abi::kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME(abi::kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME(abi::kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(abi::kForcedFlush, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(abi::kThreadObject, CUPTI_ACTIVITY_OBJECT_THREAD);
SAME(307, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
SAME(442, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
SAME(477, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
SAME(514, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
SAME(652, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
SAME(277, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2);
SAME(279, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2);
SAME(281, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2);
SAME(306, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync);
SAME(211, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
SAME(430, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060);
SAME(311, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000);
SAME(10, CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020);
SAME(17, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020);

#if CUPTI_API_VERSION >= 130400
SAME(abi::kThreadIdAttribute, CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE);
SAME(abi::kTimestampAttribute, CUPTI_ACTIVITY_ATTR_TIMESTAMP_CALLBACK);
SAME(abi::kSystemThreadIds, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME(sizeof(abi::SubscriberParams), sizeof(CUpti_SubscriberParams));
AT(offsetof(abi::SubscriberParams, allows_others), CUpti_SubscriberParams,
   allowMultipleSubscribers);
#endif
