// SPDX-License-Identifier: Apache-2.0
#include "accelerator/device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "accelerator/kernels.cl.hpp"
#include "accelerator/kernels.ptx.hpp"
#include "base/procfs.hpp"
#include "base/shared_library.hpp"

namespace ullage::accelerator {

const Program all_kernels{.source = kernels_cl, .ptx = kernels_ptx};

Error device_error(const std::string& id, const std::string& what) {
  return environment_error("accelerator " + id, what);
}

Result<void*> load_accelerator_library(const std::string& name) {
  if (void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const std::string said = linker_says();
  const bool is_missing = said.starts_with(name + ": cannot open shared object file: No such file");
  return fail(environment_error("accelerator", is_missing ? name + " is not there" : said));
}

std::string pci_name(unsigned domain, unsigned bus, unsigned device) {
  std::array<char, 32> name{};
  (void)std::snprintf(name.data(), name.size(), "%04x:%02x:%02x.0", domain, bus, device);
  return name.data();
}

std::string first_complaint(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\0')) line.pop_back();
    if (line.find("error") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

Error no_device_memory(const DeviceFacts& facts, std::uint64_t bytes) {
  return errno_error(ENOMEM, "allocate " + std::to_string(bytes) + " bytes on", facts.id + " (" + facts.name + ")");
}

Status check_device_room(const DeviceFacts& facts, std::uint64_t bytes) {
  const std::uint64_t most = std::max(facts.memory_bytes, facts.most_allocation_bytes);
  if (most > 0 && bytes > most) return fail(no_device_memory(facts, bytes));
  return {};
}

namespace {

void add_devices(FoundDevices& found, Result<Devices> of_library) {
  if (!of_library)
    found.missing.push_back(of_library.error().text);
  else
    std::ranges::move(*of_library, std::back_inserter(found.devices));
}

std::string no_device(const std::vector<std::string>& missing) {
  std::string text = "no accelerator";
  for (const std::string& reason : missing) text += (text == "no accelerator" ? ": " : "; ") + reason;
  return text;
}

}  // namespace

/// Never destroyed: libraries that have threads of their own may be gone when objects of this file are.
const FoundDevices& find_devices() {
  static const FoundDevices& all = *[] {
    auto found = std::make_unique<FoundDevices>();
    add_devices(*found, cuda_devices());
    add_devices(*found, opencl_devices());
    return found.release();
  }();
  return all;
}

Result<Device*> open_device(const std::string& id) {
  const auto& [devices, missing] = find_devices();
  if (devices.empty()) return fail(environment_error("accelerator", no_device(missing)));
  auto chosen = std::ranges::find_if(devices, [&](const auto& device) {
    return id == "first" ? device->facts().kind == "gpu" : device->facts().id == id;
  });
  if (chosen == devices.end() && id == "first") chosen = devices.begin();
  if (chosen == devices.end()) {
    std::string ids;
    for (const auto& device : devices) ids += (ids.empty() ? "" : ", ") + device->facts().id;
    return fail(device_error(id, "there is no such device; there are " + ids));
  }
  if (const Status opened = (*chosen)->open(); !opened) return fail(opened.error());
  return chosen->get();
}

Link link_of(const std::string& pci, const std::string& when, const std::string& devices) {
  const std::string folder = devices + "/" + pci + "/" + when + "_link_";
  const std::string speed = read_word(folder + "speed").value_or("");  // "32.0 GT/s PCIe"
  const std::string width = read_word(folder + "width").value_or("");
  const double transfers = 1e9 * std::strtod(speed.c_str(), nullptr);
  const double bits = transfers * std::strtod(width.c_str(), nullptr);
  if (pci.empty() || bits <= 0) return {};
  constexpr double third_generation = 8e9;
  const double coding =
      transfers < third_generation ? 8.0 / 10 : 128.0 / 130;  // that of PCIe 6 is 242 / 256: closer to 1
  return {bits * coding / 8, speed + " x" + width};
}

nlohmann::json describe_devices() {
  const auto& [devices, missing] = find_devices();
  nlohmann::json described = {{"devices", nlohmann::json::array()}, {"missing", missing}};
  for (const auto& device : devices) {
    const DeviceFacts& facts = device->facts();
    described["devices"].push_back({{"id", facts.id},
                                    {"name", facts.name},
                                    {"platform", facts.platform},
                                    {"driver", facts.driver},
                                    {"kind", facts.kind},
                                    {"pci", facts.pci},
                                    {"memory_bytes", facts.memory_bytes},
                                    {"most_allocation_bytes", facts.most_allocation_bytes},
                                    {"cache_bytes", facts.cache_bytes},
                                    {"units", facts.units},
                                    {"clock_hz", facts.clock_hz},
                                    {"memory_rate", facts.memory_rate},
                                    {"fp64_rate", facts.fp64_rate},
                                    {"fp32_rate", facts.fp32_rate},
                                    {"has_fp64", facts.has_fp64}});
  }
  return described;
}

}  // namespace ullage::accelerator
