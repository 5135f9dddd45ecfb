module {
  func.func @bool_and(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xi8> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xi8> {tt.tensor_kind = 0 : i32}, %arg4: memref<?xi8> {tt.tensor_kind = 1 : i32}, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0_i8 = arith.constant 0 : i8
    %0 = tensor.empty() : tensor<64xi8>
    %1 = linalg.fill ins(%c0_i8 : i8) outs(%0 : tensor<64xi8>) -> tensor<64xi8>
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    %reinterpret_cast_0 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    %reinterpret_cast_1 = memref.reinterpret_cast %arg4 to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    %alloc = memref.alloc() : memref<64xi8>
    memref.copy %reinterpret_cast, %alloc : memref<64xi8, strided<[1]>> to memref<64xi8>
    %2 = bufferization.to_tensor %alloc restrict writable : memref<64xi8>
    %alloc_2 = memref.alloc() : memref<64xi8>
    memref.copy %reinterpret_cast_0, %alloc_2 : memref<64xi8, strided<[1]>> to memref<64xi8>
    %3 = bufferization.to_tensor %alloc_2 restrict writable : memref<64xi8>
    %4 = arith.cmpi ne, %2, %1 : tensor<64xi8>
    %5 = arith.cmpi ne, %3, %1 : tensor<64xi8>
    %6 = arith.andi %4, %5 : tensor<64xi1>
    %7 = arith.extui %6 : tensor<64xi1> to tensor<64xi8>
    bufferization.materialize_in_destination %7 in writable %reinterpret_cast_1 : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    return
  }
}

