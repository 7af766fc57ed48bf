// SPDX-License-Identifier: Apache-2.0
// Devices of OpenCL 1.2: those of AMD, Intel and NVIDIA, and CPUs by pocl. Its few types and numbers are declared here,
// as the Khronos registry (cl.h) has them.
#include <array>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "accelerator/device.hpp"
#include "base/shared_library.hpp"

namespace ullage::accelerator {
namespace {

struct OpenClCalls : SymbolTable {
  using SymbolTable::SymbolTable;

  int (*platform_ids)(unsigned most, void** ids, unsigned* count) = take("clGetPlatformIDs");
  int (*platform_info)(void*, unsigned what, std::size_t, void*, std::size_t*) = take("clGetPlatformInfo");
  int (*device_ids)(void* platform, std::uint64_t type, unsigned, void**, unsigned*) = take("clGetDeviceIDs");
  int (*device_info)(void*, unsigned what, std::size_t, void*, std::size_t*) = take("clGetDeviceInfo");
  void* (*create_context)(const std::intptr_t*, unsigned, void* const* devices, void*, void*,
                          int*) = take("clCreateContext");
  void* (*create_queue)(void* context, void* device, std::uint64_t, int*) = take("clCreateCommandQueue");
  void* (*create_buffer)(void* context, std::uint64_t flags, std::size_t, void*, int*) = take("clCreateBuffer");
  int (*release_buffer)(void*) = take("clReleaseMemObject");
  int (*write)(void* queue, void* buffer, unsigned waits, std::size_t offset, std::size_t, const void*, unsigned,
               void* const*, void** event) = take("clEnqueueWriteBuffer");
  int (*read)(void* queue, void* buffer, unsigned waits, std::size_t offset, std::size_t, void*, unsigned, void* const*,
              void** event) = take("clEnqueueReadBuffer");
  void* (*map)(void* queue, void* buffer, unsigned waits, std::uint64_t flags, std::size_t offset, std::size_t,
               unsigned, void* const*, void** event, int*) = take("clEnqueueMapBuffer");
  int (*unmap)(void* queue, void* buffer, void*, unsigned, void* const*,
               void** event) = take("clEnqueueUnmapMemObject");
  void* (*create_program)(void* context, unsigned, const char**, const std::size_t*,
                          int*) = take("clCreateProgramWithSource");
  int (*build)(void* program, unsigned, void* const*, const char* options, void*, void*) = take("clBuildProgram");
  int (*build_info)(void* program, void* device, unsigned what, std::size_t, void*,
                    std::size_t*) = take("clGetProgramBuildInfo");
  void* (*create_kernel)(void* program, const char* name, int*) = take("clCreateKernel");
  int (*set_argument)(void* kernel, unsigned, std::size_t, const void*) = take("clSetKernelArg");
  int (*launch)(void* queue, void* kernel, unsigned dimensions, const std::size_t*, const std::size_t* count,
                const std::size_t* group, unsigned, void* const*, void** event) = take("clEnqueueNDRangeKernel");
  int (*mark)(void* queue, unsigned, void* const*, void** event) = take("clEnqueueMarkerWithWaitList");
  int (*finish)(void* queue) = take("clFinish");
  int (*event_time)(void* event, unsigned what, std::size_t, void*, std::size_t*) = take("clGetEventProfilingInfo");
  int (*release_event)(void*) = take("clReleaseEvent");
};

namespace cl {
constexpr unsigned platform_name = 0x0902;
constexpr std::uint64_t all_devices = 0xFFFFFFFF;
constexpr unsigned device_type = 0x1000;
constexpr unsigned units = 0x1002;
constexpr unsigned clock_mhz = 0x100C;
constexpr unsigned most_allocation = 0x1010;
constexpr unsigned cache_bytes = 0x101E;
constexpr unsigned memory_bytes = 0x101F;
constexpr unsigned device_name = 0x102B;
constexpr unsigned driver_version = 0x102D;
constexpr unsigned fp64_config = 0x1032;
constexpr unsigned pci_khr = 0x410F;
constexpr std::uint64_t type_cpu = 2;
constexpr std::uint64_t type_gpu = 4;
constexpr std::uint64_t profiling = 2;
constexpr std::uint64_t read_write = 1;
constexpr std::uint64_t host_memory = 1U << 4U;
constexpr std::uint64_t map_both = 3;
constexpr unsigned build_log = 0x1183;
constexpr unsigned time_ended = 0x1283;
constexpr int no_memory = -4;
constexpr int no_resources = -5;
constexpr int no_host_memory = -6;
constexpr int bad_buffer_size = -61;
}  // namespace cl

/// What the names of the prelude are in OpenCL C.
constexpr const char* opencl_prelude =
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#define HAS_FP64\n"
    "#endif\n"
    "typedef ulong u64;\n"
    "typedef ulong2 pair64;\n"
    "#define KERNEL __kernel\n"
    "#define GLOBAL __global\n"
    "#define INDEX get_global_id(0)\n"
    "#define COUNT get_global_size(0)\n";

class OpenClDevice final : public Device {
 public:
  OpenClDevice(const OpenClCalls& calls, void* platform, void* device, std::size_t number)
      : calls_(calls), device_(device) {
    facts_.id = "opencl:" + std::to_string(number);
    facts_.name = text_of(calls_.device_info, device, cl::device_name);
    facts_.platform = text_of(calls_.platform_info, platform, cl::platform_name);
    facts_.driver = text_of(calls_.device_info, device, cl::driver_version);
    const auto type = number_of<std::uint64_t>(cl::device_type);
    const char* const other = (type & cl::type_cpu) != 0 ? "cpu" : "other";
    facts_.kind = (type & cl::type_gpu) != 0 ? "gpu" : other;
    facts_.memory_bytes = number_of<std::uint64_t>(cl::memory_bytes);
    facts_.most_allocation_bytes = number_of<std::uint64_t>(cl::most_allocation);
    facts_.cache_bytes = number_of<std::uint64_t>(cl::cache_bytes);
    facts_.units = number_of<unsigned>(cl::units);
    facts_.clock_hz = 1e6 * number_of<unsigned>(cl::clock_mhz);
    facts_.has_fp64 = number_of<std::uint64_t>(cl::fp64_config) != 0;
    std::array<unsigned, 4> pci{};  // domain, bus, device, function
    if (calls_.device_info(device, cl::pci_khr, sizeof pci, pci.data(), nullptr) == 0)
      facts_.pci = pci_name(pci[0], pci[1], pci[2]);
  }

