// Names as HTA shortens and decodes them.
#pragma once

#include <string>
#include <string_view>

namespace borescope {

// HTA's short name of a function: "void at::native::f<int>(float*)" is "at::native::f". Names of
// copies, and names without any of < and (, stay as they are.
std::string HtaShortName(std::string_view name);

}  // namespace borescope
