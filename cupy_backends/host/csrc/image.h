/* What was handed over as the image of a module. */
#ifndef CUPY_HOST_IMAGE_H_
#define CUPY_HOST_IMAGE_H_

#include <string>

namespace host {

/* 0 if the image is text; else an error that says what it is instead. */
int check_ptx_image(const void *image);

/* Reads a whole file. */
int read_file(const char *path, std::string *out);

}  // namespace host

#endif