  [[nodiscard]] Status open() override {
    if (queue_ != nullptr) return {};
    int code = 0;
    context_ = calls_.create_context(nullptr, 1, &device_, nullptr, nullptr, &code);
    if (code == 0) queue_ = calls_.create_queue(context_, device_, cl::profiling, &code);
    return status(code, "open the device");
  }

  [[nodiscard]] Result<MemoryPointer> allocate(std::uint64_t bytes) override {
    const auto made = make_buffer(bytes, cl::read_write);
    if (!made) return fail(made.error());
    const auto release = [calls = &calls_](const Memory* memory) {
      (void)calls->release_buffer(handle_of(*memory));
      delete memory;
    };
    return MemoryPointer(new Memory{std::bit_cast<std::uint64_t>(*made), bytes}, release);
  }

  [[nodiscard]] Result<HostPointer> allocate_pinned(std::uint64_t bytes) override {
    const auto made = make_buffer(bytes, cl::read_write | cl::host_memory);
    if (!made) return fail(made.error());
    int code = 0;
    void* const mapped = calls_.map(queue_, *made, 1, cl::map_both, 0, bytes, 0, nullptr, nullptr, &code);
    if (code != 0) {
      (void)calls_.release_buffer(*made);
      return fail(error(code, "map memory of the host"));
    }
    const auto release = [this, buffer = *made](std::byte* begin) {
      (void)calls_.unmap(queue_, buffer, begin, 0, nullptr, nullptr);
      (void)calls_.finish(queue_);
      (void)calls_.release_buffer(buffer);
    };
    return HostPointer(static_cast<std::byte*>(mapped), release);
  }

  [[nodiscard]] Status copy_to_device(const Memory& to, std::uint64_t offset, const void* from,
                                      std::uint64_t bytes) override {
    return status(calls_.write(queue_, handle_of(to), 0, offset, bytes, from, 0, nullptr, nullptr), "copy to it");
  }
  [[nodiscard]] Status copy_to_host(void* to, const Memory& from, std::uint64_t offset, std::uint64_t bytes) override {
    return status(calls_.read(queue_, handle_of(from), 0, offset, bytes, to, 0, nullptr, nullptr), "copy from it");
  }

  [[nodiscard]] Result<Kernel> kernel(const Program& program, const char* name) override {
    void*& built = programs_[program.source];
    if (built == nullptr) {
      auto made = build(program);
      if (!made) return fail(made.error());
      built = *made;
    }
    int code = 0;
    void* const made = calls_.create_kernel(built, name, &code);
    if (code != 0) return fail(error(code, "make kernel " + std::string(name)));
    return Kernel{made};
  }

  [[nodiscard]] Status launch(const Kernel& kernel, const Grid& grid, std::span<const Argument> arguments) override {
    int code = 0;
    unsigned place = 0;
    for (const Argument& argument : arguments)
      if (code == 0) code = calls_.set_argument(kernel.handle, place++, argument.bytes, argument.value);
    const std::size_t count = grid.count;
    const std::size_t group = grid.group;
    if (code == 0) code = calls_.launch(queue_, kernel.handle, 1, nullptr, &count, &group, 0, nullptr, nullptr);
    return status(code, "launch a kernel");
  }

