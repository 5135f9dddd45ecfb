module {
  func.func private @triton_assert_0(tensor<64xi1>) attributes {msg = "a is below b"}
  func.func private @triton_print_0(tensor<64xf32>) attributes {hex = false, prefix = " a: "}
  func.func @asserts(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg4: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %reinterpret_cast_0 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %reinterpret_cast_1 = memref.reinterpret_cast %arg4 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %alloc = memref.alloc() : memref<64xf32>
    memref.copy %reinterpret_cast, %alloc : memref<64xf32, strided<[1]>> to memref<64xf32>
    %0 = bufferization.to_tensor %alloc restrict writable : memref<64xf32>
    %alloc_2 = memref.alloc() : memref<64xf32>
    memref.copy %reinterpret_cast_0, %alloc_2 : memref<64xf32, strided<[1]>> to memref<64xf32>
    %1 = bufferization.to_tensor %alloc_2 restrict writable : memref<64xf32>
    %2 = arith.cmpf olt, %0, %1 : tensor<64xf32>
    call @triton_assert_0(%2) : (tensor<64xi1>) -> ()
    call @triton_print_0(%0) : (tensor<64xf32>) -> ()
    %3 = arith.subf %1, %0 : tensor<64xf32>
    bufferization.materialize_in_destination %3 in writable %reinterpret_cast_1 : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    return
  }
}

