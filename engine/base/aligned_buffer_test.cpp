// SPDX-License-Identifier: Apache-2.0
#include "base/aligned_buffer.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <thread>

#include "base/affinity.hpp"

namespace ullage::aligned_buffer_test {

/// VmLck of this process.
std::size_t locked_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmLck:")) return std::stoul(line.substr(6));
  return 0;
}

TEST(AlignedBuffer, IsAlignedAndZeroed) {
  for (const std::size_t alignment : {64UL, 512UL, 4096UL, 65536UL}) {
    for (const std::size_t size : {8UL, 4096UL, 47008UL}) {
      AlignedBuffer buffer(size, alignment);
      EXPECT_EQ(buffer.size(), size);
      EXPECT_EQ(buffer.bytes().size(), size);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % alignment, 0U);
      EXPECT_TRUE(std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{0}; }));
    }
  }
}

TEST(AlignedBuffer, LargeOnesBeginWhereHugePagesDo) {
  constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;
  for (const std::size_t size : {huge / 16, huge, huge + 4096}) {
    AlignedBuffer buffer(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % huge, 0U);
    EXPECT_TRUE(std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

/// Returns where the kernel says that each page of `bytes` lies: a node, or minus an errno.
std::vector<int> nodes_of(std::span<std::byte> bytes) {
  constexpr std::size_t page = 4096;
  std::vector<void*> pages;
  for (std::size_t at = 0; at < bytes.size(); at += page) pages.push_back(bytes.data() + at);
  std::vector<int> nodes(pages.size(), -EINVAL);
  if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0) nodes.clear();
  return nodes;
}

TEST(AlignedBuffer, EveryPageIsThereOnTheNodeOfWhoMadeIt) {
  for (const int cpu : allowed_cpus()) {
    std::jthread([cpu] {
      ASSERT_TRUE(pin_to(cpu));
      unsigned node = 0;
      ASSERT_EQ(syscall(SYS_getcpu, nullptr, &node, nullptr), 0);
      for (const std::size_t size : {std::size_t{47008}, std::size_t{1} << 20, std::size_t{5} << 20}) {
        AlignedBuffer buffer(size);
        const std::vector<int> nodes = nodes_of(buffer.bytes());
        if (nodes.empty()) GTEST_SKIP() << "this system does not tell where pages lie";
        EXPECT_TRUE(std::ranges::all_of(nodes, [&](int found) { return found == static_cast<int>(node); })) << size;
      }
    }).join();
  }
}

TEST(AlignedBuffer, LargeOnesStayInMemoryWhereThatIsAllowed) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  if (limit.rlim_cur < std::size_t{8} << 20) GTEST_SKIP() << "no memory may be locked here";
  const AlignedBuffer seen(4096);
  const std::size_t none = locked_kib();
  if (mlock(seen.bytes().data(), 4096) != 0 || locked_kib() == none)
    GTEST_SKIP() << "locking memory has no effect here (AddressSanitizer leaves the call out)";
  (void)munlock(seen.bytes().data(), 4096);
  const std::size_t before = locked_kib();
  {
    const AlignedBuffer buffer(std::size_t{1} << 20);
    EXPECT_GE(locked_kib(), before + 1024);
  }
  EXPECT_EQ(locked_kib(), before) << "what is given back is locked no more";
}

TEST(AlignedBuffer, EmptyNeedsNoMemory) {
  EXPECT_EQ(AlignedBuffer().bytes().data(), nullptr);
  EXPECT_EQ(AlignedBuffer(0).bytes().size(), 0U);
}

TEST(AlignedBuffer, MovesWithItsContents) {
  AlignedBuffer first(64);
  first.bytes()[0] = std::byte{7};
  const AlignedBuffer second = std::move(first);
  EXPECT_EQ(second.bytes()[0], std::byte{7});
}

}  // namespace ullage::aligned_buffer_test
