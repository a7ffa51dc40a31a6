#include "borescope/output/digest/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"
#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/scale.h"
#include "borescope/output/units/units.h"

namespace borescope::internal {
namespace {

const Table* TableOf(std::span<const Table> tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

// As recorded, not yet printable.
std::string RawTextAt(const Table& table, std::string_view name, size_t row) {
  const Column* const column = table.Find(name);
  const auto* const texts =
      column == nullptr ? nullptr : std::get_if<StringValues>(&column->values);
  return texts == nullptr || column->IsMissing(row) ? std::string() : std::string((*texts)[row]);
}

double SumOf(const Table* table, std::string_view name) {
  const Column* const column = table == nullptr ? nullptr : table->Find(name);
  double sum = 0;
  for (size_t row = 0; column != nullptr && row < column->size(); ++row) {
    sum += NumberAt(column, row);
  }
  return sum;
}

double MostOf(const Table& table, std::string_view name) {
  const Column* const column = table.Find(name);
  double most = 0;
  for (size_t row = 0; column != nullptr && row < column->size(); ++row) {
    most = std::max(most, NumberAt(column, row));
  }
  return most;
}

std::string CountText(double count) {
  return GroupDigits(static_cast<int64_t>(std::min(count, 9e15)));
}

constexpr std::string_view kTimes = " x ";

// Where in `text` the next "2 x NAME" begins after `from`; its end without one.
size_t NextKind(std::string_view text, size_t from) {
  for (size_t at = text.find(", ", from); at != std::string_view::npos;
       at = text.find(", ", at + 1)) {
    const size_t digits = text.find_first_not_of("0123456789", at + 2);
    if (digits != at + 2 && digits != std::string_view::npos &&
        text.substr(digits).starts_with(kTimes)) {
      return at;
    }
  }
  return text.size();
}

using Kinds = std::map<std::string, int64_t, std::less<>>;

// Counts what "2 x A100, 1 x H100" says; of a text without a number, one.
void CountKinds(std::string_view text, Kinds& kinds) {
  while (!text.empty()) {
    const size_t end = NextKind(text, 0);
    std::string_view name = text.substr(0, end);
    const size_t times = name.find(kTimes);
    const auto count = times == std::string_view::npos
                           ? std::nullopt
                           : ParseNumber<int64_t>(name.substr(0, times));
    name.remove_prefix(count.has_value() ? times + kTimes.size() : 0);
    AddSaturatingTo(kinds[std::string(name)], count.value_or(1));
    text.remove_prefix(std::min(text.size(), end + 2));
  }
}

// The devices that worked on all ranks: "1 x A100" of two ranks is "2 x A100".
std::string DevicesOf(const Table& overview) {
  Kinds kinds;
  for (size_t row = 0; row < overview.rows(); ++row) {
    CountKinds(RawTextAt(overview, "devices", row), kinds);
  }
  std::string text;
  for (const auto& [name, count] : kinds) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : "; ",
                        CountText(static_cast<double>(count)), name);
  }
  return text;
}

void AddFact(std::string label, std::string value, Digest& digest) {
  if (!value.empty() && value != "0") {
    digest.facts.emplace_back(std::move(label), std::move(value));
  }
}

// Of the time that the verdict leaves out of its shares, what is called so.
DigestPart LeftOutPart(const Column& column, const Table& left_out) {
  return {PartLabel(column.name), Tone::kFaint, SumOf(&left_out, column.name)};
}

// What no share is of: the finding about idle time leaves it out, too.
void AddLeftOut(const Table* left_out, Digest& digest) {
  for (const Column& column : left_out == nullptr ? std::vector<Column>() : left_out->columns) {
    if (column.role != Role::kSum) {
      continue;
    }
    DigestPart part = LeftOutPart(column, *left_out);
    if (part.ns > 0) {
      digest.left_out_ns += part.ns;
      digest.left_out.push_back(std::move(part));
    }
  }
}

void AddFacts(const Table& overview, const Table* breakdown, Digest& digest) {
  const double world = MostOf(overview, "world_size");
  const auto ranks = static_cast<double>(overview.rows());
  const std::string of = world > ranks ? " of " + CountText(world) : "";
  AddFact("Devices", DevicesOf(overview), digest);
  AddFact("Ranks", CountText(ranks) + of, digest);
  AddFact("Steps", CountText(MostOf(overview, "steps")), digest);
  AddFact("Time", DigestTime(MostOf(overview, "span_ns")), digest);
  AddFact("Kernels", CountText(SumOf(&overview, "kernels")), digest);
  if (const double span = SumOf(breakdown, "span_ns") - digest.left_out_ns; span > 0) {
    AddFact("Devices busy", DigestShare(SumOf(breakdown, "busy_ns"), span), digest);
  }
}

void AddPart(std::string_view column, Tone tone, double ns, Digest& digest) {
  if (ns > 0) {
    digest.parts.push_back({PartLabel(column), tone, ns});
    digest.whole_ns += ns;
  }
}

// The columns that are coloured are parts of one whole. What is left out is idle time there.
void AddParts(const Table& breakdown, Digest& digest) {
  for (const Column& column : breakdown.columns) {
    if (column.hints.tone.has_value()) {
      const double ns = SumOf(&breakdown, column.name);
      AddPart(column.name, *column.hints.tone,
              column.name == "idle_ns" ? ns - digest.left_out_ns : ns, digest);
    }
  }
}

// Findings say "us", as all texts that may come to a terminal; card and text are for people.
void AddFindings(const Table& verdict, Digest& digest) {
  for (size_t row = 0; row < verdict.rows(); ++row) {
    digest.findings.push_back({RawTextAt(verdict, "severity", row),
                               WithMicroSigns(RawTextAt(verdict, "finding", row)),
                               WithMicroSigns(RawTextAt(verdict, "evidence", row))});
  }
}

void AddKernels(const Table& kernels, Digest& digest) {
  for (size_t row = 0; row < kernels.rows(); ++row) {
    digest.kernels.push_back({RawTextAt(kernels, "name", row), RawTextAt(kernels, "class", row),
                              NumberAt(kernels.Find("count"), row),
                              NumberAt(kernels.Find("total_ns"), row),
                              NumberAt(kernels.Find("share"), row)});
  }
}

}  // namespace

