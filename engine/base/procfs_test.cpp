// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/procfs.hpp"

namespace ullage::procfs_test {
namespace {

constexpr std::string_view stat_text =
    "cpu  9808 1 4887 421435 796 2 99 11 5 6\n"
    "cpu0 1553 0 1183 215691 23 1 22 1 5 6\n"
    "cpu1 8255 1 3703 205743 773 1 76 9 0 0\n"
    "intr 372099 0 0\nctxt 1\n";

TEST(ProcFs, CpuTicks) {
  const auto ticks = parse_cpu_ticks(stat_text);
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->user, 9808U);
  EXPECT_EQ(ticks->nice, 1U);
  EXPECT_EQ(ticks->system, 4887U);
  EXPECT_EQ(ticks->idle, 421435U);
  EXPECT_EQ(ticks->iowait, 796U);
  EXPECT_EQ(ticks->irq, 2U);
  EXPECT_EQ(ticks->softirq, 99U);
  EXPECT_EQ(ticks->steal, 11U);
  EXPECT_EQ(ticks->cpus, 2);
}

TEST(ProcFs, BrokenCpuTicksAreNothing) {
  for (const char* text : {"", "\n", "cpu", "cpu  1 2 3\ncpu0 1 2 3\n", "cpu  1 2 x 4 5 6 7 8\ncpu0 1\n",
                           "cpu  1 2 3 4 5 6 7 8\nintr 1\n", "intr 1\n"})
    EXPECT_FALSE(parse_cpu_ticks(text)) << text;
}

TEST(ProcFs, ProcessIo) {
  const auto io = parse_process_io(
      "rchar: 6976\nwchar: 0\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n");
  ASSERT_TRUE(io);
  EXPECT_EQ(io->read_bytes, 4096U);
  EXPECT_EQ(io->write_bytes, 8192U);
  EXPECT_FALSE(parse_process_io("read_bytes: 4096\n"));
  EXPECT_FALSE(parse_process_io("read_bytes: -1\nwrite_bytes: 0\n"));
}

TEST(ProcFs, Pressure) {
  EXPECT_EQ(
      parse_pressure_us(
          "some avg10=0.12 avg60=0.46 avg300=0.38 total=7742683\nfull avg10=0.10 avg60=0.39 avg300=0.34 total=1\n"),
      7742683U);
  EXPECT_FALSE(parse_pressure_us("full avg10=0.10 avg60=0.39 avg300=0.34 total=1\n"));
  EXPECT_FALSE(parse_pressure_us("some avg10=0.12 total=\n"));
  EXPECT_FALSE(parse_pressure_us(""));
}

TEST(ProcFs, RunDelay) {
  EXPECT_EQ(parse_run_delay_ns("1735428 29244 2\n"), 29244U);
  EXPECT_FALSE(parse_run_delay_ns("0 0 0\n"));
  EXPECT_FALSE(parse_run_delay_ns("1735428 29244\n"));
  EXPECT_FALSE(parse_run_delay_ns("x y z\n"));
}

TEST(ProcFs, CpuLists) {
  EXPECT_EQ(parse_cpu_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_cpu_list("5,4-5"), (std::vector<int>{4, 5}));
  for (const char* text : {"", "7", "0-3,8,10-11", "0,2,4-5"}) EXPECT_EQ(cpu_list_text(parse_cpu_list(text)), text);
  for (const char* text : {"", "\n", "a", "3-1", "1-", "-1", "0-99999999", "1,,2", "1-2-3"})
    EXPECT_TRUE(parse_cpu_list(text).empty()) << text;
}

TEST(ProcFs, Pids) {
  EXPECT_EQ(parse_pids("3 4 17 "), (std::vector<int>{3, 4, 17}));
  EXPECT_EQ(parse_pids("0 x -5 99999999999 8"), (std::vector<int>{8}));
}

TEST(ProcFs, GarbageNeverThrows) {
  EXPECT_TRUE(rc::check([](const std::string& garbage) {
    for (const std::string& text :
         {garbage, "cpu " + garbage, "some total=" + garbage, "read_bytes: " + garbage, "1-" + garbage}) {
      (void)parse_cpu_ticks(text);
      (void)parse_process_io(text);
      (void)parse_pressure_us(text);
      (void)parse_run_delay_ns(text);
      (void)parse_cpu_list(text);
      (void)parse_pids(text);
    }
  }));
}

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

}  // namespace ullage::procfs_test
