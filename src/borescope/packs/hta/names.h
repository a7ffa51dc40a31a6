// Names as HTA shortens and understands them.
#pragma once

#include <string>
#include <string_view>

namespace borescope::internal {

// HTA's short name of a function: "void at::native::f<int>(float*)" is "at::native::f". Names of
// copies, and names without any of < and (, stay as they are.
std::string HtaShortName(std::string_view name);

// Whether a call only waits, so that its time is that of what it waits for.
bool HtaIsBlockingCall(std::string_view name);

}  // namespace borescope::internal
