#include "borescope/cli/launch/launch_job.h"

#include <fmt/format.h>

namespace borescope::cli {

std::string LaunchJob::AnswerPath() const { return fmt::format("{}/answer.{}", folder, extension); }

// In glob(7) a backslash makes of the character after it a plain one.
std::string LaunchJob::PartsPattern() const {
  constexpr std::string_view kSpecial = "*?[]\\";
  std::string pattern;
  for (const char c : folder) {
    if (kSpecial.find(c) != std::string_view::npos) {
      pattern += '\\';
    }
    pattern += c;
  }
  return fmt::format("{}/*-of-{:05}.part", pattern, shards);
}

std::vector<std::string> MapWords(const LaunchJob& job, const QuoteText& quote,
                                  std::string_view shard_word) {
  std::vector<std::string> words = {quote("borescope"), quote("map"), quote(job.verbs)};
  for (const std::vector<std::string>* const options : {&job.map_options, &job.task_options}) {
    for (const std::string& option : *options) {
      words.push_back(quote(option));
    }
  }
  words.push_back(quote(fmt::format("--threads={}", job.cpus)));
  if (job.is_forced) {
    words.push_back(quote("--force"));
  }
  words.emplace_back(shard_word);
  words.push_back(quote(fmt::format("--output={}/", job.folder)));
  words.push_back(quote("--"));
  for (const std::vector<std::string>* const operands : {&job.words, &job.inputs}) {
    for (const std::string& operand : *operands) {
      words.push_back(quote(operand));
    }
  }
  return words;
}

std::vector<std::string> ReduceWords(const LaunchJob& job, const QuoteText& quote) {
  std::vector<std::string> words = {quote("borescope"), quote(job.is_report ? "report" : "reduce")};
  for (const std::string& option : job.reduce_options) {
    words.push_back(quote(option));
  }
  words.push_back(quote("--output=" + job.AnswerPath()));
  words.push_back(quote("--"));
  words.push_back(quote(job.PartsPattern()));
  return words;
}

}  // namespace borescope::cli
