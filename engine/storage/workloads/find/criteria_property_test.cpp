// SPDX-License-Identifier: Apache-2.0
// The quick ways to match a name say what fnmatch(3) says, and the size test what arithmetic in wider numbers says.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "storage/workloads/find/criteria.hpp"

namespace ullage::find_criteria_property_test {

/// Few letters, so that pieces overlap and patterns match often.
std::string text_of(const std::string& letters, int longest) {
  return *rc::gen::resize(longest, rc::gen::container<std::string>(rc::gen::elementOf(letters)));
}

RC_GTEST_PROP(FindCriteriaProperty, StarsAndLettersMatchAsFnmatchDoes, ()) {
  const std::string glob = text_of("ab.*", 8);
  const std::string name = text_of("ab.", 12);
  RC_ASSERT(NamePattern(glob).matches(name) == (fnmatch(glob.c_str(), name.c_str(), 0) == 0));
}

RC_GTEST_PROP(FindCriteriaProperty, AnyPatternMatchesAsFnmatchDoes, ()) {
  const std::string glob = text_of("ab.*?[]!-\\\n\xc3\xff", 10);
  const std::string name = text_of("ab.*?[]\\\n\xc3\xff", 8);
  RC_ASSERT(NamePattern(glob).matches(name) == (fnmatch(glob.c_str(), name.c_str(), 0) == 0));
}

RC_GTEST_PROP(FindCriteriaProperty, APatternMadeFromANameMatchesIt, ()) {
  const std::string name = text_of("ab01.", 20);
  std::string glob = name;
  const auto cuts = *rc::gen::inRange(0, 4);
  for (int i = 0; i < cuts && !glob.empty(); ++i) {
    const auto from = *rc::gen::inRange<std::size_t>(0, glob.size());
    const auto length = *rc::gen::inRange<std::size_t>(0, glob.size() - from + 1);
    glob.replace(from, length, "*");
  }
  RC_ASSERT(NamePattern(glob).matches(name));
}

RC_GTEST_PROP(FindCriteriaProperty, ASizeIsLessEqualOrMoreAndNeverTwo, ()) {
  const auto units = *rc::gen::inRange<std::uint64_t>(0, 100);
  const auto size = *rc::gen::inRange<std::uint64_t>(0, 120) * *rc::gen::element<std::uint64_t>(1, 2, 511, 1024);
  const std::string word = std::to_string(units) + *rc::gen::element<std::string>("", "c", "w", "b", "k");
  int holds = 0;
  for (const char* relation : {"", "+", "-"}) {
    const auto test = SizeTest::parse(relation + word, "");
    RC_ASSERT(test.has_value());
    holds += test->matches(size) ? 1 : 0;
  }
  RC_ASSERT(holds == 1);
}

}  // namespace ullage::find_criteria_property_test
