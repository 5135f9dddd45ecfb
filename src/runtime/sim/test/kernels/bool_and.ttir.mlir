module {
  tt.func public @bool_and(%x: !tt.ptr<i8>, %y: !tt.ptr<i8>, %o: !tt.ptr<i8>) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
    %py_s = tt.splat %y : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
    %py = tt.addptr %py_s, %i : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
    %po_s = tt.splat %o : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
    %a = tt.load %px : tensor<64x!tt.ptr<i8>>
    %b = tt.load %py : tensor<64x!tt.ptr<i8>>
    %z = arith.constant dense<0> : tensor<64xi8>
    %ab = arith.cmpi ne, %a, %z : tensor<64xi8>
    %bb = arith.cmpi ne, %b, %z : tensor<64xi8>
    %cb = arith.andi %ab, %bb : tensor<64xi1>
    %c = arith.extui %cb : tensor<64xi1> to tensor<64xi8>
    tt.store %po, %c : tensor<64x!tt.ptr<i8>>
    tt.return
  }
}
