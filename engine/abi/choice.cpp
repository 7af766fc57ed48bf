// SPDX-License-Identifier: Apache-2.0
#include "abi/choice.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

namespace ullage {
namespace {

namespace fs = std::filesystem;

constexpr const char* wanted_variable = "ULLAGE_MPI";
constexpr const char* said_variable = "ULLAGE_MPI_CHOICE";
constexpr const char* without_mpi = "single";

std::optional<std::string> own_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool is_launcher(const std::string& program) {
  const std::string name = fs::path(program).filename();
  return std::ranges::any_of(
      std::array{"mpiexec", "mpirun", "orterun", "orted", "prte", "hydra_pmi_proxy", "hydra_bstrap_proxy"},
      [&](const char* known) { return name.starts_with(known); });
}

std::string on_path(const std::string& program) {
  std::istringstream folders(own_variable("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::string path = folder + "/" + program; access(path.c_str(), X_OK) == 0) return path;
  return {};
}

std::string launcher_on_path() {
  for (const char* program : {"mpiexec", "mpirun", "srun"})
    if (std::string path = on_path(program); !path.empty()) return path;
  return {};
}

std::string without_links(const std::string& path) {
  if (path.empty()) return path;  // libc++ takes it for the working folder
  std::error_code unknown;
  const fs::path real = fs::canonical(path, unknown);
  return unknown ? path : real.string();
}

/// Programs of launchers, from the parent of this process upwards.
std::vector<std::string> launchers_above() {
  std::vector<std::string> found;
  constexpr int generations = 4;  // a shell around a rank, the daemon, what started that
  std::string pid = std::to_string(getppid());
  for (int i = 0; i < generations && pid != "0"; ++i) {
    std::error_code unknown;
    const fs::path program = fs::read_symlink("/proc/" + pid + "/exe", unknown);
    if (!unknown && is_launcher(program)) found.push_back(program);
    std::ifstream status("/proc/" + pid + "/status");
    pid = "0";
    for (std::string word; status >> word;)
      if (word == "PPid:") status >> pid;
  }
  return found;
}

/// Where the libraries of an installation lie whose program this is.
void add_folders(const std::string& program, std::vector<std::string>& folders) {
  const fs::path prefix = fs::path(program).parent_path().parent_path();
  for (const char* folder : {"lib", "lib64", "lib/release", "lib/x86_64-linux-gnu"}) folders.push_back(prefix / folder);
}

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  for (const std::string& program : launchers_above()) add_folders(program, folders);
  if (const std::string program = launcher_on_path(); !program.empty()) {
    add_folders(program, folders);
    add_folders(without_links(program), folders);
  }
  for (const char* variable : {"I_MPI_ROOT", "CRAY_MPICH_DIR", "MPI_HOME"})
    if (const auto root = own_variable(variable)) add_folders(*root + "/bin/mpiexec", folders);
  return folders;
}

std::string text_of(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t bytes = 0; (bytes = read(descriptor, part.data(), part.size())) > 0 || (bytes < 0 && errno == EINTR);)
    text.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return text;
}

/// Tells the other end of `out` which file `name` loads, or why none, and ends this process.
[[noreturn]] void load_and_say(const std::string& name, int out) {
  void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  const bool is_known = library != nullptr && dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0;
  const char* const reason = is_known ? map->l_name : dlerror();
  const std::string said = reason == nullptr ? "it cannot be loaded" : reason;
  const bool was_said = write(out, said.data(), said.size()) == static_cast<ssize_t>(said.size());
  _exit(is_known && was_said ? 0 : 1);
}

/// The file that `name` loads. Loaded by another process, as what a library does at that may end it, and as it cannot
/// be undone.
Library loaded_elsewhere(const std::string& name) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return fail(errno_error(errno, "pipe", name));
  const pid_t child = fork();
  if (child == 0) load_and_say(name, ends[1]);
  close(ends[1]);
  std::string said = child < 0 ? "no process can be started" : text_of(ends[0]);
  close(ends[0]);
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  if (status == 0) return said;
  return fail(environment_error(name, said.empty() ? "a process that loads it does not survive" : said));
}

/// Files and names under which the library of an ABI may be loaded, the nearest first.
std::vector<std::string> places_of_library(const std::vector<std::string>& names) {
  std::vector<std::string> places;
  std::error_code unknown;
  for (const std::string& folder : library_folders())
    for (const std::string& name : names)
      if (const std::string path = folder + "/" + name; fs::exists(path, unknown)) places.push_back(path);
  places.insert(places.end(), names.begin(), names.end());
  return places;
}

Library find_library(const std::string& abi) {
  const auto known = std::ranges::find(mpi_abis(), abi, &Abi::name);
  std::optional<Error> reason;
  for (const std::string& place : places_of_library(known->libraries)) {
    auto found = loaded_elsewhere(place);
    if (found) return found;
    if (!reason) reason = found.error();
  }
  return fail(*reason);
}

/// With those ABIs first whose library lies beside a launcher: the machine may have that of another MPI as well.
std::vector<std::string> nearest_first(const std::vector<std::string>& order) {
  const auto is_near = [](const std::string& abi) {
    const auto known = std::ranges::find(mpi_abis(), abi, &Abi::name);
    return places_of_library(known->libraries).size() > known->libraries.size();
  };
  std::vector<std::string> sorted;
  std::ranges::copy_if(order, std::back_inserter(sorted), is_near);
  std::ranges::copy_if(order, std::back_inserter(sorted), std::not_fn(is_near));
  return sorted;
}

/// The program for an ABI, beside this one.
std::string program_for(const std::string& abi) { return without_links("/proc/self/exe") + "-" + abi; }

bool is_installed(const std::string& abi) { return access(program_for(abi).c_str(), X_OK) == 0; }

Library find_installed(const std::string& abi) {
  if (!is_installed(abi)) return fail(environment_error(program_for(abi), "this engine was built without it"));
  return find_library(abi);
}

Json list_of_abis() {
  Json list = Json::array();
  for (const Abi& abi : mpi_abis()) {
    const auto found = find_installed(abi.name);
    list.push_back({{"name", abi.name},
                    {"library", found ? *found : ""},
                    {"reason", found ? Json(nullptr) : Json(to_line(found.error()))}});
  }
  list.push_back({{"name", without_mpi}, {"library", ""}, {"reason", nullptr}});
  return list;
}

/// Lets the next program have this MPI before all else, whatever its name and its folder: it is linked with no file of
/// one. A list to preload has blanks between its files, so a path with one goes another way.
void preload(const fs::path& library, const std::string& others) {
  const bool has_blank = library.string().find_first_of(" :") != std::string::npos;
  const std::string list = (has_blank ? library.filename() : library).string() + (others.empty() ? "" : " " + others);
  setenv("LD_PRELOAD", list.c_str(), 1);
  if (!has_blank) return;
  const auto folders = own_variable("LD_LIBRARY_PATH");
  setenv("LD_LIBRARY_PATH", (library.parent_path().string() + (folders ? ":" + *folders : "")).c_str(), 1);
}

std::optional<Json> taken_from_environment() {
  const auto said = own_variable(said_variable);
  if (!said) return std::nullopt;
  unsetenv(said_variable);
  Json json = parse_json(*said);
  if (!json.is_object()) return std::nullopt;
  if (const std::string before = json.value("preload", ""); before.empty())
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", before.c_str(), 1);
  json.erase("preload");
  return json;
}

std::string why_chosen(const Launched& how, bool is_wanted) {
  if (is_wanted) return "ULLAGE_MPI says so";
  return how.by + (how.is_rank ? " started this process" : " is the launcher on PATH");
}

/// What is chosen where none of the MPIs that were tried can be loaded.
Result<Choice> without_any(const Launched& how, const std::optional<std::string>& wanted, const std::string& reasons) {
  const std::string right = " can be loaded: " + reasons + "; load the module of that MPI, or set LD_LIBRARY_PATH";
  if (wanted) return fail(environment_error(wanted_variable, "no " + *wanted + right));
  if (how.is_rank) return fail(environment_error("MPI", how.by + " started this process, but no MPI" + right));
  return Choice{without_mpi, "", how.by + " is the launcher on PATH, but no MPI can be loaded: " + reasons};
}

}  // namespace

