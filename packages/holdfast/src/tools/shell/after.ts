import type { Clock } from '@holdfast/core/ports'

export type After = Clock['after']
