// SPDX-License-Identifier: Apache-2.0
// Devices as they are found here: by pocl on any CPU where it is installed, and the one of tests/engine/fake_cuda.cpp.
#include "accelerator/device.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <numeric>

#include "accelerator/test_support.hpp"
#include "storage/test_support.hpp"

namespace ullage::accelerator {
namespace {

using test::AnyDevice;

INSTANTIATE_TEST_SUITE_P(Library, AnyDevice, test::of_each_library);

TEST(AcceleratorLibrary, TheComplaintOfACompilerIsItsFirstError) {
  EXPECT_EQ(first_complaint("warning: w\nline 2: error: e\nerror: f\n"), "line 2: error: e");
  EXPECT_EQ(first_complaint("said\nmore\n"), "said");
  EXPECT_EQ(first_complaint(""), "");
}

TEST(AcceleratorLibrary, WhatWasFoundIsDescribed) {
  const auto described = describe_devices();
  EXPECT_EQ(described.at("devices").size(), find_devices().devices.size());
  EXPECT_GE(described.at("devices").size() + described.at("missing").size(), 1U);
}

TEST(AcceleratorLink, ItsRateIsThatOfGenerationAndWidth) {
  const test::TempFolder folder;
  const std::filesystem::path device = std::filesystem::path(folder.path()) / "0000:17:00.0";
  std::filesystem::create_directory(device);
  const auto write = [&](const char* name, const char* text) { std::ofstream(device / name) << text << "\n"; };
  write("current_link_speed", "16.0 GT/s PCIe");
  write("current_link_width", "8");
  write("max_link_speed", "32.0 GT/s PCIe");
  write("max_link_width", "16");
  const auto link = [&](const char* pci, const char* when) { return link_of(pci, when, folder.path()); };
  EXPECT_NEAR(link("0000:17:00.0", "max").rate, 63.0e9, 0.1e9);
  EXPECT_NEAR(link("0000:17:00.0", "current").rate, 15.75e9, 0.01e9);
  EXPECT_EQ(link("0000:17:00.0", "current").text, "16.0 GT/s PCIe x8");
  EXPECT_EQ(link("0000:18:00.0", "current").rate, 0);
  EXPECT_EQ(link("", "current").text, "");
}

TEST_P(AnyDevice, SaysWhatItIs) {
  EXPECT_FALSE(device().facts().name.empty());
  EXPECT_GT(device().facts().memory_bytes, std::uint64_t{1} << 20U);
  EXPECT_GT(device().facts().units, 0U);
}

TEST_P(AnyDevice, OneThatIsNotThereIsToldWithThoseThatAre) {
  const auto none = open_device("opencl:999");
  ASSERT_FALSE(none);
  EXPECT_NE(to_line(none.error()).find(device().facts().id), std::string::npos) << to_line(none.error());
}

TEST_P(AnyDevice, KernelChangesWhatWasCopiedToIt) {
  constexpr std::size_t count = 4096;
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 7);
  const auto memory = device().allocate(count * 8);
  ASSERT_TRUE(memory) << to_line(memory.error());
  ASSERT_TRUE(device().copy_to_device(**memory, 0, numbers.data(), count * 8));
  const auto kernel = device().kernel(all_kernels, "add");
  ASSERT_TRUE(kernel) << to_line(kernel.error());
  const std::uint64_t more = std::uint64_t{1} << 40U;
  ASSERT_TRUE(device().start_clock());
  ASSERT_TRUE(device().launch(*kernel, {.count = count}, std::array<Argument, 2>{*memory, more}));
  const auto took_s = device().stop_clock();
  ASSERT_TRUE(took_s) << to_line(took_s.error());
  EXPECT_GE(*took_s, 0);
  std::vector<std::uint64_t> found(count / 2);
  ASSERT_TRUE(device().copy_to_host(found.data(), **memory, count * 4, count * 4));
  ASSERT_TRUE(device().finish());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], 7 + count / 2 + i + more);
}

TEST_P(AnyDevice, PinnedMemoryHoldsWhatWasCopied) {
  const auto host = device().allocate_pinned(4096);
  ASSERT_TRUE(host) << to_line(host.error());
  const auto memory = device().allocate(4096);
  ASSERT_TRUE(memory);
  const std::span<std::byte> bytes(host->get(), 4096);
  std::ranges::fill(bytes, std::byte{42});
  ASSERT_TRUE(device().copy_to_device(**memory, 0, host->get(), 4096));
  ASSERT_TRUE(device().finish());
  std::ranges::fill(bytes, std::byte{0});
  ASSERT_TRUE(device().copy_to_host(host->get(), **memory, 0, 4096));
  ASSERT_TRUE(device().finish());
  EXPECT_EQ(std::ranges::count(bytes, std::byte{42}), 4096);
}

TEST_P(AnyDevice, MoreMemoryThanItHasIsEnomem) {
  const auto memory = device().allocate(std::uint64_t{1} << 50U);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().errno_value, ENOMEM);
  EXPECT_NE(to_line(memory.error()).find(device().facts().name), std::string::npos) << to_line(memory.error());
  EXPECT_EQ(device().allocate_pinned(std::uint64_t{1} << 50U).error().errno_value, ENOMEM);
}

TEST_P(AnyDevice, KernelThatDoesNotCompileIsOneLine) {
  constexpr Program wrong{.source = "KERNEL void wrong(GLOBAL u64* a) { a[0] = no_such_name; }\n",
                          .ptx = "no_such_name"};
  const auto kernel = device().kernel(wrong, "wrong");
  ASSERT_FALSE(kernel);
  const std::string line = to_line(kernel.error());
  EXPECT_NE(line.find("cannot build kernels: "), std::string::npos) << line;
  EXPECT_NE(line.find("no_such_name"), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
}

TEST_P(AnyDevice, KernelThatTheProgramLacksIsOneLine) {
  const auto kernel = device().kernel(all_kernels, "other");
  ASSERT_FALSE(kernel);
  EXPECT_NE(to_line(kernel.error()).find("cannot make kernel other"), std::string::npos) << to_line(kernel.error());
}

}  // namespace
}  // namespace ullage::accelerator
