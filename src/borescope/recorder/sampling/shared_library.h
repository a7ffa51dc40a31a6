// A library of a vendor, which may be missing.
#pragma once

#include <initializer_list>
#include <utility>

namespace borescope::internal {

// Loaded while the process runs: such libraries start threads, and do not survive being unloaded.
class SharedLibrary {
 public:
  // The first of these names that can be loaded.
  SharedLibrary(std::initializer_list<const char*> names);

  bool is_loaded() const { return handle_ != nullptr; }

  // A function, or a null pointer.
  template <class Function>
  void Find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(Address(name));
  }

 private:
  void* Address(const char* name) const;

  void* handle_ = nullptr;
};

}  // namespace borescope::internal
