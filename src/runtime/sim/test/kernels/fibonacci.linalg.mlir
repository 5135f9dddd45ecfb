module {
  func.func @fibonacci(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg4: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %reinterpret_cast_0 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %alloc = memref.alloc() : memref<64xf32>
    memref.copy %reinterpret_cast, %alloc : memref<64xf32, strided<[1]>> to memref<64xf32>
    %0 = bufferization.to_tensor %alloc restrict writable : memref<64xf32>
    %alloc_1 = memref.alloc() : memref<64xf32>
    memref.copy %reinterpret_cast_0, %alloc_1 : memref<64xf32, strided<[1]>> to memref<64xf32>
    %1 = bufferization.to_tensor %alloc_1 restrict writable : memref<64xf32>
    %2:3 = scf.for %arg12 = %c0_i32 to %arg5 step %c1_i32 iter_args(%arg13 = %0, %arg14 = %1, %arg15 = %0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)  : i32 {
      %4 = arith.addf %arg13, %arg14 : tensor<64xf32>
      scf.yield %arg14, %4, %arg13 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %3 = arith.subf %2#1, %2#2 : tensor<64xf32>
    %reinterpret_cast_2 = memref.reinterpret_cast %arg4 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    bufferization.materialize_in_destination %3 in writable %reinterpret_cast_2 : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    return
  }
}

