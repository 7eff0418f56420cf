/* SPDX-License-Identifier: Apache-2.0 */
/* --report: what a run did, as the library tells it, with what only the command knows: its line,
 * its files, the machine. */
#include "tools/print.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static json_t *machine(void)
{
    struct utsname system = {0};
    uname(&system);
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return json_pack("{s:s,s:s,s:s,s:I,s:I}", "name", system.nodename, "system", system.sysname,
                     "release", system.release, "processors",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "memory_bytes", (json_int_t)memory);
}

ek_status job_write_report(const job_run *run)
{
    const cli_job *job = run->job;
    char *text = ek_report_json(run->report);
    if (text == NULL) {
        return EK_ENOMEM;
    }
    json_t *object = json_loads(text, 0, NULL);
    ek_free(text);
    json_object_set_new(object, "command", report_text(job->command));
    json_object_set_new(object, "files", report_files(run));
    json_object_set_new(object, "output", report_text(job->output));
    json_object_set_new(object, "machine", machine());
    return report_dump(object, job->report, JSON_COMPACT | JSON_REAL_PRECISION(9));
}
