#include "borescope/verbs/open/live_page.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

constexpr std::string_view kReport =
    "<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'sha256-a'; base-uri 'none'\"><title>x</title></head><body>default-src 'none'</body>";
constexpr std::string_view kPlain =
    "<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\"></head>"
    "<body>script-src</body>";

TEST(MakeLive, LetsThePageAskItsOwnServerAndNothingElse) {
  EXPECT_EQ(MakeLive(std::string(kReport), 7),
            "<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "connect-src 'self'; script-src 'sha256-a'; base-uri 'none'\">\n"
            "<meta name=\"borescope-live\" content=\"7\"><title>x</title></head>"
            "<body>default-src 'none'</body>");
}

TEST(LetAsk, OnceAndOnlyOfAPageWithScripts) {
  const std::string page = LetAsk(std::string(kReport));
  EXPECT_NE(page.find("default-src 'none'; connect-src 'self'; script-src"), std::string::npos);
  EXPECT_EQ(LetAsk(page), page);
  EXPECT_EQ(MakeLive(page, 7), MakeLive(std::string(kReport), 7));
  EXPECT_EQ(LetAsk(std::string(kPlain)), kPlain);
  EXPECT_EQ(LetAsk("no page"), "no page");
}

TEST(MakeServed, SaysThatItIsOpenIfItHasScripts) {
  EXPECT_EQ(MakeServed(std::string(kReport)),
            "<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "connect-src 'self'; script-src 'sha256-a'; base-uri 'none'\">\n"
            "<meta name=\"borescope-served\"><title>x</title></head>"
            "<body>default-src 'none'</body>");
  EXPECT_EQ(MakeServed(std::string(kPlain)), kPlain);
  EXPECT_EQ(MakeServed("no page"), "no page");
}

TEST(MakeLive, APageWithoutScriptsIsLoadedAgain) {
  EXPECT_EQ(MakeLive(std::string(kPlain), 7),
            "<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">\n"
            "<meta http-equiv=\"refresh\" content=\"5\"></head><body>script-src</body>");
  EXPECT_EQ(MakeLive("no page", 7), "no page");
}

TEST(LivePage, WaitsUntilThereIsAPage) {
  const LivePage live("report.html", "none in <run>");
  const std::optional<MadeAnswer> page = live.Answer("report.html");
  ASSERT_TRUE(page.has_value());
  EXPECT_NE(page->body->find("none in &lt;run&gt;"), std::string::npos) << *page->body;
  // With scripts it asks, without it is loaded again.
  const bool asks = page->body->find("name=\"borescope-live\" content=\"0\"") != std::string::npos;
  EXPECT_NE(asks, page->body->find("http-equiv=\"refresh\"") != std::string::npos);
  EXPECT_EQ(*live.Answer("live")->body,
            "{\"version\":0,\"text\":\"none in <run>\",\"problems\":[],\"runs\":[]}");
  EXPECT_FALSE(live.Answer("other").has_value());
}

TEST(LivePage, SaysWhyThereIsNoPageYet) {
  LivePage live("report.html", "none yet");
  live.SetNews({"none could be read", {"rank-0.json: <no JSON>"}});
  const std::string page = *live.Answer("report.html")->body;
  EXPECT_NE(page.find("none could be read. rank-0.json: &lt;no JSON&gt;"), std::string::npos)
      << page;
}

TEST(LivePage, EveryPageHasAVersionAndNewsDoNot) {
  LivePage live("report.html", "");
  live.SetPage(std::string(kReport), {"1 rank", {}});
  live.SetPage(std::string(kReport), {"2 ranks", {"a \"file\" is broken"}});
  EXPECT_EQ(*live.Answer("live")->body,
            "{\"version\":2,\"text\":\"2 ranks\",\"problems\":[\"a \\\"file\\\" is broken\"],"
            "\"runs\":[]}");
  const std::shared_ptr<const std::string> page = live.Answer("report.html")->body;
  EXPECT_NE(page->find("content=\"2\""), std::string::npos);
  live.SetNews({"later", {}});
  live.SetSteps("[{\"rank\":0}]");
  EXPECT_EQ(*live.Answer("live")->body,
            "{\"version\":2,\"text\":\"later\",\"problems\":[],\"runs\":[{\"rank\":0}]}");
  EXPECT_EQ(live.Answer("report.html")->body, page);
}

}  // namespace
}  // namespace borescope::internal
