// SPDX-License-Identifier: Apache-2.0
#include "mpi/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ullage::mpi::windows_test {
namespace {

std::int64_t number_in(const Window& window) {
  std::int64_t number = 0;
  std::memcpy(&number, window.own().data(), sizeof(number));
  return number;
}

TEST(MpiWindows, WhatIsPutIntoTheNextRankIsThereAndCanBeGot) {
  const Comm comm = Comm::world();
  Window window = Window::make(comm, 8).value();
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const std::array<std::int64_t, 1> mine{100 + comm.rank()};
  window.lock(next);
  window.put(std::as_bytes(std::span(mine)), next, 0);
  window.unlock(next);
  comm.barrier();
  window.lock(comm.rank());
  EXPECT_EQ(number_in(window), 100 + previous);
  window.unlock(comm.rank());
  std::array<std::int64_t, 1> got{};
  window.lock_all();
  window.get(std::as_writable_bytes(std::span(got)), next, 0);
  window.flush(next);
  EXPECT_EQ(got[0], mine[0]);
  window.unlock_all();
  comm.barrier();
}

TEST(MpiWindows, AllAddToOne) {
  const Comm comm = Comm::world();
  Window window = Window::make(comm, comm.rank() == 0 ? 16 : 0).value();
  if (comm.rank() == 0) {
    window.lock(0);
    std::ranges::fill(window.own(), std::byte{});
    window.unlock(0);
  }
  comm.barrier();
  const std::array<std::int64_t, 1> mine{1 + comm.rank()};
  window.fence();
  window.accumulate(mine, 0, 0);
  window.accumulate(mine, 0, 0);
  window.fence_last();
  const int ranks = comm.size();
  if (comm.rank() == 0) {
    EXPECT_EQ(number_in(window), ranks * (ranks + 1));
  }
  comm.barrier();
}

}  // namespace
}  // namespace ullage::mpi::windows_test