  [[nodiscard]] Status finish() override { return status(calls_.finish(queue_), "wait for it"); }

  [[nodiscard]] Status start_clock() override {
    release(started_);
    return status(calls_.mark(queue_, 0, nullptr, &started_), "start its clock");
  }

  [[nodiscard]] Result<double> stop_clock() override {
    void* ended = nullptr;
    int code = calls_.mark(queue_, 0, nullptr, &ended);
    if (code == 0) code = calls_.finish(queue_);
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    if (code == 0) code = calls_.event_time(started_, cl::time_ended, sizeof first_ns, &first_ns, nullptr);
    if (code == 0) code = calls_.event_time(ended, cl::time_ended, sizeof last_ns, &last_ns, nullptr);
    release(ended);
    if (code != 0) return fail(error(code, "read its clock"));
    return static_cast<double>(last_ns - first_ns) * 1e-9;
  }

 private:
  [[nodiscard]] static void* handle_of(const Memory& memory) { return std::bit_cast<void*>(memory.handle); }

  void release(void*& event) const {
    if (event != nullptr) (void)calls_.release_event(event);
    event = nullptr;
  }

  template <class Info>
  [[nodiscard]] static std::string text_of(Info info, void* of, unsigned what) {
    std::array<char, 512> text{};
    if (info(of, what, text.size() - 1, text.data(), nullptr) != 0) return {};
    return text.data();
  }
  template <class T>
  [[nodiscard]] T number_of(unsigned what) const {
    T number = 0;
    return calls_.device_info(device_, what, sizeof number, &number, nullptr) == 0 ? number : T{0};
  }

  [[nodiscard]] Error error(int code, const std::string& what) const {
    return device_error(facts_.id, "cannot " + what + " (OpenCL error " + std::to_string(code) + ")");
  }
  [[nodiscard]] Status status(int code, const char* what) const {
    if (code == 0) return {};
    return fail(error(code, what));
  }

  [[nodiscard]] Result<void*> make_buffer(std::uint64_t bytes, std::uint64_t flags) const {
    if (auto room = check_device_room(facts_, bytes); !room) return fail(room.error());
    int code = 0;
    void* const made = calls_.create_buffer(context_, flags, bytes, nullptr, &code);
    if (code == 0) return made;
    const bool is_full =
        code == cl::no_memory || code == cl::no_resources || code == cl::no_host_memory || code == cl::bad_buffer_size;
    return fail(is_full ? no_device_memory(facts_, bytes) : error(code, "allocate memory"));
  }

  [[nodiscard]] Result<void*> build(const Program& program) const {
    std::array<const char*, 2> texts{opencl_prelude, program.source};
    int code = 0;
    void* const made = calls_.create_program(context_, texts.size(), texts.data(), nullptr, &code);
    if (code != 0) return fail(error(code, "take a program"));
    code = calls_.build(made, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
    if (code == 0) return made;
    std::size_t bytes = 0;
    (void)calls_.build_info(made, device_, cl::build_log, 0, nullptr, &bytes);
    std::string log(bytes, '\0');
    (void)calls_.build_info(made, device_, cl::build_log, bytes, log.data(), nullptr);
    return fail(device_error(facts_.id, "cannot build kernels: " + first_complaint(log)));
  }

  const OpenClCalls& calls_;
  void* device_;
  void* context_ = nullptr;
  void* queue_ = nullptr;
  void* started_ = nullptr;
  std::map<const char*, void*> programs_;
};

/// A list that OpenCL gives in two calls; empty where it has none.
template <class Ask>
std::vector<void*> handles(Ask ask) {
  unsigned count = 0;
  if (ask(0U, nullptr, &count) != 0 || count == 0) return {};
  std::vector<void*> found(count);
  if (ask(count, found.data(), nullptr) != 0) return {};
  return found;
}

}  // namespace

Result<Devices> opencl_devices(const std::string& name) {
  const auto loaded = load_accelerator_library(name);
  if (!loaded) return fail(loaded.error());
  auto calls = std::make_unique<OpenClCalls>(*loaded);
  if (!calls->missing().empty())
    return fail(environment_error("accelerator", name + " has no " + calls->missing() + ": it is older than 1.2"));
  const OpenClCalls& all = *calls.release();  // for as long as the library is loaded, which it stays
  Devices devices;
  for (void* const platform : handles([&](auto... rest) { return all.platform_ids(rest...); }))
    for (void* const device : handles([&](auto... rest) { return all.device_ids(platform, cl::all_devices, rest...); }))
      devices.push_back(std::make_unique<OpenClDevice>(all, platform, device, devices.size()));
  if (devices.empty()) return fail(environment_error("accelerator", name + " has no platform with a device"));
  return devices;
}

}  // namespace ullage::accelerator
