#include "driver/jit/jit.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <map>
#include <mutex>

#include "driver/jit/llvm_setup.h"
#include "driver/jit/process_symbols.h"

namespace jumar::driver::jit {
namespace {

Result<std::unique_ptr<llvm::orc::LLJIT>> make_lljit() {
  llvm::orc::LLJITBuilder builder;
  builder.setLinkProcessSymbolsByDefault(false);
  builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
  builder.setObjectLinkingLayerCreator(
      [](llvm::orc::ExecutionSession& session,
         const llvm::Triple&) -> llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> {
        auto memory = llvm::jitlink::InProcessMemoryManager::Create();
        if (!memory) return memory.takeError();
        return std::make_unique<llvm::orc::ObjectLinkingLayer>(session, std::move(*memory));
      });
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> lljit = builder.create();
  if (!lljit) return diagnostic("unsupported", "no JIT: {}", llvm::toString(lljit.takeError()));
  return std::move(*lljit);
}

llvm::Error define_process_symbols(llvm::orc::LLJIT& lljit) {
  llvm::orc::SymbolMap symbols;
  for (const ProcessSymbol& symbol : process_symbols()) {
    symbols[lljit.mangleAndIntern(symbol.name)] = {llvm::orc::ExecutorAddr::fromPtr(symbol.address),
                                                   llvm::JITSymbolFlags::Exported};
  }
  return lljit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

}  // namespace

struct Jit::Impl {
  std::unique_ptr<llvm::orc::LLJIT> lljit;
  mutable std::mutex mutex;  // guards the members below
  std::map<uint64_t, llvm::orc::JITDylib*> objects;
  uint64_t next_handle = 1;
  std::string reported;  // what the session reported since the last failed lookup

  std::string take_reported() {
    const std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(reported, {});
  }

  llvm::orc::JITDylib& dylib(ObjectHandle handle) const {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto it = objects.find(static_cast<uint64_t>(handle));
    CHECK(it != objects.end(), "object {} is not loaded", static_cast<uint64_t>(handle));
    return *it->second;
  }
};

Jit::Jit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Jit::~Jit() = default;

Result<std::unique_ptr<Jit>> Jit::create() {
  initialize_llvm();
  auto impl = std::make_unique<Impl>();
  JUMAR_ASSIGN(impl->lljit, make_lljit());
  impl->lljit->getExecutionSession().setErrorReporter([p = impl.get()](llvm::Error error) {
    const std::lock_guard<std::mutex> lock(p->mutex);
    p->reported += llvm::toString(std::move(error)) + "\n";
  });
  if (llvm::Error error = define_process_symbols(*impl->lljit)) {
    return diagnostic("unsupported", "no JIT: {}", llvm::toString(std::move(error)));
  }
  return std::unique_ptr<Jit>(new Jit(std::move(impl)));
}

Result<ObjectHandle> Jit::add_object(std::span<const uint8_t> bytes) {
  const llvm::StringRef content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> parsed =
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(content, "object"));
  if (!parsed) return diagnostic("input", "not an object file: {}", llvm::toString(parsed.takeError()));
  const llvm::Triple& expected = impl_->lljit->getTargetTriple();
  if ((*parsed)->getArch() != expected.getArch()) {
    return diagnostic("input", "an object file for {} cannot run on {}",
                      llvm::Triple::getArchTypeName((*parsed)->getArch()).str(),
                      expected.getArchName().str());
  }
  uint64_t handle = 0;
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    handle = impl_->next_handle++;
  }
  const std::string name = fmt::format("jumar-object-{}", handle);
  llvm::orc::JITDylib& dylib = impl_->lljit->getExecutionSession().createBareJITDylib(name);
  dylib.addToLinkOrder(impl_->lljit->getMainJITDylib());
  if (llvm::Error error =
          impl_->lljit->addObjectFile(dylib, llvm::MemoryBuffer::getMemBufferCopy(content, name))) {
    Diagnostic result = diagnostic("input", "object refused: {}", llvm::toString(std::move(error)));
    llvm::consumeError(impl_->lljit->getExecutionSession().removeJITDylib(dylib));
    return result;
  }
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->objects.emplace(handle, &dylib);
  return static_cast<ObjectHandle>(handle);
}

Result<void*> Jit::lookup(ObjectHandle handle, std::string_view symbol) {
  llvm::orc::JITDylib& dylib = impl_->dylib(handle);
  llvm::Expected<llvm::orc::ExecutorAddr> address =
      impl_->lljit->lookup(dylib, llvm::StringRef(symbol.data(), symbol.size()));
  if (!address) {
    Diagnostic result =
        diagnostic("input", "symbol '{}' not found: {}", symbol, llvm::toString(address.takeError()));
    if (std::string notes = impl_->take_reported(); !notes.empty()) result.notes.push_back(std::move(notes));
    return result;
  }
  return address->toPtr<void*>();
}

void Jit::remove(ObjectHandle handle) {
  llvm::orc::JITDylib& dylib = impl_->dylib(handle);
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->objects.erase(static_cast<uint64_t>(handle));
  }
  llvm::Error error = impl_->lljit->getExecutionSession().removeJITDylib(dylib);
  CHECK(!error, "object not unloaded: {}", llvm::toString(std::move(error)));
}

int Jit::num_objects() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return static_cast<int>(impl_->objects.size());
}

}  // namespace jumar::driver::jit
