import { setFlagsFromString } from 'node:v8'

/**
 * Lets V8 enlarge its space for new values, as it does by default. The `holdfast` program starts without that: loading
 * modules would enlarge it, and an idle server would keep it for life.
 */
export const letYoungSpaceGrow = (): void => setFlagsFromString('--semi-space-growth-factor=2')
