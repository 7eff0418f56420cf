/* SPDX-License-Identifier: Apache-2.0 */
/* Errors. Everything that can fail returns an ek_status; what happened in detail is kept in a
 * thread-local ek_error, set where the failure is first seen. A worker thread hands its ek_error
 * to whoever waits for it (ek_error_set). Nothing here allocates. */
#ifndef EK_CORE_STATUS_H
#define EK_CORE_STATUS_H

#include "core/common.h"

EK_BEGIN_DECLS

/* X(name, code, text): one list makes the enum, the names and the texts. */
#define EK_STATUS_MAP(X)                                                                           \
    X(OK, 0, "success")                                                                            \
    X(ECANCELED, -1, "stopped on request")                                                         \
    X(EINVAL, -10, "invalid argument or option")                                                   \
    X(ESHAPE, -11, "shapes do not match")                                                          \
    X(EDTYPE, -12, "data type not accepted")                                                       \
    X(ENOTSUP, -13, "not supported")                                                               \
    X(ENOENT, -14, "not found")                                                                    \
    X(EDATA, -15, "the data do not allow it")                                                      \
    X(ETRUNC, -16, "file is truncated")                                                            \
    X(EBUDGET, -17, "does not fit the memory budget")                                              \
    X(ENOMEM, -20, "out of memory")                                                                \
    X(EIO, -21, "input or output failed")                                                          \
    X(ENETCDF, -22, "netCDF error")                                                                \
    X(EUV, -23, "libuv error")                                                                     \
    X(ELAPACK, -24, "LAPACK error")                                                                \
    X(ECUDA, -30, "CUDA error")                                                                    \
    X(ECUBLAS, -31, "cuBLAS error")                                                                \
    X(ECUSOLVER, -32, "cuSOLVER error")                                                            \
    X(EINTERNAL, -99, "internal error")

typedef enum ek_status {
#define EK_STATUS_ENUM(name, code, text) EK_##name = (code),
    EK_STATUS_MAP(EK_STATUS_ENUM)
#undef EK_STATUS_ENUM
} ek_status;

#define EK_ERROR_MESSAGE_MAX 1024

/* The detail of a failure. `message` is a whole sentence that names file, variable, chunk and
 * stage as far as they are known, and says what to do. */
typedef struct ek_error {
    ek_status status;
    int foreign_code; /* errno, netCDF, CUDA ... code; 0 if none */
    int line;         /* where in Ekman's source */
    char file[64];
    char message[EK_ERROR_MESSAGE_MAX];
} ek_error;

/* ek_status_name returns "EK_EINVAL" and the like; ek_status_text a short description. Both
 * return static strings, also for unknown codes. */
EK_API const char *ek_status_name(ek_status status);
EK_API const char *ek_status_text(ek_status status);

/* ek_error_last returns this thread's last error; valid until the thread's next failure. */
EK_API const ek_error *ek_error_last(void);

/* ek_error_set makes *error this thread's last error and returns its status. */
EK_API ek_status ek_error_set(const ek_error *error);

/* ek_error_clear forgets this thread's last error. */
EK_API void ek_error_clear(void);

/* ek_error_prefix puts "<text>: " before the last error's message, and returns its status.
 * Called on the way out, by each layer that knows more (the stage, the chunk). */
EK_API ek_status ek_error_prefix(const char *format, ...) EK_PRINTF(1, 2);

/* ek_error_record is what the macros below call; it returns `status`. */
EK_API ek_status ek_error_record(ek_status status, int foreign_code, const char *file, int line,
                                 const char *format, ...) EK_PRINTF(5, 6);

/* EK_FAIL records an error and evaluates to its status: return EK_FAIL(EK_EINVAL, "..."). */
#define EK_FAIL(status, ...) ek_error_record((status), 0, __FILE__, __LINE__, __VA_ARGS__)

/* EK_FAIL_CODE is EK_FAIL with the code of another library. */
#define EK_FAIL_CODE(status, code, ...)                                                            \
    ek_error_record((status), (code), __FILE__, __LINE__, __VA_ARGS__)

/* EK_TRY returns from the caller on failure: only where nothing is held. */
#define EK_TRY(expr)                                                                               \
    do {                                                                                           \
        ek_status ek_try_rc = (expr);                                                              \
        if (ek_try_rc != EK_OK) {                                                                  \
            return ek_try_rc;                                                                      \
        }                                                                                          \
    } while (0)

/* EK_GOTO stores the status in the local `rc` and jumps on failure. */
#define EK_GOTO(expr, label)                                                                       \
    do {                                                                                           \
        rc = (expr);                                                                               \
        if (rc != EK_OK) {                                                                         \
            goto label;                                                                            \
        }                                                                                          \
    } while (0)

EK_END_DECLS

#endif /* EK_CORE_STATUS_H */
