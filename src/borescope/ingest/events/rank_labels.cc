#include "borescope/ingest/events/rank_labels.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "borescope/base/io/inflate.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/events/event_values.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/kineto/kineto_document.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

// The file is read once for each of them; it would be huge if it was a real one.
constexpr size_t kMostLabels = 512;

class LabelSink final : public EventSink {
 public:
  void Add(const RawEvent& event) override {
    std::string_view label = RankLabelOf(ProcessText(event.Get(Field::kPid), scratch_));
    std::string fused_label;
    if (label.empty()) {
      if (const FusedRank fused = FusedRankOf(event.Get(Field::kArgs)); !fused.rank.empty()) {
        label = fused_label = FusedRankLabel(fused);
      }
    }
    const bool has_time = event.Has(Field::kTs);
    is_mixed_ |= label.empty() && has_time;
    if (!label.empty() && label != last_ && labels_.size() <= kMostLabels) {
      last_ = label;
      labels_.insert(last_);
    }
  }
  Diagnostics& diagnostics() override { return diagnostics_; }

  // Empty where some events have no label.
  std::vector<std::string> labels() const {
    return is_mixed_ ? std::vector<std::string>()
                     : std::vector<std::string>(labels_.begin(), labels_.end());
  }

 private:
  std::set<std::string> labels_;
  std::string last_;
  std::string scratch_;
  bool is_mixed_ = false;
  Diagnostics diagnostics_;
};

// Whether the first event looks as if it had a label: then all have, or the ranks are not known.
bool MayHaveLabels(std::string_view head) {
  constexpr size_t kFirstEvents = size_t{64} << 10;
  if (Contains(head.substr(0, kFirstEvents), "\"pid_raw\"")) {
    return true;
  }
  constexpr std::string_view kPid = "\"pid\"";
  const size_t at = head.find(kPid);
  const size_t value = at == std::string_view::npos
                           ? std::string_view::npos
                           : head.find_first_not_of(" :\t\r\n", at + kPid.size());
  return value != std::string_view::npos && head.substr(value).starts_with("\"[");
}

// "TP01-DP00-PP00-EP00" as numbers: ranks of a replica are together, and in it those of a stage
// of the pipeline. Zeros for "rank 3", of which the shorter ones come first.
std::array<int64_t, 4> PlaceOf(std::string_view label) {
  constexpr std::string_view kKeys[] = {"DP", "PP", "TP", "EP"};
  std::array<int64_t, 4> place{};
  for (size_t i = 0; i < std::size(kKeys); ++i) {
    size_t at = label.find(kKeys[i]);
    at = at == std::string_view::npos ? label.size() : at + kKeys[i].size();
    for (; at < label.size() && IsDigit(label[at]) && place[i] < (int64_t{1} << 40); ++at) {
      place[i] = place[i] * 10 + (label[at] - '0');
    }
  }
  return place;
}

// Damage is for the loader to report.
bool FailedToRead(const TextReader& reader) {
  return reader.error().has_value() && reader.error()->code == ErrorCode::kIo;
}

}  // namespace

Result<std::vector<std::string>> FindRankLabels(const std::string& path) {
  const std::vector<std::string> none;
  BS_ASSIGN(const FileKind kind, KindOf(path));
  if (kind != FileKind::kFile) {
    return none;
  }
  Result<OpenedSource> opened = OpenInflated(path);
  if (!opened.ok()) {
    return opened.error().code == ErrorCode::kIo ? Result<std::vector<std::string>>(opened.error())
                                                 : none;
  }
  TextReader reader(std::move(*opened), {});
  reader.Fill();
  reader.SkipByteOrderMark();
  const char first = reader.SkipSpace();
  if ((first != '{' && first != '[') || !MayHaveLabels(reader.window())) {
    return FailedToRead(reader) ? Result<std::vector<std::string>>(InFile(path, *reader.error()))
                                : none;
  }
  LabelSink sink;
  TraceBuilder unused;
  DocumentReader(reader, unused, {}, sink).Read();
  if (FailedToRead(reader)) {
    return InFile(path, *reader.error());
  }
  std::vector<std::string> labels = sink.labels();
  if (labels.size() < 2 || labels.size() > kMostLabels) {
    return none;
  }
  std::sort(labels.begin(), labels.end(), [](const std::string& a, const std::string& b) {
    return std::tuple(PlaceOf(a), a.size(), a) < std::tuple(PlaceOf(b), b.size(), b);
  });
  return labels;
}

}  // namespace borescope::internal
