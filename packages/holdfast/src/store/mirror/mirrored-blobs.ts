import type { Blobs, OnProblem } from '@holdfast/core/ports'
import type { Mirror } from './mirror.ts'

/** The blobs of a store that has a mirror: whoever sweeps them sweeps the mirror's copies by the same rule. */
export function createMirroredBlobs(blobs: Blobs, mirror: Pick<Mirror, 'sweep'>, onProblem: OnProblem): Blobs {
  return {
    ...blobs,
    async sweep(areUsed, options) {
      const swept = await blobs.sweep(areUsed, options)
      // The mirror's disk may be another one, and what it refuses is no fault of the store's.
      await mirror
        .sweep(areUsed, options)
        .catch((cause) => onProblem({ where: 'sweeping the blobs of the mirror', cause }))
      return swept
    },
  }
}
