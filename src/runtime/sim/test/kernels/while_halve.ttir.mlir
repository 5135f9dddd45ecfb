module {
  tt.func public @while_halve(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %limit: f32) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %a = tt.load %px : tensor<64x!tt.ptr<f32>>
    %half = arith.constant dense<0.5> : tensor<64xf32>
    %r:2 = scf.while (%v = %a, %k = %limit) : (tensor<64xf32>, f32) -> (tensor<64xf32>, f32) {
      %one = arith.constant 1.0 : f32
      %go = arith.cmpf ogt, %k, %one : f32
      scf.condition(%go) %v, %k : tensor<64xf32>, f32
    } do {
    ^bb0(%v: tensor<64xf32>, %k: f32):
      %h = arith.constant 0.5 : f32
      %v2 = arith.mulf %v, %half : tensor<64xf32>
      %k2 = arith.mulf %k, %h : f32
      scf.yield %v2, %k2 : tensor<64xf32>, f32
    }
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %po, %r#0 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
