// Lines of programs as container runtimes store them: containerd and CRI-O with a time, the name of
// the stream and a tag before each, Docker as an object of JSON.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace borescope::internal {

// Whether a line begins as Docker stores them.
bool IsLineOfDocker(std::string_view line);

// Opens lines one by one. Both runtimes cut lines of more than 16 KiB: their parts are put together
// again, those of standard output and of standard error apart. Memory: at most two lines.
class LogEnvelopes {
 public:
  // Such a line as containerd stores whole ones: "2026-11-01T10:00:00Z stderr F text". A line of
  // anything else comes back as it is; nothing while a line still lacks its end. Valid until the
  // next call.
  std::optional<std::string_view> Open(std::string_view raw);
  // At the end: a line whose end is missing; nothing if there is none (any more).
  std::optional<std::string_view> Rest();

 private:
  struct Part {
    std::string_view time;
    std::string_view text;
    bool is_error = false;  // of standard error
    bool is_cut = false;    // more of the line follows
  };
  std::optional<Part> OfCri(std::string_view raw) const;
  std::optional<Part> OfDocker(std::string_view raw);

  std::array<std::string, 2> open_;  // of standard output, of standard error
  std::string text_;
  std::string line_;
};

}  // namespace borescope::internal
