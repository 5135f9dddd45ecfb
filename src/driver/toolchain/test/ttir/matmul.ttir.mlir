// One product of 32x32 matrices in f16, negated in f32: a mixed kernel.
module {
  tt.func public @matmul(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %out: !tt.ptr<f32>) {
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %width = arith.constant dense<32> : tensor<32x1xi32>
    %zeros = arith.constant dense<0.0> : tensor<32x32xf32>
    %row = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %column = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %offset = arith.muli %row, %width : tensor<32x1xi32>
    %rows = tt.broadcast %offset : tensor<32x1xi32> -> tensor<32x32xi32>
    %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<32x32xi32>
    %at = arith.addi %rows, %columns : tensor<32x32xi32>
    %x0 = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %x1 = tt.addptr %x0, %at : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %a = tt.load %x1 : tensor<32x32x!tt.ptr<f16>>
    %y0 = tt.splat %y : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %y1 = tt.addptr %y0, %at : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %b = tt.load %y1 : tensor<32x32x!tt.ptr<f16>>
    %product = tt.dot %a, %b, %zeros, inputPrecision = ieee : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %result = arith.subf %zeros, %product : tensor<32x32xf32>
    %o0 = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %o1 = tt.addptr %o0, %at : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %o1, %result : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
