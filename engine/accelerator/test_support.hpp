// SPDX-License-Identifier: Apache-2.0
// What the tests of accelerators share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "accelerator/device.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::test {

/// Skipped with the reason where this machine has no device.
class AnyDevice : public MpiLaunch {
 protected:
  void SetUp() override {
    const auto opened = accelerator::open_device("first");
    if (!opened) GTEST_SKIP() << to_line(opened.error());
    device_ = *opened;
  }
  [[nodiscard]] accelerator::Device& device() const { return *device_; }

 private:
  accelerator::Device* device_ = nullptr;
};

}  // namespace ullage::test
