module {
  tt.func public @endless(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %c0 = arith.constant 0 : i32
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %a = tt.load %px : tensor<64x!tt.ptr<f32>>
    %v = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%p0: f32, %p1: f32):
      %q = arith.addf %p0, %p1 : f32
      tt.reduce.return %q : f32
    }) : (tensor<64xf32>) -> f32
    %r = scf.while (%k = %v) : (f32) -> f32 {
      %one = arith.constant 1.0 : f32
      %go = arith.cmpf une, %k, %one : f32
      scf.condition(%go) %k : f32
    } do {
    ^bb0(%k: f32):
      scf.yield %k : f32
    }
    tt.store %o, %r : !tt.ptr<f32>
    tt.return
  }
}
