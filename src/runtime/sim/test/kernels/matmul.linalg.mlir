module {
  func.func @matmul(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf16> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf16> {tt.tensor_kind = 0 : i32}, %arg4: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "mix", parallel_mode = "simd"} {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<32x32xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf16> to memref<32x32xf16, strided<[32, 1]>>
    %reinterpret_cast_0 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf16> to memref<32x32xf16, strided<[32, 1]>>
    %reinterpret_cast_1 = memref.reinterpret_cast %arg4 to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf32> to memref<32x32xf32, strided<[32, 1]>>
    %alloc = memref.alloc() : memref<32x32xf16>
    memref.copy %reinterpret_cast, %alloc : memref<32x32xf16, strided<[32, 1]>> to memref<32x32xf16>
    %2 = bufferization.to_tensor %alloc restrict writable : memref<32x32xf16>
    %alloc_2 = memref.alloc() : memref<32x32xf16>
    memref.copy %reinterpret_cast_0, %alloc_2 : memref<32x32xf16, strided<[32, 1]>> to memref<32x32xf16>
    %3 = bufferization.to_tensor %alloc_2 restrict writable : memref<32x32xf16>
    %4 = linalg.matmul {input_precison = "ieee"} ins(%2, %3 : tensor<32x32xf16>, tensor<32x32xf16>) outs(%1 : tensor<32x32xf32>) -> tensor<32x32xf32>
    bufferization.materialize_in_destination %4 in writable %reinterpret_cast_1 : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1]>>) -> ()
    return
  }
}

