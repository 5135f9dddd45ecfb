# find_package(jumar_package): the target jumar::package, which loads and runs packages (jumar/package.h).
include("${CMAKE_CURRENT_LIST_DIR}/jumar_package-targets.cmake")
