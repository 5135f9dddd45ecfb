#map = affine_map<(d0) -> (d0)>
module {
  func.func private @triton_indirect_store(memref<?xf32>, tensor<64xi64>, tensor<64xf32>, tensor<64xi1>)
  func.func @scatter(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xi32> {tt.tensor_kind = 0 : i32}, %arg4: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "mix_simd_simt"} {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i32 = arith.constant 0 : i32
    %c64 = arith.constant 64 : index
    %c64_i32 = arith.constant 64 : i32
    %0 = arith.muli %arg9, %c64_i32 : i32
    %1 = tensor.empty() : tensor<64xi32>
    %2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%1 : tensor<64xi32>) {
    ^bb0(%out: i32):
      %17 = linalg.index 0 : index
      %18 = arith.index_cast %17 : index to i32
      linalg.yield %18 : i32
    } -> tensor<64xi32>
    %3 = linalg.fill ins(%0 : i32) outs(%1 : tensor<64xi32>) -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = linalg.fill ins(%arg5 : i32) outs(%1 : tensor<64xi32>) -> tensor<64xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<64xi32>
    %7 = arith.index_cast %0 : i32 to index
    %reinterpret_cast = memref.reinterpret_cast %arg3 to offset: [%7], sizes: [64], strides: [1] : memref<?xi32> to memref<64xi32, strided<[1], offset: ?>>
    %alloc = memref.alloc() : memref<64xi32>
    %8 = arith.addi %7, %c64 : index
    %9 = arith.index_cast %arg5 : i32 to index
    %10 = arith.maxsi %7, %9 : index
    %11 = arith.minsi %8, %10 : index
    %12 = arith.subi %11, %7 : index
    %13 = arith.cmpi slt, %12, %c64 : index
    scf.if %13 {
      linalg.fill ins(%c0_i32 : i32) outs(%alloc : memref<64xi32>)
    } {hivm.unlikely_condition}
    %subview = memref.subview %reinterpret_cast[0] [%12] [1] : memref<64xi32, strided<[1], offset: ?>> to memref<?xi32, strided<[1], offset: ?>>
    %subview_0 = memref.subview %alloc[0] [%12] [1] : memref<64xi32> to memref<?xi32, strided<[1]>>
    memref.copy %subview, %subview_0 : memref<?xi32, strided<[1], offset: ?>> to memref<?xi32, strided<[1]>>
    %14 = bufferization.to_tensor %alloc restrict writable : memref<64xi32>
    %reinterpret_cast_1 = memref.reinterpret_cast %arg2 to offset: [%7], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %alloc_2 = memref.alloc() : memref<64xf32>
    scf.if %13 {
      linalg.fill ins(%cst : f32) outs(%alloc_2 : memref<64xf32>)
    } {hivm.unlikely_condition}
    %subview_3 = memref.subview %reinterpret_cast_1[0] [%12] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %subview_4 = memref.subview %alloc_2[0] [%12] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
    memref.copy %subview_3, %subview_4 : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
    %15 = bufferization.to_tensor %alloc_2 restrict writable : memref<64xf32>
    %16 = arith.extsi %14 : tensor<64xi32> to tensor<64xi64>
    call @triton_indirect_store(%arg4, %16, %15, %6) : (memref<?xf32>, tensor<64xi64>, tensor<64xf32>, tensor<64xi1>) -> ()
    return
  }
}

