// SPDX-License-Identifier: Apache-2.0
// A BLAS of this machine, loaded at run time: OpenBLAS, BLIS, MKL or the reference one, with 32-bit integers.
#pragma once

#include <dlfcn.h>
#include <strings.h>

#include <cstdlib>
#include <mutex>

#include "base/parameters.hpp"
#include "base/pinned.hpp"
#include "base/procfs.hpp"
#include "base/result.hpp"
#include "base/shared_library.hpp"
#include "base/std.hpp"
#include "linear/blas.hpp"

namespace ullage {

// How OpenBLAS is told whose kernels to take.

/// It looks while it is loaded, which is while this lives; then the variable is what it was. `core`: a word of
/// OPENBLAS_CORETYPE; empty: nothing is told.
class KernelChoice final : Pinned {
 public:
  explicit KernelChoice(const std::string& core) : is_set_(!core.empty()) {
    if (const char* const found = std::getenv(variable); found != nullptr) before_ = found;
    if (is_set_) setenv(variable, core.c_str(), 1);
  }
  ~KernelChoice() {
    if (is_set_ && before_) setenv(variable, before_->c_str(), 1);
    if (is_set_ && !before_) unsetenv(variable);
  }

 private:
  static constexpr const char* variable = "OPENBLAS_CORETYPE";
  bool is_set_;
  std::optional<std::string> before_;
};

// The entry points of a loaded BLAS, by the names its makers gave them.

/// Fortran's convention: everything by address, and after the others the length of each text (gfortran's ABI; a C
/// routine does not look at them). Integers have 32 bits. Source: netlib's BLAS and LAPACK.
struct BlasCalls {
  template <class T>
  using Gemm = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
                        const T* alpha, const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c,
                        const int* ldc, std::size_t, std::size_t);
  using Trsm = void (*)(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,
                        const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb,
                        std::size_t, std::size_t, std::size_t, std::size_t);
  using Trsv = void (*)(const char* uplo, const char* trans, const char* diag, const int* n, const double* a,
                        const int* lda, double* x, const int* incx, std::size_t, std::size_t, std::size_t);
  using Getrf = void (*)(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info);

  Gemm<double> dgemm = nullptr;
  Gemm<float> sgemm = nullptr;
  Trsm dtrsm = nullptr;
  Trsv dtrsv = nullptr;
  Getrf dgetrf = nullptr;              // null: a BLAS without LAPACK
  void (*set_threads)(int) = nullptr;  // OpenBLAS's and MKL's; null: it cannot be told that way
  int (*get_threads)() = nullptr;
  void (*set_threads_long)(std::int64_t) = nullptr;  // BLIS's
  std::int64_t (*get_threads_long)() = nullptr;
  const char* (*core)() = nullptr;  // OpenBLAS's; null: it does not say
  int (*architecture)() = nullptr;  // BLIS's, and its name
  const char* (*architecture_text)(int) = nullptr;
  const char* (*config)() = nullptr;
};

/// The wheel puts this before each of its names.
inline constexpr const char* wheel_prefix = "scipy_";

template <class Call>
void find(void* handle, const std::string& name, Call& call) {
  void* symbol = dlsym(handle, (wheel_prefix + name).c_str());
  if (symbol == nullptr) symbol = dlsym(handle, name.c_str());
  if (symbol != nullptr) call = reinterpret_cast<Call>(symbol);
}

template <class Call>
void find_first(void* handle, std::initializer_list<const char*> names, Call& call) {
  for (const char* name : names)
    if (call == nullptr) find(handle, name, call);
}

/// The file that a function is in.
inline std::string file_of(BlasCalls::Gemm<double> function) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(function), &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

/// See Blas::facts.
[[nodiscard]] inline Map facts_of(const BlasCalls& calls) {
  Map facts{{"library", file_of(calls.dgemm)}};
  if (calls.core != nullptr) facts["core"] = std::string(trimmed(calls.core()));
  if (calls.architecture != nullptr && calls.architecture_text != nullptr)
    facts["core"] = std::string(trimmed(calls.architecture_text(calls.architecture())));
  if (calls.config != nullptr) facts["config"] = std::string(trimmed(calls.config()));
  return facts;
}

