// The Static Analysis Results Interchange Format, version 2.1.0 (OASIS, 2020), as far as code
// reviews show it.
#include <fmt/format.h>

#include <algorithm>

#include "borescope/base/text/text.h"
#include "borescope/base/version.h"
#include "borescope/check/reports/ci_reports.h"
#include "borescope/output/json_writer.h"

namespace borescope::internal {
namespace {

// A URI reference of a path (RFC 3986).
std::string UriOf(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string uri;
  for (const char c : path) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c);
    if (is_letter || kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

void PutText(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key);
  json.BeginObject();
  json.Member("text", text);
  json.EndObject();
}

void PutRules(JsonWriter& json, const CiReport& report) {
  json.Key("rules");
  json.BeginArray();
  for (size_t i = 0; i < report.checks.size(); ++i) {
    json.BreakLine(4);
    json.BeginObject();
    json.Member("id", report.checks[i].id);
    PutText(json, "shortDescription", report.checks[i].name);
    json.EndObject();
  }
  json.EndArray();
}

void PutLocation(JsonWriter& json, const CiReport& report, const ReportedCheck& check) {
  json.Key("locations");
  json.BeginArray();
  json.BeginObject();
  json.Key("physicalLocation");
  json.BeginObject();
  json.Key("artifactLocation");
  json.BeginObject();
  json.Member("uri", UriOf(report.budget_path.empty() ? report.input : report.budget_path));
  json.EndObject();
  json.Key("region");
  json.BeginObject();
  json.Key("startLine");
  json.Int(std::max(check.line, 1U));
  json.EndObject();
  json.EndObject();
  json.EndObject();
  json.EndArray();
}

void PutResult(JsonWriter& json, const CiReport& report, size_t number) {
  const ReportedCheck& check = report.checks[number];
  const bool is_error =
      check.status == BudgetStatus::kBroken || check.status == BudgetStatus::kVoid || report.strict;
  json.BreakLine(3);
  json.BeginObject();
  json.Member("ruleId", check.id);
  json.Key("ruleIndex");
  json.Int(static_cast<int64_t>(number));
  json.Member("level", is_error ? "error" : report.is_untested ? "warning" : "note");
  const std::string_view what = check.status == BudgetStatus::kVoid ? report.why : check.sentence;
  PutText(json, "message",
          fmt::format("{}: {}{}{}", check.name, what,
                      check.evidence.empty() ? "" : "; see: ", check.evidence));
  PutLocation(json, report, check);
  json.EndObject();
}

void PutDriver(JsonWriter& json, const CiReport& report) {
  json.Key("tool");
  json.BeginObject();
  json.Key("driver");
  json.BeginObject();
  json.Member("name", "borescope check");
  json.Member("version", Version());
  PutRules(json, report);
  json.EndObject();
  json.EndObject();
}

}  // namespace

Result<void> WriteSarif(const CiReport& report, Sink& sink) {
  JsonWriter json(sink);
  json.BeginObject();
  json.Member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.Member("version", "2.1.0");
  json.Key("runs");
  json.BeginArray();
  json.BreakLine(1);
  json.BeginObject();
  PutDriver(json, report);
  json.BreakLine(2);
  json.Key("results");
  json.BeginArray();
  for (size_t i = 0; i < report.checks.size(); ++i) {
    if (report.checks[i].status != BudgetStatus::kKept) {
      PutResult(json, report, i);
    }
  }
  json.EndArray();
  json.EndObject();
  json.EndArray();
  json.EndObject();
  return json.Finish();
}

}  // namespace borescope::internal
