// SPDX-License-Identifier: Apache-2.0
// Devices of CUDA by the driver alone: no toolkit, no runtime library. Its few types and numbers are declared here, as
// the reference of the driver API (cuda.h) has them. Kernels are PTX, which the driver compiles for its card.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "accelerator/device.hpp"
#include "base/shared_library.hpp"

namespace ullage::accelerator {
namespace {

struct CudaCalls : SymbolTable {
  using SymbolTable::SymbolTable;

  int (*init)(unsigned) = take("cuInit");
  int (*error_text)(int, const char**) = take("cuGetErrorString");
  int (*version)(int*) = take("cuDriverGetVersion");
  int (*count)(int*) = take("cuDeviceGetCount");
  int (*device)(int*, int number) = take("cuDeviceGet");
  int (*name)(char*, int bytes, int device) = take("cuDeviceGetName");
  int (*memory)(std::size_t*, int device) = take("cuDeviceTotalMem_v2");
  int (*attribute)(int*, int what, int device) = take("cuDeviceGetAttribute");
  int (*retain_context)(void**, int device) = take("cuDevicePrimaryCtxRetain");
  int (*enter_context)(void*) = take("cuCtxSetCurrent");
  int (*create_stream)(void**, unsigned flags) = take("cuStreamCreate");
  int (*finish)(void* stream) = take("cuStreamSynchronize");
  int (*create_event)(void**, unsigned flags) = take("cuEventCreate");
  int (*record)(void* event, void* stream) = take("cuEventRecord");
  int (*elapsed_ms)(float*, void* from, void* to) = take("cuEventElapsedTime");
  int (*allocate)(std::uint64_t*, std::size_t) = take("cuMemAlloc_v2");
  int (*release)(std::uint64_t) = take("cuMemFree_v2");
  int (*allocate_host)(void**, std::size_t, unsigned flags) = take("cuMemHostAlloc");
  int (*release_host)(void*) = take("cuMemFreeHost");
  int (*write)(std::uint64_t, const void*, std::size_t, void* stream) = take("cuMemcpyHtoDAsync_v2");
  int (*read)(void*, std::uint64_t, std::size_t, void* stream) = take("cuMemcpyDtoHAsync_v2");
  int (*load)(void** module, const void* ptx, unsigned count, int* options, void** values) = take("cuModuleLoadDataEx");
  int (*find)(void** kernel, void* module, const char* name) = take("cuModuleGetFunction");
  int (*launch)(void* kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared, void* stream,
                void** arguments, void** extra) = take("cuLaunchKernel");
};

namespace cu {
constexpr int out_of_memory = 2;
constexpr int no_device = 100;
constexpr int clock_khz = 13;
constexpr int units = 16;
constexpr int pci_bus = 33;
constexpr int pci_device = 34;
constexpr int memory_clock_khz = 36;
constexpr int memory_width_bits = 37;
constexpr int cache_bytes = 38;
constexpr int pci_domain = 50;
constexpr int capability_major = 75;
constexpr int capability_minor = 76;
constexpr unsigned non_blocking = 1;
constexpr int log_text = 5;
constexpr int log_bytes = 6;
}  // namespace cu

/// Multiply-adds a clock of one multiprocessor: "Throughput of Native Arithmetic Instructions" in the CUDA C++
/// Programming Guide. Of a capability that is not here nothing is known.
struct Lanes {
  int capability;
  int fp32;
  int fp64;
};
constexpr std::array<Lanes, 12> known_lanes{{{50, 128, 4},
                                             {52, 128, 4},
                                             {60, 64, 32},
                                             {61, 128, 4},
                                             {70, 64, 32},
                                             {75, 64, 2},
                                             {80, 64, 32},
                                             {86, 128, 2},
                                             {89, 128, 2},
                                             {90, 128, 64},
                                             {100, 128, 64},
                                             {120, 128, 2}}};

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<const CudaCalls> calls, int device, int number)
      : own_calls_(std::move(calls)), calls_(*own_calls_), device_(device) {
    std::array<char, 256> name{};
    int version = 0;
    std::size_t memory = 0;
    (void)calls_.name(name.data(), name.size() - 1, device);
    (void)calls_.version(&version);
    (void)calls_.memory(&memory, device);
    facts_.id = "cuda:" + std::to_string(number);
    facts_.name = name.data();
    facts_.platform = "CUDA";
    facts_.driver = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    facts_.kind = "gpu";
    facts_.memory_bytes = memory;
    facts_.cache_bytes = static_cast<std::uint64_t>(attribute(cu::cache_bytes));
    facts_.units = static_cast<std::uint64_t>(attribute(cu::units));
    facts_.clock_hz = 1e3 * attribute(cu::clock_khz);
    // Two transfers a clock.
    facts_.memory_rate = 2e3 * attribute(cu::memory_clock_khz) * attribute(cu::memory_width_bits) / 8;
    facts_.has_fp64 = true;
    const int capability = 10 * attribute(cu::capability_major) + attribute(cu::capability_minor);
    const auto* const lanes = std::ranges::find(known_lanes, capability, &Lanes::capability);
    if (lanes != known_lanes.end()) {
      const double multiply_adds = 2 * static_cast<double>(facts_.units) * facts_.clock_hz;
      facts_.fp32_rate = multiply_adds * lanes->fp32;
      facts_.fp64_rate = multiply_adds * lanes->fp64;
    }
    facts_.pci =
        pci_name(static_cast<unsigned>(attribute(cu::pci_domain)), static_cast<unsigned>(attribute(cu::pci_bus)),
                 static_cast<unsigned>(attribute(cu::pci_device)));
  }

