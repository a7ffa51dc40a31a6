#include "borescope/cli/options/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <system_error>

namespace borescope::cli {
namespace {

// The number that all of `text` is.
template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [stop, error] = std::from_chars(text.begin(), text.end(), number);
  return error == std::errc() && stop == text.end() ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<int64_t> ParseWithin(std::string_view option, std::string_view text, int64_t smallest,
                            int64_t largest) {
  const std::optional<int64_t> number = ParseNumber<int64_t>(text);
  if (!number.has_value() || *number < smallest || *number > largest) {
    return UsageError(
        fmt::format("--{}: '{}' is no number between {} and {}", option, text, smallest, largest));
  }
  return *number;
}

Result<int> ParseCount(std::string_view option, std::string_view text, int largest, int smallest) {
  BS_ASSIGN(const int64_t number, ParseWithin(option, text, smallest, largest));
  return static_cast<int>(number);
}

Result<int> ParseThreads(const std::string& text) {
  return text.empty() ? Result<int>(0) : ParseCount("threads", text, 1024);
}

Result<Shard> ParseShard(std::string_view text) {
  constexpr uint32_t kMost = 1'000'000;
  const size_t slash = std::min(text.find('/'), text.size());
  const auto index = ParseNumber<uint32_t>(text.substr(0, slash));
  const auto count = ParseNumber<uint32_t>(text.substr(std::min(slash + 1, text.size())));
  if (!index.has_value() || !count.has_value() || *index >= *count || *count > kMost) {
    return UsageError(
        fmt::format("--shard: '{}' is no part; write I/N with I from 0 to N - 1, and "
                    "N up to {}",
                    text, kMost));
  }
  return Shard{*index, *count};
}

Result<double> ParseShare(std::string_view option, std::string_view text) {
  const bool is_percent = text.ends_with('%');
  const std::optional<double> number =
      ParseNumber<double>(text.substr(0, text.size() - (is_percent ? 1 : 0)));
  const double share = number.value_or(-1) / (is_percent ? 100 : 1);
  if (!(share >= 0 && share <= 1)) {
    return UsageError(fmt::format("--{}: '{}' is no share; write 3% or 0.03", option, text));
  }
  return share;
}

Result<double> ParseSeconds(const std::string& text) {
  constexpr double kLongest = 1e9;
  const std::optional<double> seconds = ParseNumber<double>(text);
  if (!seconds.has_value() || !(*seconds > 0 && *seconds <= kLongest)) {
    return UsageError(fmt::format("--time-limit: '{}' is no number of seconds above 0", text));
  }
  return *seconds;
}

Result<std::chrono::nanoseconds> ParseDuration(std::string_view option, std::string_view text) {
  struct TimeUnit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr TimeUnit kUnits[] = {{"ns", 1},  {"us", 1e3},   {"ms", 1e6},
                                 {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  const auto* const unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                        [end](const TimeUnit& row) { return row.name == end; });
  constexpr double kLargest = 9e18;
  const bool good = end != copy.c_str() && unit != std::end(kUnits);
  if (!good || !(number * unit->nanoseconds >= 1) || number * unit->nanoseconds > kLargest) {
    return UsageError(fmt::format("--{}: '{}' is no time; write 100ms, 5s or 2min", option, text));
  }
  return std::chrono::nanoseconds(static_cast<int64_t>(number * unit->nanoseconds));
}

Result<uint64_t> ParseSize(std::string_view option, std::string_view text) {
  constexpr std::string_view kPrefixes = "KMGT";
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  std::string_view suffix(end);
  double factor = 1;
  const size_t prefix = suffix.empty() ? std::string_view::npos : kPrefixes.find(suffix.front());
  if (prefix != std::string_view::npos) {
    suffix.remove_prefix(1);
    const bool binary = suffix.starts_with('i');
    suffix.remove_prefix(binary ? 1 : 0);
    factor = std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(prefix + 1));
  }
  constexpr double kLargest = 1e18;
  const bool good = end != copy.c_str() && (suffix.empty() || suffix == "B");
  if (!good || !(number * factor >= 1) || number * factor > kLargest) {
    return UsageError(
        fmt::format("--{}: '{}' is no size; write 8G, 512MiB or bytes", option, text));
  }
  return static_cast<uint64_t>(number * factor);
}

Result<std::filesystem::file_type> TypeOfPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(path, error).type();
  if (type != std::filesystem::file_type::none) {
    return type;
  }
  constexpr std::errc kNothingToSee[] = {
      std::errc::permission_denied, std::errc::operation_not_permitted,
      std::errc::too_many_symbolic_link_levels, std::errc::filename_too_long};
  if (std::find(std::begin(kNothingToSee), std::end(kNothingToSee), error) !=
      std::end(kNothingToSee)) {
    return std::filesystem::file_type::not_found;
  }
  return Error{.code = ErrorCode::kIo,
               .cause = error.message(),
               .remedy = "check its permissions and its disk",
               .file = path};
}

Result<bool> Exists(const std::string& path) {
  BS_ASSIGN(const std::filesystem::file_type type, TypeOfPath(path));
  return type != std::filesystem::file_type::not_found;
}

}  // namespace borescope::cli
