cpdef dispatch_ufunc(func, tuple args, dict kwargs)
cpdef dispatch_kernel(kernel, tuple args, dict kwargs)
