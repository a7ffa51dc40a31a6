#include "borescope/cli/commands/live_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <thread>
#include <utility>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/report_command.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/partial.h"

namespace borescope::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kQuiet{1000};  // for which a complete file does not change
constexpr milliseconds kLook{250};    // from one look to the next

std::string LocalTime() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:%H:%M:%S}", parts);
}

std::string Counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string GrowingText(size_t growing) {
  return growing == 0 ? "" : fmt::format("; {} still being written", Counted(growing, "file"));
}

}  // namespace

Result<bool> IsLive(const RawOptions& raw) {
  if (!raw.Has("report") || raw.inputs.size() != 1 || !raw.Get("scrub").empty()) {
    return false;
  }
  BS_ASSIGN(const std::filesystem::file_type type, TypeOfPath(raw.inputs.front()));
  if (type != std::filesystem::file_type::directory) {
    return false;
  }
  BS_ASSIGN(const bool holds_parts, HoldParts(raw.inputs));
  return !holds_parts;
}

LiveReport::LiveReport(const Command& command, FileServer& server)
    : command_(command), server_(server), watch_(command.raw.inputs, kQuiet) {}

LiveNews LiveReport::NewsOf(const std::vector<FileInfo>& files, size_t growing) const {
  LiveNews news;
  size_t ranks = 0;
  for (const FileInfo& file : files) {
    ranks += file.error.empty() ? 1 : 0;
    if (!file.error.empty() && !file.skipped) {
      news.problems.push_back(file.error);
    }
  }
  news.text = fmt::format("{} at {}{}", Counted(ranks, "rank"), LocalTime(), GrowingText(growing));
  return news;
}

Result<void> LiveReport::Make(const InputWatch::Settled& settled, const StopToken& stop) {
  const Clock::time_point begin = Clock::now();
  Result<ServedReport> report = MakeReportOf(command_, settled.paths, stop);
  took_ = Clock::now() - begin;
  if (!report.ok()) {
    return report.error();
  }
  status_ = StatusOf(report->files);
  growing_ = settled.growing;
  news_ = NewsOf(report->files, growing_);
  failure_.clear();
  server_.UpdateReport(std::move(*report), news_);
  return {};
}

Result<void> LiveReport::MakeFirst() {
  const InputWatch::Settled settled = watch_.Look();
  growing_ = settled.growing;
  return settled.paths.empty() ? Result<void>() : Make(settled, {});
}

void LiveReport::MakeOrSayWhyNot(const InputWatch::Settled& settled, const StopToken& stop) {
  const Result<void> made = Make(settled, stop);
  if (stop.stop_requested()) {
    return;
  }
  if (!made.ok()) {
    // Kept until there is a newer page, so that the next look says it, too.
    growing_ = settled.growing;
    failure_ =
        fmt::format("at {} no newer page could be made: {}", LocalTime(), made.error().Sentence());
    SayNews();
    if (!command_.raw.Has("quiet")) {
      WriteMessageLine("borescope: " + failure_);
    }
  } else if (!command_.raw.Has("quiet")) {
    WriteMessageLine("borescope: " + news_.text);
  }
}

void LiveReport::Watch(const StopToken& stop) {
  bool is_due = false;
  Clock::time_point next = Clock::now();
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(kLook);
    const InputWatch::Settled settled = watch_.Look();
    is_due = is_due || settled.has_changed;
    if (is_due && !settled.paths.empty() && Clock::now() >= next) {
      MakeOrSayWhyNot(settled, stop);
      next = Clock::now() + took_;
      is_due = false;
    } else if (settled.growing != growing_ && !news_.text.empty()) {
      growing_ = settled.growing;
      SayNews();
    }
  }
}

void LiveReport::SayNews() {
  LiveNews news = news_;
  news.text = news.text.empty() ? "No rank could be read yet" : news.text;
  news.text = news.text.substr(0, news.text.find(';')) + GrowingText(growing_);
  if (!failure_.empty()) {
    news.problems.push_back(failure_);
  }
  server_.UpdateNews(std::move(news));
}

}  // namespace borescope::cli
