// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 for tests: the functions of the driver that engine/accelerator/cuda.cpp calls, on the host. It shows
// that the library is found, that calls come in an order that the driver allows, that kernels.ptx has the kernels that
// are asked for, and what becomes of errors. Its kernels are kernels.cl compiled for the host. Of the speed of a GPU,
// and of what a driver makes of the PTX, it shows nothing. FAKE_CUDA_CARD is one of `cards` below. FAKE_CUDA_FAULT:
// init, none, ptx, memory, flip, and from the third launch on lost or hang.
// Names, types and parameters are those of the driver.
// NOLINTBEGIN(readability-*, misc-const-correctness, performance-no-int-to-ptr, bugprone-multi-level-implicit-*)
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace {

using u64 = unsigned long long;
struct pair64 {
  u64 x;
  u64 y;
};
struct double2 {
  double x;
  double y;
};
thread_local u64 index_now = 0;
u64 count_now = 0;
using std::fma;

#define KERNEL [[maybe_unused]] static
#define GLOBAL
#define INDEX index_now
#define COUNT count_now
#define HAS_FP64
#include "accelerator/kernels.cl"

template <class... A, std::size_t... I>
void call(void (*kernel)(A...), void** values, std::index_sequence<I...>) {
  kernel(*static_cast<A*>(values[I])...);
}

struct Function {
  const char* name;
  void (*run)(void** values);
};
#define FUNCTION(name)                                                                                              \
  Function {                                                                                                        \
    #name, [](void** values) {                                                                                      \
      []<class... A>(void (*kernel)(A...), void** given) { call(kernel, given, std::index_sequence_for<A...>{}); }( \
          name, values);                                                                                            \
    }                                                                                                               \
  }
const std::array functions{
    FUNCTION(add),          FUNCTION(stream_read),       FUNCTION(stream_write),     FUNCTION(stream_copy),
    FUNCTION(stream_triad), FUNCTION(multiply_add_fp32), FUNCTION(multiply_add_fp64)};

/// What drivers say of some cards, and of one that is small enough for tests.
struct Card {
  const char* name;
  int capability;
  int units;
  int clock_khz;
  int memory_clock_khz;
  int memory_width;
};
constexpr std::array<Card, 5> cards{{{"small", 90, 1, 1000000, 1000000, 64},
                                     {"H100", 90, 132, 1980000, 2619000, 5120},
                                     {"A100", 80, 108, 1410000, 1215000, 5120},
                                     {"V100", 70, 80, 1530000, 877000, 4096},
                                     {"unknown", 999, 100, 1000000, 0, 0}}};

std::string_view word(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}
bool is_fault(std::string_view what) { return word("FAKE_CUDA_FAULT") == what; }
const Card& card() {
  for (const Card& one : cards)
    if (word("FAKE_CUDA_CARD") == one.name) return one;
  return cards[0];
}

constexpr int not_initialized = 3;
constexpr int invalid_context = 201;
bool is_initialized = false;
int context = 0;
thread_local const void* current = nullptr;
int launches = 0;

/// What all calls ask first that need a context.
int state() {
  if (!is_initialized) return not_initialized;
  if (current != &context) return invalid_context;
  return is_fault("lost") && launches > 2 ? 999 : 0;
}
double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (is_fault("init")) return 803;
  is_initialized = true;
  return 0;
}
int cuGetErrorString(int code, const char** text) {
  *text = code == 999   ? "unknown error"
          : code == 803 ? "system has unsupported display driver / cuda driver combination"
          : code == 222 ? "the provided PTX was compiled with an unsupported toolchain."
          : code == 500 ? "named symbol not found"
                        : nullptr;
  return *text == nullptr ? 1 : 0;
}
int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = is_fault("none") ? 0 : 1;
  return is_initialized ? 0 : not_initialized;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return is_initialized ? 0 : not_initialized;
}
int cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "Fake CUDA device (%s)", card().name);
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{16} << 30U;
  return 0;
}
int cuDeviceGetAttribute(int* value, int what, int) {
  const Card& own = card();
  const std::array<std::pair<int, int>, 7> values{{{13, own.clock_khz},
                                                   {16, own.units},
                                                   {36, own.memory_clock_khz},
                                                   {37, own.memory_width},
                                                   {38, 1 << 16},
                                                   {75, own.capability / 10},
                                                   {76, own.capability % 10}}};
  *value = 0;
  for (const auto& [attribute, found] : values)
    if (attribute == what) *value = found;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** made, int) {
  *made = &context;
  return is_initialized ? 0 : not_initialized;
}
int cuCtxSetCurrent(void* made) {
  current = made;
  return is_initialized ? 0 : not_initialized;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = &context;
  return state();
}
int cuStreamSynchronize(void*) {
  while (is_fault("hang") && launches > 2) pause();
  return state();
}
int cuEventCreate(void** event, unsigned) {
  *event = new double(0);
  return state();
}
int cuEventRecord(void* event, void*) {
  *static_cast<double*>(event) = now_ms();
  return state();
}
int cuEventElapsedTime(float* ms, void* from, void* to) {
  *ms = static_cast<float>(*static_cast<double*>(to) - *static_cast<double*>(from));
  return state();
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (is_fault("memory")) return 2;
  void* const made = std::malloc(bytes);
  std::memcpy(address, &made, sizeof made);
  return state();
}
int cuMemFree_v2(std::uint64_t address) {
  std::free(reinterpret_cast<void*>(address));
  return state();
}
int cuMemHostAlloc(void** begin, std::size_t bytes, unsigned) {
  *begin = std::malloc(bytes);
  return state();
}
int cuMemFreeHost(void* begin) {
  std::free(begin);
  return state();
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return state();
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  if (is_fault("flip")) *static_cast<unsigned char*>(to) ^= 1U;
  return state();
}
int cuModuleLoadDataEx(void** module, const void* ptx, unsigned count, int* options, void** values) {
  if (is_fault("ptx")) return 222;
  const std::string text(static_cast<const char*>(ptx));
  if (text.find(".version") == std::string::npos) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == 5)
        std::strcpy(static_cast<char*>(values[i]), ("ptxas fatal   : error: syntax at '" + text + "'\n").c_str());
    return 218;
  }
  *module = new std::string(text);
  return state();
}
int cuModuleGetFunction(void** kernel, void* module, const char* name) {
  const bool is_in_ptx =
      static_cast<std::string*>(module)->find(".entry " + std::string(name) + "(") != std::string::npos;
  for (const Function& function : functions)
    if (is_in_ptx && std::string_view(function.name) == name) {
      *kernel = const_cast<Function*>(&function);
      return state();
    }
  return 500;
}
int cuLaunchKernel(void* kernel, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned,
                   void*, void** arguments, void**) {
  ++launches;
  if (const int code = state(); code != 0) return code;
  count_now = u64{blocks} * threads;
  for (index_now = 0; index_now < count_now; ++index_now) static_cast<Function*>(kernel)->run(arguments);
  return 0;
}
}
// NOLINTEND(readability-*, misc-const-correctness, performance-no-int-to-ptr, bugprone-multi-level-implicit-*)
