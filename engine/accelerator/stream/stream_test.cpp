// SPDX-License-Identifier: Apache-2.0
// Workload `device-stream` as a plan has it, on any device.
#include "accelerator/stream/stream.hpp"

#include <gtest/gtest.h>

#include "accelerator/test_support.hpp"

namespace ullage::accelerator {
namespace {

class DeviceStreamWorkload : public test::AnyDevice {};

INSTANTIATE_TEST_SUITE_P(Library, DeviceStreamWorkload, test::of_each_library);

constexpr std::int64_t array = 1 << 16;

TEST_P(DeviceStreamWorkload, EveryKernelIsRightAndCountsWhatItMoves) {
  const std::vector<std::pair<std::string, int>> kernels{{"read", 1}, {"write", 1}, {"copy", 2}, {"triad", 3}};
  for (const auto& [kernel, arrays] : kernels) {
    const Values given{{"kernel", kernel}, {"working_set_bytes", arrays * 3 * array}};
    ASSERT_EQ(run("device-stream", on_it(given)), PhaseStatus::ok) << kernel << record_.dump();
    EXPECT_EQ(gauge("device_bytes"), record_["bytes"].get<double>());
    EXPECT_EQ(gauge("used_bytes"), static_cast<double>(arrays * 3 * array));
    EXPECT_GT(gauge("device_s"), 0);
    EXPECT_LE(gauge("device_s"), gauge("kernel_s"));
    EXPECT_EQ(record_["hints_granted"].at("device"), device().facts().id);
  }
}

TEST_P(DeviceStreamWorkload, CorruptedMemoryIsFound) {
  for (const StreamKind kind : {StreamKind::read, StreamKind::write, StreamKind::copy, StreamKind::triad}) {
    DeviceStreamParameters parameters;
    parameters.device = GetParam();
    parameters.kind = kind;
    parameters.working_set_bytes = 3 * array;
    DeviceStream stream(parameters, 5);
    ASSERT_TRUE(stream.make_ready(0));
    stream.run(0, 2);
    ASSERT_TRUE(stream.check());
    const std::uint64_t other = 1;
    ASSERT_TRUE(device().copy_to_device(stream.memory(), array - 8, &other, sizeof other));
    if (kind == StreamKind::read) stream.run(0, 1);  // only what is read can be wrong
    const Status status = stream.check();
    ASSERT_FALSE(status) << static_cast<int>(kind);
    EXPECT_EQ(status.error().kind, ErrorKind::verification);
  }
}

TEST_P(DeviceStreamWorkload, MoreThanTheDeviceHasFailsBeforeItsTimer) {
  EXPECT_EQ(run("device-stream", on_it({{"working_set_bytes", std::int64_t{1} << 49U}})), PhaseStatus::failed);
}

TEST_P(DeviceStreamWorkload, DeviceThatIsNotThereFails) {
  EXPECT_EQ(run("device-stream", on_it({{"device", std::string("opencl:999")}})), PhaseStatus::failed);
}

TEST(DeviceStreamPlan, SetTooSmallForAllArraysIsRefused) {
  EXPECT_EQ(test::Launch::refusal("device-stream", {{"working_set_bytes", 3 * array}}), "");
  EXPECT_NE(test::Launch::refusal("device-stream", {{"working_set_bytes", 3 * array - 1}}).find("at least 196608"),
            std::string::npos);
}

}  // namespace
}  // namespace ullage::accelerator