/// The functions of the library behind `handle` (dlopen's), by their plain names or those that the `scipy-openblas32`
/// wheel gives them. An error when it is no BLAS, or one of 64-bit integers.
[[nodiscard]] inline Result<BlasCalls> find_calls(void* handle) {
  BlasCalls calls;
  find(handle, "dgemm_", calls.dgemm);
  find(handle, "sgemm_", calls.sgemm);
  find(handle, "dtrsm_", calls.dtrsm);
  find(handle, "dtrsv_", calls.dtrsv);
  find(handle, "dgetrf_", calls.dgetrf);
  // MKL's names in lower case are Fortran's and take addresses.
  find_first(handle, {"openblas_set_num_threads", "MKL_Set_Num_Threads"}, calls.set_threads);
  find_first(handle, {"openblas_get_num_threads", "MKL_Get_Max_Threads"}, calls.get_threads);
  find(handle, "bli_thread_set_num_threads", calls.set_threads_long);
  find(handle, "bli_thread_get_num_threads", calls.get_threads_long);
  find(handle, "openblas_get_corename", calls.core);
  find(handle, "bli_arch_query_id", calls.architecture);
  find(handle, "bli_arch_string", calls.architecture_text);
  find_first(handle, {"openblas_get_config", "bli_info_get_version_str"}, calls.config);
  if (calls.dgemm == nullptr || calls.sgemm == nullptr || calls.dtrsm == nullptr || calls.dtrsv == nullptr)
    return fail(
        environment_error("BLAS", "this library is not a BLAS: it lacks one of dgemm_, sgemm_, dtrsm_, dtrsv_"));
  const Map facts = facts_of(calls);
  const auto config = facts.find("config");
  if (config != facts.end() && config->second.find("USE64BITINT") != std::string::npos)
    return fail(environment_error("BLAS", facts.at("library") + " has 64-bit integers; use the library with 32-bit "
                                                                "integers"));
  return calls;
}

/// Says which one. Empty: the first that the dynamic linker finds; the kernels it chooses itself.
struct BlasChoice {
  std::string library;  // a path, or a name that the dynamic linker finds
  std::string core;     // whose kernels: a word of OPENBLAS_CORETYPE (Haswell, SkylakeX ...)
  friend bool operator==(const BlasChoice&, const BlasChoice&) = default;
};

inline Error library_error(const std::string& text) { return environment_error("BLAS", text); }

class Library final : public Blas {
 public:
  Library(const BlasCalls& calls, Map facts) : calls_(calls), facts_(std::move(facts)) {}

  [[nodiscard]] Map facts() const override { return facts_; }
  [[nodiscard]] Status use_threads(int threads) override {
    if (calls_.set_threads != nullptr)
      calls_.set_threads(threads);
    else if (calls_.set_threads_long != nullptr)
      calls_.set_threads_long(threads);
    else if (threads > 1)
      return fail(
          library_error(facts_.at("library") + " cannot set its number of threads; use threads 1, or another library"));
    return {};
  }
  [[nodiscard]] int threads() const override {
    if (calls_.get_threads != nullptr) return calls_.get_threads();
    return calls_.get_threads_long != nullptr ? static_cast<int>(calls_.get_threads_long()) : 1;
  }

