// Bytes as a raw deflate stream (RFC 1951), for what a page unpacks itself.
#pragma once

#include <string>
#include <string_view>

namespace borescope::internal {

// Smaller than a gzip member, and slower to make than what GzipSink writes. The same bytes on one
// machine; the library may choose others on another kind of processor. Pure.
std::string Deflated(std::string_view bytes);

}  // namespace borescope::internal
