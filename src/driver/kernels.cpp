#include "driver/kernels.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <optional>
#include <set>

#include "driver/canonical.h"
#include "driver/jit/jit.h"
#include "driver/jit/kernel_module.h"

namespace jumar::driver {

class LoadedKernel {
 public:
  LoadedKernel(std::shared_ptr<jit::Jit> jit, jit::ObjectHandle handle, runtime::KernelFn function)
      : jit_(std::move(jit)), handle_(handle), function_(function) {}
  ~LoadedKernel() { jit_->remove(handle_); }
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  runtime::KernelFn function() const { return function_; }

 private:
  std::shared_ptr<jit::Jit> jit_;
  jit::ObjectHandle handle_;
  runtime::KernelFn function_;
};

namespace {

constexpr std::string_view kStoreKind = "kernel";

// Modules on their way from the thread that writes IR to those that make code of it.
class ModuleQueue {
 public:
  struct Item {
    size_t index;
    jit::KernelModule module;
  };

  void push(Item item) {
    const std::lock_guard<std::mutex> lock(mutex_);
    items_.push_back(std::move(item));
    changed_.notify_one();
  }
  // No more items come.
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  // Nothing when the queue is closed and empty.
  std::optional<Item> pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    std::optional<Item> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool closed_ = false;
};

struct CloseQueue {
  ModuleQueue& queue;
  ~CloseQueue() { queue.close(); }
};

void make_objects(ModuleQueue& queue, jit::Codegen& codegen, std::vector<KernelObject>& objects) {
  while (std::optional<ModuleQueue::Item> item = queue.pop()) {
    const std::vector<uint8_t> bytes = item->module.object(codegen);
    objects[item->index].object.assign(bytes.begin(), bytes.end());
  }
}

// Compiles the sources with the given indices. IR is written by this thread alone, because expressions of one
// context belong to one thread; code is made by all.
void compile(const loop::Program& program, std::span<const KernelSource> sources,
             const std::vector<size_t>& missing, const jit::CpuTarget& target, int threads,
             std::vector<KernelObject>& objects) {
  if (missing.empty()) return;
  jit::Codegen codegen(target);
  ModuleQueue queue;
  std::vector<std::future<void>> workers;
  const size_t helpers = std::min(missing.size(), static_cast<size_t>(std::max(threads, 1))) - 1;
  {
    const CloseQueue close{queue};  // also when writing IR throws: the futures wait for their threads
    for (size_t k = 0; k < helpers; ++k) {
      workers.push_back(std::async(std::launch::async, [&] {
        jit::Codegen own(target);
        make_objects(queue, own, objects);
      }));
    }
    for (const size_t index : missing) {
      const KernelSource& source = sources[index];
      queue.push({index, jit::KernelModule(codegen, program, *source.kernel, kernel_symbol(source.key))});
    }
  }
  make_objects(queue, codegen, objects);
  for (std::future<void>& worker : workers) worker.get();
}

}  // namespace

DistinctKernels distinct_kernels(const loop::Program& program, std::string_view target_text,
                                 std::string_view build) {
  DistinctKernels out;
  std::map<Hash128, size_t> known;
  std::set<std::string> names;
  for (const loop::Item& item : program.items) {
    const auto* kernel = std::get_if<loop::Kernel>(&item);
    if (kernel == nullptr) continue;
    const Hash128 key =
        hash_of(fmt::format("kernel\n{}\n{}\n{}", build, target_text, canonical_kernel(program, *kernel)));
    const auto [it, is_new] = known.try_emplace(key, out.sources.size());
    if (is_new) {
      std::string name = kernel->name;
      for (int k = 1; !names.insert(name).second; ++k) name = fmt::format("{}_{}", kernel->name, k);
      out.sources.push_back({std::move(name), key, kernel});
    }
    out.source_of.push_back(it->second);
  }
  return out;
}

std::string kernel_symbol(const Hash128& key) { return "jumar_kernel_" + key.hex(); }

runtime::KernelFn LoadedKernels::find(std::string_view name) const {
  const auto it = kernels_.find(name);
  return it == kernels_.end() ? nullptr : it->second->function();
}

std::vector<KernelObject> compiled_kernels(const loop::Program& program,
                                           std::span<const KernelSource> sources,
                                           const jit::CpuTarget& target, const Store* store, int threads) {
  std::vector<KernelObject> objects(sources.size());
  std::vector<size_t> missing;
  for (size_t k = 0; k < sources.size(); ++k) {
    objects[k].name = sources[k].name;
    objects[k].key = sources[k].key;
    std::optional<std::string> kept;
    if (store != nullptr) kept = store->get(kStoreKind, sources[k].key);
    if (kept) {
      objects[k].object = std::move(*kept);
    } else {
      missing.push_back(k);
    }
  }
  compile(program, sources, missing, target, threads, objects);
  if (store != nullptr) {
    for (const size_t k : missing) {
      // A store that cannot be written costs time only; the graph's own entry reports it.
      (void)store->put(kStoreKind, objects[k].key, objects[k].object);
    }
  }
  return objects;
}

KernelLibrary::KernelLibrary() = default;
KernelLibrary::~KernelLibrary() = default;

Result<LoadedKernels> KernelLibrary::load(std::span<const KernelObject> objects) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(loaded_, [](const auto& entry) { return entry.second.expired(); });
  LoadedKernels out;
  for (const KernelObject& object : objects) {
    JUMAR_ASSIGN(std::shared_ptr<const LoadedKernel> kernel, load_one(object));
    out.kernels_[object.name] = std::move(kernel);
  }
  return out;
}

Result<std::shared_ptr<const LoadedKernel>> KernelLibrary::load_one(const KernelObject& object) {
  if (const auto it = loaded_.find(object.key); it != loaded_.end()) {
    if (std::shared_ptr<const LoadedKernel> kernel = it->second.lock()) return kernel;
  }
  if (jit_ == nullptr) {
    JUMAR_ASSIGN(std::unique_ptr<jit::Jit> created, jit::Jit::create());
    jit_ = std::move(created);
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(object.object.data());
  JUMAR_ASSIGN(const jit::ObjectHandle handle, jit_->add_object({bytes, object.object.size()}));
  Result<void*> address = jit_->lookup(handle, kernel_symbol(object.key));
  if (!address.ok()) {
    jit_->remove(handle);
    return std::move(address.error());
  }
  auto kernel =
      std::make_shared<const LoadedKernel>(jit_, handle, reinterpret_cast<runtime::KernelFn>(*address));
  loaded_[object.key] = kernel;
  return std::shared_ptr<const LoadedKernel>(std::move(kernel));
}

}  // namespace jumar::driver
