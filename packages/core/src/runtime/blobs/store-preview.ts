import { boundPreview, fault, HoldfastError, type Preview, refuse } from '@holdfast/protocol'
import { toShow } from '../../policy/preview.ts'
import type { Blobs } from '../../ports/blobs.ts'
import type { Prepared } from '../../ports/tool.ts'
import type { SessionStorage } from '../storage-health.ts'
import { piecesOf } from './pieces.ts'

type PreviewStorage = {
  readonly blobs: Blobs
  readonly insist: SessionStorage['insist']
  readonly signal: AbortSignal
}

type Shown = Pick<Extract<Prepared, { type: 'ready' }>, 'preview' | 'whole'>

/** Returns a preview that fits in a record, with hidden characters escaped. */
export const shortPreview = ({ preview }: Shown): Preview => boundPreview(toShow(preview)).preview

/** Returns the same preview, and stores the whole of a longer one. */
export async function storePreview(
  { preview: given, whole: cutBefore }: Shown,
  { blobs, insist, signal }: PreviewStorage,
): Promise<Preview> {
  const { preview, whole: cutNow } = boundPreview(toShow(given))
  const whole = cutBefore ?? cutNow
  if (whole === null) return preview
  const stored = await insist(async () => (signal.aborted ? refuse(aborted) : blobs.put(piecesOf(whole))))
  if (!stored.ok) throw new HoldfastError(stored.fault)
  return { ...preview, blob: stored.value }
}

const aborted = fault('session_stopped', 'The call was aborted while it was prepared.')
