module {
  func.func @k(%arg0: i64, %arg1: memref<?xf32, #hivm.address_space<gm>>, %arg2: i32, %arg3: i32, %arg4: i32, %arg5: i32) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %n = arith.index_cast %arg2 : i32 to index
    %sum:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %c0, %b = %c1) -> (index, index) {
      %x = arith.addi %a, %i : index
      %y = arith.addi %x, %i : index
      scf.yield %y, %x : index, index
    }
    %is = arith.cmpi slt, %sum#0, %c4 : index
    %all = scf.if %is -> (index) {
      scf.yield %c0 : index
    } else {
      %z = arith.addi %sum#0, %n : index
      scf.yield %z : index
    }
    %view = memref.reinterpret_cast %arg1 to offset: [%c0], sizes: [%all], strides: [1] : memref<?xf32, #hivm.address_space<gm>> to memref<?xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>
    func.call @load_gm_to_ubuf(%view) : (memref<?xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>) -> ()
    return
  }
}
