#include "jumar/jumar.h"

int main(int argc, char** argv) { return jumar_main(argc, argv); }
