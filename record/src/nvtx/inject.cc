// The entry points that NVTX looks up in the library of NVTX_INJECTION64_PATH.
//
// Every copy of NVTX in a process calls once, with tables of its own: the program's, that of
// PyTorch, that of NCCL.
#include "core/state.h"
#include "nvtx/hooks.h"

namespace borescope::inject::nvtx {

void Attach(const CallbackTable* table, Module module, const Hook* hooks, size_t count) {
  Function** places = nullptr;
  unsigned size = 0;
  if (table->module_functions(module, &places, &size) == 0 || places == nullptr) return;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t place = hooks[i].place;
    if (place < size && places[place] != nullptr) *places[place] = hooks[i].function;
  }
}

namespace {

// 1, or 0 where nothing is to be recorded: NVTX then costs a program as little as without a tool.
int AttachTo(ExportTable export_table) {
  if (!IsEnabled() || !g_options.has_nvtx || export_table == nullptr) return 0;
  const auto* table = static_cast<const CallbackTable*>(export_table(kCallbackTable));
  if (table == nullptr || table->bytes < sizeof(CallbackTable)) return 0;
  AttachCore(table);
  AttachCore2(table);
  return 1;
}

}  // namespace

}  // namespace borescope::inject::nvtx

extern "C" {

// Of NVTX 3, whose headers are compiled into programs.
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    borescope::inject::nvtx::ExportTable export_table) {
  return borescope::inject::nvtx::AttachTo(export_table);
}

// Of NVTX 2, a library.
__attribute__((visibility("default"))) int InitializeInjectionNvtx(
    borescope::inject::nvtx::ExportTable export_table) {
  return borescope::inject::nvtx::AttachTo(export_table);
}

}  // extern "C"
