/* SPDX-License-Identifier: Apache-2.0 */
/* A program that does nothing: it shows that all of a room links with the rooms below it. */
int main(void)
{
    return 0;
}
