module {
  tt.func public @cumsum_rows(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %rows: i32, %cols: i32, %stride: i32) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %st = tt.splat %stride : i32 -> tensor<16x1xi32>
    %ro = arith.muli %re, %st : tensor<16x1xi32>
    %rb = tt.broadcast %ro : tensor<16x1xi32> -> tensor<16x32xi32>
    %cb = tt.broadcast %ce : tensor<1x32xi32> -> tensor<16x32xi32>
    %at = arith.addi %rb, %cb : tensor<16x32xi32>
    %rl = tt.splat %rows : i32 -> tensor<16x1xi32>
    %rm = arith.cmpi slt, %re, %rl : tensor<16x1xi32>
    %cl = tt.splat %cols : i32 -> tensor<1x32xi32>
    %cm = arith.cmpi slt, %ce, %cl : tensor<1x32xi32>
    %rmb = tt.broadcast %rm : tensor<16x1xi1> -> tensor<16x32xi1>
    %cmb = tt.broadcast %cm : tensor<1x32xi1> -> tensor<16x32xi1>
    %m = arith.andi %rmb, %cmb : tensor<16x32xi1>
    %zero = arith.constant dense<0.0> : tensor<16x32xf32>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %at : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %at : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %a = tt.load %px, %m, %zero : tensor<16x32x!tt.ptr<f32>>
    %s = "tt.scan"(%a) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%p0: f32, %p1: f32):
      %q = arith.addf %p0, %p1 : f32
      tt.scan.return %q : f32
    }) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    tt.store %po, %s, %m : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}
