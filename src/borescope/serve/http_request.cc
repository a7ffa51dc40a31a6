#include "borescope/serve/http_request.h"

#include <algorithm>
#include <cctype>

namespace borescope::internal {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Takes the text up to `separator`, and that with it; all of it where there is none.
std::string_view TakeUntil(std::string_view& text, std::string_view separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  return part;
}

bool IsNamed(std::string_view name, std::string_view lower) {
  return std::equal(name.begin(), name.end(), lower.begin(), lower.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool ParseFirstLine(std::string_view line, HttpRequest& request) {
  request.method = TakeUntil(line, " ");
  request.target = TakeUntil(line, " ");
  return !request.method.empty() && !request.target.empty() &&
         (line == "HTTP/1.1" || line == "HTTP/1.0");
}

// A line of headers that begins with a blank would go on with the one above: nobody writes that any
// more, and who reads it differently from us reads another request.
bool ParseHeader(std::string_view line, HttpRequest& request) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 ||
      line.substr(0, colon).find_first_of(" \t") != std::string_view::npos) {
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trim(line.substr(colon + 1));
  if (IsNamed(name, "host")) {
    if (!request.host.empty() || value.empty()) return false;
    request.host = value;
  } else if (IsNamed(name, "origin")) {
    if (request.origin.has_value()) return false;
    request.origin = value;
  }
  return true;
}

}  // namespace

std::optional<HttpRequest> ParseHttpRequest(std::string_view head) {
  HttpRequest request;
  if (!ParseFirstLine(TakeUntil(head, kLineEnd), request)) {
    return std::nullopt;
  }
  while (!head.empty()) {
    if (!ParseHeader(TakeUntil(head, kLineEnd), request)) {
      return std::nullopt;
    }
  }
  return request;
}

}  // namespace borescope::internal
