/* SPDX-License-Identifier: Apache-2.0 */
/* Where device stages run. A backend has memory spaces, queues (in-order, asynchronous), events,
 * copies, kernels, and capture of a queue's work into a graph that can be launched again. `cuda`
 * maps these to streams, events and CUDA Graphs; `host` runs a thread per queue and is complete, so
 * that everything but the kernels is exercised without a GPU.
 *
 * Threads: a queue is used by one thread at a time (the loop's); the rest is stated per function.
 * A failure inside queued work is sticky: the queue's later sync, query or notify reports it. */
#ifndef EK_CORE_BACKEND_H
#define EK_CORE_BACKEND_H

#include "core/status.h"

EK_BEGIN_DECLS

typedef struct ek_backend ek_backend;
typedef struct ek_queue ek_queue;
typedef struct ek_event ek_event;
typedef struct ek_graph ek_graph;

typedef enum ek_space {
    EK_SPACE_HOST,   /* pageable */
    EK_SPACE_PINNED, /* page-locked: what asynchronous copies need */
    EK_SPACE_DEVICE
} ek_space;

typedef enum ek_backend_kind { EK_BACKEND_HOST, EK_BACKEND_CUDA } ek_backend_kind;

typedef struct ek_backend_props {
    char device[128];    /* "NVIDIA H200", "host (16 cores)" */
    char libraries[128]; /* versions, for provenance */
    size_t free_bytes;   /* device memory that can be had now */
    size_t total_bytes;
} ek_backend_props;

/* A kernel: one unit of device work with an implementation per backend and one plain argument
 * struct. `host` runs on the queue's thread; `cuda` is called at once and enqueues on the queue's
 * stream (own kernels or library calls), without allocating or synchronising. */
typedef struct ek_kernel {
    const char *name;
    ek_status (*host)(const void *args);
    ek_status (*cuda)(const void *args, ek_queue *queue); /* NULL in a build without CUDA */
} ek_kernel;

#define EK_KERNEL_ARGS_MAX 512

/* Called when all earlier work of a queue is done, on a thread of the backend's; it may only hand
 * the news on (ek_loop_post) and must not call the backend. */
typedef void (*ek_notify_fn)(void *user);

/* The table a backend fills; callers use the functions below it. All members are required. */
typedef struct ek_backend_ops {
    const char *name;
    ek_backend_kind kind;
    void (*destroy)(ek_backend *backend);
    ek_status (*props)(ek_backend *backend, ek_backend_props *out);

    ek_status (*mem_alloc)(ek_backend *backend, ek_space space, size_t bytes, void **out);
    void (*mem_free)(ek_backend *backend, ek_space space, void *ptr);

    ek_status (*queue_create)(ek_backend *backend, ek_queue **out);
    void (*queue_destroy)(ek_queue *queue);
    ek_status (*queue_sync)(ek_queue *queue);
    ek_status (*copy)(ek_queue *queue, void *dst, const void *src, size_t bytes);
    ek_status (*fill)(ek_queue *queue, void *dst, int byte, size_t bytes);
    ek_status (*launch)(ek_queue *queue, const ek_kernel *kernel, const void *args, size_t bytes);
    ek_status (*notify)(ek_queue *queue, ek_notify_fn fn, void *user);
    void *(*native)(ek_queue *queue);

    ek_status (*event_create)(ek_backend *backend, ek_event **out);
    void (*event_destroy)(ek_event *event);
    ek_status (*event_record)(ek_event *event, ek_queue *queue);
    ek_status (*event_wait)(ek_event *event, ek_queue *queue);
    ek_status (*event_query)(ek_event *event, bool *done);
    ek_status (*event_elapsed)(ek_event *start, ek_event *stop, double *seconds);

    ek_status (*capture_begin)(ek_queue *queue);
    ek_status (*capture_end)(ek_queue *queue, ek_graph **out);
    ek_status (*graph_launch)(ek_graph *graph, ek_queue *queue);
    int (*graph_size)(const ek_graph *graph);
    void (*graph_destroy)(ek_graph *graph);
} ek_backend_ops;

/* The first member of every implementation's object. */
struct ek_backend {
    const ek_backend_ops *ops;
};
struct ek_queue {
    ek_backend *backend;
};
struct ek_event {
    ek_backend *backend;
};
struct ek_graph {
    ek_backend *backend;
};

