#include "borescope/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace borescope {
namespace {

std::vector<std::string> ColumnsOf(const Result<Answer>& answer, std::string_view name) {
  std::vector<std::string> columns;
  Table table;
  if (answer.ok() && answer->Find(name, &table)) {
    for (size_t i = 0; i < table.num_columns(); ++i) {
      columns.emplace_back(table.column(i).name());
    }
  }
  return columns;
}

// Whole sentences, in which joints of literals left no double blank and no word twice.
void ExpectSentences(const std::string& doc, const std::string& where) {
  ASSERT_FALSE(doc.empty()) << where;
  EXPECT_TRUE(doc.ends_with('.')) << where << ": " << doc;
  EXPECT_NE(doc.front(), ' ') << where;
  EXPECT_EQ(doc.find("  "), std::string::npos) << where << ": " << doc;
  std::istringstream words(doc);
  std::string last;
  for (std::string word; words >> word; last = word) {
    EXPECT_NE(word, last) << where << ": " << doc;
  }
}

TEST(SchemaTest, EveryVerbHasTablesWhoseColumnsAreExplained) {
  ASSERT_FALSE(Describe().verbs.empty());
  for (const VerbInfo& verb : Describe().verbs) {
    const Result<Answer> answer = DescribeAnswer(verb.name);
    ASSERT_TRUE(answer.ok()) << verb.name << ": " << answer.error().Sentence();
    EXPECT_FALSE(answer->tables().empty()) << verb.name;
    for (const Table& table : answer->tables()) {
      EXPECT_EQ(table.num_rows(), 0U) << table.name();
      EXPECT_FALSE(table.title().empty()) << table.name();
      for (size_t i = 0; i < table.num_columns(); ++i) {
        ExpectSentences(std::string(table.column(i).doc()),
                        std::string(table.name()) + '.' + std::string(table.column(i).name()));
      }
    }
  }
}

TEST(SchemaTest, ParametersChangeTheColumns) {
  const std::vector<std::string> plain = ColumnsOf(DescribeAnswer("overlap"), "overlap");
  const std::vector<std::string> by_step =
      ColumnsOf(DescribeAnswer({"overlap", {{"by", "step"}}}), "overlap");
  EXPECT_EQ(std::count(plain.begin(), plain.end(), "step"), 0);
  EXPECT_EQ(std::count(by_step.begin(), by_step.end(), "step"), 1);
  EXPECT_EQ(by_step.size(), plain.size() + 1);
}

TEST(SchemaTest, WhatNoRecordingHasYetDoesNotMatter) {
  EXPECT_EQ(ColumnsOf(DescribeAnswer({"idle", {{"step", "99"}, {"gpu", "5"}}}), "idle"),
            ColumnsOf(DescribeAnswer("idle"), "idle"));
}

TEST(SchemaTest, WrongQuestionsAreRefused) {
  EXPECT_EQ(DescribeAnswer("kernel").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(DescribeAnswer({"kernels", {{"by", "sneeze"}}}).error().code,
            ErrorCode::kInvalidArgument);
}

// Every command asks for the schema as it starts: libraries for pictures would cost 10 ms and 8 MB.
TEST(SchemaTest, DescribingLoadsNoLibraries) {
  const auto maps = [] {
    std::ifstream file("/proc/self/maps");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const bool is_loaded = maps().find("librsvg") != std::string::npos;
  ASSERT_FALSE(Describe().writers.empty());
  EXPECT_EQ(maps().find("librsvg") != std::string::npos, is_loaded);
}

TEST(SchemaTest, UnknownFormatsAreRefused) {
  EXPECT_EQ(WhyUnwritable("csv").value(), "");
  EXPECT_EQ(WhyUnwritable("cvs").error().code, ErrorCode::kInvalidArgument);
}

TEST(SchemaTest, TasksAreDescribedWithTheirParameters) {
  std::set<std::string> names;
  for (const TaskInfo& task : Describe().tasks) {
    EXPECT_TRUE(names.insert(task.name).second) << task.name;
    EXPECT_FALSE(task.summary.empty()) << task.name;
    EXPECT_EQ(task.example.rfind("borescope " + task.name, 0), 0U) << task.example;
    for (const ParameterInfo& parameter : task.parameters) {
      EXPECT_FALSE(parameter.doc.empty()) << task.name << '.' << parameter.name;
      EXPECT_EQ(parameter.type == "flag", parameter.placeholder.empty()) << parameter.name;
    }
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"bench-kernel", "chakra", "check", "convert", "link", "map",
                                   "postmortem", "query", "record", "reduce", "report"}));
}

// Rows of one of the tables whose cells of some columns are these.
size_t CountRows(const Table& table,
                 const std::vector<std::pair<std::string, std::string>>& cells) {
  size_t found = 0;
  for (size_t row = 0; row < table.num_rows(); ++row) {
    found += std::all_of(cells.begin(), cells.end(), [&](const auto& cell) {
      Column column;
      return table.Find(cell.first, &column) && column.Text(row) == cell.second;
    });
  }
  return found;
}

// Tables that most answers leave out, as they have no rows there.
TEST(SchemaTest, TablesThatAreOftenLeftOutAreThere) {
  const Answer answer = SchemaTables();
  Table tables;
  ASSERT_TRUE(answer.Find("tables", &tables));
  const std::pair<const char*, const char*> expected[] = {
      {"summary", "prices"},        {"summary", "true_time"},
      {"summary", "host_use"},      {"summary", "rank_groups"},
      {"summary", "device_use"},    {"steps", "inherited_steps"},
      {"steps", "step_heat"},       {"info", "job"},
      {"info", "postmortem_files"}, {"memory", "memory_segments"},
      {"memory", "memory_growth"}};
  for (const auto& [verb, name] : expected) {
    EXPECT_EQ(CountRows(tables, {{"verb", verb}, {"name", name}}), 1U) << verb << ' ' << name;
  }
  EXPECT_EQ(CountRows(tables, {{"verb", "steps"}, {"name", "true_time"}}), 0U);  // if asked for
}

TEST(SchemaTest, TheTablesHoldAllOfIt) {
  const Answer answer = SchemaTables();
  Table verbs;
  Table parameters;
  Table columns;
  ASSERT_TRUE(answer.Find("verbs", &verbs) && answer.Find("parameters", &parameters) &&
              answer.Find("columns", &columns));
  EXPECT_EQ(verbs.num_rows(), Describe().verbs.size() + Describe().tasks.size());
  EXPECT_EQ(CountRows(parameters, {{"verb", "idle"}, {"name", "kernel_wait"}, {"default", "30us"}}),
            1U);
  EXPECT_EQ(CountRows(parameters, {{"verb", "query"}, {"name", "row_limit"}, {"type", "count"}}),
            1U);
  EXPECT_EQ(CountRows(columns, {{"verb", "breakdown"},
                                {"table", "breakdown"},
                                {"name", "busy_ns"},
                                {"type", "int"},
                                {"unit", "ns"},
                                {"role", "sum"}}),
            1U);
}

}  // namespace
}  // namespace borescope
