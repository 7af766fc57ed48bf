// SPDX-License-Identifier: Apache-2.0
// Workload `exchange`: one pattern of messages with all its ranks active.
#include "message/exchange/exchange.hpp"

#include "message/message_ends.hpp"
#include "message/patterns/ring_sizes.hpp"

namespace ullage {
namespace {

constexpr int fewest_exchange_ranks = 2;

/// Checks what spans parameters and layout.
Status check_exchange(const ExchangeParameters& parameters, int ranks, const std::string& pointer) {
  if (ranks < fewest_exchange_ranks) return fail(bad_plan(pointer, "an exchange needs two ranks or more"));
  const bool is_sparse = parameters.pattern == ExchangePattern::sparse;
  if (is_sparse && parameters.file.empty()) return fail(bad_plan(pointer + "/file", "pattern sparse needs a file"));
  if (!is_sparse && !parameters.file.empty())
    return fail(bad_plan(pointer + "/file", "a file is for pattern sparse only"));
  return {};
}

const Registered<WorkloadEntry> registered_exchange{without_storage<ExchangeParameters>({
    .name = "exchange",
    .doc = "Sends the messages of one pattern (bisections, rings, halos, incast, a given list) with all ranks of the "
           "pattern active.",
    .check = check_exchange,
    .make = single_phase<ExchangePhase>,
})};

}  // namespace

Table<ExchangeParameters> ExchangeParameters::table() {
  using P = ExchangeParameters;
  return joined<P>(
      Table<P>{
          choice("pattern", &P::pattern,
                 {
                     {ExchangePattern::ring, "ring"},
                     {ExchangePattern::best_bisection, "best-bisection"},
                     {ExchangePattern::worst_bisection, "worst-bisection"},
                     {ExchangePattern::random_bisection, "random-bisection"},
                     {ExchangePattern::halo_2d, "halo-2d"},
                     {ExchangePattern::halo_3d, "halo-3d"},
                     {ExchangePattern::torus_2d, "torus-2d"},
                     {ExchangePattern::torus_3d, "torus-3d"},
                     {ExchangePattern::incast, "incast"},
                     {ExchangePattern::outcast, "outcast"},
                     {ExchangePattern::sparse, "sparse"},
                 },
                 "Choose which ranks send to which. In a bisection both ranks of a pair send and receive; halos do not "
                 "wrap around, tori do."),
          choice("method", &P::method, message_method_words(), "Choose the MPI calls that move the messages."),
          bytes("message_bytes", &P::message_bytes, {1, 2147483647}, "Set the bytes of each message."),
          text("file", &P::file, "For pattern sparse, read the messages from this file, in lines FROM TO [WEIGHT]."),
          count("seed", &P::seed, {}, "Set the seed of pattern random-bisection."),
      },
      CallWindowParameters::table(), MessagePages::table());
}

Result<Pattern> exchange_pattern(const ExchangeParameters& parameters, int ranks, const std::string& text) {
  switch (parameters.pattern) {
    case ExchangePattern::ring:
      return one_ring("ring", ranks);
    case ExchangePattern::best_bisection:
      return best_bisection(ranks);
    case ExchangePattern::worst_bisection:
      return worst_bisection(ranks);
    case ExchangePattern::random_bisection:
      return Pattern{"random-bisection", random_order(RandomOrder::uniform, ranks, parameters.seed, 0),
                     Pairs{ranks / 2}};
    case ExchangePattern::halo_2d:
      return halo("halo-2d", ranks, 2, false);
    case ExchangePattern::halo_3d:
      return halo("halo-3d", ranks, 3, false);
    case ExchangePattern::torus_2d:
      return halo("torus-2d", ranks, 2, true);
    case ExchangePattern::torus_3d:
      return halo("torus-3d", ranks, 3, true);
    case ExchangePattern::incast:
      return incast(ranks);
    case ExchangePattern::outcast:
      return outcast(ranks);
    case ExchangePattern::sparse:
      break;
  }
  return sparse(text, parameters.file, ranks);
}

}  // namespace ullage
