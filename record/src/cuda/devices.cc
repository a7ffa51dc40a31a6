#include "cuda/devices.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstring>

#include "core/text.h"
#include "core/writer.h"

namespace borescope::inject::cuda {

namespace {

constexpr uint32_t kMostDevices = 64;

uint64_t described;  // a bit for each device
uint64_t asked_for;  // the driver may not know it

// The driver's questions about a device: none needs a context or waits for a device.
struct Driver {
  int (*get)(int* device, int number);
  int (*name)(char* name, int bytes, int device);
  int (*memory)(size_t* bytes, int device);
  int (*attribute)(int* value, int attribute, int device);
};

// CUdevice_attribute.
struct Property {
  const char* key;
  int attribute;
};
constexpr Property kProperties[] = {{"multiprocessors", 16},
                                    {"compute_major", 75},
                                    {"compute_minor", 76},
                                    {"warp_size", 10},
                                    {"max_threads_per_multiprocessor", 39}};

template <typename Function>
void Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
}

// It is loaded: it has called us.
const Driver* FindDriver() {
  static Driver driver;
  static bool is_looked_up = false;
  if (!is_looked_up) {
    is_looked_up = true;
    void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return nullptr;
    Find(library, "cuDeviceGet", &driver.get);
    Find(library, "cuDeviceGetName", &driver.name);
    Find(library, "cuDeviceTotalMem_v2", &driver.memory);
    Find(library, "cuDeviceGetAttribute", &driver.attribute);
  }
  return driver.get == nullptr || driver.name == nullptr ? nullptr : &driver;
}

void AddNumbers(const Driver& driver, int device, TextBuilder* json) {
  size_t bytes = 0;
  if (driver.memory != nullptr && driver.memory(&bytes, device) == 0) {
    json->Add(",\"total_bytes\":").Add(uint64_t{bytes});
  }
  for (const Property& property : kProperties) {
    int value = 0;
    const bool is_known =
        driver.attribute != nullptr && driver.attribute(&value, property.attribute, device) == 0;
    if (!is_known || value < 0) continue;
    json->Add(",\"").Add(property.key).Add("\":").Add(static_cast<uint64_t>(value));
  }
}

}  // namespace

bool BeginDescription(uint32_t device) {
  if (device >= kMostDevices) return true;
  const uint64_t bit = uint64_t{1} << device;
  const bool is_first = (described & bit) == 0;
  described |= bit;
  return is_first;
}

void DescribeDevice(uint32_t device) {
  // The common case first: this is called for each kernel.
  if (device >= kMostDevices || ((described | asked_for) >> device & 1U) != 0) return;
  asked_for |= uint64_t{1} << device;
  const Driver* driver = FindDriver();
  int number = 0;
  char name[256] = "";
  if (driver == nullptr || driver->get(&number, static_cast<int>(device)) != 0 ||
      driver->name(name, sizeof(name) - 1, number) != 0) {
    return;
  }
  BeginDescription(device);
  char text[1024];
  TextBuilder json(text, sizeof(text));
  json.Add("{\"name\":").AddJson(name, strnlen(name, sizeof(name)));
  AddNumbers(*driver, number, &json);
  json.Add("}");
  const uint64_t body[] = {device};
  WriteKept(recording::RecordType::kDevice,
            static_cast<uint32_t>(recording::DeviceRecordKind::kDevice), body, json.text(),
            json.length());
}

}  // namespace borescope::inject::cuda
