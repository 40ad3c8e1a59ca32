"""C++, CUDA and Objective-C++ sources."""
