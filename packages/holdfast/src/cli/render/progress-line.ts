import type { CliContext } from '../terminal/cli-context.ts'

const progressMs = 200
const barChars = 20
/** How long the time that is left cannot be told. */
const knownAfterMs = 1000

/** How far a long command is. */
export type Progress = {
  readonly done: number
  /** Null if it is not known; then there is no bar. */
  readonly total: number | null
  /** What is counted, such as `files`. */
  readonly unit: string
  readonly bytes?: number
  /** The part of the work, such as `copying`. The time counts from its beginning. */
  readonly phase?: string
}

/** Shows the progress of a long command in one line of the terminal; prints nothing without a terminal. */
export function createProgressLine({ err, now }: Pick<CliContext, 'err' | 'now'>) {
  let shownAt = now()
  let writing = Promise.resolve()
  let [phase, startedAt]: [string | undefined, number] = [undefined, shownAt]
  return {
    show(progress: Progress): void {
      if (phase !== progress.phase) [phase, startedAt] = [progress.phase, now()]
      if (!err.isTerminal || now() - shownAt < progressMs) return
      shownAt = now()
      writing = err.write(`\r\u001b[K${progressText(progress, shownAt - startedAt).slice(0, (err.columns || 80) - 1)}`)
    },
    async end(): Promise<void> {
      await writing
      if (err.isTerminal) await err.write('\r\u001b[K')
    },
  }
}

/** Returns a bar with the rate and, once that can be told, the time left. */
export function progressText({ done, total, unit, bytes, phase }: Progress, tookMs: number): string {
  const filled = Math.min(barChars, Math.floor((done / Math.max(1, total ?? 1)) * barChars))
  const bar = total === null ? [] : [`[${'#'.repeat(filled)}${'-'.repeat(barChars - filled)}]`]
  const count = total === null ? `${done} ${unit}` : `${done} of ${total} ${unit}`
  const perSecond = (amount: number) => (amount / Math.max(1, tookMs)) * 1000
  const rate =
    bytes === undefined
      ? `${Math.round(perSecond(done))}/s`
      : `${(bytes / 1e6).toFixed(1)} MB, ${perSecond(bytes / 1e6).toFixed(1)} MB/s`
  return [...bar, ...(phase === undefined ? [] : [phase]), `${count}, ${rate}${timeLeft(done, total, tookMs)}`].join(
    ' ',
  )
}

function timeLeft(done: number, total: number | null, tookMs: number): string {
  if (total === null || done === 0 || done >= total || tookMs < knownAfterMs) return ''
  const seconds = Math.ceil(((total - done) * tookMs) / done / 1000)
  const text = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `, ${text} left`
}
