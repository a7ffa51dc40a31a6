// The module CORE of NVTX: ranges and marks of the default domain.
#include "nvtx/hooks.h"
#include "nvtx/messages.h"

namespace borescope::inject::nvtx {

namespace {

using recording::kDefaultDomain;
using recording::NameKind;

int PushA(const char* text) {
  const bool is_wanted = IsTextWanted();
  return Push(kDefaultDomain, is_wanted, is_wanted ? PlainMessage(text) : Message{});
}

// Texts are read only where they are recorded, or where rules wait for them.
template <typename Read>
int PushRead(const Read& read) {
  MessageSpace space;
  const bool is_wanted = IsTextWanted();
  return Push(kDefaultDomain, is_wanted, is_wanted ? read(&space) : Message{});
}

int PushW(const wchar_t* text) {
  return PushRead([text](MessageSpace* space) { return ReadWide(text, space); });
}

int PushEx(const EventAttributes* event) {
  return PushRead([event](MessageSpace* space) { return ReadEvent(event, space); });
}

int PopRange() { return Pop(kDefaultDomain); }

void MarkA(const char* text) {
  if (IsTextWanted()) Mark(kDefaultDomain, PlainMessage(text));
}

void MarkW(const wchar_t* text) {
  if (!IsTextWanted()) return;
  MessageSpace space;
  Mark(kDefaultDomain, ReadWide(text, &space));
}

void MarkEx(const EventAttributes* event) {
  if (!IsTextWanted()) return;
  MessageSpace space;
  Mark(kDefaultDomain, ReadEvent(event, &space));
}

uint64_t StartA(const char* text) {
  return IsTextWanted() ? StartRange(kDefaultDomain, PlainMessage(text)) : 0;
}

uint64_t StartW(const wchar_t* text) {
  if (!IsTextWanted()) return 0;
  MessageSpace space;
  return StartRange(kDefaultDomain, ReadWide(text, &space));
}

uint64_t StartEx(const EventAttributes* event) {
  if (!IsTextWanted()) return 0;
  MessageSpace space;
  return StartRange(kDefaultDomain, ReadEvent(event, &space));
}

void End(uint64_t id) { EndRange(kDefaultDomain, id); }

void NameCategoryA(uint32_t category, const char* name) {
  const Message message = PlainMessage(name);
  InternName(NameKind::kCategory, kDefaultDomain, category, message.text, message.length);
}

void NameCategoryW(uint32_t category, const wchar_t* name) {
  MessageSpace space;
  const Message message = ReadWide(name, &space);
  InternName(NameKind::kCategory, kDefaultDomain, category, message.text, message.length);
}

void NameThreadA(uint32_t tid, const char* name) {
  const Message message = PlainMessage(name);
  InternName(NameKind::kThread, kDefaultDomain, tid, message.text, message.length);
}

void NameThreadW(uint32_t tid, const wchar_t* name) {
  MessageSpace space;
  const Message message = ReadWide(name, &space);
  InternName(NameKind::kThread, kDefaultDomain, tid, message.text, message.length);
}

}  // namespace

void AttachCore(const CallbackTable* table) {
  const Hook hooks[] = {
      {kMarkEx, AsFunction(MarkEx)},
      {kMarkA, AsFunction(MarkA)},
      {kMarkW, AsFunction(MarkW)},
      {kRangeStartEx, AsFunction(StartEx)},
      {kRangeStartA, AsFunction(StartA)},
      {kRangeStartW, AsFunction(StartW)},
      {kRangeEnd, AsFunction(End)},
      {kRangePushEx, AsFunction(PushEx)},
      {kRangePushA, AsFunction(PushA)},
      {kRangePushW, AsFunction(PushW)},
      {kRangePop, AsFunction(PopRange)},
      {kNameCategoryA, AsFunction(NameCategoryA)},
      {kNameCategoryW, AsFunction(NameCategoryW)},
      {kNameOsThreadA, AsFunction(NameThreadA)},
      {kNameOsThreadW, AsFunction(NameThreadW)},
  };
  Attach(table, Module::kCore, hooks, sizeof(hooks) / sizeof(hooks[0]));
}

}  // namespace borescope::inject::nvtx
