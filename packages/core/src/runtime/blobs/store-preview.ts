import { boundPreview, fault, HoldfastError, type Preview, refuse } from '@holdfast/protocol'
import { cutArguments } from '../../policy/cut-arguments.ts'
import { toShow } from '../../policy/preview.ts'
import { printArguments } from '../../policy/print-arguments.ts'
import { ownSlice } from '../../ports/own-slice.ts'
import type { Blobs } from '../../ports/store/blobs.ts'
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
export const shortPreview = (shown: Shown): Preview => shorten(shown).preview

/** Returns the same preview, and stores the whole of a longer one. */
export async function storePreview(shown: Shown, { blobs, insist, signal }: PreviewStorage): Promise<Preview> {
  const { preview, whole } = shorten(shown)
  if (whole === null) return preview
  const stored = await insist(async () => (signal.aborted ? refuse(aborted) : blobs.put(whole())))
  if (!stored.ok) throw new HoldfastError(stored.fault)
  return { ...preview, blob: stored.value }
}

type Short = {
  readonly preview: Preview
  /** Returns the whole text of a preview that was cut. */
  readonly whole: (() => AsyncIterable<Uint8Array> | Iterable<Uint8Array>) | null
}

function shorten({ preview: given, whole: cutBefore }: Shown): Short {
  const args = given.type === 'arguments' ? given.args : null
  const short = args && cutArguments(args)
  if (args && short)
    return { preview: boundPreview(toShow({ type: 'arguments', args: short })).preview, whole: () => printed(args) }
  const { preview, whole: cutNow } = boundPreview(toShow(given))
  const whole = cutBefore ?? cutNow
  return { preview, whole: whole && (() => piecesOf(whole)) }
}

/** Prints arguments in slices, so that hundreds of them do not block the event loop. */
async function* printed(args: Parameters<typeof printArguments>[0]): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for (const piece of printArguments(args)) {
    yield encoder.encode(piece)
    await ownSlice()
  }
}

const aborted = fault('session_stopped', 'The call was aborted while it was prepared.')
