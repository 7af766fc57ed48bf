// SPDX-License-Identifier: Apache-2.0
#include "linear/timed_calls.hpp"

namespace ullage {

Table<CallParameters> CallParameters::table() {
  using P = CallParameters;
  return {
      count("threads", &P::threads, {1, 4096}, "Let the library run this many threads, not pinned to cores."),
      count("calls", &P::calls, {1, 100'000}, "Time this many calls, one after the other."),
      seconds("warm_up_s", &P::warm_up_s, {0, 60},
              "Run smaller calls for this many seconds before the first timed call."),
      text("library", &P::library,
           "Load the BLAS of this path or name; empty means the first that the dynamic linker finds. A launch can load "
           "only one."),
      text("core", &P::core,
           "Make OpenBLAS use the kernels of this core, a word of OPENBLAS_CORETYPE; empty means that OpenBLAS "
           "chooses."),
  };
}

Map given(const CallParameters& parameters) {
  Map hints;
  if (!parameters.library.empty()) hints["library"] = parameters.library;
  if (!parameters.core.empty()) hints["core"] = parameters.core;
  return hints;
}

void TimedCalls::add(std::int64_t took_ns, const ClockRate& before, const ClockRate& after) {
  const double hz = (before.add_hz + after.add_hz) / 2;
  ++count_;
  elapsed_ns_ += took_ns;
  shortest_ns_ = std::min(shortest_ns_, took_ns);
  sum_hz_ += hz;
  cycles_ += hz * static_cast<double>(took_ns) * 1e-9;
  disagreement_ = std::max({disagreement_, before.disagreement(), after.disagreement()});
}

void TimedCalls::report(int threads, Gauges& gauges) const {
  gauges["kernel_s"] = static_cast<double>(elapsed_ns_) * 1e-9;
  gauges["shortest_window_s"] = count_ > 0 ? static_cast<double>(shortest_ns_) * 1e-9 : 0;
  gauges["cycles"] = cycles_ * threads;
  gauges["clock_hz"] = count_ > 0 ? sum_hz_ / static_cast<double>(count_) : 0;
  gauges["clock_disagreement"] = disagreement_;
}

}  // namespace ullage
