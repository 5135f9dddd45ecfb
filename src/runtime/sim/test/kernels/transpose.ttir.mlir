module {
  tt.func public @transpose(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %rows: i32, %cols: i32, %stride: i32, %stride_o: i32) {
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
    %zero = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %at : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %a = tt.load %px, %m, %zero : tensor<16x32x!tt.ptr<f32>>
    tt.annotation %a {hivm.multi_buffer = 1 : i32} : tensor<16x32xf32>
    %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<16x32xf32> -> tensor<32x16xf32>
    %mt = tt.trans %m {order = array<i32: 1, 0>} : tensor<16x32xi1> -> tensor<32x16xi1>
    %r2 = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %c2 = tt.expand_dims %c {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %so = tt.splat %stride_o : i32 -> tensor<32x1xi32>
    %co = arith.muli %c2, %so : tensor<32x1xi32>
    %cob = tt.broadcast %co : tensor<32x1xi32> -> tensor<32x16xi32>
    %rob = tt.broadcast %r2 : tensor<1x16xi32> -> tensor<32x16xi32>
    %ao = arith.addi %cob, %rob : tensor<32x16xi32>
    %rl2 = tt.splat %rows : i32 -> tensor<1x16xi32>
    %rm2 = arith.cmpi slt, %r2, %rl2 : tensor<1x16xi32>
    %cl2 = tt.splat %cols : i32 -> tensor<32x1xi32>
    %cm2 = arith.cmpi slt, %c2, %cl2 : tensor<32x1xi32>
    %rm3 = tt.broadcast %rm2 : tensor<1x16xi1> -> tensor<32x16xi1>
    %cm3 = tt.broadcast %cm2 : tensor<32x1xi1> -> tensor<32x16xi1>
    %m2 = arith.andi %rm3, %cm3 : tensor<32x16xi1>
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %ao : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
    tt.store %po, %t, %m2 : tensor<32x16x!tt.ptr<f32>>
    tt.return
  }
}
