// Compares the numbers of record/src/rocm/abi.h with headers of rocprofiler-sdk from 1.0 on;
// compiled only where those are at hand (test_offsets.py). Records of calls and copies are left
// out: some sets of headers lack them.
#define __HIP_PLATFORM_AMD__ 1
#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/version.h>

#include <cstddef>

#include "rocm/abi.h"

namespace abi = borescope::inject::rocm;

#define SAME(ours, theirs) \
  static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
#define AT(ours, type, member) SAME(ours, offsetof(type, member))

SAME(abi::kSuccess, ROCPROFILER_STATUS_SUCCESS);
SAME(abi::kBufferBusy, ROCPROFILER_STATUS_ERROR_BUFFER_BUSY);
SAME(abi::kHipCalls, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API);
SAME(abi::kMemoryCopies, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY);
SAME(abi::kKernelDispatches, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH);
SAME(abi::kRcclCalls, ROCPROFILER_BUFFER_TRACING_RCCL_API);
SAME(abi::kRcclCallsBefore1, ROCPROFILER_BUFFER_TRACING_OMPT);
static_assert(ROCPROFILER_VERSION >= abi::kVersion1);
SAME(abi::kTracingCategory, ROCPROFILER_BUFFER_CATEGORY_TRACING);
SAME(abi::kCodeObjects, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT);
SAME(abi::kKernelSymbol, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER);
SAME(abi::kLoadPhase, ROCPROFILER_CALLBACK_PHASE_LOAD);
SAME(abi::kBlockWhenFull, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
SAME(abi::kGpuAgent, ROCPROFILER_AGENT_TYPE_GPU);
SAME(abi::kHostToHost, ROCPROFILER_MEMORY_COPY_HOST_TO_HOST);
SAME(abi::kHostToDevice, ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE);
SAME(abi::kDeviceToHost, ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST);
SAME(abi::kDeviceToDevice, ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE);

SAME(sizeof(abi::RecordHeader), sizeof(rocprofiler_record_header_t));
AT(offsetof(abi::RecordHeader, payload), rocprofiler_record_header_t, payload);
SAME(sizeof(abi::ClientId), sizeof(rocprofiler_client_id_t));
SAME(sizeof(abi::ConfigureResult), sizeof(rocprofiler_tool_configure_result_t));

using Dispatch = rocprofiler_buffer_tracing_kernel_dispatch_record_t;
AT(abi::record_offset::kBytes, Dispatch, size);
AT(abi::record_offset::kOperation, Dispatch, operation);
AT(abi::record_offset::kCorrelation, Dispatch, correlation_id.internal);
AT(abi::dispatch_offset::kStart, Dispatch, start_timestamp);
AT(abi::dispatch_offset::kEnd, Dispatch, end_timestamp);
AT(abi::dispatch_offset::kAgent, Dispatch, dispatch_info.agent_id);
AT(abi::dispatch_offset::kQueue, Dispatch, dispatch_info.queue_id);
AT(abi::dispatch_offset::kKernel, Dispatch, dispatch_info.kernel_id);
AT(abi::dispatch_offset::kPrivateBytes, Dispatch, dispatch_info.private_segment_size);
AT(abi::dispatch_offset::kGroupBytes, Dispatch, dispatch_info.group_segment_size);
AT(abi::dispatch_offset::kWorkgroup, Dispatch, dispatch_info.workgroup_size);
AT(abi::dispatch_offset::kGrid, Dispatch, dispatch_info.grid_size);
static_assert(sizeof(Dispatch) >= abi::dispatch_offset::kLeastBytes);

using Callback = rocprofiler_callback_tracing_record_t;
AT(abi::callback_offset::kKindWithAncestor, Callback, kind);
AT(abi::callback_offset::kKindWithAncestor + abi::callback_offset::kOperationAfterKind, Callback,
   operation);
AT(abi::callback_offset::kKindWithAncestor + abi::callback_offset::kPhaseAfterKind, Callback,
   phase);
AT(abi::callback_offset::kKindWithAncestor + abi::callback_offset::kPayloadAfterKind, Callback,
   payload);

using Symbol = rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t;
AT(abi::symbol_offset::kKernel, Symbol, kernel_id);
AT(abi::symbol_offset::kName, Symbol, kernel_name);

AT(abi::agent_offset::kId, rocprofiler_agent_t, id);
AT(abi::agent_offset::kType, rocprofiler_agent_t, type);
AT(abi::agent_offset::kWarp, rocprofiler_agent_t, wave_front_size);
AT(abi::agent_offset::kComputeUnits, rocprofiler_agent_t, cu_count);
AT(abi::agent_offset::kTarget, rocprofiler_agent_t, gfx_target_version);
