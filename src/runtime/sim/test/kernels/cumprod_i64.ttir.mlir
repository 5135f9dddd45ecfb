module {
  tt.func public @cumprod_i64(%x: !tt.ptr<i64>, %o: !tt.ptr<i64>, %rows: i32, %cols: i32, %stride: i32) {
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
    %zero = arith.constant dense<1> : tensor<16x32xi64>
    %px_s = tt.splat %x : !tt.ptr<i64> -> tensor<16x32x!tt.ptr<i64>>
    %px = tt.addptr %px_s, %at : tensor<16x32x!tt.ptr<i64>>, tensor<16x32xi32>
    %po_s = tt.splat %o : !tt.ptr<i64> -> tensor<16x32x!tt.ptr<i64>>
    %po = tt.addptr %po_s, %at : tensor<16x32x!tt.ptr<i64>>, tensor<16x32xi32>
    %a = tt.load %px, %m, %zero : tensor<16x32x!tt.ptr<i64>>
    %s = "tt.scan"(%a) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%p0: i64, %p1: i64):
      %q = arith.muli %p0, %p1 : i64
      tt.scan.return %q : i64
    }) : (tensor<16x32xi64>) -> tensor<16x32xi64>
    tt.store %po, %s, %m : tensor<16x32x!tt.ptr<i64>>
    tt.return
  }
}
