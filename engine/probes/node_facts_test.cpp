// SPDX-License-Identifier: Apache-2.0
#include "probes/node_facts.hpp"

#include <gtest/gtest.h>

namespace ullage::node_facts_test {
namespace {

TEST(NodeFacts, ValueOfTheFirstCpu) {
  constexpr std::string_view cpuinfo =
      "processor\t: 0\nmodel\t\t: 207\nmodel name\t: A : B\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\nmodel name\t: "
      "C\n";
  EXPECT_EQ(cpuinfo_value(cpuinfo, "model name"), "A : B");
  EXPECT_EQ(cpuinfo_value(cpuinfo, "model"), "207");
  EXPECT_FALSE(cpuinfo_value(cpuinfo, "name"));
  EXPECT_FALSE(cpuinfo_value("", "flags"));
}

TEST(NodeFacts, WordInBrackets) {
  EXPECT_EQ(chosen_word("always [madvise] never"), "madvise");
  for (const char* text : {"", "always", "[]", "[a"}) EXPECT_FALSE(chosen_word(text)) << text;
}

}  // namespace
}  // namespace ullage::node_facts_test
