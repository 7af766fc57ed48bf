// SPDX-License-Identifier: Apache-2.0
#include "probes/text.hpp"

#include <gtest/gtest.h>

namespace ullage::text_test {
namespace {

using Views = std::vector<std::string_view>;

TEST(ProbeText, LinesAndWords) {
  EXPECT_EQ(lines_of("a\n\nb"), (Views{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\n"), (Views{"a"}));
  EXPECT_TRUE(lines_of("").empty());
  EXPECT_EQ(words_of("  a\t bc \n"), (Views{"a", "bc"}));
  EXPECT_TRUE(words_of(" \t ").empty());
  EXPECT_EQ(trimmed(" \ta b\n "), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(ProbeText, NumbersAreWholeWords) {
  EXPECT_EQ(number_of("18446744073709551615"), 18446744073709551615ULL);
  for (const char* word : {"", "-1", "1 ", "0x10", "1k", "18446744073709551616", "max"})
    EXPECT_FALSE(number_of(word)) << word;
  EXPECT_EQ(number_at({"a", "7"}, 1), 7U);
  EXPECT_FALSE(number_at({"a", "7"}, 2));
}

TEST(ProbeText, NumberOfAKey) {
  constexpr std::string_view text = "MemTotal:       24684092 kB\nMemFree: 5\nread_bytes 12\nempty:\n";
  EXPECT_EQ(number_of_key(text, "MemTotal"), 24684092U);
  EXPECT_EQ(number_of_key(text, "read_bytes"), 12U);
  EXPECT_FALSE(number_of_key(text, "Mem"));
  EXPECT_FALSE(number_of_key(text, "empty"));
}

TEST(ProbeText, EscapesOfNames) {
  EXPECT_EQ(unescaped("/a\\040b\\134c\\012"), "/a b\\c\n");
  EXPECT_EQ(unescaped("\\04"), "\\04");
  EXPECT_EQ(unescaped("\\089"), "\\089");
}

TEST(ProbeText, FilesThatCannotBeReadAreNothing) {
  EXPECT_FALSE(read_text("/proc/no/such/file"));
  EXPECT_FALSE(read_text("/proc"));
  EXPECT_FALSE(read_word("/dev/null"));
  EXPECT_EQ(read_text("/dev/null"), "");
  EXPECT_TRUE(read_text("/proc/self/status")->starts_with("Name:"));
}

}  // namespace
}  // namespace ullage::text_test
