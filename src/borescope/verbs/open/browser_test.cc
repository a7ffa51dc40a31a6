#include "borescope/verbs/open/browser.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

using Commands = std::vector<std::vector<std::string>>;

const std::string kAddress = "http://127.0.0.1:9001/a b;c";

TEST(Browser, NoneWithoutADesktop) {
  EXPECT_EQ(BrowserCommands({}, kAddress), Commands());
  EXPECT_EQ(BrowserCommands({.browser = "", .display = "", .wayland_display = ""}, kAddress),
            Commands());
}

TEST(Browser, TheDesktopKnowsWhich) {
  const Commands commands = {{"xdg-open", kAddress}};
  EXPECT_EQ(BrowserCommands({.display = ":0"}, kAddress), commands);
  EXPECT_EQ(BrowserCommands({.wayland_display = "wayland-0"}, kAddress), commands);
}

// The address stays one word whatever is in it.
TEST(Browser, TheUsersChoiceComesFirst) {
  const Commands commands = {{"first", "--at=" + kAddress, "-n"}, {"second", "-x", kAddress}};
  EXPECT_EQ(BrowserCommands({.browser = "first --at=%s -n::second  -x"}, kAddress), commands);
  EXPECT_EQ(BrowserCommands({.browser = "first", .display = ":0"}, kAddress),
            (Commands{{"first", kAddress}, {"xdg-open", kAddress}}));
}

}  // namespace
}  // namespace borescope::internal
