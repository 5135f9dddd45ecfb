module {
  tt.func public @f32_remainder(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %px_s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %px = tt.addptr %px_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %py_s = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %py = tt.addptr %py_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %po_s = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %po = tt.addptr %po_s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %a = tt.load %px : tensor<64x!tt.ptr<f32>>
    %b = tt.load %py : tensor<64x!tt.ptr<f32>>
    %c = "tt.mod"(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    tt.store %po, %c : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
