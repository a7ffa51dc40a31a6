#include "borescope/check/budget.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/table/display/view.h"

namespace borescope::internal {

namespace {

BudgetFile Read(const std::string& text) {
  Result<BudgetFile> file = ReadBudgetFile(text, "b.toml");
  EXPECT_TRUE(file.ok()) << file.error().Sentence();
  return file.ok() ? std::move(*file) : BudgetFile();
}

std::string ErrorIn(const std::string& text) {
  const Result<BudgetFile> file = ReadBudgetFile(text, "b.toml");
  return file.ok() ? "none" : file.error().Sentence();
}

TEST(QuantityTest, NumbersWithUnits) {
  EXPECT_DOUBLE_EQ(ParseAmount("310ms")->value, 310e6);
  EXPECT_EQ(ParseAmount("310 ms")->unit, Unit::kNanoseconds);
  EXPECT_DOUBLE_EQ(ParseAmount("1.5GiB")->value, 1.5 * 1073741824);
  EXPECT_DOUBLE_EQ(ParseAmount("15%")->value, 0.15);
  EXPECT_DOUBLE_EQ(ParseAmount("12")->value, 12);
  for (const char* const bad : {"", "ms", "-1", "1e999", "3 parsecs", "1.2.3", "nan", "inf"}) {
    EXPECT_FALSE(ParseAmount(bad).has_value()) << bad;
  }
  EXPECT_EQ(AmountText(310e6, Unit::kNanoseconds), "310 ms");
  EXPECT_EQ(AmountText(0.1523, Unit::kShare), "15.23 %");
  EXPECT_EQ(AmountText(2e9, Unit::kBytes), "2 GB");
  EXPECT_EQ(AmountText(0, Unit::kNanoseconds), "0 ns");
}

TEST(ReadBudgetTest, EveryKey) {
  const BudgetFile file = Read(R"(schema = 1
[[budget]]
name = "step time"
table = "steps"
column = "span_ns"
reduce = "p90"
where = {step = ">=3", gpu = [0, 1], name = "x"}
max = "310ms"
[[budget]]
name = "exposed"
table = "breakdown"
column = "exposed_comm_ns"
over = "span_ns"
reduce = "sum"
max = "15%"
[[budget]]
name = "no slower"
table = "steps"
column = "span_ns"
worse_than_baseline = {by = "3%", confidence = 0.99, min_effect = "1ms"}
[[budget]]
name = "syncs"
sql = "select 1"
max = 12
[quality]
max_unlinked_share = "1%"
fail_on = "error"
)");
  ASSERT_EQ(file.budgets.size(), 4U);
  EXPECT_EQ(file.budgets[0].line, 2U);
  EXPECT_EQ(file.budgets[1].line, 9U);
  EXPECT_EQ(file.budgets[0].reduce, RowReduce::kP90);
  ASSERT_EQ(file.budgets[0].where.size(), 3U);
  EXPECT_EQ(file.budgets[0].where[0].is, RowCondition::Is::kAtLeast);
  EXPECT_EQ(file.budgets[0].where[1].values, (std::vector<std::string>{"0", "1"}));
  EXPECT_DOUBLE_EQ(file.budgets[1].max->value, 0.15);
  EXPECT_DOUBLE_EQ(file.budgets[2].worse->confidence, 0.99);
  EXPECT_DOUBLE_EQ(file.budgets[2].worse->min_effect->value, 1e6);
  EXPECT_EQ(file.budgets[3].sql, "select 1");
  EXPECT_EQ(file.quality.fail_on, FailOn::kError);
  EXPECT_DOUBLE_EQ(*file.quality.max_unlinked_share, 0.01);
}

TEST(ReadBudgetTest, ErrorsNameLineAndCause) {
  EXPECT_TRUE(ErrorIn("[[budget]]\nname = \n").starts_with("b.toml:2: "));
  EXPECT_EQ(ErrorIn("[[budgets]]\n"),
            "b.toml:1: a budget file has no key 'budgets'; did you mean 'budget'?");
  EXPECT_EQ(ErrorIn("schema = 2"), "b.toml:1: this version reads schema = 1");
  EXPECT_EQ(ErrorIn(""), "b.toml: there is no [[budget]] in it");
  EXPECT_EQ(ErrorIn("[budget]\nname='x'"),
            "b.toml:1: budgets are written as [[budget]], with two brackets");
  EXPECT_EQ(ErrorIn("[[budget]]\nname='x'\ntable='steps'\ncolumn='a'\nmx=1"),
            "b.toml:5: a budget has no key 'mx'; did you mean 'max'?");
  EXPECT_EQ(ErrorIn("[[budget]]\nname='x'\ntable='steps'\ncolumn='a'"),
            "b.toml:1: a budget needs max, min or worse_than_baseline");
  EXPECT_EQ(ErrorIn("[[budget]]\nname='x'\nmax=1"),
            "b.toml:1: a budget needs either a table, with its column, or sql");
  EXPECT_TRUE(ErrorIn("[[budget]]\nname='x'\nsql='s'\nmax='3 apples'")
                  .starts_with("b.toml:4: 'max' takes"));
  EXPECT_TRUE(
      ErrorIn("[[budget]]\nname='x'\nsql='s'\nmax=-3").starts_with("b.toml:4: 'max' takes"));
  EXPECT_EQ(ErrorIn("[[budget]]\nname='x'\nsql='s'\nmax=1\n[[budget]]\nname='x'\nsql='s'\nmax=1"),
            "b.toml:5: there are two budgets of the name 'x'");
  EXPECT_EQ(ErrorIn("[quality]\nfail_on='always'"),
            "b.toml:2: 'fail_on' takes never, warning, error, not 'always'");
}

TEST(ReadBudgetTest, HostileTextIsAnError) {
  EXPECT_NE(ErrorIn(std::string(100000, '[')), "none");
  EXPECT_NE(ErrorIn("a = " + std::string(100000, '[')), "none");
  EXPECT_NE(ErrorIn(std::string("\0\xff\xfe", 3)), "none");
  EXPECT_NE(ErrorIn(std::string(2 << 20, 'a')), "none");
  std::string many;
  for (int i = 0; i < 2000; ++i) {
    many += "[[budget]]\n";
  }
  EXPECT_EQ(ErrorIn(many), "b.toml:1001: there are more than 1000 of [[budget]]");
}

Table Steps() {
  Table table{"steps", "", {}};
  Column& step = AddInt(table, "step", Unit::kNone, Role::kKey, "");
  for (const int64_t value : {1, 2, 3, 4}) Push(step, value);
  PushMissing(step);
  Column& span = AddInt(table, "span_ns", Unit::kNanoseconds, Role::kSum, "");
  for (const int64_t value : {100, 20, 30, 40}) Push(span, value);
  Push(span, int64_t{1000});
  Column& name = AddString(table, "name", Role::kKey, "");
  for (const char* const value : {"a", "b", "a", "b", "c"}) Push(name, value);
  return table;
}

double Value(const std::string& rest) {
  const BudgetFile file = Read("[[budget]]\nname='x'\nmax='1s'\ntable='steps'\n" + rest);
  const Result<BudgetValue> value = ValueInTable(file.budgets.front(), Steps());
  EXPECT_TRUE(value.ok()) << value.error().Sentence();
  return value.ok() ? value->value : -1;
}

TEST(BudgetValueTest, ReducesTheRowsThatStay) {
  const std::string span = "column='span_ns'\n";
  EXPECT_DOUBLE_EQ(Value(span + "where={step='>=2'}"), 30);
  EXPECT_DOUBLE_EQ(Value(span + "reduce='max'\nwhere={step=[1, 2]}"), 100);
  EXPECT_DOUBLE_EQ(Value(span + "reduce='sum'\nwhere={name='b'}"), 60);
  EXPECT_DOUBLE_EQ(Value(span + "reduce='sum'\nwhere={name='!=b'}"), 130);
  EXPECT_DOUBLE_EQ(Value(span + "reduce='mean'\nwhere={span_ns='<50ns'}"), 30);
  EXPECT_DOUBLE_EQ(Value(span + "reduce='p90'\nwhere={step='<5'}"), 82);
  EXPECT_DOUBLE_EQ(Value("reduce='count'\nwhere={name='a'}"), 2);
  EXPECT_DOUBLE_EQ(Value(span + "reduce='sum'\nover='step'\nwhere={step='<=2'}"), 40);
}

// Work launched in no step, or before the recording, is not another step.
TEST(BudgetValueTest, WorkInNoStepIsNoStep) {
  const std::string span = "column='span_ns'\n";
  EXPECT_DOUBLE_EQ(Value(span + "reduce='max'"), 100);
  EXPECT_DOUBLE_EQ(Value("reduce='count'"), 4);
  const auto of_table = [](const std::string& rest, const char* name) {
    Table table = Steps();
    table.name = name;
    const BudgetFile file = Read("[[budget]]\nname='x'\nmax='1s'\ncolumn='span_ns'\n" + rest);
    return ValueInTable(file.budgets.front(), table)->value;
  };
  EXPECT_DOUBLE_EQ(of_table("table='breakdown'\nby='step'\nreduce='max'", "breakdown"), 100);
  // In other tables the step of a row is one of its columns.
  EXPECT_DOUBLE_EQ(of_table("table='calls'\nreduce='max'", "calls"), 1000);
}

TEST(BudgetValueTest, ErrorsNameTheBudget) {
  const auto error = [](const std::string& rest) {
    const BudgetFile file = Read("[[budget]]\nname='x'\nmax='1s'\ntable='steps'\n" + rest);
    return ValueInTable(file.budgets.front(), Steps()).error().Sentence();
  };
  EXPECT_EQ(error("column='spann_ns'"),
            "budget 'x': table steps has no column 'spann_ns'; did you mean 'span_ns'?");
  EXPECT_EQ(error("column='name'"), "budget 'x': column 'name' of table steps holds no numbers");
  EXPECT_TRUE(
      error("column='span_ns'\nwhere={step=9}").starts_with("budget 'x': no row of table steps"));
  EXPECT_EQ(error("column='span_ns'\nwhere={name='>a'}"),
            "budget 'x': where.name: 'a' cannot be compared with cells of text");
}

TEST(BudgetValueTest, LimitsNeedTheUnitOfTheValue) {
  const Budget budget =
      Read("[[budget]]\nname='x'\nmax='1s'\ntable='steps'\ncolumn='a'").budgets[0];
  EXPECT_EQ(FaultOfLimits(budget, Unit::kNanoseconds), "");
  EXPECT_EQ(FaultOfLimits(budget, Unit::kBytes),
            "budget 'x': its value is in bytes, its limit is not");
  const Budget bare = Read("[[budget]]\nname='x'\nmax=1\ntable='steps'\ncolumn='a'").budgets[0];
  EXPECT_EQ(FaultOfLimits(bare, Unit::kNanoseconds),
            "budget 'x': its value is in ns, its limit is not");
  EXPECT_EQ(FaultOfLimits(bare, Unit::kCount), "");
  EXPECT_EQ(FaultOfLimits(bare, Unit::kShare), "");
  const Budget many = Read("[[budget]]\nname='x'\nmax=15\ntable='steps'\ncolumn='a'").budgets[0];
  EXPECT_EQ(FaultOfLimits(many, Unit::kShare),
            "budget 'x': its value is a share, and 15 is more than all of it; write 15%");
}

// Whole numbers of a statement may be times, which are tested; counts say that they are.
TEST(BudgetValueTest, ResultsHaveTheUnitOfTheBudget) {
  Table result{"result", "", {}};
  Push(AddInt(result, "n", Unit::kNone, Role::kDerived, ""), int64_t{5});
  const std::string text = "[[budget]]\nname='x'\nmax=12\nsql='s'\n";
  EXPECT_EQ(ValueOfResult(Read(text).budgets[0], result)->unit, Unit::kNone);
  EXPECT_EQ(ValueOfResult(Read(text + "unit='count'").budgets[0], result)->unit, Unit::kCount);
  EXPECT_EQ(ErrorIn("[[budget]]\nname='x'\nmax=12\ntable='t'\ncolumn='c'\nunit='ns'"),
            "b.toml:1: unit belongs to sql; a column of a table has its own");
  EXPECT_EQ(AmountText(0.5, Unit::kFlops), "0.5 " + std::string(UnitName(Unit::kFlops)));
}

}  // namespace

}  // namespace borescope::internal
