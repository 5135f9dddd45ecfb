#map = affine_map<(d0) -> (d0)>
module {
  func.func @argmax_rows(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xi32> {tt.tensor_kind = 1 : i32}, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32, %arg12: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c-1_i32 = arith.constant -1 : i32
    %cst = arith.constant 0xFF800000 : f32
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : index
    %c0 = arith.constant 0 : index
    %0 = tensor.empty() : tensor<32xi32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<32xi32>) {
    ^bb0(%out: i32):
      %20 = linalg.index 0 : index
      %21 = arith.index_cast %20 : index to i32
      linalg.yield %21 : i32
    } -> tensor<32xi32>
    %2 = tensor.empty() : tensor<16x32xi32>
    %broadcasted = linalg.broadcast ins(%1 : tensor<32xi32>) outs(%2 : tensor<16x32xi32>) dimensions = [0] 
    %3 = arith.index_cast %arg6 : i32 to index
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [16, 32], strides: [%3, 1] : memref<?xf32> to memref<16x32xf32, strided<[?, 1]>>
    %alloc = memref.alloc() : memref<16x32xf32>
    %4 = arith.index_cast %arg4 : i32 to index
    %5 = arith.maxsi %4, %c0 : index
    %6 = arith.minsi %5, %c16 : index
    %7 = arith.index_cast %arg5 : i32 to index
    %8 = arith.maxsi %7, %c0 : index
    %9 = arith.minsi %8, %c32 : index
    %10 = arith.minsi %6, %c16 : index
    %11 = arith.minsi %9, %c32 : index
    %12 = arith.cmpi slt, %10, %c16 : index
    %13 = arith.cmpi slt, %11, %c32 : index
    %14 = arith.ori %12, %13 : i1
    scf.if %14 {
      linalg.fill ins(%cst : f32) outs(%alloc : memref<16x32xf32>)
    } {hivm.unlikely_condition}
    %subview = memref.subview %reinterpret_cast[0, 0] [%10, %11] [1, 1] : memref<16x32xf32, strided<[?, 1]>> to memref<?x?xf32, strided<[?, 1]>>
    %subview_0 = memref.subview %alloc[0, 0] [%10, %11] [1, 1] : memref<16x32xf32> to memref<?x?xf32, strided<[32, 1]>>
    memref.copy %subview, %subview_0 : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32, strided<[32, 1]>>
    %15 = bufferization.to_tensor %alloc restrict writable : memref<16x32xf32>
    %16 = tensor.empty() : tensor<16xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<16xf32>) -> tensor<16xf32>
    %18 = tensor.empty() : tensor<16xi32>
    %19 = linalg.fill ins(%c-1_i32 : i32) outs(%18 : tensor<16xi32>) -> tensor<16xi32>
    %reduced:2 = linalg.reduce ins(%15, %broadcasted : tensor<16x32xf32>, tensor<16x32xi32>) outs(%17, %19 : tensor<16xf32>, tensor<16xi32>) dimensions = [1]  {reduce_mode = "max_with_index", tie_break_left = "true"}
      (%in: f32, %in_3: i32, %init: f32, %init_4: i32) {
        %20 = arith.cmpf ogt, %in, %init : f32
        %21 = arith.cmpf oeq, %in, %init : f32
        %22 = arith.cmpi slt, %in_3, %init_4 : i32
        %23 = arith.andi %21, %22 : i1
        %24 = arith.ori %20, %23 : i1
        %25 = arith.select %24, %in, %init : f32
        %26 = arith.select %24, %in_3, %init_4 : i32
        linalg.yield %25, %26 : f32, i32
      }
    %reinterpret_cast_1 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [16], strides: [1] : memref<?xi32> to memref<16xi32, strided<[1]>>
    %extracted_slice = tensor.extract_slice %reduced#1[0] [%6] [1] : tensor<16xi32> to tensor<?xi32>
    %subview_2 = memref.subview %reinterpret_cast_1[0] [%6] [1] : memref<16xi32, strided<[1]>> to memref<?xi32, strided<[1]>>
    bufferization.materialize_in_destination %extracted_slice in writable %subview_2 : (tensor<?xi32>, memref<?xi32, strided<[1]>>) -> ()
    return
  }
}

