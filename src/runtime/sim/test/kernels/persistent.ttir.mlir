module {
  tt.func public @persistent(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %zero = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %c64 = arith.constant 64 : i32
    %pid = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    %first = arith.muli %pid, %c64 : i32
    %step = arith.muli %programs, %c64 : i32
    scf.for %at = %first to %n step %step : i32 {
      %b = tt.splat %at : i32 -> tensor<64xi32>
      %i = arith.addi %b, %r : tensor<64xi32>
    %s_m = tt.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %i, %s_m : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %a = tt.load %px, %m, %zero : tensor<64x!tt.ptr<f32>>
    %c = arith.mulf %a, %a : tensor<64xf32>
    tt.store %po, %c, %m : tensor<64x!tt.ptr<f32>>
    }
    tt.return
  }
}
