// The runtime of packages, linked into one relocatable object by the build, as constants of this library.
  .section .rodata.jumar_package_runtime, "a", @progbits
  .global jumar_package_runtime_begin
  .hidden jumar_package_runtime_begin
  .global jumar_package_runtime_end
  .hidden jumar_package_runtime_end
  .balign 64
jumar_package_runtime_begin:
  .incbin JUMAR_PACKAGE_RUNTIME
jumar_package_runtime_end:
  .byte 0
  .section .note.GNU-stack, "", @progbits
