module {
  func.func @while_halve(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg4: f32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %cst = arith.constant 1.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %cst_0 = arith.constant 5.000000e-01 : f32
    %0 = tensor.empty() : tensor<1xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<1xf32>) -> tensor<1xf32>
    %2 = tensor.empty() : tensor<64xf32>
    %3 = linalg.fill ins(%cst_0 : f32) outs(%2 : tensor<64xf32>) -> tensor<64xf32>
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %alloc = memref.alloc() : memref<64xf32>
    memref.copy %reinterpret_cast, %alloc : memref<64xf32, strided<[1]>> to memref<64xf32>
    %4 = bufferization.to_tensor %alloc restrict writable : memref<64xf32>
    %5:2 = scf.while (%arg11 = %4, %arg12 = %arg4) : (tensor<64xf32>, f32) -> (tensor<64xf32>, f32) {
      %6 = arith.cmpf ogt, %arg12, %cst : f32
      scf.condition(%6) %arg11, %arg12 : tensor<64xf32>, f32
    } do {
    ^bb0(%arg11: tensor<64xf32>, %arg12: f32):
      %6 = arith.mulf %arg11, %3 : tensor<64xf32>
      %inserted = tensor.insert %arg12 into %0[%c0] : tensor<1xf32>
      %7 = arith.mulf %inserted, %1 : tensor<1xf32>
      %extracted = tensor.extract %7[%c0] : tensor<1xf32>
      scf.yield %6, %extracted : tensor<64xf32>, f32
    }
    %reinterpret_cast_1 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    bufferization.materialize_in_destination %5#0 in writable %reinterpret_cast_1 : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    return
  }
}

