/* The PTX translator, which lives in Python. */
#ifndef CUPY_HOST_TRANSLATOR_H_
#define CUPY_HOST_TRANSLATOR_H_

#include "bridge_abi.h"

namespace host {

/* NULL when none is registered (any more). */
const hd_translator *translator();

/* As translator(), recording an error when there is none. */
int find_translator(const hd_translator **out);

}  // namespace host

#endif
