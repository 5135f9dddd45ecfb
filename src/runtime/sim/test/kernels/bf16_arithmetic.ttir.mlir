module {
  tt.func public @bf16_arithmetic(%x: !tt.ptr<bf16>, %y: !tt.ptr<bf16>, %o: !tt.ptr<bf16>) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %py_s = tt.splat %y : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %py = tt.addptr %py_s, %i : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %po_s = tt.splat %o : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %a = tt.load %px : tensor<64x!tt.ptr<bf16>>
    %b = tt.load %py : tensor<64x!tt.ptr<bf16>>
    %p = arith.mulf %a, %b : tensor<64xbf16>
    %c = arith.addf %p, %a : tensor<64xbf16>
    tt.store %po, %c : tensor<64x!tt.ptr<bf16>>
    tt.return
  }
}
