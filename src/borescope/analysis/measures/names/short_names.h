// Names of C++ functions without what makes one function many: the arguments of templates and
// functions, and the return type.
#pragma once

#include <string>
#include <string_view>

namespace borescope::internal {

// "void at::native::f<4, int>(int, char*)" is "at::native::f". Names that are no function ("Memcpy
// HtoD (Pageable -> Device)", "train.py(12): main", "my step (1)") stay as they are, and so does
// "(anonymous namespace)".
std::string ShortName(std::string_view name);

}  // namespace borescope::internal
