/* The part of NVTX that the test programs use, in declarations of our own: it finds its tool as the
 * headers of NVTX do, by NVTX_INJECTION64_PATH. Where those are given, the programs use them. */
#ifndef BORESCOPE_TESTS_NVTX_PROTOCOL_H
#define BORESCOPE_TESTS_NVTX_PROTOCOL_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomain* nvtxDomainHandle_t;
typedef struct nvtxString* nvtxStringHandle_t;
typedef struct nvtxResource* nvtxResourceHandle_t;

typedef union {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

typedef struct {
  uint16_t version, size;
  int32_t identifierType;
  union {
    const void* pValue;
    uint64_t ullValue;
  } identifier;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxResourceAttributes_t;

enum {
  NVTX_VERSION = 3,
  NVTX_EVENT_ATTRIB_STRUCT_SIZE = sizeof(nvtxEventAttributes_t),
  NVTX_RESOURCE_ATTRIB_STRUCT_SIZE = sizeof(nvtxResourceAttributes_t),
  NVTX_RESOURCE_TYPE_GENERIC_POINTER = 0x10001,
  NVTX_COLOR_ARGB = 1,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64,
  NVTX_PAYLOAD_TYPE_DOUBLE,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32,
  NVTX_PAYLOAD_TYPE_INT32,
  NVTX_PAYLOAD_TYPE_FLOAT,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE,
  NVTX_MESSAGE_TYPE_REGISTERED
};

typedef void (*nvtx_function)(void);

/* Slots by module, as the tables of a copy of NVTX: 16 functions of CORE, 16 of CORE2. */
static nvtx_function nvtx_core[16], nvtx_core2[16];
static nvtx_function *nvtx_core_slots[17], *nvtx_core2_slots[17];

static int nvtx_module(uint32_t module, nvtx_function*** table, unsigned* size) {
  if (module != 1 && module != 5) return 0;
  *table = module == 1 ? nvtx_core_slots : nvtx_core2_slots;
  *size = 16;
  return 1;
}

static struct {
  size_t size;
  int (*module)(uint32_t, nvtx_function***, unsigned*);
} nvtx_callbacks = {sizeof(nvtx_callbacks), nvtx_module};

static const void* nvtx_export(uint32_t table) { return table == 1 ? &nvtx_callbacks : NULL; }

/* Before main: the programs' threads find the slots filled. */
__attribute__((constructor)) static void nvtx_find_tool(void) {
  for (int i = 1; i < 16; ++i) {
    nvtx_core_slots[i] = &nvtx_core[i];
    nvtx_core2_slots[i] = &nvtx_core2[i];
  }
  const char* path = getenv("NVTX_INJECTION64_PATH");
  void* library = path == NULL ? NULL : dlopen(path, RTLD_LAZY);
  if (library == NULL) return;
  int (*initialize)(const void* (*)(uint32_t)) =
      (int (*)(const void* (*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2");
  if (initialize == NULL || initialize(nvtx_export) == 0) {
    memset(nvtx_core, 0, sizeof(nvtx_core));
    dlclose(library);
  }
}

#define NVTX_CALL(table, place, none, type, ...) \
  ((table)[place] != NULL ? ((type)(table)[place])(__VA_ARGS__) : (none))
#define NVTX_DO(table, place, type, ...)                             \
  do {                                                               \
    if ((table)[place] != NULL) ((type)(table)[place])(__VA_ARGS__); \
  } while (0)

typedef void (*nvtx_void_s)(const char*);
typedef void (*nvtx_void_w)(const wchar_t*);
typedef void (*nvtx_void_e)(const nvtxEventAttributes_t*);
typedef int (*nvtx_int_s)(const char*);
typedef int (*nvtx_int_w)(const wchar_t*);
typedef int (*nvtx_int_e)(const nvtxEventAttributes_t*);
typedef nvtxRangeId_t (*nvtx_id_s)(const char*);
typedef nvtxRangeId_t (*nvtx_id_w)(const wchar_t*);
typedef nvtxRangeId_t (*nvtx_id_e)(const nvtxEventAttributes_t*);
typedef void (*nvtx_void_id)(nvtxRangeId_t);
typedef void (*nvtx_void_us)(uint32_t, const char*);
typedef void (*nvtx_void_uw)(uint32_t, const wchar_t*);

static inline void nvtxMarkEx(const nvtxEventAttributes_t* e) {
  NVTX_DO(nvtx_core, 1, nvtx_void_e, e);
}
static inline void nvtxMarkA(const char* s) { NVTX_DO(nvtx_core, 2, nvtx_void_s, s); }
static inline void nvtxMarkW(const wchar_t* s) { NVTX_DO(nvtx_core, 3, nvtx_void_w, s); }
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* e) {
  return NVTX_CALL(nvtx_core, 4, 0, nvtx_id_e, e);
}
static inline nvtxRangeId_t nvtxRangeStartA(const char* s) {
  return NVTX_CALL(nvtx_core, 5, 0, nvtx_id_s, s);
}
static inline nvtxRangeId_t nvtxRangeStartW(const wchar_t* s) {
  return NVTX_CALL(nvtx_core, 6, 0, nvtx_id_w, s);
}
static inline void nvtxRangeEnd(nvtxRangeId_t id) { NVTX_DO(nvtx_core, 7, nvtx_void_id, id); }
static inline int nvtxRangePushEx(const nvtxEventAttributes_t* e) {
  return NVTX_CALL(nvtx_core, 8, -2, nvtx_int_e, e);
}
static inline int nvtxRangePushA(const char* s) {
  return NVTX_CALL(nvtx_core, 9, -2, nvtx_int_s, s);
}
static inline int nvtxRangePushW(const wchar_t* s) {
  return NVTX_CALL(nvtx_core, 10, -2, nvtx_int_w, s);
}
static inline int nvtxRangePop(void) { return NVTX_CALL(nvtx_core, 11, -2, int (*)(void), ); }
static inline void nvtxNameCategoryA(uint32_t c, const char* s) {
  NVTX_DO(nvtx_core, 12, nvtx_void_us, c, s);
}
static inline void nvtxNameCategoryW(uint32_t c, const wchar_t* s) {
  NVTX_DO(nvtx_core, 13, nvtx_void_uw, c, s);
}
static inline void nvtxNameOsThreadA(uint32_t t, const char* s) {
  NVTX_DO(nvtx_core, 14, nvtx_void_us, t, s);
}
static inline void nvtxNameOsThreadW(uint32_t t, const wchar_t* s) {
  NVTX_DO(nvtx_core, 15, nvtx_void_uw, t, s);
}

typedef void (*nvtx_void_de)(nvtxDomainHandle_t, const nvtxEventAttributes_t*);
typedef nvtxRangeId_t (*nvtx_id_de)(nvtxDomainHandle_t, const nvtxEventAttributes_t*);
typedef void (*nvtx_void_did)(nvtxDomainHandle_t, nvtxRangeId_t);
typedef int (*nvtx_int_de)(nvtxDomainHandle_t, const nvtxEventAttributes_t*);
typedef int (*nvtx_int_d)(nvtxDomainHandle_t);
typedef nvtxResourceHandle_t (*nvtx_resource)(nvtxDomainHandle_t, nvtxResourceAttributes_t*);
typedef void (*nvtx_void_dus)(nvtxDomainHandle_t, uint32_t, const char*);
typedef nvtxStringHandle_t (*nvtx_string_s)(nvtxDomainHandle_t, const char*);
typedef nvtxStringHandle_t (*nvtx_string_w)(nvtxDomainHandle_t, const wchar_t*);
typedef nvtxDomainHandle_t (*nvtx_domain_s)(const char*);
typedef nvtxDomainHandle_t (*nvtx_domain_w)(const wchar_t*);

static inline void nvtxDomainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* e) {
  NVTX_DO(nvtx_core2, 1, nvtx_void_de, d, e);
}
static inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t d,
                                                   const nvtxEventAttributes_t* e) {
  return NVTX_CALL(nvtx_core2, 2, 0, nvtx_id_de, d, e);
}
static inline void nvtxDomainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t id) {
  NVTX_DO(nvtx_core2, 3, nvtx_void_did, d, id);
}
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* e) {
  return NVTX_CALL(nvtx_core2, 4, -2, nvtx_int_de, d, e);
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t d) {
  return NVTX_CALL(nvtx_core2, 5, -2, nvtx_int_d, d);
}
static inline nvtxResourceHandle_t nvtxDomainResourceCreate(nvtxDomainHandle_t d,
                                                            nvtxResourceAttributes_t* a) {
  return NVTX_CALL(nvtx_core2, 6, NULL, nvtx_resource, d, a);
}
static inline void nvtxDomainNameCategoryA(nvtxDomainHandle_t d, uint32_t c, const char* s) {
  NVTX_DO(nvtx_core2, 8, nvtx_void_dus, d, c, s);
}
static inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t d, const char* s) {
  return NVTX_CALL(nvtx_core2, 10, NULL, nvtx_string_s, d, s);
}
static inline nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t d, const wchar_t* s) {
  return NVTX_CALL(nvtx_core2, 11, NULL, nvtx_string_w, d, s);
}
static inline nvtxDomainHandle_t nvtxDomainCreateA(const char* s) {
  return NVTX_CALL(nvtx_core2, 12, NULL, nvtx_domain_s, s);
}
static inline nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* s) {
  return NVTX_CALL(nvtx_core2, 13, NULL, nvtx_domain_w, s);
}

#endif
