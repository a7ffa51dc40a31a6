// The verdict: what the rules found: errors, then warnings, then hints and what is well. Of each,
// findings about time come first, by the time at stake, then those about quality. At most
// kMostFindings are about time.
#include <algorithm>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/summary/verdict_rules.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostFindings = 6;

void Apply(std::span<const Rule> rules, const SummaryTables& tables,
           std::vector<Finding>& findings) {
  for (const Rule rule : rules) {
    if (std::optional<Finding> finding = rule(tables)) {
      findings.push_back(std::move(*finding));
    }
  }
}

// That a device is well used is no less than a hint.
int Urgency(const Finding& finding) {
  return finding.severity == "error" ? 2 : finding.severity == "warning" ? 1 : 0;
}

bool IsMoreUrgent(const Finding& a, const Finding& b) { return Urgency(a) > Urgency(b); }

bool ComesFirst(const Finding& a, const Finding& b) {
  return Urgency(a) != Urgency(b) ? IsMoreUrgent(a, b) : a.stake_ns > b.stake_ns;
}

Table NewVerdict() {
  Table table{"verdict", "Verdict", {}};
  AddString(table, "finding", Role::kKey, "What was found.");
  AddString(table, "severity", Role::kDerived, "ok, info, warning or error.");
  AddString(table, "evidence", Role::kDerived, "The numbers it rests on, as in the tables below.");
  AddFloat(table, "value", Unit::kOfRow, Role::kDerived, "The deciding number.");
  AddString(table, "unit", Role::kDerived, "Unit of the value: share (0 to 1), ratio or count.");
  AddString(table, "help", Role::kDerived, "What to do.");
  AddString(table, "where", Role::kDerived,
            "Where its strongest evidence is seen, with times as --begin and --end take them; "
            "missing where it is about the whole.");
  const auto number = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddInt(table, name, unit, Role::kDerived, doc);
  };
  number("rank", Unit::kNone, "The rank there.");
  number("gpu", Unit::kNone, "The device there; missing: none, or several.");
  number("step", Unit::kNone, "The step there, where the finding is about a step.");
  number("begin_ns", Unit::kNanoseconds, "When that begins, on the file's own clock.");
  number("end_ns", Unit::kNanoseconds, "When it ends.");
  return table;
}

}  // namespace

Table Verdict(const SummaryTables& tables) {
  std::vector<Finding> findings = IdleFindings(tables);
  Apply(CauseRules(), tables, findings);
  Apply(TimeRules(), tables, findings);
  Apply(RankRules(), tables, findings);
  std::stable_sort(findings.begin(), findings.end(), ComesFirst);
  findings.resize(std::min(findings.size(), kMostFindings));
  Apply(PhaseRules(), tables, findings);
  Apply(QualityRules(), tables, findings);
  // Errors first: with half of the file gone, the rest of the page is about the other half.
  std::stable_sort(findings.begin(), findings.end(), IsMoreUrgent);
  Table table = NewVerdict();
  const std::string kernel =
      tables.kernels.rows() == 0 ? "" : std::string(Texts(tables.kernels, "name")[0]);
  for (const Finding& finding : findings) {
    const FindingPlace& place = finding.place;
    Row row(table);
    row.Text(finding.title).Text(finding.severity).Text(finding.evidence);
    row.Float(finding.value).Text(finding.unit);
    row.Text(finding.help + PriceWords(tables.prices, finding.lever, kernel));
    row.MaybeText(WordsOfPlace(tables, place)).MaybeInt(place.rank).MaybeInt(place.gpu);
    row.MaybeInt(place.step).MaybeInt(place.begin_ns).MaybeInt(place.end_ns);
  }
  return table;
}

}  // namespace borescope::internal