  [[nodiscard]] Status open() override {
    if (ended_ != nullptr) return {};
    int code = calls_.retain_context(&context_, device_);
    if (code == 0) code = calls_.enter_context(context_);
    if (code == 0) code = calls_.create_stream(&stream_, cu::non_blocking);
    if (code == 0) code = calls_.create_event(&started_, 0);
    if (code == 0) code = calls_.create_event(&ended_, 0);
    return status(code, "open the device");
  }

  [[nodiscard]] Result<MemoryPointer> allocate(std::uint64_t bytes) override {
    std::uint64_t address = 0;
    if (auto made = room(bytes, [&] { return calls_.allocate(&address, bytes); }); !made) return fail(made.error());
    return MemoryPointer(new Memory{address, bytes}, [this](const Memory* memory) {
      if (enter() == 0) (void)calls_.release(memory->handle);
      delete memory;
    });
  }

  [[nodiscard]] Result<HostPointer> allocate_pinned(std::uint64_t bytes) override {
    void* begin = nullptr;
    if (auto made = room(bytes, [&] { return calls_.allocate_host(&begin, bytes, 0); }); !made)
      return fail(made.error());
    return HostPointer(static_cast<std::byte*>(begin), [this](std::byte* memory) {
      if (enter() == 0) (void)calls_.release_host(memory);
    });
  }

  [[nodiscard]] Status copy_to_device(const Memory& to, std::uint64_t offset, const void* from,
                                      std::uint64_t bytes) override {
    int code = enter();
    if (code == 0) code = calls_.write(to.handle + offset, from, bytes, stream_);
    return status(code, "copy to it");
  }
  [[nodiscard]] Status copy_to_host(void* to, const Memory& from, std::uint64_t offset, std::uint64_t bytes) override {
    int code = enter();
    if (code == 0) code = calls_.read(to, from.handle + offset, bytes, stream_);
    return status(code, "copy from it");
  }

  [[nodiscard]] Result<Kernel> kernel(const Program& program, const char* name) override {
    void*& module = modules_[program.ptx];
    if (module == nullptr)
      if (Status loaded = load(program, module); !loaded) return fail(loaded.error());
    Kernel found;
    int code = enter();
    if (code == 0) code = calls_.find(&found.handle, module, name);
    if (code != 0) return fail(error(code, "make kernel " + std::string(name)));
    return found;
  }

  [[nodiscard]] Status launch(const Kernel& kernel, const Grid& grid, std::span<const Argument> arguments) override {
    std::array<void*, 8> values{};
    for (std::size_t i = 0; i < arguments.size(); ++i) values.at(i) = const_cast<void*>(arguments[i].value);
    int code = enter();
    if (code == 0)
      code = calls_.launch(kernel.handle, static_cast<unsigned>(grid.count / grid.group), 1, 1,
                           static_cast<unsigned>(grid.group), 1, 1, 0, stream_, values.data(), nullptr);
    return status(code, "launch a kernel");
  }

