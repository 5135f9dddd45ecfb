module {
  tt.func public @matmul(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %o: !tt.ptr<f32>) {
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %ce = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %s = arith.constant dense<32> : tensor<32x1xi32>
    %ro = arith.muli %re, %s : tensor<32x1xi32>
    %rb = tt.broadcast %ro : tensor<32x1xi32> -> tensor<32x32xi32>
    %cb = tt.broadcast %ce : tensor<1x32xi32> -> tensor<32x32xi32>
    %at = arith.addi %rb, %cb : tensor<32x32xi32>
    %acc = arith.constant dense<0.0> : tensor<32x32xf32>
    %px_s = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %px = tt.addptr %px_s, %at : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %py_s = tt.splat %y : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %py = tt.addptr %py_s, %at : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %at : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %a = tt.load %px : tensor<32x32x!tt.ptr<f16>>
    %b = tt.load %py : tensor<32x32x!tt.ptr<f16>>
    %d = tt.dot %a, %b, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    tt.store %po, %d : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
