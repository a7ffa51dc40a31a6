/* Every form of NVTX's calls once, in an order that test_nvtx.py knows; prints what they return. */
#include <stdio.h>

#ifdef BORESCOPE_REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_protocol.h"
#endif

static nvtxEventAttributes_t event(void) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return attributes;
}

static nvtxEventAttributes_t named(const char* text) {
  nvtxEventAttributes_t attributes = event();
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  return attributes;
}

static nvtxEventAttributes_t with_payload(const char* text, int type) {
  nvtxEventAttributes_t attributes = named(text);
  attributes.payloadType = type;
  switch (type) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64: attributes.payload.ullValue = 1ULL << 63; break;
    case NVTX_PAYLOAD_TYPE_INT64: attributes.payload.llValue = -5; break;
    case NVTX_PAYLOAD_TYPE_DOUBLE: attributes.payload.dValue = 0.5; break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32: attributes.payload.uiValue = 4000000000U; break;
    case NVTX_PAYLOAD_TYPE_INT32: attributes.payload.iValue = -6; break;
    default: attributes.payload.fValue = 0.25F; break;
  }
  return attributes;
}

static void default_domain(void) {
  nvtxMarkA("mark a");
  nvtxMarkW(L"mark w \u00e9\u20ac\U0001F600");
  nvtxEventAttributes_t full = with_payload("mark ex", NVTX_PAYLOAD_TYPE_INT64);
  full.category = 7;
  full.colorType = NVTX_COLOR_ARGB;
  full.color = 0xff00ff00;
  nvtxMarkEx(&full);
  const nvtxEventAttributes_t plain = named("push ex");
  printf("%d ", nvtxRangePushA("push a"));
  printf("%d ", nvtxRangePushW(L"push w"));
  printf("%d\n", nvtxRangePushEx(&plain));
  printf("%d ", nvtxRangePop());
  printf("%d ", nvtxRangePop());
  printf("%d ", nvtxRangePop());
  printf("%d\n", nvtxRangePop() < 0);
  const nvtxRangeId_t a = nvtxRangeStartA("start a");
  const nvtxRangeId_t w = nvtxRangeStartW(L"start w");
  const nvtxRangeId_t ex = nvtxRangeStartEx(&plain);
  printf("%d\n", a != 0 && w != 0 && ex != 0 && a != w && w != ex && a != ex);
  nvtxRangeEnd(w);
  nvtxRangeEnd(a);
  nvtxRangeEnd(ex);
  for (int type = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64; type <= NVTX_PAYLOAD_TYPE_FLOAT; ++type) {
    const nvtxEventAttributes_t payload = with_payload("payload", type);
    nvtxMarkEx(&payload);
  }
  nvtxMarkA(NULL);
}

static void domains(void) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("domain a");
  const nvtxDomainHandle_t wide = nvtxDomainCreateW(L"domain w");
  printf("%d\n", nvtxDomainCreateA("domain a") == domain && domain != wide);
  nvtxEventAttributes_t registered = event();
  registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  registered.message.registered = nvtxDomainRegisterStringA(domain, "registered a");
  nvtxDomainMarkEx(domain, &registered);
  registered.message.registered = nvtxDomainRegisterStringW(domain, L"registered w");
  const int outer = nvtxDomainRangePushEx(domain, &registered);
  const int other = nvtxDomainRangePushEx(wide, &registered);
  const int inner = nvtxDomainRangePushEx(domain, &registered);
  printf("%d %d %d\n", outer, other, inner);
  printf("%d ", nvtxDomainRangePop(domain));
  printf("%d ", nvtxDomainRangePop(wide));
  printf("%d\n", nvtxDomainRangePop(domain));
  nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &registered));
  nvtxDomainNameCategoryA(domain, 3, "category of a domain");
}

static void names(void) {
  nvtxNameCategoryA(7, "category a");
  nvtxNameCategoryW(8, L"category w");
  nvtxNameOsThreadA(4242, "thread a");
  nvtxNameOsThreadW(4243, L"thread w");
  nvtxResourceAttributes_t resource = {0};
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
  resource.identifier.ullValue = 0x1234;
  resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
  resource.message.ascii = "resource";
  nvtxDomainResourceCreate(NULL, &resource);
}

static void long_texts(void) {
  static char text[10001];
  for (int i = 0; i < 10000; i += 2) memcpy(text + i, "\xc3\xa9", 2);
  nvtxMarkA(text + 1); /* begins within a sequence, so that the cut is within one */
  for (int length = 1; length <= 17; ++length) nvtxMarkA(text + 10000 - 2 * length);
}

int main(void) {
  default_domain();
  domains();
  names();
  long_texts();
  return 0;
}
