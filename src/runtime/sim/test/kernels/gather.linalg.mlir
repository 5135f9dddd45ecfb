#map = affine_map<(d0) -> (d0)>
module {
  func.func @gather(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xi64> {tt.tensor_kind = 0 : i32}, %arg4: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0_i64 = arith.constant 0 : i64
    %c64_i32 = arith.constant 64 : i32
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
    %2 = arith.muli %arg9, %c64_i32 : i32
    %3 = tensor.empty() : tensor<64xi32>
    %4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%3 : tensor<64xi32>) {
    ^bb0(%out: i32):
      %19 = linalg.index 0 : index
      %20 = arith.index_cast %19 : index to i32
      linalg.yield %20 : i32
    } -> tensor<64xi32>
    %5 = linalg.fill ins(%2 : i32) outs(%3 : tensor<64xi32>) -> tensor<64xi32>
    %6 = arith.addi %5, %4 : tensor<64xi32>
    %7 = linalg.fill ins(%arg5 : i32) outs(%3 : tensor<64xi32>) -> tensor<64xi32>
    %8 = arith.cmpi slt, %6, %7 : tensor<64xi32>
    %9 = arith.index_cast %2 : i32 to index
    %reinterpret_cast = memref.reinterpret_cast %arg3 to offset: [%9], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1], offset: ?>>
    %alloc = memref.alloc() : memref<64xi64>
    %10 = arith.addi %9, %c64 : index
    %11 = arith.index_cast %arg5 : i32 to index
    %12 = arith.maxsi %9, %11 : index
    %13 = arith.minsi %10, %12 : index
    %14 = arith.subi %13, %9 : index
    %15 = arith.cmpi slt, %14, %c64 : index
    scf.if %15 {
      linalg.fill ins(%c0_i64 : i64) outs(%alloc : memref<64xi64>)
    } {hivm.unlikely_condition}
    %subview = memref.subview %reinterpret_cast[0] [%14] [1] : memref<64xi64, strided<[1], offset: ?>> to memref<?xi64, strided<[1], offset: ?>>
    %subview_0 = memref.subview %alloc[0] [%14] [1] : memref<64xi64> to memref<?xi64, strided<[1]>>
    memref.copy %subview, %subview_0 : memref<?xi64, strided<[1], offset: ?>> to memref<?xi64, strided<[1]>>
    %16 = bufferization.to_tensor %alloc restrict writable : memref<64xi64>
    %17 = scf.for %arg12 = %c0 to %c64 step %c1 iter_args(%arg13 = %0) -> (tensor<64xf32>) {
      %extracted = tensor.extract %16[%arg12] {DiscreteMemAccess} : tensor<64xi64>
      %19 = arith.index_cast %extracted : i64 to index
      %reinterpret_cast_3 = memref.reinterpret_cast %arg2 to offset: [%19], sizes: [1], strides: [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
      %20 = memref.load %reinterpret_cast_3[%c0] : memref<1xf32, strided<[1], offset: ?>>
      %inserted = tensor.insert %20 into %arg13[%arg12] : tensor<64xf32>
      scf.yield {DiscreteMemAccess} %inserted : tensor<64xf32>
    } {ExtractedLoadOrStore}
    %18 = arith.select %8, %17, %1 {DiscreteMemAccess} : tensor<64xi1>, tensor<64xf32>
    %reinterpret_cast_1 = memref.reinterpret_cast %arg4 to offset: [%9], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %extracted_slice = tensor.extract_slice %18[0] [%14] [1] : tensor<64xf32> to tensor<?xf32>
    %subview_2 = memref.subview %reinterpret_cast_1[0] [%14] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %extracted_slice in writable %subview_2 : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
    return
  }
}

