module {
  func.func @add_no_mask(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c64_i32 = arith.constant 64 : i32
    %0 = arith.muli %arg7, %c64_i32 : i32
    %1 = arith.index_cast %0 : i32 to index
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [%1], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %reinterpret_cast_0 = memref.reinterpret_cast %arg3 to offset: [%1], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %alloc = memref.alloc() : memref<64xf32>
    memref.copy %reinterpret_cast, %alloc : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %2 = bufferization.to_tensor %alloc restrict writable : memref<64xf32>
    %3 = arith.addf %2, %2 : tensor<64xf32>
    bufferization.materialize_in_destination %3 in writable %reinterpret_cast_0 : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
    return
  }
}

