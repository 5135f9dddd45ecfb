module {
  tt.func public @i64_arithmetic(%x: !tt.ptr<i64>, %y: !tt.ptr<i64>, %o: !tt.ptr<i64>) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
    %py_s = tt.splat %y : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
    %py = tt.addptr %py_s, %i : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
    %po_s = tt.splat %o : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
    %a = tt.load %px : tensor<64x!tt.ptr<i64>>
    %b = tt.load %py : tensor<64x!tt.ptr<i64>>
    %p = arith.muli %a, %b : tensor<64xi64>
    %q = arith.divsi %p, %a : tensor<64xi64>
    %r = arith.remsi %a, %b : tensor<64xi64>
    %c = arith.addi %q, %r : tensor<64xi64>
    tt.store %po, %c : tensor<64x!tt.ptr<i64>>
    tt.return
  }
}