std::string DigestShare(double part, double whole) { return ShareText(part, whole); }

std::string DigestLeftOut(const Digest& run) {
  std::string text;
  for (const DigestPart& part : run.left_out) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", DigestTime(part.ns), part.label);
  }
  return text;
}

std::string DigestTime(double ns) {
  return Amount(ns, AmountFormat(Unit::kNanoseconds, std::abs(ns), ns == std::floor(ns)));
}

std::string DigestDelta(const DigestChange& change) {
  const double delta = change.after_ns - change.before_ns;
  const std::string sign = delta < 0 ? "\xE2\x88\x92" : "+";
  const std::string text = sign + DigestTime(std::abs(delta));
  // Of next to nothing any change is thousands of percent.
  constexpr double kLeastBefore = 0.1;
  return change.before_ns > 0 && change.before_ns >= kLeastBefore * change.after_ns
             ? fmt::format("{} ({}{})", text, sign, ShareText(std::abs(delta), change.before_ns))
             : text;
}

Digest MakeDigest(std::string title, std::span<const Table> tables) {
  Digest digest;
  digest.title = std::move(title);
  const Table* const breakdown = TableOf(tables, "breakdown");
  AddLeftOut(TableOf(tables, "left_out"), digest);
  if (const Table* overview = TableOf(tables, "overview"); overview != nullptr) {
    AddFacts(*overview, breakdown, digest);
  }
  if (const Table* verdict = TableOf(tables, "verdict"); verdict != nullptr) {
    AddFindings(*verdict, digest);
  }
  if (breakdown != nullptr) {
    AddParts(*breakdown, digest);
  }
  if (const Table* kernels = TableOf(tables, "kernels"); kernels != nullptr) {
    AddKernels(*kernels, digest);
  }
  return digest;
}

std::vector<DigestChange> ChangesOf(std::span<const Table> tables, size_t most) {
  std::vector<DigestChange> changes;
  const Table* const diff = TableOf(tables, "diff");
  for (size_t row = 0; diff != nullptr && row < diff->rows(); ++row) {
    const double before = NumberAt(diff->Find("base_ns"), row);
    const double after = NumberAt(diff->Find("test_ns"), row);
    if (RawTextAt(*diff, "side", row) == "device" && before != after) {
      changes.push_back({RawTextAt(*diff, "name", row), before, after});
    }
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    return std::abs(a.after_ns - a.before_ns) > std::abs(b.after_ns - b.before_ns);
  });
  changes.resize(std::min(changes.size(), most));
  return changes;
}

}  // namespace borescope::internal
