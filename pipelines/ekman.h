/* SPDX-License-Identifier: Apache-2.0 */
/* All of Ekman's public interface: #include <ekman.h>. */
#ifndef EKMAN_H
#define EKMAN_H

#include "core/backend.h"
#include "core/log.h"
#include "core/version.h"
#include "graphs/nodes.h"
#include "graphs/pipeline.h"
#include "graphs/plan.h"
#include "graphs/run.h"
#include "graphs/state.h"
#include "graphs/text.h"
#include "pipelines/eof.h"
#include "pipelines/stats.h"

#endif /* EKMAN_H */
