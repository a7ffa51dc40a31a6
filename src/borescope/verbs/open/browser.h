// The user's browser, opened without a shell.
#pragma once

#include <string>
#include <vector>

namespace borescope::internal {

// What the environment says about browsers; nullptr where it says nothing.
struct Desktop {
  const char* browser = nullptr;  // BROWSER: commands with ':' between them, "%s" the address
  const char* display = nullptr;
  const char* wayland_display = nullptr;

  static Desktop OfEnvironment();
};

// The commands to try, one after the other, as words; none where there is no browser.
std::vector<std::vector<std::string>> BrowserCommands(const Desktop& desktop,
                                                      const std::string& address);

// Starts the first of them that works: one that cannot be started, or fails at once (xdg-open where
// there is no browser, a browser that needs a terminal), is none. False where none works. Takes a
// second where the browser goes on in the foreground.
bool OpenBrowser(const std::string& address);

}  // namespace borescope::internal
