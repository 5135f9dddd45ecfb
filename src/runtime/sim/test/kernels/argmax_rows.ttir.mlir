module {
  tt.func public @argmax_rows(%x: !tt.ptr<f32>, %o: !tt.ptr<i32>, %rows: i32, %cols: i32, %stride: i32) {
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
    %low = arith.constant dense<0xFF800000> : tensor<16x32xf32>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %at : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %a = tt.load %px, %m, %low : tensor<16x32x!tt.ptr<f32>>
    %s:2 = "tt.reduce"(%a, %cb) <{axis = 1 : i32}> ({
    ^bb0(%v: f32, %vi: i32, %u: f32, %ui: i32):
      %0 = arith.cmpf oeq, %v, %u : f32
      %1 = arith.cmpi slt, %vi, %ui : i32
      %2 = arith.andi %0, %1 : i1
      %3 = arith.cmpf ogt, %v, %u : f32
      %4 = arith.ori %3, %2 : i1
      %5 = arith.select %4, %v, %u : f32
      %6 = arith.select %4, %vi, %ui : i32
      tt.reduce.return %5, %6 : f32, i32
    }) : (tensor<16x32xf32>, tensor<16x32xi32>) -> (tensor<16xf32>, tensor<16xi32>)
    %po_s = tt.splat %o : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %po = tt.addptr %po_s, %r : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %s_mo = tt.splat %rows : i32 -> tensor<16xi32>
    %mo = arith.cmpi slt, %r, %s_mo : tensor<16xi32>
    tt.store %po, %s#1, %mo : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
