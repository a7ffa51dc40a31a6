#include "borescope/ingest/kineto/kineto_samples.h"

#include <optional>
#include <string>
#include <string_view>

#include "borescope/json/json_cursor.h"
#include "borescope/json/number.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kCategoryToken = "\"monitor,";
constexpr std::string_view kCategory = "monitor,";

// The monitored device: "gpu,2". The type may contain anything; the number follows the last comma.
struct Monitored {
  std::string type;
  int64_t device = kMissing;
};

Monitored ParseMonitored(std::string_view text) {
  const size_t comma = text.rfind(',');
  const ParsedNumber number =
      ParseInteger(comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1));
  return {std::string(text.substr(0, comma)),
          number.status == NumberStatus::kOk ? number.value : kMissing};
}

}  // namespace

void AddMonitorSample(const RawEvent& event, EventValues& values, TracePart& part) {
  if (!event.Get(Field::kCategory).starts_with(kCategoryToken)) {
    return;
  }
  const EventTime time = values.Time(event);
  JsonCursor args(event.Get(Field::kArgs));
  std::string_view key;
  if (!time.has_ts || !args.EnterObject() || !args.NextMember(key)) {
    return;
  }
  const std::optional<double> value = values.Number(event, key, args.Value());
  if (!value.has_value()) {
    return;
  }
  Samples& samples = part.data.samples;
  const uint32_t row = AddMissingRow(samples);
  const std::string_view category = values.Text(event, Field::kCategory);
  const Monitored monitored = ParseMonitored(category.substr(kCategory.size()));
  samples.ts_ns[row] = time.ts_ns;
  samples.end_ns[row] = time.ts_ns + time.dur_ns;
  samples.device_type[row] = part.Intern(monitored.type);
  samples.device[row] = monitored.device;
  samples.name[row] = part.Intern(values.Decoded(event, key));
  samples.value[row] = *value;
}

}  // namespace borescope::internal
