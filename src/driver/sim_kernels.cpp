#include "driver/sim_kernels.h"

#include <cstring>

namespace jumar::driver {

static_assert(sizeof(jumar_sim_fault) <= sizeof(runtime::IndexStatus));

runtime::KernelFn SimKernels::find(std::string_view name) const {
  if (kernels_ == nullptr) return nullptr;
  const auto it = kernels_->find(name);
  return it == kernels_->end() ? nullptr : it->second->function();
}

std::function<std::string(std::string_view, const runtime::IndexStatus&)> SimKernels::fault_texts() const {
  return [kernels = kernels_](std::string_view name, const runtime::IndexStatus& status) {
    const auto it = kernels->find(name);
    if (it == kernels->end()) return fmt::format("kernel {} failed", name);
    jumar_sim_fault fault{};
    std::memcpy(&fault, &status, sizeof fault);
    return it->second->fault_text(fault);
  };
}

void SimKernels::equip(runtime::Engine& engine, const target::CoreLimit& limit) const {
  engine.cores =
      std::make_shared<const runtime::Cores>(runtime::CoreCounts{limit.cube_cores, limit.vector_cores});
  engine.fault_text = fault_texts();
}

Status SimKernels::check(const plan::Plan& plan) const {
  for (const plan::Step& step : plan.steps) {
    const auto* launch = std::get_if<plan::LaunchStep>(&step.data);
    if (launch == nullptr) continue;
    const auto it = kernels_->find(launch->kernel);
    if (it == kernels_->end())
      return diagnostic("input", "the plan launches kernel {}, which is not there", launch->kernel);
    const jumar_sim_info& info = it->second->info();
    const size_t pointers = launch->tensors.size();
    const size_t words = pointers + 1 + launch->ints.size() + launch->floats.size();
    const bool fits =
        launch->checks_indices && static_cast<size_t>(info.fault_word) == pointers &&
        static_cast<size_t>(info.grid_word) + 3 + pointers == pointers + 1 + launch->ints.size() &&
        static_cast<size_t>(info.word_count) == words;
    if (!fits)
      return diagnostic("input", "the plan does not pass to kernel {} what its code takes", launch->kernel);
  }
  return {};
}

Result<SimKernels> SimKernelCache::load(std::span<const KernelObject> objects, const Options& options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<const SimLibrary>& library = libraries_[options.sim_library()];
  if (library == nullptr) {
    JUMAR_ASSIGN(library, SimLibrary::open(options.sim_library()));
  }
  std::erase_if(loaded_, [](const auto& entry) { return entry.second.expired(); });
  auto table = std::make_shared<SimKernels::Table>();
  for (const KernelObject& object : objects) {
    std::weak_ptr<const SimKernel>& known = loaded_[{options.sim_library(), object.key}];
    std::shared_ptr<const SimKernel> kernel = known.lock();
    if (kernel == nullptr) {
      Result<SimKernel> made = library->compile(object.object, {.kernel = {}, .floats_last = true});
      if (!made.ok())
        return diagnostic("sim", "the simulator does not take kernel {}: {}", object.name,
                          made.error().text());
      kernel = std::make_shared<const SimKernel>(std::move(*made));
      known = kernel;
    }
    (*table)[object.name] = std::move(kernel);
  }
  SimKernels out;
  out.kernels_ = std::move(table);
  return out;
}

}  // namespace jumar::driver
