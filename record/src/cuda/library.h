// The functions of the process's CUPTI, which is looked up when the driver has called us.
#pragma once

#include <cstddef>

#include "cuda/abi.h"

namespace borescope::inject::cuda {

// Null pointers where a version has none.
struct Cupti {
  void* library;  // for what few ask for (counters.h)
  int (*get_version)(uint32_t* version);
  int (*enable)(uint32_t kind);
  int (*disable)(uint32_t kind);
  int (*enable_driver_api)(uint32_t callback, uint8_t enable);
  int (*enable_runtime_api)(uint32_t callback, uint8_t enable);
  int (*register_callbacks)(RequestFunction request, CompleteFunction complete);
  int (*register_timestamp)(TimestampFunction now);
  int (*next_record)(uint8_t* buffer, size_t valid, uint8_t** record);
  int (*dropped)(void* context, uint32_t stream, size_t* count);
  int (*set_thread_ids)(uint32_t type);
  int (*callback_name)(uint32_t domain, uint32_t callback, const char** name);
  int (*flush_all)(uint32_t flag);
  int (*subscribe)(Subscriber*, CallFunction function, void* data);
  int (*enable_callback)(uint32_t enable, Subscriber, uint32_t domain, uint32_t call);

  int (*subscribe_2)(Subscriber*, CallFunction function, void* data, SubscriberParams* params);
  int (*unsubscribe)(Subscriber subscriber);
  int (*set_attribute_2)(Subscriber, uint32_t attribute, size_t* bytes, void* value);
  int (*get_timestamp_2)(Subscriber, uint64_t* now);
  int (*enable_2)(Subscriber, uint32_t kind, void* configuration);
  int (*disable_2)(Subscriber, uint32_t kind, void* configuration);
  int (*enable_driver_api_2)(Subscriber, uint32_t callback, uint8_t enable);
  int (*enable_runtime_api_2)(Subscriber, uint32_t callback, uint8_t enable);
  int (*register_callbacks_2)(Subscriber, RequestFunction2 request, CompleteFunction2 complete);
  int (*next_record_2)(Subscriber, uint8_t* buffer, size_t valid, uint8_t** record);
  int (*dropped_2)(Subscriber, void* context, uint32_t stream, size_t* count);
};

// Finds CUPTI: what BORESCOPE_CUPTI names, what the process has loaded, what is beside its CUDA
// runtime, what CUDA_HOME has. Never newer than the driver. False where there is none, or it cannot
// be loaded: `why` says so.
inline constexpr size_t kMostWhy = 240;
bool FindCupti(Cupti* cupti, char (&why)[kMostWhy]);

}  // namespace borescope::inject::cuda
