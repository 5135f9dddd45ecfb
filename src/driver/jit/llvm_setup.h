// Brings the private copy of LLVM into the state that Jumar needs, once per process.
//
// The targets, LLVM's command-line options and its fatal error handler are process-wide inside LLVM, so this
// is the one place where Jumar keeps process-wide state: a std::once_flag local to the function. Everything
// else (contexts, target machines, JITs) is an object that somebody owns.
#pragma once

namespace jumar::driver::jit {

// Registers the X86 and AArch64 targets, turns loop strength reduction off (it costs up to 85 % of code
// generation on kernels whose addresses are already row pointer plus index) and installs a handler that
// reports an LLVM fatal error on stderr and throws InternalError instead of ending the process. May be called
// from any thread, any number of times.
void initialize_llvm();

}  // namespace jumar::driver::jit
