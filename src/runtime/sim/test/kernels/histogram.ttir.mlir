module {
  tt.func public @histogram(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %py_s = tt.splat %y : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %py = tt.addptr %py_s, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %po_s = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %a = tt.load %px : tensor<64x!tt.ptr<i32>>
    %b = tt.load %py : tensor<64x!tt.ptr<i32>>
    %h = tt.histogram %a : tensor<64xi32> -> tensor<64xi32>
    %c = arith.addi %h, %b : tensor<64xi32>
    tt.store %po, %c : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
