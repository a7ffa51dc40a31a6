// The interface of borescope_record.h.
#include "borescope_record.h"
#include "core/control.h"
#include "core/ranges.h"
#include "core/rules.h"
#include "core/strings.h"
#include "core/text.h"
#include "cuda/flusher.h"
#include "cuda/other_profilers.h"
#include "rocm/session.h"
#include "roctracer/session.h"

using namespace borescope::inject;
using borescope::recording::kApiDomain;
using borescope::recording::kHasThread;
using borescope::recording::kIsRange;
using borescope::recording::kStepDomain;
using borescope::recording::RecordType;

namespace {

// What ran while recording may be reported after it was paused.
void WriteEarlier(const char* name, const uint64_t (&body)[6], const Message& inputs,
                  uint8_t flags) {
  if (!IsEnabled() || name == nullptr) return;
  const Entry* entry = InternString(name, TextLength(name));
  Write(RecordType::kOperator, entry == nullptr ? 0 : entry->id, body, inputs.text, inputs.length,
        flags);
}

}  // namespace

extern "C" {

int borescope_record_is_recording(void) { return IsRecording() ? 1 : 0; }

int borescope_record_is_enabled(void) { return IsEnabled() ? 1 : 0; }

void borescope_record_start(void) { StartRecording(); }

void borescope_record_stop(void) { StopRecording(); }

void borescope_record_push(const char* text) {
  if (!IsEnabled()) return;
  const bool is_wanted = IsTextWanted();
  Push(kApiDomain, is_wanted, is_wanted ? PlainMessage(text) : Message{});
}

void borescope_record_pop(void) {
  if (IsEnabled()) Pop(kApiDomain);
}

void borescope_record_step(uint64_t number) {
  if (!IsEnabled()) return;
  Pop(kStepDomain);
  char text[40];
  TextBuilder builder(text, sizeof(text));
  builder.Add("ProfilerStep#").Add(number);
  Push(kStepDomain, IsTextWanted(), {builder.text(), builder.length()});
}

void borescope_record_note_step(uint64_t number) {
  if (IsEnabled()) StepBegins(number);
}

void borescope_record_step_end(void) {
  if (IsEnabled()) Pop(kStepDomain);
}

void borescope_record_mark(const char* text) {
  if (IsTextWanted()) Mark(kApiDomain, PlainMessage(text));
}

uint64_t borescope_record_range_start(const char* text) {
  return IsTextWanted() ? StartRange(kApiDomain, PlainMessage(text)) : 0;
}

void borescope_record_range_end(uint64_t id) { EndRange(kApiDomain, id); }

void borescope_record_flush(void) {
  cuda::FlushDevice();
  rocm::FlushDevice();
  roctracer::FlushDevice();
}

void borescope_record_keep_device(void) {
  if (IsEnabled()) cuda::KeepDevice();
}

void borescope_record_end_keeping_device(void) {
  if (IsEnabled()) cuda::EndKeepingDevice();
}

void borescope_record_take_device_back(void) {
  if (IsEnabled()) cuda::TakeDeviceBack();
}

void borescope_record_operator(const char* name, uint64_t start_ns, uint64_t end_ns,
                               int64_t sequence, uint64_t forward_thread, uint64_t id,
                               const char* inputs) {
  if (!IsRecording() || name == nullptr) return;
  const Entry* entry = InternString(name, TextLength(name));
  const uint64_t body[] = {start_ns, end_ns, static_cast<uint64_t>(sequence), forward_thread, id};
  const Message message = PlainMessage(inputs);
  Write(RecordType::kOperator, entry == nullptr ? 0 : entry->id, body, message.text,
        message.length);
}

void borescope_record_operator_of(uint32_t thread, const char* name, uint64_t start_ns,
                                  uint64_t end_ns, int64_t sequence, uint64_t forward_thread,
                                  uint64_t id, const char* inputs) {
  const uint64_t body[] = {start_ns,       end_ns, static_cast<uint64_t>(sequence),
                           forward_thread, id,     uint64_t{thread}};
  WriteEarlier(name, body, PlainMessage(inputs), kHasThread);
}

void borescope_record_range_of(uint32_t thread, const char* text, uint64_t start_ns,
                               uint64_t end_ns) {
  const uint64_t body[] = {start_ns, end_ns, ~uint64_t{0}, 0, 0, uint64_t{thread}};
  WriteEarlier(text, body, {}, kHasThread | kIsRange);
}

uint32_t borescope_record_code(const char* name, const char* file, uint32_t line) {
  if (!IsEnabled() || name == nullptr) return 0;
  const Message path = PlainMessage(file);
  const Entry* file_entry = InternString(path.text, path.length);
  const Entry* code =
      InternCode(name, TextLength(name), file_entry == nullptr ? 0 : file_entry->id, line);
  return code == nullptr ? 0 : code->id;
}

void borescope_record_call(uint32_t code) {
  if (!IsRecording() || code == 0) return;
  const uint64_t body[] = {Now()};
  Write(RecordType::kPythonCall, code, body);
}

void borescope_record_return(uint32_t code) {
  if (!IsRecording() || code == 0) return;
  const uint64_t body[] = {Now()};
  Write(RecordType::kPythonReturn, code, body);
}

}  // extern "C"
