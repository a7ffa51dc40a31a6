// Compares the numbers of record/src/roctracer/abi.h with the headers of roctracer and HIP;
// compiled only where those are at hand (test_offsets.py).
#define __HIP_PLATFORM_AMD__ 1
#include <roctracer/roctracer_hip.h>

#include <cstddef>

#include "roctracer/abi.h"

namespace abi = borescope::inject::roctracer;

#define SAME(ours, theirs) \
  static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
#define AT(ours, type, member) SAME(ours, offsetof(type, member))

SAME(abi::kSuccess, ROCTRACER_STATUS_SUCCESS);
SAME(abi::kMajorVersion, ROCTRACER_VERSION_MAJOR);
SAME(abi::kHipWork, ACTIVITY_DOMAIN_HIP_OPS);
SAME(abi::kHipCalls, ACTIVITY_DOMAIN_HIP_API);
SAME(abi::kDispatch, HIP_OP_ID_DISPATCH);
SAME(abi::kCopy, HIP_OP_ID_COPY);
SAME(abi::kBeforeCall, ACTIVITY_API_PHASE_ENTER);
SAME(abi::kAfterCall, ACTIVITY_API_PHASE_EXIT);

AT(abi::record_offset::kDomain, activity_record_t, domain);
AT(abi::record_offset::kKind, activity_record_t, kind);
AT(abi::record_offset::kOperation, activity_record_t, op);
AT(abi::record_offset::kCorrelation, activity_record_t, correlation_id);
AT(abi::record_offset::kStart, activity_record_t, begin_ns);
AT(abi::record_offset::kEnd, activity_record_t, end_ns);
AT(abi::record_offset::kDevice, activity_record_t, device_id);
AT(abi::record_offset::kQueue, activity_record_t, queue_id);
AT(abi::record_offset::kCopyBytes, activity_record_t, bytes);
AT(abi::record_offset::kKernelName, activity_record_t, kernel_name);
SAME(abi::record_offset::kBytes, sizeof(activity_record_t));

AT(abi::call_offset::kCorrelation, hip_api_data_t, correlation_id);
AT(abi::call_offset::kPhase, hip_api_data_t, phase);
AT(abi::call_offset::kBytes, hip_api_data_t, args);

#define LAUNCH(name, grid, block, shared, shared_offset)                   \
  AT(abi::launch_offset::kGrid, hip_api_data_t, args.name.grid);           \
  AT(abi::launch_offset::kBlock, hip_api_data_t, args.name.block);         \
  AT(abi::launch_offset::shared_offset, hip_api_data_t, args.name.shared); \
  static_assert(abi::launch_offset::kBytes <= sizeof(hip_api_data_t))
LAUNCH(hipLaunchKernel, numBlocks, dimBlocks, sharedMemBytes, kSharedOfFunction);
LAUNCH(hipExtLaunchKernel, numBlocks, dimBlocks, sharedMemBytes, kSharedOfFunction);
LAUNCH(hipLaunchCooperativeKernel, gridDim, blockDimX, sharedMemBytes, kSharedOfFunction);
LAUNCH(hipModuleLaunchKernel, gridDimX, blockDimX, sharedMemBytes, kSharedOfModule);
LAUNCH(hipModuleLaunchCooperativeKernel, gridDimX, blockDimX, sharedMemBytes, kSharedOfModule);
LAUNCH(hipExtModuleLaunchKernel, globalWorkSizeX, localWorkSizeX, sharedMemBytes, kSharedOfModule);
LAUNCH(hipHccModuleLaunchKernel, globalWorkSizeX, blockDimX, sharedMemBytes, kSharedOfModule);
// Sizes are read as 32 bits wherever they have 64: the lower half comes first.
AT(abi::launch_offset::kGrid + 8, hip_api_data_t, args.hipModuleLaunchKernel.gridDimZ);
AT(abi::launch_offset::kBlock + 8, hip_api_data_t, args.hipModuleLaunchKernel.blockDimZ);
AT(8, dim3, z);

SAME(sizeof(abi::PoolProperties), sizeof(roctracer_properties_t));
#define POOL(ours, theirs) AT(offsetof(abi::PoolProperties, ours), roctracer_properties_t, theirs)
POOL(mode, mode);
POOL(buffer_bytes, buffer_size);
POOL(allocate, alloc_fun);
POOL(take_buffer, buffer_callback_fun);
POOL(take_argument, buffer_callback_arg);

// The functions take and give what we say; pointers to records and pools are plain ones with us.
template <typename Ours, typename Theirs>
struct HaveSameShape;
template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
struct HaveSameShape<OurResult (*)(Ours...), TheirResult (*)(Theirs...)> {
  static constexpr bool value = sizeof...(Ours) == sizeof...(Theirs) &&
                                sizeof(OurResult) == sizeof(TheirResult) &&
                                ((sizeof(Ours) == sizeof(Theirs)) && ...);
};
#define FUNCTION(member, name) \
  static_assert(HaveSameShape<decltype(abi::Roctracer::member), decltype(&name)>::value)
FUNCTION(version_major, roctracer_version_major);
FUNCTION(operation_name, roctracer_op_string);
FUNCTION(set_properties, roctracer_set_properties);
FUNCTION(open_pool, roctracer_open_pool_expl);
FUNCTION(next_record, roctracer_next_record);
FUNCTION(enable_work, roctracer_enable_op_activity_expl);
FUNCTION(disable_work, roctracer_disable_op_activity);
FUNCTION(enable_calls, roctracer_enable_domain_callback);
FUNCTION(disable_calls, roctracer_disable_domain_callback);
FUNCTION(enable_call, roctracer_enable_op_callback);
FUNCTION(disable_call, roctracer_disable_op_callback);
FUNCTION(flush, roctracer_flush_activity_expl);
FUNCTION(timestamp, roctracer_get_timestamp);
