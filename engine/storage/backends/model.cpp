// SPDX-License-Identifier: Apache-2.0
// Backend `model`: a device of stated speed that all ranks share fairly. It stores nothing and really waits, so that
// everything behind it, from the timing loop to the report, has a known answer.
#include <cmath>
#include <thread>

#include "base/clock.hpp"
#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/model_device.hpp"
#include "storage/pacer.hpp"

namespace ullage {
namespace {

Table<ModelParameters> model_table() {
  using P = ModelParameters;
  return {
      rate("bandwidth", &P::bandwidth, {1, 9e15},
           "Set the bandwidth of the whole device in bytes a second. All ranks share it."),
      seconds("latency_s", &P::latency_s, {0, 3600},
              "Add this many seconds to every operation, besides the time of its bytes."),
      number("jitter", &P::jitter, {0, 1},
             "Vary the time of each operation uniformly by up to this share of it, up and down."),
      count("seed", &P::seed, {}, "Set the seed of the jitter."),
  };
}

/// What was begun goes on by itself: the device needs nobody's time.
class ModelFile final : public File, public NonblockingTransfers {
 public:
  ModelFile(ModelDevice& device, const Pacer& pacer) : device_(device), pacer_(pacer) {}

  [[nodiscard]] Status transfer(Direction, std::span<const Extent> extents, Meter& meter) override {
    // What happened since the last operation (a batch was readied, a sync) is not the device's time.
    if (meter.last_ns() != last_end_ns_) timeline_.restart(meter.last_ns());
    for (const Extent& extent : extents) {
      pacer_.wait_until(timeline_.after(device_.next_duration_ns(extent.length_bytes)));
      if (!meter.completed(extent.length_bytes)) break;
    }
    last_end_ns_ = meter.last_ns();
    return {};
  }
  [[nodiscard]] NonblockingTransfers* nonblocking() override { return this; }
  void start(Direction, std::span<const Extent> extents) override {
    timeline_.restart(now_ns());
    for (const Extent& extent : extents) due_ns_ = timeline_.after(device_.next_duration_ns(extent.length_bytes));
  }
  void test() override {}
  [[nodiscard]] Status wait() override {
    pacer_.wait_until(due_ns_);
    return {};
  }
  [[nodiscard]] Status sync() override { return {}; }
  [[nodiscard]] Status close() override { return {}; }

 private:
  ModelDevice& device_;
  const Pacer& pacer_;
  ModelTimeline timeline_;
  std::int64_t due_ns_ = 0;  // of the batch that was started
  std::int64_t last_end_ns_ = std::numeric_limits<std::int64_t>::min();
};

/// Calls that nobody ticks a meter for: what one of them came back late by, the next one makes good.
class ModelViewedFile final : public ViewedFile {
 public:
  ModelViewedFile(ModelDevice& device, const Pacer& pacer) : device_(device), pacer_(pacer) {}

  [[nodiscard]] Status set_view(const FileView&, const Map&) override { return {}; }
  [[nodiscard]] Status set_hints(const Map&) override { return {}; }
  [[nodiscard]] Status move(Direction, Pointer, std::span<std::byte> data) override {
    const std::int64_t due_ns = now_ns() - late_ns_ + std::llround(device_.next_duration_ns(data.size()));
    pacer_.wait_until(due_ns);
    late_ns_ = now_ns() - due_ns;
    return {};
  }
  [[nodiscard]] Status sync() override { return {}; }
  [[nodiscard]] Status close() override { return {}; }

 private:
  ModelDevice& device_;
  const Pacer& pacer_;
  std::int64_t late_ns_ = 0;
};

constexpr int most_begun_at_once = 4096;
constexpr Capabilities model_capabilities{
    .path = false, .data = false, .views = true, .file_threads = 1, .nonblocking = most_begun_at_once};

class ModelBackend final : public Backend {
 public:
  ModelBackend(const ModelParameters& parameters, const BackendContext& context)
      : device_(parameters, context.world->size(), context.world->rank(), context.run_key),
        pacer_(has_a_core(context.world->topology())) {}

  [[nodiscard]] Capabilities capabilities() const override { return model_capabilities; }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest&) override {
    return std::make_unique<ModelFile>(device_, pacer_);
  }
  [[nodiscard]] Result<std::unique_ptr<ViewedFile>> open_viewed(const OpenRequest&, const Map&) override {
    return std::make_unique<ModelViewedFile>(device_, pacer_);
  }

 private:
  [[nodiscard]] static bool has_a_core(const mpi::Topology& topology) {
    return topology.ranks_on_node <= static_cast<int>(std::thread::hardware_concurrency());
  }

  ModelDevice device_;
  Pacer pacer_;
};

const Registered<BackendEntry> registered_model{{
    .description = {.name = "model",
                    .doc = "Simulates a device of stated bandwidth, latency and jitter, so that the right result is "
                           "known.",
                    .parameters = specs_of(model_table())},
    .capabilities = model_capabilities,
    .make = [](const Values& values, const BackendContext& context) -> Result<std::unique_ptr<Backend>> {
      return std::make_unique<ModelBackend>(bind_parameters(model_table(), values), context);
    },
}};

}  // namespace
}  // namespace ullage
