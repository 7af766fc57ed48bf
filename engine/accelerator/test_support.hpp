// SPDX-License-Identifier: Apache-2.0
// What the tests of accelerators share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "accelerator/device.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::test {

/// On a device of each library: of CUDA the one of tests/engine/fake_cuda.cpp, of OpenCL pocl's. Skipped with the
/// reason where this machine has none.
class AnyDevice : public MpiLaunch, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const auto opened = accelerator::open_device(GetParam());
    if (!opened) GTEST_SKIP() << to_line(opened.error());
    device_ = *opened;
  }
  [[nodiscard]] accelerator::Device& device() const { return *device_; }
  [[nodiscard]] static Values on_it(Values given) {
    given.try_emplace("device", std::string(GetParam()));
    return brief(std::move(given));
  }

 private:
  accelerator::Device* device_ = nullptr;
};
inline const auto of_each_library = ::testing::Values("cuda:0", "opencl:0");

/// What the library of the tests does wrong, for as long as this lives; see tests/engine/fake_cuda.cpp.
class Fault final {
 public:
  explicit Fault(const char* what) { ::setenv("FAKE_CUDA_FAULT", what, 1); }
  ~Fault() { ::unsetenv("FAKE_CUDA_FAULT"); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
};

}  // namespace ullage::test