/* ek_backend_create opens a backend by name: "host", "cuda", or "auto": cuda where a usable device
 * is present, else host. `reason` (may be NULL) receives one sentence: which was chosen and why.
 * Blocks; "cuda" fails with advice where there is no device or the build has no CUDA. */
EK_API ek_status ek_backend_create(ek_backend **out, const char *name, char *reason,
                                   size_t reason_size);

/* ek_backend_destroy closes it, after all its queues, events, graphs and memory. NULL is fine. */
EK_API void ek_backend_destroy(ek_backend *backend);

EK_API const char *ek_backend_name(const ek_backend *backend);
EK_API ek_backend_kind ek_backend_which(const ek_backend *backend);

/* ek_backend_get_props asks for the device's name, library versions and free memory. */
EK_API ek_status ek_backend_get_props(ek_backend *backend, ek_backend_props *out);

/* ek_mem_alloc takes memory, 256-byte aligned, not zeroed; ek_mem_free (NULL is fine) gives it
 * back. Both may block and synchronise the device: never while a pass runs. */
EK_API ek_status ek_mem_alloc(ek_backend *backend, ek_space space, size_t bytes, void **out);
EK_API void ek_mem_free(ek_backend *backend, ek_space space, void *ptr);

/* ek_queue_create makes an in-order queue. ek_queue_destroy waits for its work. ek_queue_sync
 * blocks until the queue is empty and returns the first failure of its work. */
EK_API ek_status ek_queue_create(ek_backend *backend, ek_queue **out);
EK_API void ek_queue_destroy(ek_queue *queue);
EK_API ek_status ek_queue_sync(ek_queue *queue);

/* ek_queue_copy and ek_queue_fill enqueue; memory must live until they are done. Host memory in a
 * copy must be pinned. 0 bytes is legal and enqueues nothing. */
EK_API ek_status ek_queue_copy(ek_queue *queue, void *dst, const void *src, size_t bytes);
EK_API ek_status ek_queue_fill(ek_queue *queue, void *dst, int byte, size_t bytes);

/* ek_queue_launch enqueues a kernel; the arguments (at most EK_KERNEL_ARGS_MAX bytes) are copied.
 */
EK_API ek_status ek_queue_launch(ek_queue *queue, const ek_kernel *kernel, const void *args,
                                 size_t bytes);

/* ek_queue_notify calls fn(user) once all earlier work is done. After a device fault it may never
 * be called: pair it with ek_event_query from a timer. Never inside a capture. */
EK_API ek_status ek_queue_notify(ek_queue *queue, ek_notify_fn fn, void *user);

/* ek_queue_native returns the queue's cudaStream_t, NULL on host. */
EK_API void *ek_queue_native(ek_queue *queue);

/* Events mark a place in a queue. ek_event_wait makes a queue wait, not the caller. ek_event_query
 * does not block; an event never recorded is done. ek_event_elapsed gives the seconds between two
 * recorded, completed events. */
EK_API ek_status ek_event_create(ek_backend *backend, ek_event **out);
EK_API void ek_event_destroy(ek_event *event);
EK_API ek_status ek_event_record(ek_event *event, ek_queue *queue);
EK_API ek_status ek_event_wait(ek_event *event, ek_queue *queue);
EK_API ek_status ek_event_query(ek_event *event, bool *done);
EK_API ek_status ek_event_elapsed(ek_event *start, ek_event *stop, double *seconds);

/* Capture: between begin and end, the queue's copies, fills and launches are recorded and not run.
 * Begin and end on one thread, with no return to the loop between. After a failure *out is NULL and
 * the queue is usable again. ek_graph_size counts the recorded operations. */
EK_API ek_status ek_capture_begin(ek_queue *queue);
EK_API ek_status ek_capture_end(ek_queue *queue, ek_graph **out);
EK_API ek_status ek_graph_launch(ek_graph *graph, ek_queue *queue);
EK_API int ek_graph_size(const ek_graph *graph);
EK_API void ek_graph_destroy(ek_graph *graph);

/* The two implementations. ek_backend_create_cuda exists in builds with CUDA only. */
EK_API ek_status ek_backend_create_host(ek_backend **out);
EK_API ek_status ek_backend_create_cuda(ek_backend **out);

/* ek_cuda_device_count returns how many CUDA devices can be used; 0 with a sentence saying why not
 * (no driver, no device, too old) in `reason`, else the first one's name and compute capability.
 * Exists in builds with CUDA only. */
EK_API int ek_cuda_device_count(char *reason, size_t reason_size);

EK_END_DECLS

#endif /* EK_CORE_BACKEND_H */
