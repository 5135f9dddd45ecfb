#map = affine_map<(d0) -> (d0)>
module {
  func.func @reversed(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c64_i32 = arith.constant 64 : i32
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c1_i32 = arith.constant 1 : i32
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
    %2 = arith.muli %arg8, %c64_i32 : i32
    %3 = tensor.empty() : tensor<64xi32>
    %4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%3 : tensor<64xi32>) {
    ^bb0(%out: i32):
      %18 = linalg.index 0 : index
      %19 = arith.index_cast %18 : index to i32
      linalg.yield %19 : i32
    } -> tensor<64xi32>
    %5 = linalg.fill ins(%2 : i32) outs(%3 : tensor<64xi32>) -> tensor<64xi32>
    %6 = arith.addi %5, %4 : tensor<64xi32>
    %7 = linalg.fill ins(%arg4 : i32) outs(%3 : tensor<64xi32>) -> tensor<64xi32>
    %8 = arith.cmpi slt, %6, %7 : tensor<64xi32>
    %9 = arith.subi %arg4, %c1_i32 : i32
    %10 = scf.for %arg11 = %c0 to %c64 step %c1 iter_args(%arg12 = %0) -> (tensor<64xf32>) {
      %18 = arith.index_cast %arg11 : index to i32
      %19 = arith.addi %2, %18 : i32
      %20 = arith.subi %9, %19 : i32
      %21 = arith.index_cast %20 : i32 to index
      %reinterpret_cast_0 = memref.reinterpret_cast %arg2 to offset: [%21], sizes: [1], strides: [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
      %22 = memref.load %reinterpret_cast_0[%c0] : memref<1xf32, strided<[1], offset: ?>>
      %inserted = tensor.insert %22 into %arg12[%arg11] : tensor<64xf32>
      scf.yield {DiscreteMemAccess} %inserted : tensor<64xf32>
    } {ExtractedLoadOrStore}
    %11 = arith.select %8, %10, %1 {DiscreteMemAccess} : tensor<64xi1>, tensor<64xf32>
    %12 = arith.index_cast %2 : i32 to index
    %reinterpret_cast = memref.reinterpret_cast %arg3 to offset: [%12], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %13 = arith.addi %12, %c64 : index
    %14 = arith.index_cast %arg4 : i32 to index
    %15 = arith.maxsi %12, %14 : index
    %16 = arith.minsi %13, %15 : index
    %17 = arith.subi %16, %12 : index
    %extracted_slice = tensor.extract_slice %11[0] [%17] [1] : tensor<64xf32> to tensor<?xf32>
    %subview = memref.subview %reinterpret_cast[0] [%17] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %extracted_slice in writable %subview : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
    return
  }
}

