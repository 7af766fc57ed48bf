// SPDX-License-Identifier: Apache-2.0
#include "run/sign_of_life.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage/test_support.hpp"

namespace ullage::sign_of_life_test {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

TEST(SignOfLife, IsGivenAtOnceAndChangesWithEachSign) {
  const test::TempFolder folder;
  const std::string records = folder.path() + "/records.ndjson";
  {
    SignOfLife sign(records, true);
    const std::string first = first_line(records + ".alive");
    EXPECT_FALSE(first.empty());
    sign.give();
    EXPECT_NE(first_line(records + ".alive"), first);
  }
  EXPECT_FALSE(std::filesystem::exists(records + ".alive"));
}

TEST(SignOfLife, OfAnotherRankMakesNoFile) {
  const test::TempFolder folder;
  SignOfLife sign(folder.path() + "/records.ndjson", false);
  sign.give();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SignOfLife, IsNotGivenWhereNoFileCanBe) {
  const test::TempFolder folder;
  SignOfLife sign(folder.path() + "/missing/records.ndjson", true);
  sign.give();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace ullage::sign_of_life_test
