// out[k] = a[k] + b[k] for k < n, 1024 elements of each program.
module {
  tt.func public @add(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %size = arith.constant 1024 : i32
    %zeros = arith.constant dense<0.0> : tensor<1024xf32>
    %pid = tt.get_program_id x : i32
    %begin = arith.muli %pid, %size : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %begins = tt.splat %begin : i32 -> tensor<1024xi32>
    %at = arith.addi %begins, %range : tensor<1024xi32>
    %ends = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %at, %ends : tensor<1024xi32>
    %a0 = tt.splat %a : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %a1 = tt.addptr %a0, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %a1, %mask, %zeros : tensor<1024x!tt.ptr<f32>>
    %b0 = tt.splat %b : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %b1 = tt.addptr %b0, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %y = tt.load %b1, %mask, %zeros : tensor<1024x!tt.ptr<f32>>
    %sum = arith.addf %x, %y : tensor<1024xf32>
    %o0 = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %o1 = tt.addptr %o0, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %o1, %sum, %mask : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
