module {
  func.func @grid3(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xi32> {tt.tensor_kind = 1 : i32}, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0 = arith.constant 0 : index
    %c100_i32 = arith.constant 100 : i32
    %0 = arith.muli %arg6, %arg4 : i32
    %1 = arith.addi %0, %arg7 : i32
    %2 = arith.muli %1, %arg5 : i32
    %3 = arith.addi %2, %arg8 : i32
    %4 = arith.muli %arg6, %c100_i32 : i32
    %5 = arith.addi %4, %arg7 : i32
    %6 = arith.muli %5, %c100_i32 : i32
    %7 = arith.addi %6, %arg8 : i32
    %8 = arith.index_cast %3 : i32 to index
    %9 = tensor.empty() : tensor<1xi32>
    %inserted = tensor.insert %7 into %9[%c0] : tensor<1xi32>
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [%8], sizes: [1], strides: [1] : memref<?xi32> to memref<1xi32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %inserted in writable %reinterpret_cast : (tensor<1xi32>, memref<1xi32, strided<[1], offset: ?>>) -> ()
    return
  }
}

