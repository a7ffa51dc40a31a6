#include "borescope/verbs/open/browser.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "borescope/base/io/child_process.h"

namespace borescope::internal {
namespace {

using Words = std::vector<std::string>;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return parts;
}

// "firefox --new-window %s"; the address comes last where no word names its place.
Words CommandOf(std::string_view command, const std::string& address) {
  constexpr std::string_view kPlace = "%s";
  Words words;
  bool is_placed = false;
  for (const std::string_view part : Split(command, ' ')) {
    std::string& word = words.emplace_back(part);
    if (const size_t place = word.find(kPlace); place != std::string::npos) {
      word.replace(place, kPlace.size(), address);
      is_placed = true;
    }
  }
  if (!words.empty() && !is_placed) {
    words.push_back(address);
  }
  return words;
}

// Those that fail do so in far less time.
constexpr std::chrono::seconds kWatched{1};

bool Starts(const Words& words) {
  const Result<std::optional<int>> status = StartChild(words, kWatched);
  return status.ok() && status->value_or(0) == 0;
}

bool IsSet(const char* variable) { return variable != nullptr && *variable != '\0'; }

}  // namespace

Desktop Desktop::OfEnvironment() {
  return {std::getenv("BROWSER"), std::getenv("DISPLAY"), std::getenv("WAYLAND_DISPLAY")};
}

std::vector<Words> BrowserCommands(const Desktop& desktop, const std::string& address) {
  std::vector<Words> commands;
  if (IsSet(desktop.browser)) {
    for (const std::string_view command : Split(desktop.browser, ':')) {
      if (Words words = CommandOf(command, address); !words.empty()) {
        commands.push_back(std::move(words));
      }
    }
  }
#ifdef __APPLE__
  commands.push_back({"open", address});
#else
  if (IsSet(desktop.display) || IsSet(desktop.wayland_display)) {
    commands.push_back({"xdg-open", address});
  }
#endif
  return commands;
}

bool OpenBrowser(const std::string& address) {
  const std::vector<Words> commands = BrowserCommands(Desktop::OfEnvironment(), address);
  return std::any_of(commands.begin(), commands.end(), Starts);
}

}  // namespace borescope::internal
