// SPDX-License-Identifier: Apache-2.0
// Backend `model`: a device of stated speed that all ranks share fairly. It stores nothing and really waits, so that everything behind
// it, from the timing loop to the report, has a known answer.
#include <cmath>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include "core/permutation.hpp"
#include "storage/backend.hpp"
#include "storage/pacer.hpp"

namespace ullage {
namespace {

struct ModelParameters {
  double bandwidth = 1e9;
  double latency_s = 0;
  double jitter = 0;
  std::uint64_t seed = 1;
};

Table<ModelParameters> model_table() {
  using P = ModelParameters;
  return {
      rate("bandwidth", &P::bandwidth, {1, 9e15}, "of the whole device, shared by all ranks"),
      seconds("latency_s", &P::latency_s, {0, 3600}, "of every operation, besides the time of its bytes"),
      number("jitter", &P::jitter, {0, 1}, "each operation's time varies evenly by this share of it, to both sides"),
      count("seed", &P::seed, {}, "of the jitter"),
  };
}

/// How long operations take. Pure but for the place in the sequence of draws.
class ModelDevice final {
 public:
  ModelDevice(const ModelParameters& parameters, const BackendContext& context)
      : latency_ns_(parameters.latency_s * 1e9),
        ns_a_byte_(1e9 * context.world->size() / parameters.bandwidth),
        jitter_(parameters.jitter),
        key_(mix64(mix64(parameters.seed ^ mix64(context.run_key)) + static_cast<std::uint64_t>(context.world->rank()))) {}

  [[nodiscard]] double next_duration_ns(std::size_t length_bytes) noexcept {
    const double duration = latency_ns_ + ns_a_byte_ * static_cast<double>(length_bytes);
    if (jitter_ == 0) return duration;
    constexpr double steps = 0x1p53;
    const double even = static_cast<double>(mix64(key_ + draws_++) >> 11U) / steps;
    return duration * (1 + jitter_ * (2 * even - 1));
  }

 private:
  double latency_ns_;
  double ns_a_byte_;
  double jitter_;
  std::uint64_t key_;
  std::uint64_t draws_ = 0;
};

/// When the device is done with each operation: the next begins where the last was due, not where a late wake-up found it, so
/// lateness does not add up.
class Schedule final {
 public:
  void restart(std::int64_t from_ns) noexcept {
    start_ns_ = from_ns;
    elapsed_ns_ = 0;
  }
  [[nodiscard]] std::int64_t after(double duration_ns) noexcept {
    elapsed_ns_ += duration_ns;
    return start_ns_ + std::llround(elapsed_ns_);
  }

 private:
  std::int64_t start_ns_ = 0;
  double elapsed_ns_ = 0;
};

class ModelFile final : public File {
 public:
  ModelFile(ModelDevice& device, const Pacer& pacer) : device_(device), pacer_(pacer) {}

  [[nodiscard]] Status transfer(Direction, std::span<const Extent> extents, Meter& meter) override {
    // What happened since the last operation (a batch was readied, a sync) is not the device's time.
    if (meter.last_ns() != last_end_ns_) schedule_.restart(meter.last_ns());
    for (const Extent& extent : extents) {
      pacer_.wait_until(schedule_.after(device_.next_duration_ns(extent.length_bytes)));
      if (!meter.completed(extent.length_bytes)) break;
    }
    last_end_ns_ = meter.last_ns();
    return {};
  }
  [[nodiscard]] Status sync() override { return {}; }
  [[nodiscard]] Status close() override { return {}; }

 private:
  ModelDevice& device_;
  const Pacer& pacer_;
  Schedule schedule_;
  std::int64_t last_end_ns_ = std::numeric_limits<std::int64_t>::min();
};

constexpr Capabilities model_capabilities{.path = false, .data = false};

class ModelBackend final : public Backend {
 public:
  ModelBackend(const ModelParameters& parameters, const BackendContext& context)
      : device_(parameters, context), pacer_(has_a_core(context.world->topology())) {}

  [[nodiscard]] Capabilities capabilities() const override { return model_capabilities; }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest&) override { return std::make_unique<ModelFile>(device_, pacer_); }

 private:
  [[nodiscard]] static bool has_a_core(const mpi::Topology& topology) {
    return topology.ranks_on_node <= static_cast<int>(std::thread::hardware_concurrency());
  }

  ModelDevice device_;
  Pacer pacer_;
};

const Registered<BackendEntry> registered{{
    {"model", "a simulated device of stated bandwidth, latency and jitter: the known answer", specs_of(model_table()), capability_words(model_capabilities), {}},
    model_capabilities,
    [](const Values& values, const BackendContext& context) -> Result<std::unique_ptr<Backend>> {
      return std::make_unique<ModelBackend>(bind_parameters(model_table(), values), context);
    },
}};

}  // namespace
}  // namespace ullage
