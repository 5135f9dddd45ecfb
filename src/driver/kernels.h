// Machine code of kernels: compiled in parallel, kept on disk, loaded once.
//
//   KernelLibrary library;
//   std::vector<KernelSource> sources = distinct_kernels(program, keys);
//   JUMAR_ASSIGN(LoadedKernels kernels, library.load(program, sources, target, settings));
//   kernels.find("k0")   // a runtime::KernelFn
//
// A kernel is known by the hash of its canonical text, the target's text and the build: two kernels of one
// graph that differ in names only are compiled once, and so are kernels that two graphs share while either is
// alive.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/jit/cpu_target.h"
#include "driver/store.h"
#include "loop/loop.h"
#include "runtime/executor.h"

namespace jumar::driver {

namespace jit {
class Jit;
}

// One kernel's code in memory, unloaded by the destructor.
class LoadedKernel;

struct KernelSource {
  std::string name;  // how the plan calls it
  Hash128 key;
  const loop::Kernel* kernel = nullptr;
};

// The kernels of a program as the plan calls them.
struct DistinctKernels {
  std::vector<KernelSource> sources;  // one for each code
  std::vector<size_t> source_of;      // for each kernel item, in order
};
DistinctKernels distinct_kernels(const loop::Program& program, std::string_view target_text,
                                 std::string_view build);

// An object file with one function, whose symbol follows from the key: objects of one package can be linked
// together, and an object serves every graph whatever the graph calls the kernel.
struct KernelObject {
  std::string name;
  Hash128 key;
  std::string object;
};
std::string kernel_symbol(const Hash128& key);

class LoadedKernels {
 public:
  runtime::KernelFn find(std::string_view name) const;  // null when there is none

 private:
  friend class KernelLibrary;
  std::map<std::string, std::shared_ptr<const LoadedKernel>, std::less<>> kernels_;
};

// Object code of each source, in order; `store` may be null. Broken entries of the store are made anew.
std::vector<KernelObject> compiled_kernels(const loop::Program& program,
                                           std::span<const KernelSource> sources,
                                           const jit::CpuTarget& target, const Store* store, int threads);

class KernelLibrary {
 public:
  KernelLibrary();
  ~KernelLibrary();

  // Links the objects and finds their functions. What is loaded already is shared.
  Result<LoadedKernels> load(std::span<const KernelObject> objects);

 private:
  Result<std::shared_ptr<const LoadedKernel>> load_one(const KernelObject& object);

  std::mutex mutex_;  // guards all members
  std::shared_ptr<jit::Jit> jit_;
  std::map<Hash128, std::weak_ptr<const LoadedKernel>> loaded_;
};

}  // namespace jumar::driver
