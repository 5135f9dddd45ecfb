// The objects that packages are linked with, made by the build, as constants of this library.
  .macro jumar_object name, path
  .global \name\()_begin
  .hidden \name\()_begin
  .global \name\()_end
  .hidden \name\()_end
  .balign 64
\name\()_begin:
  .incbin "\path"
\name\()_end:
  .byte 0
  .endm

  .section .rodata.jumar_package_objects, "a", @progbits
  jumar_object jumar_package_runtime, JUMAR_PACKAGE_RUNTIME
  jumar_object jumar_package_onednn, JUMAR_PACKAGE_ONEDNN
  .section .note.GNU-stack, "", @progbits
