#include "borescope/cli/launch/kubernetes_jobs.h"

#include <gtest/gtest.h>

namespace borescope::cli {

namespace {

TEST(YamlText, QuotesAndBackslashesAreEscaped) {
  EXPECT_EQ(YamlText("no"), R"("no")");
  EXPECT_EQ(YamlText(R"(a "b" \n: # é)"), R"("a \"b\" \\n: # é")");
}

TEST(YamlText, KubernetesPutsNoVariablesIntoArguments) {
  EXPECT_EQ(ContainerArgument("$(HOME) $$ $x"), R"("$$(HOME) $$$$ $$x")");
}

}  // namespace

}  // namespace borescope::cli
