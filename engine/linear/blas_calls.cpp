// SPDX-License-Identifier: Apache-2.0
#include "linear/blas_calls.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "probes/text.hpp"

namespace ullage {
namespace {

/// The wheel puts this before each of its names.
constexpr const char* wheel_prefix = "scipy_";

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
std::string file_of(BlasCalls::Gemm<double> function) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(function), &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

}  // namespace

Result<BlasCalls> find_calls(void* handle) {
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

Map facts_of(const BlasCalls& calls) {
  Map facts{{"library", file_of(calls.dgemm)}};
  if (calls.core != nullptr) facts["core"] = std::string(trimmed(calls.core()));
  if (calls.architecture != nullptr && calls.architecture_text != nullptr)
    facts["core"] = std::string(trimmed(calls.architecture_text(calls.architecture())));
  if (calls.config != nullptr) facts["config"] = std::string(trimmed(calls.config()));
  return facts;
}

}  // namespace ullage
