module {
  tt.func public @unset_lanes(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s_m = tt.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %i, %s_m : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %a = tt.load %px, %m : tensor<64x!tt.ptr<f32>>
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %po, %a : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
