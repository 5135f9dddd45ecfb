module {
  tt.func public @fibonacci(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %py_s = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %py = tt.addptr %py_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %a = tt.load %px : tensor<64x!tt.ptr<f32>>
    %b = tt.load %py : tensor<64x!tt.ptr<f32>>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%u = %a, %v = %b, %w = %a) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) : i32 {
      %s = arith.addf %u, %v : tensor<64xf32>
      scf.yield %v, %s, %u : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %t = arith.subf %r#1, %r#2 : tensor<64xf32>
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %po, %t : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
