// SPDX-License-Identifier: Apache-2.0
// Accelerators of this node: one interface to devices, their memory, copies, kernels and clocks, whatever library has
// them. The libraries are found at run time; none is needed to build the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/pinned.hpp"
#include "base/result.hpp"

namespace ullage::accelerator {

/// What a library says of a device; 0 and empty: it does not say.
struct DeviceFacts {
  std::string id;  // cuda:0, opencl:0
  std::string name;
  std::string platform;
  std::string driver;
  std::string kind;  // gpu, cpu, other
  std::string pci;   // 0000:17:00.0
  std::uint64_t memory_bytes = 0;
  std::uint64_t most_allocation_bytes = 0;  // of one allocation
  std::uint64_t cache_bytes = 0;            // of the last level
  std::uint64_t units = 0;                  // multiprocessors, compute units
  double clock_hz = 0;                      // the highest
  double memory_rate = 0;                   // bytes/s that the memory's clock and width allow
  double fp64_rate = 0;                     // op/s of its vector units at that clock; a multiply-add counts as two
  double fp32_rate = 0;
  bool has_fp64 = false;
};

/// Kernels: in what OpenCL C and CUDA have in common, and as PTX, which was made of that.
struct Program {
  const char* source = nullptr;
  const char* ptx = nullptr;
};
extern const Program all_kernels;  // kernels.cl, kernels.ptx

/// Memory of a device, for as long as somebody has it.
struct Memory {
  std::uint64_t handle = 0;
  std::uint64_t bytes = 0;
};
using MemoryPointer = std::shared_ptr<const Memory>;
using HostPointer = std::shared_ptr<std::byte>;

/// One argument of a kernel: a value of 4 or 8 bytes, or memory of the device. What it points to is read at the launch.
struct Argument {
  const void* value;
  std::size_t bytes;

  Argument(const MemoryPointer& memory) : value(&memory->handle), bytes(sizeof memory->handle) {}
  Argument(const std::uint64_t& number) : value(&number), bytes(sizeof number) {}
  Argument(const double& number) : value(&number), bytes(sizeof number) {}
  Argument(const float& number) : value(&number), bytes(sizeof number) {}
};

struct Kernel {
  void* handle = nullptr;
};

/// Where `count` work items run, in groups of `group`, which divides it.
struct Grid {
  std::uint64_t count = 0;
  std::uint64_t group = 256;
};

/// A device with one queue, whose work is done in order. Copies and launches return at once. Used by one thread at a
/// time; every call may come from another one.
class Device : public Interface {
 public:
  [[nodiscard]] const DeviceFacts& facts() const { return facts_; }
  /// Before all others: a context and a queue, once. Libraries may start threads here, so not on a thread that is bound
  /// to a core.
  [[nodiscard]] virtual Status open() = 0;
  /// ENOMEM where the device has not that much.
  [[nodiscard]] virtual Result<MemoryPointer> allocate(std::uint64_t bytes) = 0;
  /// Memory of the host that the device reaches by itself.
  [[nodiscard]] virtual Result<HostPointer> allocate_pinned(std::uint64_t bytes) = 0;
  [[nodiscard]] virtual Status copy_to_device(const Memory& to, std::uint64_t offset, const void* from,
                                              std::uint64_t bytes) = 0;
  [[nodiscard]] virtual Status copy_to_host(void* to, const Memory& from, std::uint64_t offset,
                                            std::uint64_t bytes) = 0;
  /// Builds the program when it is first asked for it.
  [[nodiscard]] virtual Result<Kernel> kernel(const Program& program, const char* name) = 0;
  [[nodiscard]] virtual Status launch(const Kernel& kernel, const Grid& grid, std::span<const Argument> arguments) = 0;
  /// Waits until all that was asked for is done.
  [[nodiscard]] virtual Status finish() = 0;
  /// Starts the device's own clock, behind what is in the queue.
  [[nodiscard]] virtual Status start_clock() = 0;
  /// Waits for all of it and returns the seconds of the device's clock since it was started.
  [[nodiscard]] virtual Result<double> stop_clock() = 0;

 protected:
  DeviceFacts facts_;
};

using Devices = std::vector<std::unique_ptr<Device>>;

/// Those of one library; or why there are none, in one line. `name`: of the library.
[[nodiscard]] Result<Devices> cuda_devices(const std::string& name = "libcuda.so.1");
[[nodiscard]] Result<Devices> opencl_devices(const std::string& name = "libOpenCL.so.1");

/// Those of all libraries, and of each that has none the reason. Looked for once in a process; they stay.
struct FoundDevices {
  Devices devices;
  std::vector<std::string> missing;
};
[[nodiscard]] const FoundDevices& find_devices();

/// The opened device of that id; `first`: the first GPU, or the first of all where there is none.
[[nodiscard]] Result<Device*> open_device(const std::string& id);

/// The PCIe link of a device, as sysfs has it; 0 and empty: it does not say.
struct Link {
  double rate = 0;   // bytes/s each way, by generation and width
  std::string text;  // 32.0 GT/s PCIe x16
};
/// `when`: current, which a device that rests may lower, or max.
[[nodiscard]] Link link_of(const std::string& pci, const std::string& when,
                           const std::string& devices = "/sys/bus/pci/devices");

/// For people and the front: what find_devices() found.
[[nodiscard]] nlohmann::json describe_devices();

// What the libraries' files share.

[[nodiscard]] Error device_error(const std::string& id, const std::string& what);
/// "libcuda.so.1 is not there", or what else the dynamic linker says.
[[nodiscard]] Result<void*> load_accelerator_library(const std::string& name);
/// As sysfs names a device: 0000:17:00.0.
[[nodiscard]] std::string pci_name(unsigned domain, unsigned bus, unsigned device);
/// The first line of a compiler's log that says an error, or its first line.
[[nodiscard]] std::string first_complaint(const std::string& log);
/// ENOMEM before the library is asked, which may only find out when the memory is used.
[[nodiscard]] Status check_device_room(const DeviceFacts& facts, std::uint64_t bytes);
[[nodiscard]] Error no_device_memory(const DeviceFacts& facts, std::uint64_t bytes);

}  // namespace ullage::accelerator
