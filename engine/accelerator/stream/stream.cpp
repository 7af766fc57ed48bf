// SPDX-License-Identifier: Apache-2.0
// Workload `device-stream`: how fast a device reads and writes its own memory.
#include "accelerator/stream/stream.hpp"

namespace ullage::accelerator {
namespace {

Status check_device_stream(const DeviceStreamParameters& p, const std::string& pointer) {
  if (p.array_bytes() > 0) return {};
  return fail(bad_plan(pointer + "/working_set_bytes",
                       "must be at least " + std::to_string(array_unit * arrays_of(p.kind)) + ": 64 KiB an array"));
}

std::unique_ptr<Workload> make_device_stream(const DeviceStreamParameters& parameters, const WorkloadContext& context) {
  return windowed_workload("device-stream", parameters, context,
                           std::make_unique<DeviceStream>(parameters, context.run_key));
}

const Registered<WorkloadEntry> registered_device_stream{[] {
  return without_storage<DeviceStreamParameters>({
      .name = "device-stream",
      .doc =
          "Measures the bandwidth of an accelerator's own memory, from its caches outwards. It checks every element.",
      .check = on_any_ranks(check_device_stream),
      .make = make_device_stream,
  });
}()};

}  // namespace
}  // namespace ullage::accelerator