  [[nodiscard]] Status finish() override { return status(wait(), "wait for it"); }

  [[nodiscard]] Status start_clock() override { return status(record(started_), "start its clock"); }

  [[nodiscard]] Result<double> stop_clock() override {
    float ms = 0;
    int code = record(ended_);
    if (code == 0) code = calls_.finish(stream_);
    if (code == 0) code = calls_.elapsed_ms(&ms, started_, ended_);
    if (code != 0) return fail(error(code, "read its clock"));
    return 1e-3 * static_cast<double>(ms);
  }

 private:
  [[nodiscard]] int attribute(int what) const {
    int value = 0;
    return calls_.attribute(&value, what, device_) == 0 ? value : 0;
  }

  /// A context is that of a thread, and any thread may call.
  [[nodiscard]] int enter() const {
    static thread_local const void* entered = nullptr;
    if (entered == context_) return 0;
    const int code = calls_.enter_context(context_);
    if (code == 0) entered = context_;
    return code;
  }
  [[nodiscard]] int wait() const {
    const int code = enter();
    return code == 0 ? calls_.finish(stream_) : code;
  }
  [[nodiscard]] int record(void* event) const {
    const int code = enter();
    return code == 0 ? calls_.record(event, stream_) : code;
  }

  [[nodiscard]] Error error(int code, const std::string& what) const {
    const char* text = nullptr;
    const bool is_known = calls_.error_text(code, &text) == 0 && text != nullptr;
    const std::string said = is_known ? std::string(": ") + text : "";
    return device_error(facts_.id, "cannot " + what + " (CUDA error " + std::to_string(code) + said + ")");
  }
  [[nodiscard]] Status status(int code, const char* what) const {
    if (code == 0) return {};
    return fail(error(code, what));
  }

  template <class Allocate>
  [[nodiscard]] Status room(std::uint64_t bytes, Allocate allocate) const {
    if (auto there = check_device_room(facts_, bytes); !there) return there;
    int code = enter();
    if (code == 0) code = allocate();
    return code == cu::out_of_memory ? fail(no_device_memory(facts_, bytes)) : status(code, "allocate memory");
  }

  [[nodiscard]] Status load(const Program& program, void*& module) const {
    std::array<char, 4096> log{};
    std::array<int, 2> options{cu::log_text, cu::log_bytes};
    std::array<void*, 2> values{log.data(), std::bit_cast<void*>(log.size() - 1)};
    int code = enter();
    if (code == 0) code = calls_.load(&module, program.ptx, options.size(), options.data(), values.data());
    if (code == 0) return {};
    module = nullptr;
    const std::string complaint = first_complaint(log.data());
    return fail(complaint.empty() ? error(code, "build kernels")
                                  : device_error(facts_.id, "cannot build kernels: " + complaint));
  }

  std::shared_ptr<const CudaCalls> own_calls_;
  const CudaCalls& calls_;
  int device_;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  void* started_ = nullptr;
  void* ended_ = nullptr;
  std::map<const char*, void*> modules_;
};

}  // namespace

Result<Devices> cuda_devices(const std::string& name) {
  const auto loaded = load_accelerator_library(name);
  if (!loaded) return fail(loaded.error());
  const auto made = std::make_shared<CudaCalls>(*loaded);
  if (!made->missing().empty())
    return fail(environment_error("accelerator", name + " has no " + made->missing() + ": it is no driver of CUDA"));
  const CudaCalls& calls = *made;
  int count = 0;
  int code = calls.init(0);
  if (code == 0) code = calls.count(&count);
  if (code == cu::no_device || (code == 0 && count == 0))
    return fail(environment_error("accelerator", name + " shows no device"));
  const char* text = nullptr;
  if (code != 0)
    return fail(environment_error("accelerator",
                                  name + " does not start: CUDA error " + std::to_string(code) +
                                      (calls.error_text(code, &text) == 0 ? std::string(": ") + text : std::string())));
  Devices devices;
  for (int number = 0; number < count; ++number)
    if (int device = 0; calls.device(&device, number) == 0)
      devices.push_back(std::make_unique<CudaDevice>(made, device, number));
  return devices;
}

}  // namespace ullage::accelerator
