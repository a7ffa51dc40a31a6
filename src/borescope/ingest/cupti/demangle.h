// Readable names of C++ functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace borescope::internal {

// Demangles names of functions. One object serves one file: the names of a hostile file can grow
// without bound (each part may repeat all before it twice), so the output is limited, for one name
// and for all of them; beyond that names stay mangled.
class Demangler {
 public:
  // `mangled` itself if it is not a mangled name, is damaged, or would grow too long.
  std::string operator()(std::string_view mangled);

 private:
  size_t written_ = 0;  // bytes, by all names
};

}  // namespace borescope::internal
