// out[k] = table[index[k]] for 64 elements of each program.
module {
  tt.func public @gather(%table: !tt.ptr<f32>, %index: !tt.ptr<i32>, %out: !tt.ptr<f32>) {
    %c64 = arith.constant 64 : i32
    %pid = tt.get_program_id x : i32
    %begin = arith.muli %pid, %c64 : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %begins = tt.splat %begin : i32 -> tensor<64xi32>
    %at = arith.addi %begins, %range : tensor<64xi32>
    %i0 = tt.splat %index : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %i1 = tt.addptr %i0, %at : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %which = tt.load %i1 : tensor<64x!tt.ptr<i32>>
    %t0 = tt.splat %table : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %t1 = tt.addptr %t0, %which : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %value = tt.load %t1 : tensor<64x!tt.ptr<f32>>
    %o0 = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %o1 = tt.addptr %o0, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %o1, %value : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
