module {
  func.func @axpy_f32(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg4: f32, %arg5: i64, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %cst = arith.constant 0.000000e+00 : f32
    %c64 = arith.constant 64 : index
    %c64_i32 = arith.constant 64 : i32
    %0 = arith.muli %arg9, %c64_i32 : i32
    %1 = arith.trunci %arg5 : i64 to i32
    %2 = arith.index_cast %0 : i32 to index
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [%2], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %alloc = memref.alloc() : memref<64xf32>
    %3 = arith.addi %2, %c64 : index
    %4 = arith.index_cast %1 : i32 to index
    %5 = arith.maxsi %2, %4 : index
    %6 = arith.minsi %3, %5 : index
    %7 = arith.subi %6, %2 : index
    %8 = arith.cmpi slt, %7, %c64 : index
    scf.if %8 {
      linalg.fill ins(%cst : f32) outs(%alloc : memref<64xf32>)
    } {hivm.unlikely_condition}
    %subview = memref.subview %reinterpret_cast[0] [%7] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %subview_0 = memref.subview %alloc[0] [%7] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
    memref.copy %subview, %subview_0 : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
    %9 = bufferization.to_tensor %alloc restrict writable : memref<64xf32>
    %10 = tensor.empty() : tensor<64xf32>
    %11 = linalg.fill ins(%arg4 : f32) outs(%10 : tensor<64xf32>) -> tensor<64xf32>
    %12 = arith.mulf %9, %11 : tensor<64xf32>
    %reinterpret_cast_1 = memref.reinterpret_cast %arg3 to offset: [%2], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %extracted_slice = tensor.extract_slice %12[0] [%7] [1] : tensor<64xf32> to tensor<?xf32>
    %subview_2 = memref.subview %reinterpret_cast_1[0] [%7] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %extracted_slice in writable %subview_2 : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
    return
  }
}

