module {
  func.func @unset_lanes(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %alloc = memref.alloc() : memref<64xf32>
    %0 = arith.index_cast %arg4 : i32 to index
    %1 = arith.maxsi %0, %c0 : index
    %2 = arith.minsi %1, %c64 : index
    %subview = memref.subview %reinterpret_cast[0] [%2] [1] : memref<64xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
    %subview_0 = memref.subview %alloc[0] [%2] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
    memref.copy %subview, %subview_0 : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
    %3 = bufferization.to_tensor %alloc restrict writable : memref<64xf32>
    %reinterpret_cast_1 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    bufferization.materialize_in_destination %3 in writable %reinterpret_cast_1 : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    return
  }
}

