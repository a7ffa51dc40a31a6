// Which function made a call, by the stack recorded with it.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/base/id.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// The function from which a call was made: the innermost frame that is outside of the call itself
// and is neither unnamed ("[libcuda.so]"), nor of the C++ library, nor of those whose names are
// reserved for implementations (with a leading underscore). `inside` is the call whose stack it is,
// `call` itself or one inside it, whose stack counts only if the name of `call` is in it. Invalid
// if there is none.
StringId CallerOf(const Trace& trace, HostId call, HostId inside);

// The same, from the first stack of the call and of those inside it, which end before row `end`.
StringId CallerOf(const Trace& trace, HostId call, uint32_t end);

// "write" is in "__write" and "int write<char>(void*)", but not in "rewrite".
bool IsNameOf(std::string_view function, std::string_view call);

}  // namespace borescope::internal
