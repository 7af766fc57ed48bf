// SPDX-License-Identifier: Apache-2.0
#include "storage/storage_context.hpp"

#include <gtest/gtest.h>

namespace ullage::dataset_facts_test {

using nlohmann::json;

TEST(DatasetFacts, KnowsWhatWasEnteredUntilItIsStruck) {
  DatasetFacts book;
  EXPECT_EQ(book.find("a"), nullptr);
  EXPECT_TRUE(book.enter("a", {{"key", 7}}));
  ASSERT_NE(book.find("a"), nullptr);
  EXPECT_EQ((*book.find("a"))["key"], 7);
  EXPECT_TRUE(book.enter("a", {{"key", 8}}));
  EXPECT_EQ((*book.find("a"))["key"], 8);
  EXPECT_TRUE(book.remove("a"));
  EXPECT_EQ(book.find("a"), nullptr);
}

TEST(DatasetFacts, BeginsWithWhatAnEarlierLaunchLeft) {
  const DatasetFacts book({{"a", {{"key", 7}}}}, nullptr);
  ASSERT_NE(book.find("a"), nullptr);
  EXPECT_EQ((*book.find("a"))["key"], 7);
}

TEST(DatasetFacts, KeepsEveryChangeAndNothingElse) {
  std::vector<std::pair<std::string, json>> kept;
  DatasetFacts book({}, [&](const std::string& name, const json& facts) {
    kept.emplace_back(name, facts);
    return Status{};
  });
  EXPECT_TRUE(book.enter("a", {{"key", 7}}));
  EXPECT_TRUE(book.remove("a"));
  EXPECT_TRUE(book.remove("a"));
  const json entered{{"key", 7}, {"contents", Payload::version}};
  EXPECT_EQ(kept, (std::vector<std::pair<std::string, json>>{{"a", entered}, {"a", nullptr}}));
}

TEST(DatasetFacts, AFailureToKeepIsTheCallersToReport) {
  DatasetFacts book({}, [](const std::string&, const json&) { return fail(environment_error("m", "full")); });
  EXPECT_FALSE(book.enter("a", {}));
}

}  // namespace ullage::dataset_facts_test
