// What of an HTTP request decides about the answer.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace borescope::internal {

// Requests whose first line and headers are longer are refused.
inline constexpr size_t kLongestRequestHead = size_t{8} * 1024;

// Views of the text that was parsed.
struct HttpRequest {
  std::string_view method;
  std::string_view target;  // "/name?query", as it stands there
  std::string_view host;    // "127.0.0.1:9001"; empty: none
  std::optional<std::string_view> origin;
};

// `head` is the first line and the headers, up to the empty line and without it. Nothing unless it
// is HTTP/1.x with well-formed headers, of which "Host" and "Origin" occur at most once.
std::optional<HttpRequest> ParseHttpRequest(std::string_view head);

}  // namespace borescope::internal
