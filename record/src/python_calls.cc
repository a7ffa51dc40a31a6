// Calls of Python's functions before Python 3.12, which calls a function of C for each.
//
// One of Python would be called within the program's limit of recursion: where the program has
// nearly reached that, it fails, and the program sees an error that it does not wait for. All
// functions of Python's C interface that are used here neither run code of Python's nor look at
// that limit. The interpreter's lock is held throughout.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "borescope_record.h"
#include "core/clock.h"
#include "core/state.h"
#include "core/strings.h"
#include "core/writer.h"

namespace borescope::inject {

namespace {

using Object = void*;

// Of Python's C interface; looked up, since the program may be none of Python.
struct Interface {
  void (*retain)(Object);
  void (*release)(Object);
  void (*forget_error)();
  Object (*attribute)(Object, const char*);
  Object (*encode)(Object, const char*, const char*);
  char* (*bytes)(Object);
  long (*number)(Object);
  Object (*code_of)(Object frame);  // a null pointer before Python 3.9
};

template <typename Function>
void Find(const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

Interface python;
char library_folder[1024];  // of the standard library, with a slash at its end
char own_folder[1024];

struct Known {
  Object code;  // a null pointer: the place is free
  uint32_t number;
};
constexpr uint32_t kPlaces = 64 * 1024;
constexpr uint32_t kMostProbes = 256;
Known known[kPlaces];

bool BeginsWith(const char* text, const char* beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

// Not the standard library and this package.
bool IsWanted(const char* file) {
  if (BeginsWith(file, "<frozen") || BeginsWith(file, own_folder)) return false;
  if (!BeginsWith(file, library_folder)) return true;
  const char* rest = file + strlen(library_folder);
  return BeginsWith(rest, "site-packages/") || BeginsWith(rest, "dist-packages/");
}

// An attribute as bytes of UTF-8, which the caller releases; a null pointer where there is none.
Object TextOf(Object code, const char* name) {
  Object text = python.attribute(code, name);
  Object bytes = text == nullptr ? nullptr : python.encode(text, "utf-8", "replace");
  if (text != nullptr) python.release(text);
  if (bytes == nullptr) python.forget_error();
  return bytes;
}

uint32_t LineOf(Object code) {
  Object line = python.attribute(code, "co_firstlineno");
  const long number = line == nullptr ? 0 : python.number(line);
  if (line != nullptr) python.release(line);
  if (line == nullptr || number < 0) python.forget_error();
  return number < 0 ? 0 : static_cast<uint32_t>(number);
}

uint32_t Describe(Object code) {
  Object file = TextOf(code, "co_filename");
  if (file == nullptr) return 0;
  uint32_t number = 0;
  if (IsWanted(python.bytes(file))) {
    // With the class, from Python 3.11 on.
    Object name = TextOf(code, "co_qualname");
    if (name == nullptr) name = TextOf(code, "co_name");
    if (name != nullptr) {
      number = borescope_record_code(python.bytes(name), python.bytes(file), LineOf(code));
      python.release(name);
    }
  }
  python.release(file);
  return number;
}

// 0: is not recorded. What is known is kept, so that no other has its address.
uint32_t NumberOf(Object code) {
  const auto hash = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(code) >> 4U) * 0x9e3779b1U;
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    Known& place = known[(hash + probe) % kPlaces];
    if (place.code == code) return place.number;
    if (place.code != nullptr) continue;
    python.retain(code);
    place = {code, Describe(code)};
    return place.number;
  }
  return 0;
}

// Before Python 3.9, where it was in a frame, which whoever calls has made sure of.
Object CodeOf(Object frame) {
  if (python.code_of == nullptr) return static_cast<Object*>(frame)[4];
  Object code = python.code_of(frame);
  python.release(code);  // the frame has it
  return code;
}

bool Copy(const char* text, char (&to)[1024]) {
  const size_t length = strlen(text);
  if (length >= sizeof(to)) return false;
  memcpy(to, text, length + 1);
  return true;
}

}  // namespace

}  // namespace borescope::inject

using namespace borescope::inject;

extern "C" {

int borescope_record_python_begin(const char* library, const char* own) {
  if (!IsEnabled() || !Copy(library, library_folder) || !Copy(own, own_folder)) return 0;
  Find("Py_IncRef", &python.retain);
  Find("Py_DecRef", &python.release);
  Find("PyErr_Clear", &python.forget_error);
  Find("PyObject_GetAttrString", &python.attribute);
  Find("PyUnicode_AsEncodedString", &python.encode);
  Find("PyBytes_AsString", &python.bytes);
  Find("PyLong_AsLong", &python.number);
  Find("PyFrame_GetCode", &python.code_of);
  const bool is_whole = python.retain != nullptr && python.release != nullptr &&
                        python.forget_error != nullptr && python.attribute != nullptr &&
                        python.encode != nullptr && python.bytes != nullptr &&
                        python.number != nullptr;
  return is_whole ? 1 : 0;
}

int borescope_record_python_event(void*, void* frame, int what, void*) {
  constexpr int kCall = 0;
  constexpr int kReturn = 3;
  if (what != kCall && what != kReturn) return 0;
  if (!IsRecording()) return 0;
  const uint32_t number = NumberOf(CodeOf(frame));
  if (what == kCall) {
    borescope_record_call(number);
  } else {
    borescope_record_return(number);
  }
  return 0;
}

}  // extern "C"