const std::vector<Abi>& mpi_abis() {
  static const std::vector<Abi> abis{{"openmpi", {"libmpi.so.40"}},
                                     {"mpich", {"libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12"}},
                                     {"mpi5", {"libmpi_abi.so.1", "libmpi_abi.so.0"}}};
  return abis;
}

Launched launched(const Variable& variable, const std::string& program) {
  const std::vector<std::string> open_mpi_first{"openmpi", "mpich", "mpi5"};
  const std::vector<std::string> mpich_first{"mpich", "mpi5", "openmpi"};
  if (variable("OMPI_COMM_WORLD_SIZE")) return {true, "Open MPI's mpirun", open_mpi_first};
  if (variable("PMIX_RANK")) return {true, "a launcher that speaks PMIx", open_mpi_first};
  if (variable("PMI_RANK") || variable("PMI_SIZE")) return {true, "a launcher that speaks PMI", mpich_first};
  if (program.empty()) return {false, "", open_mpi_first};
  const bool is_hydra = program.find("hydra") != std::string::npos || program.find("mpich") != std::string::npos;
  return {false, program, is_hydra ? mpich_first : open_mpi_first};
}

Result<Choice> choose_abi(const Launched& how, const std::optional<std::string>& wanted,
                          const std::function<Library(const std::string& abi)>& find) {
  if (wanted == without_mpi) return Choice{without_mpi, "", "ULLAGE_MPI says so"};
  if (wanted && std::ranges::find(mpi_abis(), *wanted, &Abi::name) == mpi_abis().end())
    return fail(environment_error(wanted_variable, "is none of openmpi, mpich, mpi5 and single: " + *wanted));
  if (!wanted && how.by.empty())
    return Choice{without_mpi, "", "no launcher started this process, and there is no mpiexec, mpirun or srun on PATH"};
  std::string reasons;
  for (const std::string& abi : wanted ? std::vector{*wanted} : how.order) {
    const auto found = find(abi);
    if (found) return Choice{abi, *found, why_chosen(how, wanted.has_value())};
    reasons += (reasons.empty() ? "" : "; ") + to_line(found.error());
  }
  return without_any(how, wanted, reasons);
}

Status become_fitting(char* const* argv, bool lists_all) {
  if (std::ranges::none_of(mpi_abis(), [](const Abi& abi) { return is_installed(abi.name); })) return {};
  Launched how = launched(own_variable, without_links(launcher_on_path()));
  if (!how.is_rank) how.order = nearest_first(how.order);
  const auto choice = choose_abi(how, own_variable(wanted_variable), find_installed);
  if (!choice) return fail(choice.error());
  Json said{{"why", choice->why}};
  if (lists_all) said["abis"] = list_of_abis();
  const std::string before = own_variable("LD_PRELOAD").value_or("");
  said["preload"] = before;
  setenv(said_variable, json_text(said).c_str(), 1);
  if (choice->abi == without_mpi) return {};
  preload(choice->library, before);
  const std::string program = program_for(choice->abi);
  execv(program.c_str(), argv);
  return fail(errno_error(errno, "start", program));
}

const Json& said_by_chooser() {
  static const Json said = taken_from_environment().value_or(Json());
  return said;
}

}  // namespace ullage
