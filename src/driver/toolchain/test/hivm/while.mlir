module {
  func.func @k(%arg0: i64, %arg1: memref<?xf32, #hivm.address_space<gm>>, %arg2: i32, %arg3: i32, %arg4: i32, %arg5: i32) attributes {hacc.entry} {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %done:2 = scf.while (%a = %c0_i32, %b = %arg2) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi sgt, %b, %c0_i32 : i32
      scf.condition(%go) %a, %b : i32, i32
    } do {
    ^bb0(%c: i32, %d: i32):
      hivm.hir.pipe_barrier[<PIPE_V>]
      %e = arith.addi %c, %c1_i32 : i32
      %f = arith.subi %d, %c1_i32 : i32
      scf.yield %e, %f : i32, i32
    }
    %n = arith.index_cast %done#0 : i32 to index
    %view = memref.reinterpret_cast %arg1 to offset: [0], sizes: [%n, 2], strides: [8, 1] : memref<?xf32, #hivm.address_space<gm>> to memref<?x2xf32, strided<[8, 1]>, #hivm.address_space<gm>>
    func.call @load_gm_to_ubuf(%view) : (memref<?x2xf32, strided<[8, 1]>, #hivm.address_space<gm>>) -> ()
    return
  }
}
