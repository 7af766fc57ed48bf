// SPDX-License-Identifier: Apache-2.0
// Libraries of CUDA that are not there, or do not start, and what one says of its card; what is done with devices,
// device_test.cpp asks. The library is that of tests/engine/fake_cuda.cpp: no GPU is needed, and none is measured.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "accelerator/test_support.hpp"

namespace ullage::accelerator {
namespace {

TEST(CudaLibrary, OneThatIsNotThereIsOneLine) {
  const auto none = cuda_devices("libullage-no-cuda.so.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "libullage-no-cuda.so.1 is not there");
}

TEST(CudaLibrary, AnotherLibraryIsRefused) {
  const auto none = cuda_devices("libm.so.6");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "libm.so.6 has no cuInit: it is no driver of CUDA");
}

class FakeCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto found = cuda_devices(); !found) GTEST_SKIP() << found.error().text;
  }
};

TEST_F(FakeCuda, DriverThatDoesNotStartIsOneLine) {
  const test::Fault fault("init");
  EXPECT_EQ(cuda_devices().error().text,
            "libcuda.so.1 does not start: CUDA error 803: system has unsupported display driver / cuda driver "
            "combination");
}

TEST_F(FakeCuda, DriverWithoutDeviceIsOneLine) {
  const test::Fault fault("none");
  EXPECT_EQ(cuda_devices().error().text, "libcuda.so.1 shows no device");
}

/// What the vendor's sheets say of cards, in TB/s and Tflop/s (H100 SXM5 80GB, A100 SXM4 40GB, V100 SXM2).
struct Sheet {
  const char* card;
  double memory;
  double fp64;
  double fp32;
};

TEST_F(FakeCuda, CeilingsAreThoseOfTheVendorsSheet) {
  constexpr std::array<Sheet, 3> sheets{
      {{"H100", 3.35, 33.5, 66.9}, {"A100", 1.555, 9.7, 19.5}, {"V100", 0.9, 7.8, 15.7}}};
  for (const Sheet& sheet : sheets) {
    ::setenv("FAKE_CUDA_CARD", sheet.card, 1);
    const auto devices = cuda_devices();
    ASSERT_TRUE(devices);
    const DeviceFacts& facts = devices->front()->facts();
    EXPECT_NEAR(facts.memory_rate, sheet.memory * 1e12, sheet.memory * 1e10) << sheet.card;
    EXPECT_NEAR(facts.fp64_rate, sheet.fp64 * 1e12, sheet.fp64 * 1e10) << sheet.card;
    EXPECT_NEAR(facts.fp32_rate, sheet.fp32 * 1e12, sheet.fp32 * 1e10) << sheet.card;
  }
  ::unsetenv("FAKE_CUDA_CARD");
}

TEST_F(FakeCuda, OfAnUnknownCardNoCeilingIsSaid) {
  ::setenv("FAKE_CUDA_CARD", "unknown", 1);
  const auto devices = cuda_devices();
  ::unsetenv("FAKE_CUDA_CARD");
  ASSERT_TRUE(devices);
  EXPECT_EQ(devices->front()->facts().memory_rate, 0);
  EXPECT_EQ(devices->front()->facts().fp64_rate, 0);
}

class FakeDevice : public FakeCuda {
 protected:
  void SetUp() override {
    FakeCuda::SetUp();
    if (IsSkipped()) return;
    const auto opened = open_device("cuda:0");
    ASSERT_TRUE(opened) << to_line(opened.error());
    device_ = *opened;
  }
  [[nodiscard]] Device& device() const { return *device_; }

 private:
  Device* device_ = nullptr;
};

TEST_F(FakeDevice, WhatItSaysOfItself) {
  EXPECT_EQ(device().facts().id, "cuda:0");
  EXPECT_EQ(device().facts().driver, "CUDA 12.4");
  EXPECT_EQ(device().facts().pci, "0000:00:00.0");
}

TEST_F(FakeDevice, MemoryThatTheDriverHasNotIsEnomem) {
  const test::Fault fault("memory");
  EXPECT_EQ(device().allocate(4096).error().errno_value, ENOMEM);
}

TEST_F(FakeDevice, PtxThatIsNewerThanTheDriverIsOneLine) {
  const test::Fault fault("ptx");
  constexpr Program newer{.source = "", .ptx = "// newer"};
  const auto kernel = device().kernel(newer, "add");
  ASSERT_FALSE(kernel);
  EXPECT_NE(to_line(kernel.error()).find("CUDA error 222: the provided PTX was compiled with an unsupported toolchain"),
            std::string::npos);
}

TEST_F(FakeDevice, OneThatVanishesFailsEachCallAndEndsNothingElse) {
  const auto kernel = device().kernel(all_kernels, "add");
  const auto memory = device().allocate(8);
  ASSERT_TRUE(kernel && memory);
  const std::uint64_t one = 1;
  const test::Fault fault("lost");
  Status status;
  for (int i = 0; i < 4 && status; ++i)
    status = device().launch(*kernel, {.count = 1, .group = 1}, std::array<Argument, 2>{*memory, one});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text, "cannot launch a kernel (CUDA error 999: unknown error)");
  EXPECT_FALSE(device().finish());
  EXPECT_FALSE(device().start_clock());
  EXPECT_FALSE(device().stop_clock());
}

}  // namespace
}  // namespace ullage::accelerator
