import { setFlagsFromString } from 'node:v8'

/**
 * Lets V8 enlarge its space for new values, as it does by default. The `holdfast` program starts without that: loading
 * modules would enlarge it, and an idle server would keep it for life.
 */
export const letYoungSpaceGrow = (): void => setFlagsFromString('--semi-space-growth-factor=2')

/** Stops that again. The terminal UI makes many short-lived values while an answer streams, and would keep the space for life. */
export const keepYoungSpace = (): void => setFlagsFromString('--semi-space-growth-factor=1')

/**
 * Makes V8 collect garbage when the heap is 1.75 times what was in use after the last collection. By default that is up to
 * four times on a machine with much memory: a server that sends large answers to many clients would take twice as much.
 */
export const limitHeapGrowth = (): void => setFlagsFromString('--heap-growing-percent=75')
