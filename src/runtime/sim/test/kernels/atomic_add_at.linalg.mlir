#map = affine_map<(d0) -> (d0)>
module {
  func.func @atomic_add_at(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xi32> {tt.tensor_kind = 0 : i32}, %arg4: memref<?xf32> {tt.tensor_kind = 2 : i32}, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %cst = arith.constant 0.000000e+00 : f32
    %c64_i32 = arith.constant 64 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0_i32 = arith.constant 0 : i32
    %0 = arith.muli %arg9, %c64_i32 : i32
    %1 = arith.index_cast %0 : i32 to index
    %reinterpret_cast = memref.reinterpret_cast %arg3 to offset: [%1], sizes: [64], strides: [1] : memref<?xi32> to memref<64xi32, strided<[1], offset: ?>>
    %alloc = memref.alloc() : memref<64xi32>
    %2 = arith.addi %1, %c64 : index
    %3 = arith.index_cast %arg5 : i32 to index
    %4 = arith.maxsi %1, %3 : index
    %5 = arith.minsi %2, %4 : index
    %6 = arith.subi %5, %1 : index
    %7 = arith.cmpi slt, %6, %c64 : index
    scf.if %7 {
      linalg.fill ins(%c0_i32 : i32) outs(%alloc : memref<64xi32>)
    } {hivm.unlikely_condition}
    %subview = memref.subview %reinterpret_cast[0] [%6] [1] : memref<64xi32, strided<[1], offset: ?>> to memref<?xi32, strided<[1], offset: ?>>
    %subview_0 = memref.subview %alloc[0] [%6] [1] : memref<64xi32> to memref<?xi32, strided<[1]>>
    memref.copy %subview, %subview_0 : memref<?xi32, strided<[1], offset: ?>> to memref<?xi32, strided<[1]>>
    %8 = bufferization.to_tensor %alloc restrict writable : memref<64xi32>
    %reinterpret_cast_1 = memref.reinterpret_cast %arg2 to offset: [%1], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %alloc_2 = memref.alloc() : memref<64xf32>
    scf.if %7 {
      linalg.fill ins(%cst : f32) outs(%alloc_2 : memref<64xf32>)
    } {hivm.unlikely_condition}
    %subview_3 = memref.subview %reinterpret_cast_1[0] [%6] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %subview_4 = memref.subview %alloc_2[0] [%6] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
    memref.copy %subview_3, %subview_4 : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
    %9 = bufferization.to_tensor %alloc_2 restrict writable : memref<64xf32>
    scf.for %arg12 = %c0 to %c64 step %c1 {
      %extracted = tensor.extract %8[%arg12] {DiscreteMemAccess} : tensor<64xi32>
      %10 = arith.index_cast %extracted : i32 to index
      %reinterpret_cast_5 = memref.reinterpret_cast %arg4 to offset: [%10], sizes: [1], strides: [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
      %extracted_6 = tensor.extract %9[%arg12] {DiscreteMemAccess} : tensor<64xf32>
      %11 = arith.index_cast %arg12 : index to i32
      %12 = arith.addi %0, %11 : i32
      %13 = arith.cmpi slt, %12, %arg5 : i32
      %14 = tensor.empty() : tensor<1xf32>
      %inserted = tensor.insert %extracted_6 into %14[%c0] : tensor<1xf32>
      scf.if %13 {
        %15 = bufferization.to_memref %inserted : memref<1xf32>
        linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%reinterpret_cast_5, %15 : memref<1xf32, strided<[1], offset: ?>>, memref<1xf32>) outs(%reinterpret_cast_5 : memref<1xf32, strided<[1], offset: ?>>) attrs =  {GenericAtomicRMW = "fadd", MemSemantic = "acq_rel", MemSyncScope = "gpu"} {
        ^bb0(%in: f32, %in_7: f32, %out: f32):
          %16 = arith.addf %in, %in_7 : f32
          linalg.yield %16 : f32
        }
      }
    } {ExtractedLoadOrStore}
    return
  }
}

