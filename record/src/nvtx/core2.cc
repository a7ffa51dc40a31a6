// The module CORE2 of NVTX: domains, registered strings and resources.
#include "nvtx/hooks.h"
#include "nvtx/messages.h"

namespace borescope::inject::nvtx {

namespace {

using recording::NameKind;

// What programs get as a handle is the entry of the name.
uint32_t IdOf(const Entry* domain) {
  return domain == nullptr ? uint32_t{recording::kDefaultDomain} : domain->id;
}

int DomainPush(const Entry* domain, const EventAttributes* event) {
  MessageSpace space;
  const bool is_wanted = IsTextWanted();
  return Push(IdOf(domain), is_wanted, is_wanted ? ReadEvent(event, &space) : Message{});
}

int DomainPop(const Entry* domain) { return Pop(IdOf(domain)); }

void DomainMark(const Entry* domain, const EventAttributes* event) {
  if (!IsTextWanted()) return;
  MessageSpace space;
  Mark(IdOf(domain), ReadEvent(event, &space));
}

uint64_t DomainStart(const Entry* domain, const EventAttributes* event) {
  if (!IsTextWanted()) return 0;
  MessageSpace space;
  return StartRange(IdOf(domain), ReadEvent(event, &space));
}

void DomainEnd(const Entry* domain, uint64_t id) { EndRange(IdOf(domain), id); }

const Entry* ResourceCreate(const Entry* domain, const ResourceAttributes* resource) {
  if (resource == nullptr || resource->bytes < sizeof(ResourceAttributes)) return nullptr;
  MessageSpace space;
  space.attributes = {};
  const Message message = ReadText(resource->message_type, resource->message, &space);
  return InternName(NameKind::kResource, IdOf(domain), resource->identifier, message.text,
                    message.length);
}

void ResourceDestroy(const Entry*) {}

void CategoryA(const Entry* domain, uint32_t category, const char* name) {
  const Message message = PlainMessage(name);
  InternName(NameKind::kCategory, IdOf(domain), category, message.text, message.length);
}

void CategoryW(const Entry* domain, uint32_t category, const wchar_t* name) {
  MessageSpace space;
  const Message message = ReadWide(name, &space);
  InternName(NameKind::kCategory, IdOf(domain), category, message.text, message.length);
}

// A text has one number, whichever domain it is registered for.
const Entry* RegisterA(const Entry*, const char* text) {
  const Message message = PlainMessage(text);
  return InternString(message.text, message.length);
}

const Entry* RegisterW(const Entry*, const wchar_t* text) {
  MessageSpace space;
  const Message message = ReadWide(text, &space);
  return InternString(message.text, message.length);
}

const Entry* CreateA(const char* name) {
  const Message message = PlainMessage(name);
  return InternDomain(message.text, message.length);
}

const Entry* CreateW(const wchar_t* name) {
  MessageSpace space;
  const Message message = ReadWide(name, &space);
  return InternDomain(message.text, message.length);
}

void Destroy(const Entry*) {}

void Initialize(const void*) {}

}  // namespace

void AttachCore2(const CallbackTable* table) {
  const Hook hooks[] = {
      {kDomainMarkEx, AsFunction(DomainMark)},
      {kDomainRangeStartEx, AsFunction(DomainStart)},
      {kDomainRangeEnd, AsFunction(DomainEnd)},
      {kDomainRangePushEx, AsFunction(DomainPush)},
      {kDomainRangePop, AsFunction(DomainPop)},
      {kDomainResourceCreate, AsFunction(ResourceCreate)},
      {kDomainResourceDestroy, AsFunction(ResourceDestroy)},
      {kDomainNameCategoryA, AsFunction(CategoryA)},
      {kDomainNameCategoryW, AsFunction(CategoryW)},
      {kDomainRegisterStringA, AsFunction(RegisterA)},
      {kDomainRegisterStringW, AsFunction(RegisterW)},
      {kDomainCreateA, AsFunction(CreateA)},
      {kDomainCreateW, AsFunction(CreateW)},
      {kDomainDestroy, AsFunction(Destroy)},
      {kInitialize, AsFunction(Initialize)},
  };
  Attach(table, Module::kCore2, hooks, sizeof(hooks) / sizeof(hooks[0]));
}

}  // namespace borescope::inject::nvtx
