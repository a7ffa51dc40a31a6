// Putting functions of ours in the tables of a program's copy of NVTX.
#pragma once

#include <cstddef>

#include "nvtx/abi.h"

namespace borescope::inject::nvtx {

struct Hook {
  uint32_t place;
  Function function;
};

template <typename Result, typename... Arguments>
Function AsFunction(Result (*function)(Arguments...)) {
  return reinterpret_cast<Function>(function);
}

// Places that an older NVTX does not have are left out.
void Attach(const CallbackTable* table, Module module, const Hook* hooks, size_t count);

void AttachCore(const CallbackTable* table);
void AttachCore2(const CallbackTable* table);

}  // namespace borescope::inject::nvtx
