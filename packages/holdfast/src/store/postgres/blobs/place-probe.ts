import type { OnProblem } from '@holdfast/core/ports'
import { done, type Result } from '@holdfast/protocol/result'
import { attempt } from '../connect/connect.ts'
import type { S3Objects } from './s3-objects.ts'
import type { S3Place } from './s3-url.ts'

/** Load balancers ask every node all the time, and each request to a bucket costs. */
const keptMs = 10_000

type ProbeOptions = { readonly onProblem?: OnProblem | undefined; readonly now?: (() => number) | undefined }

/**
 * Returns a check of the place for new objects. A good answer counts for ten seconds. The first failure after one is reported
 * with its reason, which the answer of `/v1/ready` does not contain.
 */
export function createPlaceProbe(
  objects: Pick<S3Objects, 'probe'>,
  place: S3Place,
  { onProblem = () => undefined, now = () => performance.now() }: ProbeOptions,
): () => Promise<Result<void>> {
  let goodUntil = Number.NEGATIVE_INFINITY
  let isReported = false
  return async () => {
    if (now() < goodUntil) return done
    const probed = await attempt(async () => {
      await objects.probe(place)
      return done
    })
    if (probed.ok) goodUntil = now() + keptMs
    else if (!isReported) onProblem({ where: 'checking the place for files', cause: probed.fault })
    isReported = !probed.ok
    return probed
  }
}
