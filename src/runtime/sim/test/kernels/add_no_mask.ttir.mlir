module {
  tt.func public @add_no_mask(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %pid_i = tt.get_program_id x : i32
    %c_i = arith.constant 64 : i32
    %base_i = arith.muli %pid_i, %c_i : i32
    %r_i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %b_i = tt.splat %base_i : i32 -> tensor<64xi32>
    %i = arith.addi %b_i, %r_i : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %a = tt.load %px : tensor<64x!tt.ptr<f32>>
    %c = arith.addf %a, %a : tensor<64xf32>
    tt.store %po, %c : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
