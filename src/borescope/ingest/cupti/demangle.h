// Names of C++ functions as people read them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace borescope::internal {

// Demangles names of functions. One object serves one file: the names of a hostile file can grow
// without bound (each part may repeat all before it twice), so what may be written is limited, for
// one name and for all of them; beyond that names stay as they are.
class Demangler {
 public:
  // `mangled` itself when it is no mangled name, a damaged one, or one that would grow too long.
  std::string operator()(std::string_view mangled);

 private:
  size_t written_ = 0;  // bytes, by all names
};

}  // namespace borescope::internal
