// SPDX-License-Identifier: Apache-2.0
// What the tests of memory/ share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/signals.hpp"
#include "memory/stream/job.hpp"
#include "run/phase_runner.hpp"
#include "storage/backend.hpp"
#include "work/workload.hpp"

namespace ullage::test {

inline void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// Starts on a line, as the loops need it.
class Lines final {
 public:
  explicit Lines(std::size_t bytes) : lines_(bytes / stream_line) {}
  [[nodiscard]] std::byte* data() { return lines_.front().bytes.data(); }
  [[nodiscard]] std::span<double> elements() {
    return {reinterpret_cast<double*>(data()), lines_.size() * stream_line / sizeof(double)};
  }

 private:
  struct alignas(stream_line) Line {
    std::array<std::byte, stream_line> bytes{};
  };
  std::vector<Line> lines_;
};

/// Workloads as the engine checks and runs them: threads of their own, windows as short as can be.
class MpiMemoryWorkload : public ::testing::Test {
 protected:
  MpiMemoryWorkload() : meter_(StopFlags::instance().now()), watchdog_({}) {
    StopFlags::instance().reset();
    context_.world = &world_;
    context_.run_key = 11;
  }

  [[nodiscard]] static const WorkloadEntry& entry(const std::string& name) {
    return *Registry<WorkloadEntry>::instance().find(name);
  }
  [[nodiscard]] static Result<Values> values(const std::string& name, Values given) {
    given.try_emplace("windows", std::int64_t{2});
    given.try_emplace("window_s", 1e-4);
    given.try_emplace("warm_up_s", 0.0);
    return complete(entry(name).description.parameters, given, "");
  }
  /// Why a plan with these parameters is refused; empty: it is not.
  [[nodiscard]] static std::string refusal(const std::string& name, const Values& given) {
    const auto all = values(name, given);
    const Status status = all ? entry(name).check(*all, {}, {}, "/p") : fail(all.error());
    return status ? "" : to_line(status.error());
  }
  /// `record_` then has what was measured, on rank 0.
  [[nodiscard]] PhaseStatus run(const std::string& name, const Values& given) {
    const auto workload = std::get<ComputeWork>(entry(name).work).make(values(name, given).value(), {context_});
    const auto phase = workload->phase(0);
    record_ = Json::object();
    return run_phase({&world_, &clock_, &watchdog_, &meter_, {}, 0}, nullptr, *phase, record_).status;
  }
  /// Over all ranks.
  [[nodiscard]] double sum(const std::string& gauge) const { return record_["gauges"][gauge]["sum"].get<double>(); }

  mpi::World world_;
  mpi::ClockSync clock_;
  Meter meter_;
  Watchdog watchdog_;
  WorkloadContext context_;
  Json record_;
};

}  // namespace ullage::test
