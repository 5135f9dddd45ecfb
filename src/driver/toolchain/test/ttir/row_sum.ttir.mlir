// Sums of rows of 128 columns: each program takes `rows` of the n rows, eight at a time.
module {
  tt.func public @row_sum(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32, %rows: i32) {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %pid = tt.get_program_id x : i32
    %begin = arith.muli %pid, %rows : i32
    %past = arith.addi %begin, %rows : i32
    %end = arith.minsi %past, %n : i32
    %eight = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %wide = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %columns = tt.expand_dims %wide {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %column = tt.broadcast %columns : tensor<1x128xi32> -> tensor<8x128xi32>
    %width = arith.constant dense<128> : tensor<8x1xi32>
    %zeros = arith.constant dense<0.0> : tensor<8x128xf32>
    scf.for %row = %begin to %end step %c8 : i32 {
      %first = tt.splat %row : i32 -> tensor<8xi32>
      %at = arith.addi %first, %eight : tensor<8xi32>
      %ends = tt.splat %end : i32 -> tensor<8xi32>
      %mask = arith.cmpi slt, %at, %ends : tensor<8xi32>
      %at2 = tt.expand_dims %at {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
      %offset = arith.muli %at2, %width : tensor<8x1xi32>
      %offsets = tt.broadcast %offset : tensor<8x1xi32> -> tensor<8x128xi32>
      %index = arith.addi %offsets, %column : tensor<8x128xi32>
      %mask2 = tt.expand_dims %mask {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
      %masks = tt.broadcast %mask2 : tensor<8x1xi1> -> tensor<8x128xi1>
      %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x128x!tt.ptr<f32>>
      %address = tt.addptr %base, %index : tensor<8x128x!tt.ptr<f32>>, tensor<8x128xi32>
      %value = tt.load %address, %masks, %zeros : tensor<8x128x!tt.ptr<f32>>
      %sum = "tt.reduce"(%value) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<8x128xf32>) -> tensor<8xf32>
      %target = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %targets = tt.addptr %target, %at : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      tt.store %targets, %sum, %mask : tensor<8x!tt.ptr<f32>>
    }
    tt.return
  }
}
