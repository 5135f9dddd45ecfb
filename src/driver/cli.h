// The `jumar` command line. Everything it does is a call of another file of the driver.
#pragma once

namespace jumar::driver {

// Gives the process's exit status: 0, 1 for a failure that was reported, 2 for wrong arguments, 3 for a bug.
int command_line(int argc, char** argv);

}  // namespace jumar::driver
