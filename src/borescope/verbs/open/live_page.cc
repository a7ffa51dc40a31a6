#include "borescope/verbs/open/live_page.h"

#include <fmt/format.h>

#include <utility>

#include "borescope/output/html/html.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/markdown.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kNothingElse = "default-src 'none'";
constexpr std::string_view kAsking = "; connect-src 'self'";
constexpr std::string_view kScripts = "script-src";
constexpr std::string_view kPolicyStart = "<meta http-equiv=\"Content-Security-Policy\"";

// All of it, where there is no page that has a banner.
std::string TextOf(const LiveNews& news) {
  std::string text = news.text;
  for (const std::string& problem : news.problems) {
    text += ". " + problem;
  }
  return text;
}

std::string JsonOf(uint64_t version, const LiveNews& news, std::string_view steps) {
  StringSink sink;
  JsonWriter json(sink);
  json.BeginObject();
  json.Key("version");
  json.Int(static_cast<int64_t>(version));
  json.Key("text");
  json.String(news.text);
  json.Key("problems");
  json.BeginArray();
  for (const std::string& problem : news.problems) {
    json.String(problem);
  }
  json.EndArray();
  json.EndObject();
  if (!json.Finish().ok() || sink.text().empty()) {
    return "{}";
  }
  // As it is: it was written by the same writer.
  std::string text = sink.text();
  text.resize(text.rfind('}'));
  return fmt::format("{},\"runs\":{}}}", text, steps);
}

}  // namespace

std::string LetAsk(std::string html) {
  const size_t policy = html.find(kPolicyStart);
  const size_t end = policy == std::string::npos ? policy : html.find('>', policy);
  if (end == std::string::npos) {
    return html;
  }
  const std::string_view text = std::string_view(html).substr(policy, end - policy);
  const size_t nothing_else = text.find(kNothingElse);
  if (nothing_else != std::string_view::npos && text.find(kScripts) != std::string_view::npos &&
      text.find(kAsking) == std::string_view::npos) {
    html.insert(policy + nothing_else + kNothingElse.size(), kAsking);
  }
  return html;
}

std::string MakeServed(std::string html) {
  html = LetAsk(std::move(html));
  const size_t asking = html.find(kAsking);
  const size_t policy = html.find(kPolicyStart);
  if (asking != std::string::npos && asking < html.find('>', policy)) {
    html.insert(html.find('>', policy) + 1, "\n<meta name=\"borescope-served\">");
  }
  return html;
}

std::string MakeLive(std::string html, uint64_t version) {
  const size_t policy = html.find(kPolicyStart);
  if (policy == std::string::npos) {
    return html;
  }
  const size_t end = html.find('>', policy);
  const bool has_scripts = html.find(kScripts, policy) < end;
  html.insert(end + 1, has_scripts
                           ? fmt::format("\n<meta name=\"borescope-live\" content=\"{}\">", version)
                           : std::string("\n<meta http-equiv=\"refresh\" content=\"5\">"));
  return LetAsk(std::move(html));
}

std::string WaitingPage(std::string_view text) {
  if (!ReportTemplate().empty()) {
    ReportPage page;
    page.title = std::string(text);
    StringSink sink;
    if (WriteHtml(page, ReportTemplate(), sink).ok()) {
      return MakeLive(sink.text(), 0);
    }
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">\n"
      "<meta http-equiv=\"refresh\" content=\"1\">\n<title>Borescope</title>\n</head>\n<body>\n"
      "<p>{}</p>\n</body>\n</html>\n",
      EscapeMarkup(text));
}

LivePage::LivePage(std::string name, std::string_view waiting)
    : name_(std::move(name)),
      page_(std::make_shared<const std::string>(WaitingPage(waiting))),
      news_{std::string(waiting), {}} {}

void LivePage::SetPage(std::string html, LiveNews news) {
  uint64_t next = 0;
  {
    const std::scoped_lock lock(mutex_);
    next = ++reserved_;
  }
  auto page = std::make_shared<const std::string>(MakeLive(std::move(html), next));
  const std::scoped_lock lock(mutex_);
  if (next < version_) {
    return;  // another thread has set a later one
  }
  version_ = next;
  page_ = std::move(page);
  news_ = std::move(news);
}

void LivePage::SetNews(LiveNews news) {
  const std::scoped_lock lock(mutex_);
  news_ = std::move(news);
  if (version_ == 0) {
    page_ = std::make_shared<const std::string>(WaitingPage(TextOf(news_)));
  }
}

void LivePage::SetSteps(std::string json) {
  const std::scoped_lock lock(mutex_);
  steps_ = std::move(json);
}

std::optional<MadeAnswer> LivePage::Answer(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  if (name == name_) {
    return MadeAnswer{"text/html; charset=utf-8", page_};
  }
  if (name == "live") {
    return MadeAnswer{"application/json",
                      std::make_shared<const std::string>(JsonOf(version_, news_, steps_))};
  }
  return std::nullopt;
}

}  // namespace borescope::internal
