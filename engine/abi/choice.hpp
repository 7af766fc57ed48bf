// SPDX-License-Identifier: Apache-2.0
// Which MPI this engine runs with, where it is installed for several: one program for each binary interface (ABI) of
// MPI lies beside the one without MPI, which looks for the MPI of its launcher or of the site and becomes the program
// for it.
#pragma once

#include <functional>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

/// An interface, and the names that its libraries have.
struct Abi {
  std::string name;
  std::vector<std::string> libraries;
};
[[nodiscard]] const std::vector<Abi>& mpi_abis();

/// Says why there is no library for an ABI, or where it is.
using Library = Result<std::string>;
using Variable = std::function<std::optional<std::string>(const std::string& name)>;

/// Says what started this process, or could start ranks of it.
struct Launched {
  bool is_rank = false;            // of a launch
  std::string by;                  // what started it, or else the launcher that is here; empty: neither
  std::vector<std::string> order;  // of ABIs that fit, the most likely first
};
/// `program`: the launcher that is on the PATH, without links; empty: none.
[[nodiscard]] Launched launched(const Variable& variable, const std::string& program);

struct Choice {
  std::string abi;      // "single": without MPI
  std::string library;  // its file
  std::string why;
};
/// `find`: the library of an ABI. Error: a rank was started by an MPI's launcher, and no MPI can be loaded.
[[nodiscard]] Result<Choice> choose_abi(const Launched& how, const std::optional<std::string>& wanted,
                                        const std::function<Library(const std::string& abi)>& find);

/// Replaces this process by the program for the MPI that fits, which has the same arguments. Returns where this one is
/// the one that fits. `lists_all`: what is said of all ABIs goes to the program, for its description.
[[nodiscard]] Status become_fitting(char* const* argv, bool lists_all);

/// Returns what the program that was replaced has said: `why` it has chosen, and `abis` where they are listed. Null
/// where there was none. Later processes do not see it.
[[nodiscard]] const Json& said_by_chooser();

}  // namespace ullage
