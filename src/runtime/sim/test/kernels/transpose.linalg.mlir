module {
  func.func @transpose(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32, %arg12: i32, %arg13: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %cst = arith.constant 0.000000e+00 : f32
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : index
    %c0 = arith.constant 0 : index
    %0 = arith.index_cast %arg6 : i32 to index
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [16, 32], strides: [%0, 1] : memref<?xf32> to memref<16x32xf32, strided<[?, 1]>>
    %alloc = memref.alloc() : memref<16x32xf32>
    %1 = arith.index_cast %arg4 : i32 to index
    %2 = arith.maxsi %1, %c0 : index
    %3 = arith.minsi %2, %c16 : index
    %4 = arith.index_cast %arg5 : i32 to index
    %5 = arith.maxsi %4, %c0 : index
    %6 = arith.minsi %5, %c32 : index
    %7 = arith.minsi %3, %c16 : index
    %8 = arith.minsi %6, %c32 : index
    %9 = arith.cmpi slt, %7, %c16 : index
    %10 = arith.cmpi slt, %8, %c32 : index
    %11 = arith.ori %9, %10 : i1
    scf.if %11 {
      linalg.fill ins(%cst : f32) outs(%alloc : memref<16x32xf32>)
    } {hivm.unlikely_condition}
    %subview = memref.subview %reinterpret_cast[0, 0] [%7, %8] [1, 1] : memref<16x32xf32, strided<[?, 1]>> to memref<?x?xf32, strided<[?, 1]>>
    %subview_0 = memref.subview %alloc[0, 0] [%7, %8] [1, 1] : memref<16x32xf32> to memref<?x?xf32, strided<[32, 1]>>
    memref.copy %subview, %subview_0 : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32, strided<[32, 1]>>
    %12 = bufferization.to_tensor %alloc restrict writable : memref<16x32xf32>
    annotation.mark %12 {hivm.multi_buffer = 1 : i32} : tensor<16x32xf32>
    %13 = tensor.empty() : tensor<32x16xf32>
    %transposed = linalg.transpose ins(%12 : tensor<16x32xf32>) outs(%13 : tensor<32x16xf32>) permutation = [1, 0] 
    %14 = arith.index_cast %arg7 : i32 to index
    %reinterpret_cast_1 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [32, 16], strides: [%14, 1] : memref<?xf32> to memref<32x16xf32, strided<[?, 1]>>
    %extracted_slice = tensor.extract_slice %transposed[0, 0] [%8, %7] [1, 1] : tensor<32x16xf32> to tensor<?x?xf32>
    %subview_2 = memref.subview %reinterpret_cast_1[0, 0] [%8, %7] [1, 1] : memref<32x16xf32, strided<[?, 1]>> to memref<?x?xf32, strided<[?, 1]>>
    bufferization.materialize_in_destination %extracted_slice in writable %subview_2 : (tensor<?x?xf32>, memref<?x?xf32, strided<[?, 1]>>) -> ()
    return
  }
}

