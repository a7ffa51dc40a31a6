#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/check.h"
#include "borescope/schema.h"

namespace borescope {
namespace {

// A table of texts that takes one row at a time.
class RowWriter {
 public:
  RowWriter(std::string_view name, std::string_view title, std::vector<ListedColumn> columns)
      : table_{std::string(name), std::string(title), std::move(columns)} {}

  void Add(std::initializer_list<std::string_view> cells) {
    size_t i = 0;
    for (const std::string_view cell : cells) {
      table_.columns[i++].cells.emplace_back(cell);
    }
  }
  ListedTable Finish() { return std::move(table_); }

 private:
  ListedTable table_;
};

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ",") + word;
  }
  return text;
}

std::string_view YesOrNo(bool is_so) { return is_so ? "yes" : "no"; }

ListedTable VerbsTable(const Schema& schema) {
  RowWriter rows("verbs", "Verbs and tasks",
                 {{"kind", "verb: it answers with tables; task: anything else.", true, {}},
                  {"name", "Name on the command line.", true, {}},
                  {"summary", "What it is for.", false, {}},
                  {"example", "A command line.", false, {}},
                  {"takes_two", "Whether it compares two runs.", false, {}},
                  {"draws", "Whether its answers can be drawn.", false, {}},
                  {"saves", "Whether it has --save and --load.", false, {}},
                  {"word", "The parameter that comes before INPUT.", false, {}}});
  for (const VerbInfo& verb : schema.verbs) {
    rows.Add({"verb", verb.name, verb.summary, verb.example, YesOrNo(verb.takes_two),
              YesOrNo(verb.draws), YesOrNo(verb.saves), verb.word});
  }
  for (const TaskInfo& task : schema.tasks) {
    rows.Add({"task", task.name, task.summary, task.example, "no", "no", "no", ""});
  }
  return rows.Finish();
}

ListedTable ParametersTable(const Schema& schema) {
  RowWriter rows(
      "parameters", "Parameters of verbs and tasks",
      {{"verb", "The verb or task.", true, {}},
       {"name", "Name in programs; options have - for _.", true, {}},
       {"type", "What values it takes.", false, {}},
       {"default", "Its value where none is given; empty for none.", false, {}},
       {"choices", "The values to choose from, by commas; empty for any.", false, {}},
       {"placeholder", "What represents the value in help; empty for a flag.", false, {}},
       {"group", "selection, question or output.", false, {}},
       {"doc", "What it does.", false, {}}});
  const auto add = [&](const std::string& owner, const std::vector<ParameterInfo>& parameters) {
    for (const ParameterInfo& one : parameters) {
      rows.Add({owner, one.name, one.type, one.default_text, Joined(one.choices), one.placeholder,
                one.group, one.doc});
    }
  };
  for (const VerbInfo& verb : schema.verbs) {
    add(verb.name, verb.parameters);
  }
  for (const TaskInfo& task : schema.tasks) {
    add(task.name, task.parameters);
  }
  return rows.Finish();
}

ListedTable FormatsTable(const Schema& schema) {
  RowWriter rows("formats", "Formats",
                 {{"kind", "input, writer of tables, or target of convert.", true, {}},
                  {"name", "Name on the command line.", true, {}},
                  {"summary", "What it is.", false, {}},
                  {"extension", "Of the files of a writer.", false, {}},
                  {"unavailable", "Why it cannot be written here; empty if it can.", false, {}}});
  const auto add = [&](std::string_view kind, const std::vector<FormatInfo>& formats) {
    const bool is_writer = kind == "writer";
    for (const FormatInfo& format : formats) {
      const std::string problem = is_writer ? WhyUnwritable(format.name).value() : std::string();
      rows.Add({kind, format.name, format.summary, format.extension, problem});
    }
  };
  add("input", schema.formats);
  add("writer", schema.writers);
  add("target", schema.targets);
  return rows.Finish();
}

std::string_view TypeName(ColumnType type) {
  constexpr std::string_view kNames[] = {"int", "float", "string", "bool"};
  return kNames[static_cast<size_t>(type)];
}

// `tables` and `columns` of all verbs.
std::vector<ListedTable> AnswerTables(const Schema& schema) {
  RowWriter tables("tables", "Tables of verbs, and of the task check",
                   {{"verb", "The verb or task.", true, {}},
                    {"name", "Name of the table.", true, {}},
                    {"title", "What it shows.", false, {}}});
  RowWriter columns("columns", "Columns of tables",
                    {{"verb", "The verb.", true, {}},
                     {"table", "Name of the table.", true, {}},
                     {"name", "Name of the column.", true, {}},
                     {"type", "int, float, string or bool.", false, {}},
                     {"unit", "ns, bytes, share and so on; empty for none.", false, {}},
                     {"role", "How rows combine: key, sum, min, max or derived.", false, {}},
                     {"doc", "What it means.", false, {}}});
  const auto add = [&](const std::string& owner, const Answer& answer) {
    for (const Table& table : answer.tables()) {
      tables.Add({owner, table.name(), table.title()});
      for (size_t i = 0; i < table.num_columns(); ++i) {
        const Column column = table.column(i);
        columns.Add({owner, table.name(), column.name(), TypeName(column.type()), column.unit(),
                     column.role(), column.doc()});
      }
    }
  };
  for (const VerbInfo& verb : schema.verbs) {
    add(verb.name, DescribeAnswer(verb.name).value());
  }
  add("check", DescribeCheck());
  return {tables.Finish(), columns.Finish()};
}

}  // namespace

Answer SchemaTables() {
  const Schema& schema = Describe();
  std::vector<ListedTable> tables = {VerbsTable(schema), ParametersTable(schema)};
  for (ListedTable& table : AnswerTables(schema)) {
    tables.push_back(std::move(table));
  }
  tables.push_back(FormatsTable(schema));
  return Answer::OfTexts(tables);
}

}  // namespace borescope
