import type { Clock } from '@holdfast/core/ports'
import { bytesBeforeMark } from './end-mark.ts'
import { createLiveOutput } from './live-output.ts'
import type { OutputFile } from './output-file.ts'

const lookMs = 50
/** Of output that comes faster, only the newest is read for the live view. */
const lookBytesMax = 64 * 1024

type FollowOptions = {
  readonly after: Clock['after']
  readonly mark: string
  readonly show: (text: string) => void
  readonly bytesMax: number
  /** Called once the file is longer than `bytesMax`. */
  readonly onTooLong: () => void
}

/** Looks at a growing output file a few times a second: shows what is new, and notices when it is too long. */
export function followOutput(output: OutputFile, { after, mark, show, bytesMax, onTooLong }: FollowOptions) {
  const live = createLiveOutput(show, after)
  let shown = 0
  let size = 0
  let isShowing = true
  let isMarked = false
  let isStopped = false
  let cancel: () => void = () => undefined
  let looking: Promise<void> = Promise.resolve()

  async function look(): Promise<void> {
    const now = await output.size()
    if (!isStopped) size = now
    if (now > bytesMax) onTooLong()
    if (isShowing && !isMarked) await showUpTo(now)
  }

  async function showUpTo(end: number): Promise<void> {
    if (end - shown > lookBytesMax) {
      live.skip()
      shown = end - lookBytesMax
    }
    for await (const piece of output.read(shown, end)) {
      const { bytes, isMarked: isEnd } = bytesBeforeMark(piece, mark)
      live.add(piece.subarray(0, bytes))
      shown += bytes
      isMarked ||= isEnd
      if (bytes < piece.length) return
    }
  }

  const lookAgain = () => {
    cancel = after(lookMs, () => {
      looking = look().catch(() => undefined) // a closed file: the command has ended
      void looking.then(() => !isStopped && lookAgain())
    })
  }
  lookAgain()

  return {
    /** How long the file was at the last look before `stop`. */
    size: () => size,
    /** Ends the looks. Call it when the command has ended. */
    stop(): void {
      isStopped = true
      cancel()
    },
    /** Shows the rest, up to `end`, and shows nothing after that. */
    async finish(end: number): Promise<void> {
      await looking
      if (isShowing && !isMarked) await showUpTo(Math.max(shown, end))
      this.hide()
    },
    /** Stops the live view, not the looks. */
    hide(): void {
      if (isShowing) live.end()
      isShowing = false
    },
  }
}
