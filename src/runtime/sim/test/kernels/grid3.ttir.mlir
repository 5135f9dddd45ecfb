module {
  tt.func public @grid3(%o: !tt.ptr<i32>) {
    %px = tt.get_program_id x : i32
    %py = tt.get_program_id y : i32
    %pz = tt.get_program_id z : i32
    %gy = tt.get_num_programs y : i32
    %gz = tt.get_num_programs z : i32
    %0 = arith.muli %px, %gy : i32
    %1 = arith.addi %0, %py : i32
    %2 = arith.muli %1, %gz : i32
    %3 = arith.addi %2, %pz : i32
    %c100 = arith.constant 100 : i32
    %4 = arith.muli %px, %c100 : i32
    %5 = arith.addi %4, %py : i32
    %6 = arith.muli %5, %c100 : i32
    %7 = arith.addi %6, %pz : i32
    %p = tt.addptr %o, %3 : !tt.ptr<i32>, i32
    tt.store %p, %7 : !tt.ptr<i32>
    tt.return
  }
}
