module {
  tt.func public @scatter(%x: !tt.ptr<f32>, %k: !tt.ptr<i32>, %o: !tt.ptr<f32>, %n: i32) {
    %pid_i = tt.get_program_id x : i32
    %c_i = arith.constant 64 : i32
    %base_i = arith.muli %pid_i, %c_i : i32
    %r_i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %b_i = tt.splat %base_i : i32 -> tensor<64xi32>
    %i = arith.addi %b_i, %r_i : tensor<64xi32>
    %s_m = tt.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %i, %s_m : tensor<64xi32>
    %zk = arith.constant dense<0> : tensor<64xi32>
    %zero = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %pk_s = tt.splat %k : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %pk = tt.addptr %pk_s, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %kk = tt.load %pk, %m, %zk : tensor<64x!tt.ptr<i32>>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %a = tt.load %px, %m, %zero : tensor<64x!tt.ptr<f32>>
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %kk : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %po, %a, %m : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