  void multiply(double alpha, const Block<double>& a, const Block<double>& b, double beta,
                const Block<double>& c) const override {
    calls_.dgemm("N", "N", &c.rows, &c.columns, &a.columns, &alpha, a.data, &a.stride, b.data, &b.stride, &beta, c.data,
                 &c.stride, 1, 1);
  }
  void multiply(float alpha, const Block<float>& a, const Block<float>& b, float beta,
                const Block<float>& c) const override {
    calls_.sgemm("N", "N", &c.rows, &c.columns, &a.columns, &alpha, a.data, &a.stride, b.data, &b.stride, &beta, c.data,
                 &c.stride, 1, 1);
  }
  void solve_triangle(Triangle triangle, const Block<double>& a, const Block<double>& b) const override {
    constexpr double one = 1;
    const bool lower = triangle == Triangle::unit_lower;
    calls_.dtrsm("L", lower ? "L" : "U", "N", lower ? "U" : "N", &b.rows, &b.columns, &one, a.data, &a.stride, b.data,
                 &b.stride, 1, 1, 1, 1);
  }
  void solve_triangle(Triangle triangle, const Block<double>& a, std::span<double> x) const override {
    constexpr int one = 1;
    const bool lower = triangle == Triangle::unit_lower;
    calls_.dtrsv(lower ? "L" : "U", "N", lower ? "U" : "N", &a.rows, a.data, &a.stride, x.data(), &one, 1, 1, 1);
  }
  [[nodiscard]] bool can_factor() const override { return calls_.dgetrf != nullptr; }
  [[nodiscard]] int factor(const Block<double>& a, std::span<int> pivots) const override {
    int info = 0;
    calls_.dgetrf(&a.rows, &a.columns, a.data, &a.stride, pivots.data(), &info);
    return info;
  }

 private:
  BlasCalls calls_;
  Map facts_;
};

/// The names stand in the order of how fast they usually are.
inline std::vector<std::string> usual_names() {
  return {"libopenblas.so.0", "libopenblas.so", "libblis.so.4", "libmkl_rt.so.2", "libmkl_rt.so", "libblas.so.3"};
}

/// Its names stay its own: several libraries define the same ones.
inline Result<void*> open_library(const std::string& name) {
  const std::vector<std::string> named{name};
  return load_library("BLAS", name.empty() ? usual_names() : named, RTLD_NOW | RTLD_LOCAL, linear_library_room_bytes());
}

/// Returns whether it has taken the kernels that it was told to.
inline Status check_core(const std::string& wanted, const Map& facts) {
  if (wanted.empty()) return {};
  const auto core = facts.find("core");
  if (core == facts.end())
    return fail(library_error(facts.at("library") + " does not support `core`; only OpenBLAS does"));
  if (strcasecmp(core->second.c_str(), wanted.c_str()) == 0) return {};
  return fail(library_error(facts.at("library") + " has no kernels for core '" + wanted + "' on this CPU and uses '" +
                            core->second + "'"));
}

/// `chosen` becomes the choice where it is loaded, right or not.
inline Result<std::unique_ptr<Blas>> load(const BlasChoice& choice, std::optional<BlasChoice>& chosen) {
  const KernelChoice kernels(choice.core);
  const auto handle = open_library(choice.library);
  if (!handle) return fail(handle.error());
  chosen = choice;
  auto calls = find_calls(*handle);
  if (!calls) return fail(calls.error());
  Map facts = facts_of(*calls);
  if (Status right = check_core(choice.core, facts); !right) return fail(right.error());
  return std::make_unique<Library>(*calls, std::move(facts));
}

/// Loads it, once in a process: a library chooses its kernels while it is loaded, and stays. So a later call with
/// another choice is refused; such cases belong into launches of their own.
[[nodiscard]] inline Result<Blas*> load_blas(const BlasChoice& choice) {
  static std::mutex mutex;  // guards the two below, and the loading itself
  static std::optional<BlasChoice> chosen;
  static Result<std::unique_ptr<Blas>> loaded;
  const std::scoped_lock lock(mutex);
  if (!chosen) loaded = load(choice, chosen);
  if (chosen && *chosen != choice)
    return fail(library_error("this launch has loaded library '" + chosen->library + "' with core '" + chosen->core +
                              "' and cannot load '" + choice.library + "' with '" + choice.core +
                              "' as well; run them in separate launches"));
  if (!loaded) return fail(loaded.error());
  return loaded->get();
}

[[nodiscard]] inline BlasSource blas_source(BlasChoice choice) {
  return [choice = std::move(choice)] { return load_blas(choice); };
}

}  // namespace ullage
