/* In place of Thrust's header, for upstream's cupy_thrust.h: the host device
 * sorts without Thrust. */
#ifndef CUPY_HOST_THRUST_VERSION_H_
#define CUPY_HOST_THRUST_VERSION_H_

#define THRUST_VERSION 0

#endif
