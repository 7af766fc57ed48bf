// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <iterator>

#include "abi/choice.hpp"
#include "accelerator/device.hpp"
#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/procfs.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "mpi/abi.hpp"
#include "mpi/comm.hpp"
#include "run/describe.hpp"
#include "run/plan.hpp"
#include "run/reductions.hpp"
#include "run/same_build.hpp"
#include "run/selftest.hpp"
#include "run/session.hpp"
#include "storage/run_folder.hpp"

namespace {

constexpr const char* usage =
    "usage: ullage-engine describe [NAME]\n"
    "       ullage-engine needs < CASES.json\n"
    "       ullage-engine devices\n"
    "       mpiexec -n N ullage-engine run PLAN.json\n"
    "       ullage-engine selftest\n"
    "       mpiexec -n N ullage-engine selftest reductions [TIMES]\n"
    "       ullage-engine clean FOLDER\n";

int complain(const ullage::Error& error, int code) {
  std::cerr << "ullage-engine: " << ullage::to_line(error) << '\n';
  return code;
}

/// Prints a document that needs no MPI.
int print(const ullage::Result<ullage::Json>& document) {
  if (!document) return complain(document.error(), ullage::exit_code::bad_plan);
  std::cout << ullage::json_text(*document, 1) << '\n';
  return ullage::exit_code::ok;
}

int clean(const std::string& path) {
  if (ullage::RunFolder::remove_unmarked(path).value_or(false)) {
    std::cout << "removed an empty folder" << '\n';
    return ullage::exit_code::ok;
  }
  auto folder = ullage::RunFolder::open_existing(path);
  if (!folder) return complain(folder.error(), ullage::exit_code::environment);
  const auto removed = folder->remove_listed();
  if (!removed) return complain(removed.error(), ullage::exit_code::case_failed);
  std::cout << removed->removed_files << " files removed" << '\n';
  for (const auto& line : removed->left) std::cerr << "ullage-engine: left: " << line << '\n';
  return removed->left.empty() ? ullage::exit_code::ok : ullage::exit_code::case_failed;
}

int selftest() {
  const auto status = ullage::selftest(std::cout);
  return status ? ullage::exit_code::ok : complain(status.error(), ullage::exit_code::case_failed);
}

/// Prints what measure_reductions() found, with the time that MPI took to start.
int selftest_reductions(int argc, char** argv, const std::string& times) {
  const auto count = ullage::number_of(times);
  if (!count || *count == 0)
    return complain(ullage::bad_plan("TIMES", "must be a whole number from 1 on"), ullage::exit_code::bad_plan);
  const std::int64_t start = ullage::now_ns();
  const ullage::mpi::Environment environment(&argc, &argv);
  const std::int64_t started_ns = ullage::now_ns() - start;
  auto found = ullage::measure_reductions(ullage::process_memory(), *count);
  if (found.is_null()) return ullage::exit_code::ok;
  found["init_ns"] = started_ns;
  std::cout << ullage::json_text(found) << '\n' << std::flush;
  const auto status = ullage::all_right(found);
  return status ? ullage::exit_code::ok : complain(status.error(), ullage::exit_code::case_failed);
}

int run(int argc, char** argv, const std::string& plan) {
  const ullage::mpi::Environment environment(&argc, &argv);
  const ullage::mpi::Comm all = ullage::mpi::Comm::world();
  if (const auto same = ullage::check_same_build(all); !same)
    return all.rank() == 0 ? complain(same.error(), ullage::exit_code::environment) : ullage::exit_code::environment;
  const ullage::mpi::World world;
  // What a case cannot get is its error; without the little that the run itself needs there is no run.
  const auto code = ullage::catch_resource_errors([&] -> ullage::Result<int> { return ullage::run_plan(plan, world); });
  if (!code) ullage::mpi::abort_all(complain(code.error(), ullage::exit_code::environment));
  return *code;
}

volatile std::sig_atomic_t exit_code_when_late = 0;

/// Libraries do work at an exit, and OpenBLAS waits there for a thread of its own, which may look for memory for ever:
/// where that takes long this process ends without it.
int limit_exit(int code) {
  constexpr unsigned longest_s = 5;
  exit_code_when_late = code;
  std::signal(SIGALRM, [](int) { _exit(exit_code_when_late); });
  alarm(longest_s);
  return code;
}

std::string word_at(const std::vector<std::string>& words, std::size_t index, const std::string& otherwise = "") {
  return index < words.size() ? words[index] : otherwise;
}

/// Without an MPI of its own, becomes the program for the MPI at hand where what is asked for needs ranks.
ullage::Status fit_mpi(char* const* argv, const std::vector<std::string>& words) {
  const std::string verb = word_at(words, 0);
  const bool uses_mpi = verb == "run" || verb == "describe" || word_at(words, 1) == "reductions";
  if (!uses_mpi || ullage::mpi::abi() != "single") return {};
  return ullage::become_fitting(argv, verb == "describe");
}

}  // namespace

int main(int argc, char** argv) {
  // A write beyond the limit of file sizes (ulimit -f) is then EFBIG, an error like any other.
  std::signal(SIGXFSZ, SIG_IGN);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string verb = word_at(words, 0);
  if (const auto fits = fit_mpi(argv, words); !fits) return complain(fits.error(), ullage::exit_code::environment);
  if (verb == "describe" && words.size() <= 2) return print(ullage::describe(word_at(words, 1)));
  if (verb == "needs" && words.size() == 1)
    return print(ullage::needs_of_cases({std::istreambuf_iterator<char>(std::cin), {}}));
  if (verb == "devices" && words.size() == 1) return limit_exit(print(ullage::accelerator::describe_devices()));
  if (verb == "run" && words.size() == 2) return limit_exit(run(argc, argv, words[1]));
  if (verb == "selftest" && words.size() == 1) return selftest();
  if (verb == "selftest" && words[1] == "reductions" && words.size() <= 3)
    return selftest_reductions(argc, argv, word_at(words, 2, "5"));
  if (verb == "clean" && words.size() == 2) return clean(words[1]);
  std::cerr << usage;
  return ullage::exit_code::bad_plan;
}
