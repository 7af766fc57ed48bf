// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/json.hpp"
#include "probes/probe.hpp"
#include "probes/target_counters.hpp"
#include "storage/test_support.hpp"

namespace ullage::moved_test {
namespace {

constexpr std::size_t written_bytes = 1 << 20;

std::unique_ptr<Probe> moved() { return Registry<ProbeEntry>::instance().find("moved")->make(); }

void write_and_sync(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string data(written_bytes, 'x');
  ASSERT_EQ(::write(file.get(), data.data(), data.size()), static_cast<ssize_t>(data.size()));
  ASSERT_EQ(::fsync(file.get()), 0);
}

Json probed_write(test::Bench& bench, Probe& probe, PhaseScope scope) {
  scope.world = &bench.world();
  Json record = Json::object();
  probe.begin(scope);
  bench.world().all().barrier();
  write_and_sync(bench.path("own." + std::to_string(bench.world().rank())));
  probe.end(scope);
  bench.world().all().barrier();
  probe.settle(scope);
  scope.requested_bytes = bench.world().all().sum(written_bytes);
  probe.report(scope, record);
  return record;
}

TEST(MpiMoved, WrittenBytesReachTheCounters) {
  test::Bench bench;
  const auto probe = moved();
  PhaseScope scope;
  scope.folder = &bench.folder();
  scope.writes = true;
  const Json record = probed_write(bench, *probe, scope);
  if (!bench.world().root()) return;
  const Json& found = record["moved"];
  const auto requested = found["requested_bytes"].get<std::uint64_t>();
  EXPECT_EQ(requested, written_bytes * static_cast<unsigned>(bench.world().size()));
  EXPECT_TRUE(found["client_bytes"].is_null());
  const auto counters = TargetCounters::of_folder(bench.folder().path());
  ASSERT_EQ(found["device_bytes"].is_null(), !counters.device().has_value());
  if (found["device_bytes"].is_null()) {
    EXPECT_FALSE(found["reasons"].empty());
    return;
  }
  EXPECT_GE(found["device_bytes"].get<std::uint64_t>(), requested);
  EXPECT_GE(found["process_bytes"].get<std::uint64_t>(), requested);
}

TEST(MpiMoved, WithoutStorageThereIsNoDevice) {
  test::Bench bench;
  const auto probe = moved();
  PhaseScope scope;
  scope.reads = true;
  const Json record = probed_write(bench, *probe, scope);
  if (!bench.world().root()) return;
  EXPECT_TRUE(record["moved"]["device_bytes"].is_null());
  EXPECT_FALSE(record["moved"]["reasons"].empty());
}

TEST(MpiMoved, PhasesThatMoveNothingHaveNoAccount) {
  test::Bench bench;
  const auto probe = moved();
  const Json record = probed_write(bench, *probe, {});
  EXPECT_TRUE(record["moved"].is_null());
}

}  // namespace
}  // namespace ullage::moved_test
